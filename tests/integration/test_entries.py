"""What `freshet index verify` finds, on frames in memory; that it looks at a real index, and mends it, tests/hbase holds."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from freshet.index.hbase.entries import compared, drawn
from tests.kit.frames import frame

WANTED = "key string, partition string, file string, commit string"
FOUND = "key string, partition string, file string"


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def test_every_kind_of_damage_is_told_and_nothing_else(spark: SparkSession) -> None:
    rows = [(key, "mon", f"f-{key}", "1") for key in ("whole", "moved", "elsewhere", "half", "missing")]
    entries = [
        ("whole", "mon", "f-whole"),
        ("moved", "tue", "f-moved"),
        ("elsewhere", "mon", "f-other"),
        ("half", "mon", None),
        ("orphan", "mon", "f-gone"),
    ]
    both = compared(frame(spark, rows, WANTED), frame(spark, entries, FOUND))
    assert {row.key: row.damage for row in both.collect()} == {
        "whole": None,
        "moved": "stale",
        "elsewhere": "stale",
        "half": "stale",
        "missing": "missing",
        "orphan": "orphaned",
    }
    (orphan,) = both.where("key = 'orphan'").collect()
    assert (orphan.in_table, orphan["partition"], orphan.found_file) == (None, None, "f-gone")


def test_a_sample_draws_the_same_keys_of_both_sides(spark: SparkSession) -> None:
    keys = spark.range(1000).selectExpr("cast(id AS string) AS key", "'mon' AS partition", "'f' AS file")
    some = {row.key for row in drawn(keys, 0.1).collect()}
    assert 50 < len(some) < 200
    assert {row.key for row in drawn(keys.orderBy("key"), 0.1).collect()} == some
    assert drawn(keys, 1.0).count() == 1000

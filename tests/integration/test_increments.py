"""An increment that Spark reads out of a COPY_ON_WRITE table's files is the one that Hudi's own reader gives."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import StateError
from freshet.project.model.pipeline import SourceSpec, TableRef
from freshet.sources.hudi.look.partitions import touched_partitions
from freshet.sources.hudi.look.versions import version_at_end
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.read.reader import read_increment
from freshet.sources.hudi.reads import ReadIncrement, Window
from tests.kit.lake import SCHEMA, Lake, Row, rows

TYPES = (
    "id string, ts bigint, day string, amount decimal(20,3), small decimal(5,1), n int, f float, d double, flag boolean, "
    "b binary, on_day date, at timestamp, tags array<string>, by_key map<string,int>, "
    "inner struct<x: int, many: array<struct<y: decimal(10,2), z: timestamp>>>"
)
OLD, NEW = datetime(1582, 3, 4, 5, 6, 7, 123456), datetime(2026, 1, 5, 6, 7, 8)
FULL = (
    Decimal("12345678901234567.891"),
    Decimal("-1234.5"),
    -7,
    1.5,
    float("nan"),
    True,
    b"\x00\xff",
    date(1200, 2, 29),
    OLD,
    ["x", None, ""],
    {"k": 1, "other": None},
    (1, [(Decimal("1.10"), NEW), None]),
)
EMPTY = (None,) * len(FULL)


@pytest.fixture(scope="module")
def spark(compiled: SparkSession) -> SparkSession:
    return compiled


def window_of(lake: Lake, upto: str, commits: int = 100) -> Window:
    """Return the window that a run would read whose checkpoint is ``upto``."""
    ref = TableRef("raw.events", lake.path("raw.events"))
    spec = SourceSpec(
        table=ref, max_commits=commits, missing_checkpoint="ERROR", full_scan_when_expired=False, incremental_format="auto"
    )
    return next_window("copy", lake.state("raw.events"), spec, HudiPosition(instant=upto, table=ref.path))


def read(lake: Lake, window: Window) -> DataFrame:
    state = lake.state("raw.events")
    as_of = version_at_end(state, window.end_inclusive)
    return read_increment(
        lake.spark,
        ReadIncrement(
            table=state.ref,
            window=window,
            with_deletes=False,
            before=(),
            as_of=as_of,
            partitions=touched_partitions(state, window),
        ),
    )


def both(lake: Lake, window: Window) -> tuple[list[str], list[str]]:
    """Return the rows that Spark reads out of the files, and those that Hudi reads, as JSON."""
    assert window.whole_files
    ours, hudis = read(lake, window), read(lake, replace(window, whole_files=False))
    assert ours.schema == hudis.schema
    assert "Batched: true" in physical(ours)
    return as_json(ours), as_json(hudis)


def physical(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def as_json(frame: DataFrame) -> list[str]:
    return sorted(row[0] for row in frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").collect())


def test_of_every_type(lake: Lake) -> None:
    first = lake.land([("a", 1, "2026-01-05", *FULL), ("b", 1, "2026-01-05", *EMPTY)], schema=TYPES)
    lake.land([("b", 2, "2026-01-05", *FULL), ("c", 2, "2026-01-06", *EMPTY)], schema=TYPES)
    ours, hudis = both(lake, window_of(lake, first))
    assert ours == hudis
    assert [json.loads(row)["id"] for row in ours] == ["b", "c"]


PLAIN = ("2026-01-05", "10", "1e3", "\u00e9t\u00e9", "a_b.c-d")
ODD = ("a=b", "day=z", "x,y", "New York", "50%", "[a-z]", "*", "{x}", "q?", "back\\s", "c d/e%20f", "#h", "", None)


@pytest.mark.parametrize("hive", ["false", "true"])
def test_of_partitions_of_any_name(lake: Lake, hive: str) -> None:
    """Whoever reads: an increment shows the value that a snapshot shows."""
    options = {"hoodie.datasource.write.hive_style_partitioning": hive}
    before = lake.land(rows(("before", 1, "1")), **options)
    for number, day in enumerate((*PLAIN, *ODD)):
        here = lake.land([(f"k{number}", 1, Decimal(number), day)], **options)
        window = window_of(lake, before)
        assert window.whole_files == (day in PLAIN), day
        ((shown,),) = read(lake, window).select("day").collect()
        assert [(f"k{number}", shown)] == [row for row in lake.rows("raw.events", "id", "day") if row[0] == f"k{number}"]
        before = here


def test_of_a_table_whose_own_path_is_a_pattern(lake: Lake) -> None:
    lake.root = lake.root / "[a-z] {x,y} 50% * ?"
    first = lake.land(rows(("a", 1, "1")))
    lake.land(rows(("b", 1, "1")))
    ours, hudis = both(lake, window_of(lake, first))
    assert ours == hudis
    assert len(ours) == 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("date", [date(2026, 1, 5), date(1999, 12, 31)]),
        ("int", [5, -1]),
        ("bigint", [2**40]),
        ("boolean", [True, False]),
        ("decimal(5,2)", [Decimal("1.50")]),
    ],
)
def test_of_partitions_of_any_type(lake: Lake, kind: str, values: list[Any]) -> None:
    schema = SCHEMA.replace("day string", f"day {kind}")
    first = lake.land([("before", 1, Decimal(1), values[0])], schema=schema)
    lake.land([(f"k{n}", 1, Decimal(n), value) for n, value in enumerate(values)], schema=schema)
    ours, hudis = both(lake, window_of(lake, first))
    assert ours == hudis


def test_of_several_commits_and_of_the_first_ones_alone(lake: Lake) -> None:
    """A row of a commit shows as it stood when the window ended, though later commits have written its file anew."""
    first = lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    for ts in (2, 3, 4):
        lake.land(rows(("a", ts, "1"), (f"new{ts}", ts, "1")))
    for commits, expected in ((1, [("a", 2), ("new2", 2)]), (2, [("a", 3), ("new2", 2), ("new3", 3)])):
        window = window_of(lake, first, commits)
        ours, hudis = both(lake, window)
        assert ours == hudis
        assert sorted((row["id"], row["ts"]) for row in read(lake, window).collect()) == expected


def test_a_column_that_came_later_is_read_by_hudi(lake: Lake) -> None:
    first = lake.land(rows(("a", 1, "1")))
    lake.land(rows(("a", 2, "1")))
    more: list[Row] = [("b", 3, Decimal(1), "2026-01-05", "x")]
    evolving = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
    lake.land(more, schema=f"{SCHEMA}, more string", **evolving)
    assert not window_of(lake, first).whole_files
    assert not window_of(lake, first, 1).whole_files
    assert [(row["id"], row["more"]) for row in read(lake, window_of(lake, first)).orderBy("id").collect()] == [
        ("a", None),
        ("b", "x"),
    ]


def test_a_file_that_no_clean_has_deleted_is_missing(lake: Lake) -> None:
    """One that a clean has deleted meanwhile: see tests/unit/sinks/test_missing_files.py."""
    first = lake.land(rows(("a", 1, "1")))
    lake.land(rows(("b", 1, "1")))
    window = window_of(lake, first)
    frame_of = read(lake, window)
    for file in frame_of.inputFiles():
        (lake.root / file.removeprefix(f"file://{lake.root}/")).unlink()
    with pytest.raises(StateError) as refused:
        read(lake, window)
    assert refused.value.code == "FILE_MISSING"


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.datasource.write.table.type": "MERGE_ON_READ"},
        {
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
            "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
            "hoodie.datasource.write.partitionpath.field": "ts",
        },
    ],
    ids=["merge_on_read", "times_as_days"],
)
def test_other_tables_are_read_by_hudi(lake: Lake, options: dict[str, str]) -> None:
    first = lake.land(rows(("a", 1, "1")), **options)
    lake.land(rows(("b", 1, "1")), **options)
    window = window_of(lake, first)
    assert not window.whole_files
    assert [row["id"] for row in read(lake, window).collect()] == ["b"]

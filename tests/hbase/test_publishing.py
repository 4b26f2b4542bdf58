"""Nothing bad is published through an HBASE index: the cells of tests/checks for the ways that have one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from framework.runtime.dev_hbase.look import HBase
from tests.kit import cells
from tests.kit.cells import NewLake, raw, table, tables
from tests.kit.hbase import HBaseLake
from tests.kit.ways import HBASE_WAYS, Way, bad_batches

__all__ = ["raw", "table", "tables"]


@pytest.fixture(scope="module")
def new_lake(spark: SparkSession, hbase: HBase) -> NewLake:
    return lambda folder: HBaseLake(spark, folder, hbase)


@pytest.mark.parametrize("way", HBASE_WAYS, ids=str)
def test_the_first_commit_is_not_bad(hlake: HBaseLake, raw: Path, way: Way) -> None:
    cells.the_first_commit_is_not_bad(hlake, raw, way)
    assert hlake.entries() == {}


@pytest.mark.parametrize(("way", "kinds"), bad_batches(HBASE_WAYS))
def test_a_bad_batch_is_refused(table: HBaseLake, tables: dict[Way, HBaseLake], way: Way, kinds: tuple[str, ...]) -> None:
    """The index stays as it was, too."""
    before = table.entries()
    cells.a_bad_batch_is_refused(table, tables, way, kinds)  # type: ignore[arg-type]
    assert table.entries() == before


@pytest.mark.parametrize("way", HBASE_WAYS, ids=str)
def test_a_good_batch_is_published(table: HBaseLake, way: Way) -> None:
    cells.a_good_batch_is_published(table, way)
    table.agree()


@pytest.mark.parametrize("way", HBASE_WAYS, ids=str)
def test_an_empty_batch_fails_nothing(table: HBaseLake, raw: Path, way: Way) -> None:
    cells.an_empty_batch_fails_nothing(table, raw, way)
    table.agree()

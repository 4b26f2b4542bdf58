"""Nothing bad is published through an HBASE index, and none of its entries: the cells of tests/checks for its ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from freshet.dev.hbase.look import HBase
from tests.kit import cells, ways
from tests.kit.cells import raw, tables
from tests.kit.hbase import HBaseLake
from tests.kit.lake import Lake
from tests.kit.ways import Way

__all__ = ["raw", "tables"]


@pytest.mark.parametrize(("way", "step"), ways.as_parameters(ways.every_cell("HBASE")))
def test_publishing(
    spark: SparkSession,
    hbase: HBase,
    raw: Path,
    tables: dict[Way, Lake],
    tmp_path_factory: pytest.TempPathFactory,
    way: Way,
    step: str,
) -> None:
    """A bad batch leaves the index as it was, and a good one leaves it true."""
    stands = tables.get(way)
    before = stands.entries() if isinstance(stands, HBaseLake) else None
    lake = cells.hold(step, way, raw, tables, lambda folder: HBaseLake(spark, folder, hbase), tmp_path_factory)
    assert isinstance(lake, HBaseLake)
    if step == "first":
        assert lake.entries() == {}
    elif step == "published":
        lake.agree()
    elif before is not None:
        assert lake.entries() == before

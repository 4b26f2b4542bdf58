"""The tables, the session and the HBase cluster that the benchmarks of the global index share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.dev.hbase.look import QUORUM, HBase
from freshet.dev.hbase.server import start, stop
from freshet.hudi.keys.options import HBASE_IN_SESSION
from freshet.jvm.session import start_session
from freshet.project.model.pipeline import HBaseSpec

PARTITIONS = 30
COLUMNS = ("id", "ts", "amount", "day")
# HBase keeps blocks of the index in a part of it; in one that is too small it collects garbage all the time.
_HEAP_GIB = 6
SPARK = {"spark.master": "local[2]", "spark.driver.memory": "8g", "spark.sql.shuffle.partitions": "8", HBASE_IN_SESSION: "true"}
COMMON = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "day",
    "hoodie.parquet.compression.codec": "zstd",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.compact.inline": "false",
}


@dataclass(frozen=True)
class Bench:
    """What a benchmark of the index runs on.

    Args:
        spark: A warm-to-be session with HBase's client.
        server: The HBase cluster.
        folder: Where tables lie.
    """

    spark: SparkSession
    server: HBase
    folder: Path

    def index_table(self, name: str) -> HBaseSpec:
        """Return where an index table lies."""
        return HBaseSpec(quorum=QUORUM, port=self.server.port, znode="/hbase", table=name, server_rate=1, shares={}, client={})

    def rows(self, count: int) -> DataFrame:
        """Return rows that are the same each time, their keys in no order."""
        drawn: Any = F.pmod(F.xxhash64("id"), F.lit(PARTITIONS))
        return self.spark.range(0, count, 1, 8).select(
            F.md5(F.col("id").cast("string")).alias("id"),
            F.lit(1).cast("long").alias("ts"),
            F.rand(7).alias("amount"),
            F.concat(F.lit("2026-01-"), F.lpad((drawn + 1).cast("string"), 2, "0")).alias("day"),
        )

    def plain_table(self, count: int) -> Path:
        """Write a table of so many rows, whose index is made later; returns its path."""
        path = self.folder / f"plain_{count}"
        write(self.rows(count), path, "bulk_insert", {"hoodie.index.type": "GLOBAL_SIMPLE"})
        return path


@contextmanager
def bench() -> Iterator[Bench]:
    """Start HBase and Spark until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    server = start(folder / "hbase", wait_seconds=120, heap_gib=_HEAP_GIB)
    try:
        spark = start_session(SPARK)
        try:
            yield Bench(spark, server, folder)
        finally:
            spark.stop()
    finally:
        stop(folder / "hbase", purge=True)
        shutil.rmtree(folder)


def write(rows: DataFrame, table: Path, operation: str, options: Mapping[str, str]) -> None:
    """Write rows by Hudi alone."""
    rows.write.format("hudi").options(
        **{
            **COMMON,
            "hoodie.datasource.write.operation": operation,
            "hoodie.datasource.write.table.type": "MERGE_ON_READ",
            "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT",
            **options,
        }
    ).mode("append").save(str(table))

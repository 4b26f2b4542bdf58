"""Writes raw tables as an upstream team would: plain Hudi upserts, one commit per landing, without freshet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

Operation = Literal["upsert", "insert", "delete"]

# A small commit must cost little: the tests make hundreds of them.
_CHEAP = {
    "hoodie.index.type": "BUCKET",
    "hoodie.parquet.compression.codec": "zstd",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.embed.timeline.server": "false",
}


@dataclass(frozen=True)
class RawTable:
    """An upstream Hudi table.

    Args:
        path: Base path.
        key: Record key columns.
        ordering: Column whose larger value wins between two rows of one key.
        partition: Partition column; empty for a non-partitioned table.
        buckets: Buckets per partition; must stay what the table was made with.
        options: Further Hudi options, such as the table type.
    """

    path: str
    key: tuple[str, ...]
    ordering: str
    partition: str = ""
    buckets: int = 1
    options: Mapping[str, str] = field(default_factory=dict)

    def land(self, rows: DataFrame, operation: Operation = "upsert") -> None:
        """Write ``rows`` as one commit.

        Args:
            rows: Full rows, or for a delete at least key, ordering and partition columns.
            operation: Hudi write operation.
        """
        options = {
            **_CHEAP,
            "hoodie.table.name": self.path.rstrip("/").rsplit("/", 1)[-1],
            "hoodie.datasource.write.recordkey.field": ",".join(self.key),
            "hoodie.datasource.write.precombine.field": self.ordering,
            "hoodie.datasource.write.partitionpath.field": self.partition,
            "hoodie.bucket.index.num.buckets": str(self.buckets),
            "hoodie.datasource.write.operation": operation,
            **self.options,
        }
        rows.write.format("hudi").options(**options).mode("append").save(self.path)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the table's present rows without Hudi's own columns."""
        rows = spark.read.format("hudi").load(self.path)
        return rows.drop(*(name for name in rows.columns if name.startswith("_hoodie_")))


def drawn(seed: int, what: str, *by: Column, below: int) -> Column:
    """Return a pseudo-random bigint in ``[0, below)`` that depends on nothing but its arguments.

    Args:
        seed: Seed of the feed.
        what: Name of the drawn thing, so that two columns of a row are drawn independently.
        by: Columns that identify the row.
        below: Upper bound, exclusive.
    """
    return F.pmod(F.xxhash64(F.lit(seed), F.lit(what), *by), F.lit(below).cast("bigint"))


def money(cents: Column) -> Column:
    """Return whole ``cents`` as an amount of type decimal(10,2)."""
    return (cents.cast("decimal(12,0)") / 100).cast("decimal(10,2)")

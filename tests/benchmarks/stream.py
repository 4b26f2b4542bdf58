"""One stream of changes that every engine is given: orders that are updated at random, inserted, and moved to another day.

A row is a function of its number and of the rounds so far, so that the stream of a table of any size can be made without
reading one. Each round is one commit of a Hudi table that is only appended to; its Parquet files are what other engines read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.feeds.landing import drawn, money

DAYS = 30
#: Every column of the target, with its type.
COLUMNS = (
    ("id", "STRING NOT NULL"),
    ("version", "BIGINT NOT NULL"),
    ("city_id", "INT"),
    ("status", "STRING"),
    ("amount", "DECIMAL(10,2)"),
    ("updated_at", "TIMESTAMP"),
    ("created_day", "STRING NOT NULL"),
    ("day", "STRING NOT NULL"),
)
_STATUSES = ("created", "accepted", "picked up", "delivered", "cancelled")
_SEED = 7
_MIDNIGHT = 1_767_225_600  # 2026-01-01, UTC


@dataclass(frozen=True)
class Stream:
    """A table's rows before the first round, and what each round changes.

    Args:
        rows: Rows before the first round.
        updates: Rows that a round updates, about, at random.
        inserts: Rows that a round inserts, of the last two days.
        moves: Of a round's updates, those that name another day, about.
    """

    rows: int
    updates: int
    inserts: int
    moves: int

    def first(self, spark: SparkSession) -> DataFrame:
        """Return the rows before the first round."""
        n = F.col("n")
        return self._as_rows(spark.range(0, self.rows, 1, 8).withColumnRenamed("id", "n"), 0, self._created(n), F.lit(False))

    def round(self, spark: SparkSession, number: int) -> DataFrame:
        """Return the changed rows of a round.

        Args:
            spark: The session.
            number: From 1.
        """
        n = F.col("n")
        stood = spark.range(0, self.rows, 1, 8).withColumnRenamed("id", "n").where(self._changed(n, number))
        # The last round that moved the row says on which day it is.
        moves = [F.when(self._moved(n, k), self._day(drawn(_SEED, f"day{k}", n, below=DAYS))) for k in range(number, 0, -1)]
        updated = self._as_rows(stood, number, F.coalesce(*moves, self._created(n)), F.lit(False))
        begin = self.rows + (number - 1) * self.inserts
        new = spark.range(begin, begin + self.inserts, 1, 1).withColumnRenamed("id", "n")
        return updated.unionByName(self._as_rows(new, number, self._created(n), F.lit(True)))

    def land(self, spark: SparkSession, path: Path, number: int) -> None:
        """Append a round to the source table as one commit; round 0 are the rows before the first.

        Args:
            spark: A session with the Hudi bundle.
            path: The source table.
            number: The round.
        """
        rows = self.round(spark, number) if number else self.first(spark)
        rows.write.format("hudi").options(
            **{
                "hoodie.table.name": path.name,
                "hoodie.datasource.write.operation": "bulk_insert",
                "hoodie.datasource.write.recordkey.field": "id",
                "hoodie.datasource.write.precombine.field": "version",
                "hoodie.datasource.write.partitionpath.field": "",
                "hoodie.bulkinsert.shuffle.parallelism": "2",
                "hoodie.parquet.compression.codec": "zstd",
                "hoodie.metadata.index.column.stats.enable": "false",
            }
        ).mode("append").save(str(path))

    def _changed(self, n: Column, number: int) -> Column:
        return drawn(_SEED, f"update{number}", n, below=self.rows) < self.updates

    def _moved(self, n: Column, number: int) -> Column:
        if not self.moves:
            return F.lit(False)
        return self._changed(n, number) & (drawn(_SEED, f"move{number}", n, below=self.updates) < self.moves)

    def _created(self, n: Column) -> Column:
        late = drawn(_SEED, "late", n, below=2) + (DAYS - 2)
        return self._day(F.when(n < self.rows, drawn(_SEED, "created", n, below=DAYS)).otherwise(late))

    @staticmethod
    def _day(number: Column) -> Column:
        return F.concat(F.lit("2026-01-"), F.lpad((number + 1).cast("string"), 2, "0"))

    def _as_rows(self, numbers: DataFrame, number: int, day: Column, new: Column) -> DataFrame:
        n, by = F.col("n"), F.when(new, F.lit(0)).otherwise(F.lit(number))
        statuses = F.array(*map(F.lit, _STATUSES))
        return numbers.select(
            F.md5(n.cast("string")).alias("id"),
            F.lit(number).cast("bigint").alias("version"),
            (drawn(_SEED, "city", n, below=200) + 1).cast("int").alias("city_id"),
            F.element_at(statuses, (drawn(_SEED, "status", n, by, below=5) + 1).cast("int")).alias("status"),
            money(drawn(_SEED, "amount", n, by, below=100_000)).alias("amount"),
            F.timestamp_seconds(F.lit(_MIDNIGHT + 86_400 * number) + drawn(_SEED, "second", n, by, below=86_400)).alias(
                "updated_at"
            ),
            self._created(n).alias("created_day"),
            day.alias("day"),
        )

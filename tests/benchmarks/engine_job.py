"""One round by an engine that freshet is measured against, as a process of its own; told everything by a JSON file.

All tables are partitioned by day with a file each, in zstd, and the newer version of a row wins: what freshet's tables have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

_MERGE = """MERGE INTO {target} t USING changes s ON t.id = s.id
WHEN MATCHED AND s.version >= t.version THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *"""
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_ICEBERG = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}


class Delta:
    """Delta Lake; with deletion vectors a MERGE marks rows and ``OPTIMIZE`` writes the files anew later."""

    def __init__(self, table: str, vectors: bool) -> None:
        self.table, self.vectors = table, vectors
        self.conf = _DELTA
        self.options = {"delta.enableDeletionVectors": str(vectors).lower()}

    def first(self, spark: SparkSession, rows: DataFrame) -> None:
        writer = rows.repartition("day").write.format("delta").partitionBy("day")
        writer.options(**self.options).save(self.table)

    def change(self, spark: SparkSession, rows: DataFrame) -> None:
        rows.createOrReplaceTempView("changes")
        spark.sql(_MERGE.format(target=f"delta.`{self.table}`"))

    def compact(self, spark: SparkSession) -> None:
        if self.vectors:
            spark.sql(f"REORG TABLE delta.`{self.table}` APPLY (PURGE)")
            spark.sql(f"OPTIMIZE delta.`{self.table}`")

    def read(self, spark: SparkSession) -> DataFrame:
        return spark.read.format("delta").load(self.table)


class Iceberg:
    """Apache Iceberg; by merge-on-read a MERGE writes delete files, and procedures write the files anew later."""

    def __init__(self, table: str, on_read: bool) -> None:
        self.on_read = on_read
        self.conf = {**_ICEBERG, "spark.sql.catalog.lake.warehouse": table}
        mode = "merge-on-read" if on_read else "copy-on-write"
        self.options = {"write.parquet.compression-codec": "zstd", "write.merge.mode": mode, "format-version": "2"}

    def first(self, spark: SparkSession, rows: DataFrame) -> None:
        writer = rows.repartition("day").sortWithinPartitions("day").writeTo("lake.db.orders").using("iceberg")
        for key, value in self.options.items():
            writer = writer.tableProperty(key, value)
        writer.partitionedBy(F.col("day")).create()

    def change(self, spark: SparkSession, rows: DataFrame) -> None:
        rows.createOrReplaceTempView("changes")
        spark.sql(_MERGE.format(target="lake.db.orders"))

    def compact(self, spark: SparkSession) -> None:
        if self.on_read:
            spark.sql("CALL lake.system.rewrite_data_files(table => 'db.orders', options => map('delete-file-threshold', '1'))")
            spark.sql("CALL lake.system.rewrite_position_delete_files('db.orders')")

    def read(self, spark: SparkSession) -> DataFrame:
        return spark.table("lake.db.orders")


def engine_of(job: dict[str, Any]) -> Delta | Iceberg:
    """Return the engine that a job names."""
    table, name = str(job["table"]), job["engine"]
    return Delta(table, name == "delta_vectors") if name.startswith("delta") else Iceberg(table, name == "iceberg_on_read")


def digest(rows: DataFrame, columns: list[str]) -> str:
    """Return what tells two tables apart: the number of rows, and the sum of their hashes, whatever their order."""
    found = rows.select(F.xxhash64(*columns).cast("decimal(38,0)").alias("hash")).agg(F.count("*"), F.sum("hash")).first()
    assert found is not None
    return f"{found[0]} rows, {found[1]}"


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    engine = engine_of(job)
    builder = SparkSession.builder
    for key, value in {**job["spark"], **engine.conf}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if job["do"] == "read":
        print(digest(engine.read(spark), job["columns"]))
    else:
        rows = spark.read.parquet(*job["files"]).select(*job["columns"])
        (engine.first if job["do"] == "first" else engine.change)(spark, rows)
        if job["compact"]:
            engine.compact(spark)
    spark.stop()


if __name__ == "__main__":
    main()

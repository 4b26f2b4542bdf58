"""The entries that an index must hold, by the table's rows; those that it holds; and where the two differ. All inside Spark."""

from __future__ import annotations

from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from freshet.hudi.shares import client_settings
from freshet.index.hbase.cluster import HBase

#: What is wrong with an entry: none for a row, one that names another place than the row's, one without a row.
Damage = Literal["missing", "stale", "orphaned"]
DAMAGES: tuple[Damage, ...] = ("missing", "stale", "orphaned")
COLUMNS = ("key", "partition", "commit", "file")
# Shares of keys are drawn by their hash, in millionths.
_MILLION = 1_000_000
_TEXTS = StructType([StructField(name, StringType()) for name in COLUMNS])


def table_entries(spark: SparkSession, path: str, no_logs: bool = False) -> DataFrame:
    """Return the entries that an index of a table must hold, by the meta columns of its rows.

    Args:
        spark: The session.
        path: The Hudi table's base path. It is looked at anew: a DataFrame that was made before keeps to older files.
        no_logs: True where no row lies in a log. Spark then reads base files by columns; of a MERGE_ON_READ table it would
            read them row by row, which takes three times as long.

    Returns:
        ``key``, ``partition``, ``commit`` (request time) and ``file`` (the file group's id) of each row.
    """
    query = {"hoodie.datasource.query.type": "read_optimized"} if no_logs else {}
    return (
        spark.read.format("hudi")
        .options(**query)
        .load(path)
        .select(
            F.col("_hoodie_record_key").alias("key"),
            F.col("_hoodie_partition_path").alias("partition"),
            # A base file is named <file id>_<write token>_<instant>; rows of a log carry the file id alone.
            F.col("_hoodie_commit_time").alias("commit"),
            F.substring_index("_hoodie_file_name", "_", 1).alias("file"),
        )
    )


def hbase_entries(spark: SparkSession, hbase: HBase) -> DataFrame:
    """Return the entries of an index table, a Spark partition a region: ``key``, ``partition``, ``commit``, ``file``."""
    rows = hbase.classes.Entries.read(spark.sparkContext._jsc, client_settings(hbase.spec), hbase.spec.table)
    jvm = spark._jvm
    assert jvm is not None
    schema = jvm.org.apache.spark.sql.types.DataType.fromJson(_TEXTS.json())
    return DataFrame(spark._jsparkSession.createDataFrame(rows, schema), spark)


def meta_client(spark: SparkSession, path: str) -> Any:
    """Return Hudi's own view of a table's settings and timeline."""
    jvm: Any = spark._jvm
    storage = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(spark.sparkContext._jsc.hadoopConfiguration())
    return jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder().setConf(storage).setBasePath(path).build()


def has_record_index(spark: SparkSession, path: str) -> bool:
    """Return True where a table says that its record index is complete: a writer that keeps none takes it away."""
    return bool(meta_client(spark, path).getTableConfig().getMetadataPartitions().contains("record_index"))


def record_index_entries(spark: SparkSession, path: str) -> DataFrame:
    """Return the entries of a table's record index: ``key``, ``partition``, ``file``.

    Hudi 1.0 keeps a file id as the two halves of its UUID and a number, or as text where it is none (``fileIdEncoding``).
    """
    found = spark.read.format("hudi").load(f"{path}/.hoodie/metadata").where("type = 5").select("key", "recordIndexMetadata.*")
    halves = F.lower(
        F.concat(
            F.lpad(F.hex("fileIdHighBits"), 16, "0"),
            F.lpad(F.hex("fileIdLowBits"), 16, "0"),
        )
    )
    dashed = F.regexp_replace(halves, "^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")
    whole = F.when(F.col("fileIdEncoding") == 1, F.col("fileId")).otherwise(F.concat(dashed, F.lit("-"), F.col("fileIndex")))
    return found.select("key", F.col("partitionName").alias("partition"), whole.alias("file"))


def drawn(entries: DataFrame, sample: float) -> DataFrame:
    """Return a share of the entries, drawn by their keys' hash, so that index and table draw the same ones."""
    return entries if sample >= 1 else entries.where(F.pmod(F.xxhash64("key"), F.lit(_MILLION)) < round(sample * _MILLION))


def compared(wanted: DataFrame, found: DataFrame) -> DataFrame:
    """Hold an index against its table, key by key.

    Args:
        wanted: What it must hold.
        found: What it holds.

    Returns:
        ``damage`` (null where both agree), ``in_table``, ``key``, ``partition``, ``commit``, ``file`` (of the row; null for
        an orphaned entry), ``found_partition`` and ``found_file``.
    """
    found = found.select("key", F.col("partition").alias("found_partition"), F.col("file").alias("found_file"))
    # Null in a place that an entry half written lacks.
    same = F.col("partition").eqNullSafe(F.col("found_partition")) & F.col("file").eqNullSafe(F.col("found_file"))
    damage = F.when(F.col("in_table").isNull(), "orphaned").when(F.col("in_index").isNull(), "missing").when(~same, "stale")
    joined = wanted.withColumn("in_table", F.lit(True)).join(found.withColumn("in_index", F.lit(True)), "key", "full_outer")
    return joined.withColumn("damage", damage).drop("in_index")

"""Tell a catalogue of a table as it stands, by Hudi's own sync tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from freshet.errors import SyncError, foreign_text
from freshet.project.model.pipeline import TableRef


def sync_catalogue(spark: SparkSession, table: TableRef, tools: Sequence[str], options: Mapping[str, str]) -> None:
    """Call each tool, whatever becomes of the others, as Hudi 1.0.2 does after a commit (``HoodieSparkSqlWriter.metaSync``).

    Args:
        spark: A session.
        table: The table.
        tools: The tools' classes.
        options: The writer's options.

    Raises:
        SyncError: SYNC_FAILED.
    """
    jvm: Any = spark._jvm
    properties = jvm.org.apache.hudi.common.config.TypedProperties()
    for key, value in {
        **options,
        "hoodie.meta_sync.spark.version": spark.version,
        "hoodie.meta.sync.metadata_file_listing": options.get("hoodie.metadata.enable", "true"),
        "hoodie.datasource.hive_sync.schema_string_length_thresh": spark.conf.get(
            "spark.sql.sources.schemaStringLengthThreshold", "4000"
        ),
    }.items():
        properties.setProperty(key, value)
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    storage = jvm.org.apache.hadoop.fs.Path(table.path).getFileSystem(conf)
    failed: dict[str, str] = {}
    for tool in tools:
        try:
            jvm.org.apache.hudi.sync.common.util.SyncUtilHelpers.runHoodieMetaSync(
                tool, properties, storage.getConf(), storage, table.path, "PARQUET"
            )
        except Py4JJavaError as error:
            failed[tool] = foreign_text(error)
    if failed:
        said = "; ".join(f"{tool.rpartition('.')[2]}: {why}" for tool, why in failed.items())
        raise SyncError(
            "SYNC_FAILED",
            f"{table.name}: the catalogue was not told of the table as it stands: {said}",
            "The table is as its last commit left it, and the checkpoint with it.",
            "The next run tells it, whether it has rows or not; to do it now, run the same command again.",
            **failed,
        )

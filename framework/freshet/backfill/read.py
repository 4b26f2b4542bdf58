"""Read a table's rows of a range of event times, for a backfill."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.sources.hudi.read.held import hold_read
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import ReadRange
from freshet.sources.within import rows_within


def read_range(spark: SparkSession, stage: ReadRange) -> DataFrame:
    """Read the rows whose event time lies in ``[start, end)``.

    Args:
        spark: The session; its time zone is UTC.
        stage: Table, version, column and range.

    Returns:
        The rows, without Hudi's meta columns. Where the column is one of the table's partition columns, no other
        partition is read.

    Raises:
        DataError: BAD_EVENT_TIME: there is no such column, or its type tells no time.
        StateError: FILE_MISSING or FILE_CORRUPT.
    """
    hold_read(stage)
    rows = rows_within(load_table(spark, stage.table.path, stage.as_of), stage)
    if stage.with_deletes:
        rows = rows.withColumn(
            IS_DELETED, F.coalesce(F.col(IS_DELETED), F.lit(False)) if IS_DELETED in rows.columns else F.lit(False)
        )
    return rows

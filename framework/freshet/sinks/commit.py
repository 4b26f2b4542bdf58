"""Write one Hudi commit: rows, index and checkpoint together, or nothing. And say in words why a write failed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from freshet.hudi.checkpoint import RUN_ID_KEY
from freshet.hudi.options import INDEX_CLASS, IS_DELETED, MERGES_MOVES
from freshet.index.classes import load_classes
from freshet.plan.stages import Commit
from freshet.project.model.pipeline import TableRef
from freshet.project.rules.sync import without_sync
from freshet.sinks.failures import in_words
from freshet.types.columns import Column, stored
from freshet.types.from_json import type_from_spark

_RANK, _ALIVE = "_freshet_rank", "_freshet_alive"
_BYTES_A_TASK = "spark.sql.adaptive.advisoryPartitionSizeInBytes"


def empty_batch(spark: SparkSession, columns: Sequence[Column]) -> DataFrame:
    """Return a DataFrame of the target's columns without rows, for a commit that only carries a checkpoint."""
    return spark.range(0).select(*(F.lit(None).cast(str(c.type)).alias(c.name) for c in columns))


def newest_of_each_key(batch: DataFrame, key: Sequence[str], ordering: str) -> DataFrame:
    """Return of the rows with one key the newest, and not even that one where it is marked as deleted.

    An upsert does both; a bulk insert would write them all.

    Args:
        batch: Rows that fit the target.
        key: Columns of the record key.
        ordering: The ordering field.
    """
    newest = Window.partitionBy(*key).orderBy(F.col(ordering).desc())
    rows = batch.withColumn(_RANK, F.row_number().over(newest)).where(F.col(_RANK) == 1).drop(_RANK)
    return rows.where(~F.coalesce(F.col(IS_DELETED), F.lit(False))) if IS_DELETED in batch.columns else rows


def without_moved(batch: DataFrame, by: Sequence[str]) -> DataFrame:
    """Drop the deleted rows that the batch holds alive, too: whatever their ordering field says, they are there.

    Args:
        batch: Rows that fit the target.
        by: Columns that tell the target's rows apart.
    """
    if not by or IS_DELETED not in batch.columns:
        return batch
    deleted = F.coalesce(F.col(IS_DELETED), F.lit(False))
    alive = F.max(~deleted).over(Window.partitionBy(*by))
    return batch.withColumn(_ALIVE, alive).where(~(deleted & F.col(_ALIVE))).drop(_ALIVE)


def use_large_tasks(spark: SparkSession) -> None:
    """Let a session's tasks take 512 MB each, not Spark's 64, unless a setting of the user's says how much.

    Hudi sorts a bulk insert by partition and key; where a task ends within a partition there is one more file group, for which
    every later run pays. 16 million rows in 30 partitions lay in 44 file groups, and now lie in 31, loaded in the same
    time; a driver of 1 GB does it too. Where there would be fewer tasks than cores, Spark makes smaller ones.

    Args:
        spark: The session of one first load.
    """
    if spark.conf.get(_BYTES_A_TASK, None) is None:
        spark.conf.set(_BYTES_A_TASK, "512m")


def _as_stored(batch: DataFrame) -> DataFrame:
    # A bulk insert writes Spark's own rows: a SMALLINT lies in its files as one, where the table's schema says INT. Of such
    # a file Spark reads nothing, and ends with a NullPointerException.
    kinds = [(field.name, type_from_spark(field.dataType.jsonValue())) for field in batch.schema.fields]
    narrow = {name: stored(kind) for name, kind in kinds if stored(kind) != kind}
    return batch.withColumns({name: F.col(f"`{name}`").cast(str(kind)) for name, kind in narrow.items()}) if narrow else batch


def write_commit(
    batch: DataFrame,
    stage: Commit,
    run_id: str,
    reads: Collection[TableRef] = (),
    *,
    has_rows: bool = True,
    rates: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write the batch as one commit that carries the checkpoint.

    Args:
        batch: Rows that fit the target.
        stage: Target, options, metadata.
        run_id: Written into the commit, so that the run can be told by the table alone.
        reads: The tables that the batch is read from, for the words of a failure.
        has_rows: False where the batch is known to be without rows.
        rates: What an HBase index may be asked, by Hudi's options.
        metadata: What only the run knows: the generation of its index, and what its checks found.

    Raises:
        DataError: A row was refused: NULL_VALUE, OVERFLOW, PRECOMMIT_FAILED, SQL_RUNTIME_ERROR or PYTHON_ERROR.
        RetryableError: COMMIT_CONFLICT, LOCK_NOT_TAKEN, CLUSTERING_PENDING, SOURCE_CHANGED_UNDER_READ.
        FreshetError: WRITE_FAILED or READ_FAILED.
    """
    options = {
        **without_sync(stage.writer_options(has_rows)),
        **(rates or {}),
        **stage.metadata,
        **(metadata or {}),
        RUN_ID_KEY: run_id,
    }
    if options.get(INDEX_CLASS) == MERGES_MOVES:
        load_classes(batch.sparkSession)
    try:
        _as_stored(batch).write.format("hudi").options(**options).mode("append").save(stage.table.path)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(stage.table, str(error), reads) from error

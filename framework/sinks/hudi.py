"""Write one Hudi commit: rows, index and checkpoint together, or nothing. And say in words why a write failed."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from framework.errors import DataError, FreshetError, RetryableError
from framework.plan.stages import Commit, Conform
from framework.quality.contract import MARK
from framework.state.checkpoint import RUN_ID_KEY

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
_REFUSED = re.compile(re.escape(MARK) + r"\|(\w+)\|([^|]*)\|([^|]*)\|(.*?)\|(.*?)(?:\||$)", re.MULTILINE)
_CAUSE = re.compile(r"^\s*Caused by: (.+)$", re.MULTILINE)


def empty_batch(spark: SparkSession, columns: Conform) -> DataFrame:
    """Return a DataFrame of the target's columns without rows, for a commit that only carries a checkpoint."""
    return spark.range(0).select(*(F.lit(None).cast(str(c.type)).alias(c.name) for c in columns.columns))


def write_commit(batch: DataFrame, stage: Commit, run_id: str) -> None:
    """Write the batch as one commit that carries the checkpoint.

    Args:
        batch: Rows that fit the target.
        stage: Target, options, metadata.
        run_id: Written into the commit, so that the run can be told by the table alone.

    Raises:
        DataError: A row was refused: NULL_VALUE, OVERFLOW, DUPLICATE_KEY, or SQL_RUNTIME_ERROR.
        RetryableError: COMMIT_CONFLICT, SOURCE_CHANGED_UNDER_READ.
        FreshetError: WRITE_FAILED.
    """
    options = {**stage.options, **stage.metadata, RUN_ID_KEY: run_id}
    try:
        batch.write.format("hudi").options(**options).mode("append").save(stage.table.path)
    except (Py4JJavaError, PySparkException) as error:
        raise _in_words(stage, str(error)) from error


def _in_words(stage: Commit, text: str) -> FreshetError:
    table = stage.table.name
    causes = _CAUSE.findall(text)
    root = causes[-1].strip() if causes else text.split("\n")[1 if "\n" in text else 0].strip(" :")
    refused = _REFUSED.search(text)
    if refused:
        code, column, kind, value, key = refused.groups()
        why = f"is {value}, which does not fit into {kind}," if code == "OVERFLOW" else "is null, or an empty record key,"
        return DataError(
            code, f"{table}: column {column} {why} in the row with {key}.", _UNTOUCHED,
            "Mend the source row, or treat the case in the SQL.", column=column, type=kind, value=value, row=key,
        )
    if "HoodieWriteConflictException" in text:
        return RetryableError(
            "COMMIT_CONFLICT", f"{table}: another writer committed to the same file groups first.", _UNTOUCHED,
            "Run the same command again.",
        )
    if "HoodieDuplicateKeyException" in text:
        return DataError(
            "DUPLICATE_KEY", f"{table}: {root.split(': ', 1)[-1]}.", _UNTOUCHED,
            "`insert` is for rows that are new: use hoodie.datasource.write.operation: upsert.",
        )
    if "FileNotFoundException" in root or ("FileNotFoundException" in text and "Source" in text):
        return RetryableError(
            "SOURCE_CHANGED_UNDER_READ", f"{table}: a file of the source was cleaned while it was read: {root}", _UNTOUCHED,
            "Run the same command again.",
        )
    if re.search(r"Spark(Arithmetic|DateTime|NumberFormat)Exception", root):
        return DataError("SQL_RUNTIME_ERROR", f"{table}: {root}", _UNTOUCHED, "Treat the value in the SQL, as by try_cast.")
    return FreshetError(
        "WRITE_FAILED", f"{table}: {root}", _UNTOUCHED,
        "FRESHET_JVM_LOG=warn freshet run ... prints what Spark and Hudi logged.", cause=root,
    )

"""Write the rows that a check dropped, before the target's commit; and take away what an unfinished run left."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.quality.gate import RULES
from freshet.quarantine import table as q
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.reader import load_table


def date_of(run_id: str) -> str:
    """Return the partition of the rows that a run drops."""
    return f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}"


def quarantined_rows(spec: PipelineSpec, dropped: DataFrame, run_id: str, position: str) -> DataFrame:
    """Return dropped rows as the quarantine holds them.

    Args:
        spec: The pipeline.
        dropped: Rows as the gate gives them.
        run_id: Of the run.
        position: Where the source was read up to.
    """
    there = set(dropped.columns)
    reason = F.concat_ws("; ", F.col(REASONS), F.col(RULES)) if REASONS in there else F.concat_ws("; ", F.col(RULES))
    own: dict[str, Column] = {
        # The gate keeps the batch, so that a row has one number however often it is read.
        q.ID: F.concat(F.lit(f"{run_id}-"), F.hex(F.monotonically_increasing_id())),
        q.RULE: F.concat_ws(",", F.col(RULES)),
        q.REASON: reason,
        q.RUN: F.lit(run_id),
        q.POSITION: F.lit(position),
        q.ROW: F.col(ORIGINAL),
        q.VERSION: F.lit(0),
        q.DATE: F.lit(date_of(run_id)),
        IS_DELETED: F.lit(False),
    }
    return dropped.select(
        *(
            own.get(c.name, F.col(f"`{c.name}`") if c.name in there else F.lit(None)).cast(str(c.type)).alias(c.name)
            for c in q.columns_of(spec)
        )
    )


def removed_rows(spec: PipelineSpec, rows: DataFrame) -> DataFrame:
    """Return rows of the quarantine as an upsert takes them away."""
    there = set(rows.columns)
    own = {q.VERSION: F.col(q.VERSION) + 1, IS_DELETED: F.lit(True)}
    return rows.select(
        *(
            own.get(c.name, F.col(f"`{c.name}`") if c.name in there else F.lit(None)).cast(str(c.type)).alias(c.name)
            for c in q.columns_of(spec)
        )
    )


def waiting_rows(spark: SparkSession, spec: PipelineSpec, hidden: tuple[str, ...], where: str = "") -> DataFrame:
    """Return the rows that wait in the quarantine.

    Args:
        spark: The session.
        spec: The pipeline.
        hidden: Runs whose rows do not count.
        where: SQL condition; empty for all.
    """
    rows = load_table(spark, spec.quarantine.path)
    rows = rows.where(~F.col(q.RUN).isin(list(hidden))) if hidden else rows
    return rows.where(where) if where else rows


def write_quarantine(
    spec: PipelineSpec,
    parts: list[DataFrame],
    run_id: str,
    origin: str,
    reads: Collection[TableRef] = (),
) -> None:
    """Write one commit to the quarantine.

    Args:
        spec: The pipeline.
        parts: Rows as ``quarantined_rows`` and ``removed_rows`` give them.
        run_id: Of the run.
        origin: One of ``quarantine.table.ORIGINS``.
        reads: The tables that the rows are read from, for the words of a failure.

    Raises:
        FreshetError: As ``write_commit``.
    """
    rows = reduce(DataFrame.unionByName, parts)
    options = q.options_of(spec, run_id, origin)
    try:
        rows.write.format("hudi").options(**options).mode("append").save(spec.quarantine.path)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(spec.quarantine, str(error), reads) from error

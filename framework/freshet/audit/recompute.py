"""Compute anew what a target should hold: by the stages of a run, of the versions that an audit has chosen."""

from __future__ import annotations

from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.audit.plan import AuditPlan
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import StateReader
from freshet.plan.row_stages import EnforceSchema
from freshet.quarantine.table import hidden_runs
from freshet.quarantine.write import waiting_rows
from freshet.run.batch import tables_read, walk
from freshet.run.steps.work import Phase, Work
from freshet.sinks.commit import newest_of_each_key
from freshet.sinks.failures import in_words
from freshet.sources.hudi.reads import ReadSnapshot

#: Of a row that a check keeps out: True where it waits in the quarantine.
WAITS = "__freshet_waits"


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """What a target should hold.

    Args:
        rows: Its rows, each once.
        kept_out: Which rows a check keeps out of it: the columns that tell them apart, and ``WAITS``; None where none does.
        dropped: How many rows the checks keep out.
    """

    rows: DataFrame
    kept_out: DataFrame | None
    dropped: int


def recompute(plan: AuditPlan, spark: SparkSession, state: StateReader, root: str, env: str, phase: Phase) -> Recomputed:
    """Compute anew what the drawn pieces of a target should hold.

    Args:
        plan: The audit.
        spark: A session of its own.
        state: Reader of the tables.
        root: The project's root.
        env: The environment's name.
        phase: Told what goes on.

    Raises:
        FreshetError: What the stages raise.
    """
    work = Work(plan.plan, plan.spec, spark, root, env, phase, False)
    try:
        for stage in plan.plan.stages:
            walk(work, stage)
            if isinstance(stage, ReadSnapshot):
                work.view(stage.view, _drawn(plan, stage.view, work.inputs[stage.view]))
            elif isinstance(stage, EnforceSchema) and not plan.sample.is_whole:
                # What its tables could not tell of a row its own columns do.
                work.batch = work.batch.where(plan.sample.of_target())
        gated = work.gated
        rows = newest_of_each_key(work.batch, plan.identity, plan.spec.target.ordering_field)
        dropped = gated.dropped if gated is not None else None
        kept_out = None if dropped is None else _kept_out(plan, spark, state, dropped)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(plan.spec.target.ref, str(error), tables_read(plan.plan), reading=True) from error
    return Recomputed(rows=rows, kept_out=kept_out, dropped=gated.dropped_count if gated is not None else 0)


def _drawn(plan: AuditPlan, view: str, rows: DataFrame) -> DataFrame:
    condition = plan.sample.of_table(view)
    rows = rows.where(condition) if condition else rows
    if view == MAIN and plan.deletes:
        live = F.coalesce(F.col(IS_DELETED), F.lit(False)) if IS_DELETED in rows.columns else F.lit(False)
        rows = rows.withColumn(IS_DELETED, live)
    return rows


def _kept_out(plan: AuditPlan, spark: SparkSession, state: StateReader, dropped: DataFrame) -> DataFrame:
    names = [F.col(f"`{name}`") for name in plan.identity]
    named = F.lit(True)
    for name in names:
        named = named & name.isNotNull()
    # A row without a key can be looked for nowhere.
    keys = dropped.where(named).select(*names).distinct()
    if state.table(plan.spec.quarantine) is None:
        return keys.withColumn(WAITS, F.lit(False))
    there = (
        waiting_rows(spark, plan.spec, hidden_runs(plan.spec, state)).select(*names).distinct().withColumn(WAITS, F.lit(True))
    )
    return keys.join(there, list(plan.identity), "left").withColumn(WAITS, F.coalesce(F.col(WAITS), F.lit(False)))

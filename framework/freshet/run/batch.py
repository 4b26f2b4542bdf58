"""Walk a plan's stages up to the commit: read, transform, hold against the DDL and the checks. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.backfill.read import read_range
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.options import REPLACES_ALL
from freshet.plan.checks import CheckBatch, CheckTable, table_after
from freshet.plan.stages import Commit, Conform, MergeColumns, Plan, RunPython, RunSql
from freshet.project.model.checks import SqlRule, kind_of
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quality.contract import conform
from freshet.quality.gate import Gated, check_batch
from freshet.quality.older import Older, count_older
from freshet.quality.outcome import Outcome, outcome
from freshet.quality.preview import before, touched_partitions
from freshet.quality.queries import check_table
from freshet.quarantine import table as q
from freshet.quarantine.read import read_quarantine
from freshet.sinks.commit import empty_batch, newest_of_each_key, use_large_tasks, without_moved
from freshet.sinks.failures import in_words
from freshet.sinks.merge import merge_columns
from freshet.sources.hudi.read.held import hold_read
from freshet.sources.hudi.read.inputs import drive_rows, read_lookback, read_partitions
from freshet.sources.hudi.read.reader import IDENTITY, load_table, read_identified, read_snapshot
from freshet.sources.hudi.reads import (
    DriveRows,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadQuarantine,
    ReadRange,
    ReadSnapshot,
    counted,
)
from freshet.transform.python import Context, run_python
from freshet.transform.sql import run_sql

Phase = Callable[[str], None]
_FEW_DROPPED = 100_000


@dataclass(frozen=True)
class Batch:
    """What is to be committed.

    Args:
        rows: Rows that fit the target.
        commit: The commit.
        gated: What the checks of the batch found; None where the pipeline has none.
        outcomes: Of every check, those that Hudi evaluates within the commit as passed.
        table_checks: The checks of the table; None where there are none.
        older: What becomes of the rows that are older than dropped ones.
    """

    rows: DataFrame
    commit: Commit
    gated: Gated | None = None
    outcomes: tuple[Outcome, ...] = ()
    table_checks: CheckTable | None = None
    older: Older = field(default_factory=Older)

    @property
    def has_rows(self) -> bool:
        """Return False where the checks have seen that there is no row to write."""
        return self.gated is None or not self.gated.is_empty


def make_batch(
    plan: Plan,
    spec: PipelineSpec,
    spark: SparkSession,
    root: str,
    env: str,
    phase: Phase,
    all_here: bool = False,
) -> Batch:
    """Walk the plan's stages.

    Args:
        plan: The plan.
        spec: Its pipeline.
        spark: A session of the run's own.
        root: The project's root.
        env: The environment's name.
        phase: Told what goes on, in words.
        all_here: True where no commit follows, so that what Hudi would evaluate within it is evaluated here.

    Returns:
        The batch; checks that failed are among its outcomes, and raise nothing here.

    Raises:
        FreshetError: What the stages raise.
    """
    try:
        return _walked(plan, spec, spark, root, env, phase, all_here)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(spec.target.ref, str(error), tables_read(plan), reading=True) from error


def tables_read(plan: Plan) -> tuple[TableRef, ...]:
    """Return the tables that a plan's batch is read from, each once."""
    reads = (ReadIncrement, ReadLookback, ReadPartitions, ReadQuarantine, ReadRange, ReadSnapshot)
    return tuple(dict.fromkeys(stage.table for stage in plan.stages if isinstance(stage, reads)))


def _walked(
    plan: Plan,
    spec: PipelineSpec,
    spark: SparkSession,
    root: str,
    env: str,
    phase: Phase,
    all_here: bool,
) -> Batch:
    inputs: dict[str, DataFrame] = {}
    instant = plan.window.end_inclusive
    context = Context(spark, spec.name, env, spec.variables, instant)
    gated: Gated | None = None
    outcomes: tuple[Outcome, ...] = ()
    table_checks: CheckTable | None = None
    keep = (q.ID,) if plan.window.kind == "replay" else ()

    def view(name: str, rows: DataFrame) -> None:
        inputs[name] = rows
        rows.createOrReplaceTempView(name)

    for stage in plan.stages:
        match stage:
            case ReadIncrement():
                source = read_identified(spark, stage)
                view(MAIN, source.drop(*IDENTITY))
            case ReadRange():
                view(stage.view, read_range(spark, stage))
            case ReadQuarantine():
                hold_read(stage)
                inputs[MAIN] = read_quarantine(spark, stage)
            case DriveRows():
                source = drive_rows(spark, stage, source)
                view(MAIN, source.drop(*IDENTITY))
            case ReadSnapshot():
                view(stage.view, read_snapshot(spark, stage))
            case ReadLookback():
                view(stage.view, read_lookback(spark, stage))
            case ReadPartitions():
                rows, names = read_partitions(spark, stage, inputs[MAIN])
                view(stage.view, rows)
                phase(f"reading {counted(len(names), 'partition')} of {stage.table.name} as {stage.view}")
            case RunSql():
                view(MAIN, run_sql(spark, stage, instant))
            case RunPython():
                view(MAIN, run_python(root, stage.file, inputs, context))
            case Conform():
                inputs[MAIN] = without_moved(conform(inputs[MAIN], stage, spec.target.file, keep), stage.alive_by)
            case CheckBatch():
                phase(f"checking the batch: {counted(len(stage.checks), 'check')}")
                gated = check_batch(spark, stage, inputs[MAIN], keep)
                inputs[MAIN], outcomes = gated.rows, gated.outcomes
            case MergeColumns():
                hold_read(stage)
                inputs[MAIN] = merge_columns(spark, stage, inputs[MAIN], is_kept=gated is not None)
            case CheckTable():
                if any(one.status == "failed" for one in outcomes):
                    # Nothing will be published: what it would make of the table is not worth the look.
                    continue
                table_checks = stage
                empty = gated is not None and gated.is_empty
                outcomes = (*outcomes, *_table_outcomes(spark, stage, inputs[MAIN], phase, all_here, empty))
            case Commit():
                if stage.empty:
                    return Batch(empty_batch(spark, spec.target.columns), stage)
                if stage.operation in ("bulk_insert", REPLACES_ALL):
                    target = spec.target
                    use_large_tasks(spark)
                    inputs[MAIN] = newest_of_each_key(inputs[MAIN], target.record_key, target.ordering_field)
                order = [check.name for check in spec.checks]
                own = tuple(one for one in outcomes if one.name not in order and one.status == "failed")
                told = sorted((one for one in outcomes if one.name in order), key=lambda one: order.index(one.name))
                outcomes = (*own, *told)
                older = _older(plan, spec, spark, gated, outcomes, phase)
                return Batch(inputs[MAIN], stage, gated, outcomes, table_checks, older)
            case _:
                assert_never(stage)
    raise FreshetError("PLAN_WITHOUT_COMMIT", f"{spec.name}: the plan holds no commit.")


def _table_outcomes(
    spark: SparkSession,
    stage: CheckTable,
    rows: DataFrame,
    phase: Phase,
    all_here: bool,
    empty: bool,
) -> tuple[Outcome, ...]:
    # No rows change nothing, unless partitions are replaced by them; and Hudi has nothing that its validators could look at.
    replaces = bool(stage.overwritten) or stage.operation == REPLACES_ALL
    idle = [
        one
        for one in stage.checks
        if empty and not replaces and isinstance(one.check.rule, SqlRule) and one.check.rule.compare == "changed"
    ]
    before = [one for one in stage.checks if (all_here or empty or one.by == "freshet") and one not in idle]
    later = [one for one in stage.checks if one not in (*idle, *before)]
    found: tuple[Outcome, ...] = ()
    if before:
        phase(f"checking the table as it would stand: {counted(len(before), 'check')}")
        found = check_table(spark, stage, before, rows, standing(spark, stage))
    if later and any(one.status == "failed" for one in found):
        # There will be no commit within which Hudi could evaluate the rest: the report names all that is wrong.
        found, later = (*found, *check_table(spark, stage, later, rows, standing(spark, stage))), []
    return (
        *found,
        *(outcome(one.check, False, seen="held within the commit") for one in later),
        *(Outcome(one.check.name, kind_of(one.check.rule), one.check.severity, "skipped", seen="no row") for one in idle),
    )


def _older(
    plan: Plan,
    spec: PipelineSpec,
    spark: SparkSession,
    gated: Gated | None,
    outcomes: tuple[Outcome, ...],
    phase: Phase,
) -> Older:
    stage = next((one for one in plan.stages if isinstance(one, CheckBatch)), None)
    if stage is None or not stage.located or gated is None or gated.dropped is None:
        return Older()
    none_is_kept = plan.first_run or gated.dropped_count == gated.deletes
    if none_is_kept or any(one.status == "failed" for one in outcomes):
        return Older(undeletable=gated.undeletable)
    phase(f"looking what stands under the keys of {counted(gated.dropped_count, 'dropped row')}")
    table = table_after(spec, True, "upsert")
    # Of a global index the older row may lie elsewhere: to find it there, all of the table would have to be read.
    there = replace(table, global_index=False)
    partitions = touched_partitions(there, gated.dropped, gated.dropped) if table.partition_by else None
    few = gated.dropped_count <= _FEW_DROPPED
    kept = count_older(stage, gated.dropped, gated.rows, before(table, standing(spark, table), partitions), few=few)
    return Older(kept, table.global_index and partitions is not None, gated.undeletable)


def standing(spark: SparkSession, stage: CheckTable) -> DataFrame:
    """Return the target as it stands; without rows before its first commit."""
    return load_table(spark, stage.table.path) if stage.exists else empty_batch(spark, stage.columns)

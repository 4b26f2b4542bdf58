"""Walk a plan's stages up to the commit: read, transform, hold against the DDL and the checks. Nothing is written here."""

from __future__ import annotations

from dataclasses import dataclass, field

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from typing_extensions import assert_never

from freshet.backfill.read import read_range
from freshet.changelog.counts import Counts
from freshet.errors import FreshetError
from freshet.event_times.counted import Counted
from freshet.hudi.checkpoint import MAIN
from freshet.hudi.options import REPLACES_ALL
from freshet.plan.checks import CheckBatch, CheckTable
from freshet.plan.event_times import counts_times
from freshet.plan.row_stages import AdaptEvents, EnforceSchema, MergeColumns, MergeEvents
from freshet.plan.stages import Commit, Plan, RunPython, RunSql, Stage
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quality.gate import Gated
from freshet.quality.older import Older
from freshet.quality.outcome import Outcome
from freshet.quarantine.read import read_quarantine
from freshet.run.steps import check, read
from freshet.run.steps.work import Phase, Work
from freshet.sinks.commit import empty_batch, newest_of_each_key, use_large_tasks
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.held import hold_read
from freshet.sources.hudi.read.inputs import read_lookback
from freshet.sources.hudi.read.reader import read_snapshot
from freshet.sources.hudi.reads import (
    DriveRows,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadQuarantine,
    ReadRange,
    ReadSnapshot,
)
from freshet.transform.python import run_python
from freshet.transform.sql import run_sql


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What is to be committed.

    Args:
        rows: Rows that fit the target.
        commit: The commit.
        gated: What the checks of the batch found; None where the pipeline has none.
        outcomes: Of every check, those that Hudi evaluates within the commit as passed.
        table_checks: The checks of the table; None where there are none.
        older: What becomes of the rows that are older than dropped ones.
        events: What became of the events of a changelog; None where there is none.
        event_times: When they were, or the rows' events; None where nobody counts that.
    """

    rows: DataFrame
    commit: Commit
    gated: Gated | None = None
    outcomes: tuple[Outcome, ...] = ()
    table_checks: CheckTable | None = None
    older: Older = field(default_factory=Older)
    events: Counts | None = None
    event_times: Counted | None = None

    @property
    def has_rows(self) -> bool:
        """Return False where the checks, or the merge, have seen that there is no row to write."""
        if self.events is not None:
            return self.events.merged.rows > 0
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
    work = Work(plan, spec, spark, root, env, phase, all_here)
    try:
        for stage in plan.stages:
            if isinstance(stage, Commit):
                return _batch(work, stage)
            walk(work, stage)
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(spec.target.ref, str(error), tables_read(plan), reading=True) from error
    raise FreshetError("PLAN_WITHOUT_COMMIT", f"{spec.name}: the plan holds no commit.")


def walk(work: Work, stage: Stage) -> None:
    """Carry out one stage of a plan, any but its commit."""
    match stage:
        case ReadIncrement():
            read.read_main(work, stage)
        case ReadRange():
            work.view(stage.view, read_range(work.spark, stage))
        case ReadQuarantine():
            hold_read(stage)
            work.batch = read_quarantine(work.spark, stage)
        case DriveRows():
            read.add_driven(work, stage)
        case ReadSnapshot():
            work.view(stage.view, read_snapshot(work.spark, stage))
        case ReadLookback():
            work.view(stage.view, read_lookback(work.spark, stage))
        case ReadPartitions():
            read.read_needed_partitions(work, stage)
        case AdaptEvents():
            read.adapt_events(work, stage)
        case RunSql():
            work.view(MAIN, run_sql(work.spark, stage, work.plan.window.end_inclusive))
        case RunPython():
            work.view(MAIN, run_python(work.root, stage.file, work.inputs, work.context))
        case EnforceSchema():
            check.hold_to_ddl(work, stage)
        case CheckBatch():
            check.hold_to_checks(work, stage)
        case MergeColumns():
            check.make_whole_rows(work, stage)
        case MergeEvents():
            check.merge_into_target(work, stage)
        case CheckTable():
            check.hold_table_to_checks(work, stage)
        case Commit():
            raise AssertionError("a commit ends the walk")
        case _:
            assert_never(stage)


def _batch(work: Work, stage: Commit) -> Batch:
    spec = work.spec
    if stage.empty:
        return Batch(rows=empty_batch(work.spark, spec.target.columns), commit=stage)
    if stage.operation in ("bulk_insert", REPLACES_ALL):
        use_large_tasks(work.spark)
        work.batch = newest_of_each_key(work.batch, spec.target.record_key, spec.target.ordering_field)
    return Batch(
        rows=work.batch,
        commit=stage,
        gated=work.gated,
        outcomes=check.in_order(work),
        table_checks=work.table_checks,
        older=check.older_rows(work),
        events=work.counts,
        event_times=work.event_times if counts_times(work.plan.window, stage.operation) else None,
    )


def tables_read(plan: Plan) -> tuple[TableRef, ...]:
    """Return the tables that a plan's batch is read from, each once."""
    reads = (ReadIncrement, ReadLookback, ReadPartitions, ReadQuarantine, ReadRange, ReadSnapshot)
    return tuple(dict.fromkeys(stage.table for stage in plan.stages if isinstance(stage, reads)))

"""Run one plan on Spark: walk its stages, publish one commit, and read back from the timeline what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from freshet.errors import FreshetError, SyncError, unforeseen
from freshet.hudi.checkpoint import EVENTS_KEY, RUN_ID_KEY, TIMES_KEY
from freshet.hudi.instants import readable
from freshet.hudi.table import CommitInfo, Instant, StateReader, TableState
from freshet.plan.bootstrap import ReadBackup
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.quality.older import Older
from freshet.quality.outcome import Outcome, metadata_of, refuse_failed
from freshet.quality.queries import check_table
from freshet.quarantine.run import keep_apart, refuse_empty_replay, release, release_earlier
from freshet.run.batch import Batch, make_batch, tables_read
from freshet.run.catalogue import sync_if_due
from freshet.run.fence import check_clock, fence, guard
from freshet.run.spark import session_for
from freshet.run.steps.check import standing
from freshet.run.steps.work import Phase
from freshet.run.sync_due import mark_due
from freshet.run.telling import Finished
from freshet.run.write_session import WriteSession
from freshet.sinks.commit import write_commit
from freshet.sources.hudi.read.held import hold_target
from freshet.sources.hudi.reads import counted
from freshet.sources.registry import kind_named

Make = Callable[[Plan, PipelineSpec, SparkSession, str, str, Phase], Batch]


@dataclass(frozen=True, kw_only=True)
class Committed:
    """What a run published.

    Args:
        instant: The commit, as the target's timeline has it.
        info: What it did, by its own metadata.
        seconds: Seconds by phase: ``session``, ``transform`` (reads are lazy: analysis only), ``write``.
        service_error: Why a table service failed after the commit; None where none did.
        sync_error: Why a catalogue was not told of the commit; None where it was, or where there is none.
        outcomes: What the checks found.
        quarantined: Rows that went to the quarantine.
        quarantine_error: Why rows were not taken out of the quarantine after the commit; None where they were.
        older: What becomes of the rows that are older than these.
    """

    instant: Instant
    info: CommitInfo
    seconds: dict[str, float]
    service_error: FreshetError | None = None
    outcomes: tuple[Outcome, ...] = ()
    quarantined: int = 0
    sync_error: SyncError | None = None
    quarantine_error: FreshetError | None = None
    older: Older = field(default_factory=Older)


def execute(
    plan: Plan,
    spec: PipelineSpec,
    root: str,
    env: str,
    state: StateReader,
    session: WriteSession,
    run_id: str,
    phase: Phase,
    short: bool = False,
    finished: Finished = lambda stage, seconds, rows: None,
    make: Make | None = None,
) -> Committed:
    """Run a plan that has stages.

    Args:
        plan: The plan.
        spec: Its pipeline.
        root: The project's root.
        env: The environment's name.
        state: Reader of the tables, asked once before the commit and once after it.
        session: The target, held for writing.
        run_id: Of this run; stands in the commit.
        phase: Told what goes on, in words.
        short: True where the process will not do more than this small job.
        finished: Told of each stage that is over.
        make: Makes the batch of the plan; None for the plan's stages, as they are.

    Returns:
        The commit.

    Raises:
        FreshetError: What the stages raise; RetryableError CHECKPOINT_MOVED where another writer was faster.
    """
    seconds: dict[str, float] = {}
    service_error: FreshetError | None = None
    with _timed(seconds, "session"):
        phase("starting Spark")
        spark = session_for(spec, root, phase, short)
    finished("session", seconds["session"], None)
    with session.indexed(spark, spec, state, phase, plan.index_follows) as opened:
        with _timed(seconds, "transform"):
            phase(reading(plan))
            batch = (make or make_batch)(plan, spec, spark, root, env, phase)
            refuse_failed(spec, batch.outcomes)
            refuse_empty_replay(plan, spec, batch)
        finished("transform", seconds["transform"], batch.gated.count if batch.gated is not None else None)
        target = state.table(plan.target)
        fence(plan, spec, target, batch.commit)
        if target is not None and target.commits:
            hold_target(target, batch.commit)
            check_clock(spark, spec, target.commits[-1].completed)
        with _timed(seconds, "write"):
            phase(f"writing {plan.target.name}")
            mark_due(spec)
            quarantined = keep_apart(plan, spec, spark, batch, state, target, run_id, phase)
            try:
                found_out = _results(batch, quarantined) | (opened.metadata() if opened is not None else {})
                # A first load asks its index nothing, which is made afterwards.
                rates = opened.options(batch.commit.options) if opened is not None and not plan.index_follows else {}
                session.confirm()
                write_commit(
                    batch.rows,
                    batch.commit,
                    run_id,
                    tables_read(plan),
                    has_rows=batch.has_rows,
                    rates=rates,
                    metadata=found_out,
                )
            except FreshetError as error:
                service_error = _explained(spec, spark, batch, error)
            found = _find_commit(state.table(plan.target), run_id)
            # Hudi runs its table services after the commit: when one of them fails, the rows are published all the same.
            if service_error is not None and found is None:
                raise service_error
            quarantine_error: FreshetError | None = None
            try:
                if found is not None and plan.window.kind == "replay":
                    release(spec, spark, batch, state, run_id, phase)
                if found is not None and plan.replaces_all:
                    release_earlier(spec, spark, state, run_id, phase)
            except Exception as error:  # the rows are published, whatever becomes of this
                quarantine_error = unforeseen(error, spec.name)
        if found is not None:
            finished("write", seconds["write"], found[1].rows)
        sync_error = sync_if_due(spec, spark, phase) if found is not None else None
    if found is None:
        raise FreshetError(
            "COMMIT_MISSING",
            f"{spec.name}: Hudi reported success, and the timeline of {plan.target.path} has no commit of run {run_id}.",
            "Nothing was written, and the checkpoint stays.",
            "Run the same command again.",
            run_id=run_id,
        )
    if found[1].errors:
        raise FreshetError(
            "ROWS_NOT_WRITTEN",
            f"{spec.name}: Hudi left {counted(found[1].errors, 'row')} out of {found[0].completed}.",
            "The commit stands, and its checkpoint with it.",
            f"Load the table anew: freshet run {spec.name} --full-refresh. FRESHET_JVM_LOG=warn prints why.",
        )
    held = batch.commit.guard
    if held is not None and held.after_write:
        # Between the look before the write and Hudi's own begin another commit may have come, and was replaced.
        now = state.table(plan.target)
        assert now is not None
        guard(spec, now, held, found[0].completed, "The chunk was written, and what came between is overwritten.")
    return Committed(
        instant=found[0],
        info=found[1],
        seconds=seconds,
        service_error=service_error,
        outcomes=batch.outcomes,
        quarantined=quarantined,
        sync_error=sync_error,
        quarantine_error=quarantine_error,
        older=batch.older,
    )


def _results(batch: Batch, quarantined: int) -> dict[str, str]:
    told = {EVENTS_KEY: batch.events.metadata()} if batch.events is not None else {}
    if batch.event_times is not None:
        told[TIMES_KEY] = batch.event_times.metadata()
    if batch.gated is None:
        return told
    return {**told, **metadata_of(batch.outcomes, batch.gated.count, quarantined, batch.older.kept)}


def _explained(spec: PipelineSpec, spark: SparkSession, batch: Batch, error: FreshetError) -> FreshetError:
    """Say which check Hudi refused the commit for: it tells that one did, and not which."""
    if error.code != "PRECOMMIT_FAILED" or batch.table_checks is None:
        return error
    checks = [one for one in batch.table_checks.checks if one.by == "hudi"]
    found = check_table(spark, batch.table_checks, checks, batch.rows, standing(spark, batch.table_checks))
    try:
        refuse_failed(spec, found)
    except FreshetError as failed:
        return failed
    return error


def reading(plan: Plan) -> str:
    """Return what a run reads, in words."""
    window = plan.window
    first = plan.stages[0] if plan.stages else None
    if isinstance(first, ReadBackup):
        return f"reading {first.backup.words}"
    if window.kind == "increment":
        return f"reading {kind_named(plan.source_kind, plan.pipeline).reading(window, plan.source_zone)}"
    if window.kind == "whole_table":
        return f"reading the whole source as of {readable(window.end_inclusive, plan.source_zone)}"
    if window.kind == "replay":
        return "reading the quarantine"
    if window.kind == "driven":
        return f"reading what the inputs drive: {window.reason}"
    if window.kind == "backfill":
        return f"{'reading' if len(plan.stages) > 1 else 'recording'} {window.reason}"
    if window.kind == "repair":
        return f"repairing {window.reason}"
    return f"no rows to read: {window.reason}"


def _find_commit(target: TableState | None, run_id: str) -> tuple[Instant, CommitInfo] | None:
    if target is None:
        return None
    return next(((i, info) for i in reversed(target.commits) if (info := target.info(i)).extra.get(RUN_ID_KEY) == run_id), None)


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.monotonic()
    try:
        yield
    finally:
        seconds[name] = round(time.monotonic() - start, 3)

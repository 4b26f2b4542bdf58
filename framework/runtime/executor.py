"""Run one plan on Spark: walk its stages, publish one commit, and read back from the timeline what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession

from framework.errors import FreshetError, RetryableError, StateError
from framework.plan.reads import DriveRows, ReadIncrement, ReadLookback, ReadPartitions, ReadRange, ReadSnapshot, counted
from framework.plan.stages import Commit, Conform, Guard, MergeColumns, Plan, RunPython, RunSql
from framework.quality.contract import conform
from framework.runtime.session import start_session, use_settings
from framework.runtime.submit import archive_path, write_archive
from framework.sinks.hudi import empty_batch, write_commit
from framework.sinks.merge import merge_columns
from framework.sources.hudi import read_increment, read_snapshot
from framework.sources.inputs import drive_rows, read_lookback, read_partitions
from framework.sources.ranges import read_range
from framework.spec.model import PipelineSpec
from framework.state.backfill import touched_between
from framework.state.checkpoint import MAIN, RUN_ID_KEY
from framework.state.table import CommitInfo, Instant, StateReader, TableState
from framework.transform.python import Context, run_python
from framework.transform.sql import run_sql

Phase = Callable[[str], None]


@dataclass(frozen=True)
class Committed:
    """What a run published.

    Args:
        instant: The commit, as the target's timeline has it.
        info: What it did, by its own metadata.
        seconds: Seconds by phase: ``session``, ``transform`` (reads are lazy: analysis only), ``write``.
        service_error: Why a table service failed after the commit; None where none did.
    """

    instant: Instant
    info: CommitInfo
    seconds: dict[str, float]
    service_error: FreshetError | None = None


def execute(
    plan: Plan, spec: PipelineSpec, root: str, env: str, state: StateReader, writer_file: Path, run_id: str, phase: Phase,
) -> Committed:
    """Run a plan that has stages.

    Args:
        plan: The plan.
        spec: Its pipeline.
        root: The project's root.
        env: The environment's name.
        state: Reader of the tables, asked once before the commit and once after it.
        writer_file: Lock file that the writing JVM holds (see ``runtime.lease``).
        run_id: Of this run; stands in the commit.
        phase: Told what goes on, in words.

    Returns:
        The commit.

    Raises:
        FreshetError: What the stages raise; RetryableError CHECKPOINT_MOVED where another writer was faster.
    """
    seconds: dict[str, float] = {}
    service_error: FreshetError | None = None
    with _timed(seconds, "session"):
        phase("starting Spark")
        spark = _session_for(spec, root, phase)
    with _jvm_lock(spark, writer_file):
        with _timed(seconds, "transform"):
            phase(_reading(plan))
            batch, commit = _batch(plan, spec, spark, root, env, phase)
        target = state.table(plan.target)
        _fence(plan, spec, target, commit)
        if target is not None and target.commits:
            _check_clock(spark, spec, target.commits[-1].completed)
        with _timed(seconds, "write"):
            phase(f"writing {plan.target.name}")
            try:
                write_commit(batch, commit, run_id)
            except FreshetError as error:
                service_error = error
            # What a transformer cached belongs to the application, and would outlive the run.
            spark.catalog.clearCache()
            found = _find_commit(state.table(plan.target), run_id)
            # Hudi runs its table services after the commit: when one of them fails, the rows are published all the same.
            if service_error is not None and found is None:
                raise service_error
    if found is None:
        raise FreshetError(
            "COMMIT_MISSING", f"{spec.name}: Hudi reported success, and the timeline of {plan.target.path} has no commit of "
            f"run {run_id}.", "Nothing was written, and the checkpoint stays.", "Run the same command again.", run_id=run_id,
        )
    if commit.guard is not None and commit.guard.after_write:
        # Between the look before the write and Hudi's own begin another commit may have come, and was replaced.
        now = state.table(plan.target)
        assert now is not None
        _guard(spec, now, commit.guard, found[0].completed, "The chunk was written, and what came between is overwritten.")
    return Committed(*found, seconds, service_error)


def _session_for(spec: PipelineSpec, root: str, phase: Phase) -> SparkSession:
    # A session of its own keeps one pipeline's views and settings from the next; the Spark application is shared.
    spark = start_session(spec.spark_conf).newSession()
    context, archive = spark.sparkContext, archive_path(root)
    if not (context.master or "").startswith("local") and not any(file.endswith(archive.name) for file in context.listFiles):
        context.addPyFile(str(write_archive(root, archive)))
    ignored = use_settings(spark, spec.spark_conf)
    if ignored:
        phase(f"SETTINGS_IGNORED: Spark runs already without this pipeline's {', '.join(ignored)}; run it by itself for them")
    return spark


def _batch(
    plan: Plan, spec: PipelineSpec, spark: SparkSession, root: str, env: str, phase: Phase,
) -> tuple[DataFrame, Commit]:
    inputs: dict[str, DataFrame] = {}
    instant = plan.window.end_inclusive
    context = Context(spark, spec.name, env, spec.variables, instant)

    def view(name: str, rows: DataFrame) -> None:
        inputs[name] = rows
        rows.createOrReplaceTempView(name)

    for stage in plan.stages:
        match stage:
            case ReadIncrement():
                view(MAIN, read_increment(spark, stage))
            case ReadRange():
                view(stage.view, read_range(spark, stage))
            case DriveRows():
                view(MAIN, drive_rows(spark, stage, inputs[MAIN]))
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
                inputs[MAIN] = conform(inputs[MAIN], stage, spec.target.file)
            case MergeColumns():
                inputs[MAIN] = merge_columns(spark, stage, inputs[MAIN])
            case Commit():
                return (empty_batch(spark, spec.target.columns) if stage.empty else inputs[MAIN]), stage
            case _:
                assert_never(stage)
    raise FreshetError("PLAN_WITHOUT_COMMIT", f"{spec.name}: the plan holds no commit.")


def _reading(plan: Plan) -> str:
    window = plan.window
    if window.kind == "increment":
        commits, rows = counted(len(window.requested), "commit"), counted(window.rows, "row")
        return f"reading {commits} ({rows}) up to {window.end_inclusive}"
    if window.kind == "whole_table":
        return f"reading the whole source as of {window.end_inclusive}"
    if window.kind == "driven":
        return f"reading what the inputs drive: {window.reason}"
    if window.kind == "backfill":
        return f"{'reading' if len(plan.stages) > 1 else 'recording'} {window.reason}"
    return f"no rows to read: {window.reason}"


def _check_clock(spark: SparkSession, spec: PipelineSpec, newest: str) -> None:
    # Hudi names instants by the writer's local time. A commit that sorts before the present one would hide its checkpoint.
    pattern = spark._jvm.java.time.format.DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS")  # type: ignore[union-attr]
    now = str(spark._jvm.java.time.LocalDateTime.now().format(pattern))  # type: ignore[union-attr]
    if newest.ljust(len(now), "0") > now:
        raise StateError(
            "CLOCK_BEHIND", f"{spec.name}: the last commit of {spec.target.ref.path} is of {newest}, and here it is {now}: "
            "another writer's clock or time zone is ahead of this one.",
            "Nothing was written, and the checkpoint stays.",
            "freshet writes in UTC. Write in that writer's time zone: spark.driver.extraJavaOptions: -Duser.timezone=Area/City",
            newest=newest, now=now,
        )


def _fence(plan: Plan, spec: PipelineSpec, target: TableState | None, commit: Commit) -> None:
    if commit.guard is not None and target is not None:
        _guard(spec, target, commit.guard, "9", "Nothing was written.")
    if plan.window.kind in ("override", "backfill"):
        return
    now = target.latest_checkpoint(spec.partners) if target else None
    if now != plan.checkpoint_before:
        raise RetryableError(
            "CHECKPOINT_MOVED", f"{spec.name}: another writer moved the checkpoint of {plan.target.path} since this run was "
            "planned.", "Nothing was written.", "Run the same command again.",
        )


def _guard(spec: PipelineSpec, target: TableState, guard: Guard, before: str, effect: str) -> None:
    found = touched_between(target, guard.base, before, guard.partitions)
    if found:
        raise RetryableError(
            "PARTITION_CHANGED", f"{spec.name}: another writer committed to {', '.join(guard.partitions[:3]) or 'the table'} "
            f"since this was planned ({', '.join(found[:3])}).", effect, "Run the same command again.", commits=found,
        )


def _find_commit(target: TableState | None, run_id: str) -> tuple[Instant, CommitInfo] | None:
    if target is None:
        return None
    return next(((i, info) for i in reversed(target.commits) if (info := target.info(i)).extra.get(RUN_ID_KEY) == run_id), None)


@contextmanager
def _jvm_lock(spark: SparkSession, path: Path) -> Iterator[None]:
    file = spark._jvm.java.io.RandomAccessFile(str(path), "rw")  # type: ignore[union-attr]
    try:
        if file.getChannel().tryLock() is None:
            raise RetryableError("ALREADY_RUNNING", f"another JVM is writing ({path}).", "Nothing was read or written.",
                                 "Run the same command again.")
        yield
    finally:
        file.close()


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.monotonic()
    try:
        yield
    finally:
        seconds[name] = round(time.monotonic() - start, 3)

"""Rows that checks keep out of a run's commit: written to the quarantine before it, and taken out after a replay's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.errors import StateError
from freshet.hudi.table import StateReader, TableState
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.identity import foreign_words, refuse_occupied
from freshet.quarantine.table import ID, RUN, hidden_runs, origin_of, runs_left, unpublished_run
from freshet.quarantine.write import date_of, quarantined_rows, removed_rows, waiting_rows, write_quarantine
from freshet.run.batch import Batch, tables_read
from freshet.run.steps.work import Phase
from freshet.run.write_session import WriteSession, write_session
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.reads import Version, counted

_WAIT_SECONDS = 600.0
_UNTOUCHED = "Nothing was written, and the checkpoint stays."


def keep_apart(
    plan: Plan,
    spec: PipelineSpec,
    spark: SparkSession,
    batch: Batch,
    state: StateReader,
    target: TableState | None,
    run_id: str,
    phase: Phase,
) -> int:
    """Write dropped rows before the commit; they count once it stands.

    Args:
        plan: The plan.
        spec: Its pipeline.
        spark: The run's session.
        batch: The batch.
        state: Reader of the tables.
        target: The target's state before the commit.
        run_id: Of the run.
        phase: Told what goes on.

    Returns:
        How many rows were dropped.

    Raises:
        StateError: QUARANTINE_OCCUPIED, FILE_MISSING or FILE_CORRUPT.
    """
    if batch.gated is None or plan.window.kind == "replay" or not any(c.severity == "drop" for c in spec.checks):
        return 0
    origin = origin_of(plan.window)
    # A backfill's chunk and a run may come to it at once.
    with held_quarantine(spec, spark, run_id, phase) as session:
        quarantine = state.table(spec.quarantine)
        refuse_occupied(spec, quarantine)
        unfinished, left = unpublished_run(spec.name, quarantine, target, origin), runs_left(spec.name, quarantine, target)
        parts = []
        if batch.gated.dropped is not None:
            parts.append(quarantined_rows(spec, batch.gated.dropped, run_id, plan.window.end_inclusive))
        if unfinished or left is not None:
            goes = (F.col(RUN) == unfinished) | (F.lit(False) if left is None else ~F.col(RUN).isin(sorted(left)))
            parts.append(removed_rows(spec, waiting_rows(spark, spec, ()).where(goes)))
        if parts:
            if quarantine is not None:
                # Of a file that is gone Hudi makes another one: the rows that wait in it would be lost unseen.
                day = date_of(run_id) if len(parts) == 1 and batch.gated.dropped is not None else ""
                hold_version(quarantine, Version(""), _UNTOUCHED, lambda _, folder: not day or folder == day, "COMMIT_CONFLICT")
            session.confirm()
            write_quarantine(spec, parts, run_id, origin, tables_read(plan))
    return batch.gated.dropped_count


def refuse_empty_replay(plan: Plan, spec: PipelineSpec, batch: Batch) -> None:
    """Raise where a replay would publish nothing.

    Args:
        plan: The plan.
        spec: Its pipeline.
        batch: The batch.

    Raises:
        StateError: NOTHING_TO_REPLAY.
    """
    if plan.window.kind == "replay" and batch.gated is not None and batch.gated.count == batch.gated.dropped_count:
        raise StateError(
            "NOTHING_TO_REPLAY",
            f"{spec.name}: none of {counted(batch.gated.count, 'row')} keeps the rules now.",
            "Nothing was published, and the rows stay in the quarantine.",
            f"Repair them by --repair, or change the rule; freshet quarantine show {spec.name} lists them.",
        )


def release(
    spec: PipelineSpec,
    spark: SparkSession,
    batch: Batch,
    state: StateReader,
    run_id: str,
    phase: Phase,
) -> None:
    """Take published rows out of the quarantine: after their commit, so that none is lost in between.

    Args:
        spec: The pipeline.
        spark: The run's session.
        batch: The batch that was published.
        state: Reader of the tables.
        run_id: Of the run.
        phase: Told what goes on.
    """
    assert batch.gated is not None
    published = batch.gated.kept.select(ID)
    with held_quarantine(spec, spark, run_id, phase) as session:
        rows = waiting_rows(spark, spec, hidden_runs(spec, state)).join(published, [ID], "left_semi")
        session.confirm()
        write_quarantine(spec, [removed_rows(spec, rows)], run_id, "command")


def release_earlier(spec: PipelineSpec, spark: SparkSession, state: StateReader, run_id: str, phase: Phase) -> None:
    """Take the rows of earlier runs out of the quarantine, after a full refresh: what it drops has come there again with it.

    Args:
        spec: The pipeline.
        spark: The run's session.
        state: Reader of the tables.
        run_id: Of the run.
        phase: Told what goes on.
    """
    quarantine = state.table(spec.quarantine)
    if quarantine is None or foreign_words(spec.name, spec.quarantine, quarantine):
        return
    with held_quarantine(spec, spark, run_id, phase) as session:
        # Of a chunk that is at work its rows stay: its commit is still to come.
        left = runs_left(spec.name, state.table(spec.quarantine), state.table(spec.target.ref))
        if left is not None:
            rows = waiting_rows(spark, spec, ()).where(~F.col(RUN).isin(sorted(left)))
            session.confirm()
            write_quarantine(spec, [removed_rows(spec, rows)], run_id, "command")


@contextmanager
def held_quarantine(
    spec: PipelineSpec,
    spark: SparkSession,
    run_id: str,
    phase: Phase,
    wait_seconds: float = _WAIT_SECONDS,
) -> Iterator[WriteSession]:
    """Hold a pipeline's quarantine for writing."""
    with (
        write_session(
            spec,
            lambda event: None,
            run_id,
            wait_seconds=wait_seconds,
            waiting=phase,
            table=spec.quarantine,
            clears_lock=False,
        ) as session,
        session.writing(spark),
    ):
        yield session

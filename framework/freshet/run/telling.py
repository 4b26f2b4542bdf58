"""What a run tells: what it is about to read, how far its inputs are ahead, what its stages took, and what its checks found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from freshet.events.event import Listener
from freshet.events.kinds import CheckEvaluated, CheckPassed, LagObserved, Notice, RunStarted, StageFinished, WindowPlanned
from freshet.hudi.instants import seconds_since, zone_of
from freshet.hudi.table import StateReader
from freshet.plan.stages import Notice as PlanNotice
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import DriveRows, Window, counted
from freshet.sources.registry import kind_of

if TYPE_CHECKING:
    from freshet.run.executor import Committed

#: Told which stage is over, after how many seconds, and how many rows it has handled where that is known.
Finished = Callable[[str, float, int | None], None]
# Their rows are not those of commits: how many there are shows when they are read.
_UNCOUNTED = ("whole_table", "deferred", "backfill", "replay", "repair")
# What of a source waits for a run; the other kinds of windows begin anew, or are no window of the source.
_WAITS = ("increment", "idle", "driven")


def tell_started(listen: Listener, pipeline: str, what: str, run_id: str) -> str:
    """Tell that a run begins; returns its id."""
    listen(RunStarted(pipeline=pipeline, message=f"{what} {run_id} begins", run_id=run_id, what=what))
    return run_id


def tell_notices(listen: Listener, pipeline: str, notices: Sequence[PlanNotice]) -> None:
    """Tell what a person should know before a run."""
    for one in notices:
        listen(Notice(pipeline=pipeline, code=one.code, message=f"{one.code}: {one.message}"))


def tell_plan(listen: Listener, spec: PipelineSpec, plan: Plan, state: StateReader, now: float | None = None) -> None:
    """Tell what a run is about to read, and how far each of its inputs is ahead of it; reads timelines alone.

    Args:
        listen: Told of it.
        spec: The pipeline.
        plan: Its plan.
        state: Reader of the tables.
        now: Seconds since 1970.
    """
    window = plan.window
    commits, rows = counted_in(window)
    read = f"{counted(len(window.requested), 'commit')} ({counted(window.rows, 'row')})"
    listen(
        WindowPlanned(
            pipeline=spec.name,
            message=f"{window.kind}: {window.reason or read}",
            kind=window.kind,
            commits=commits,
            rows=rows,
            begin=window.begin_inclusive,
            end=window.end_inclusive,
            waiting_commits=window.waiting_commits,
            waiting_rows=window.waiting_rows,
        )
    )
    for table, waits, zone in waiting_inputs(spec, plan, state):
        commits, rows = len(waits.requested) + waits.waiting_commits, waits.rows + waits.waiting_rows
        # Of a source without commits rows alone wait, and only its status tells for how long.
        alone = rows if not commits else 0
        since = time.time() if now is None else now
        seconds = seconds_since(waits.begin_inclusive, zone, since) if commits else None if rows else 0.0
        age = "" if seconds is None or not commits else f", the oldest for {seconds:.0f} s"
        what = counted(rows, "row") if alone else f"{counted(commits, 'commit')} ({counted(rows, 'row')})"
        words = f"{table}: {what} {'waits' if (alone or commits) == 1 else 'wait'}{age}"
        listen(LagObserved(pipeline=spec.name, message=words, input=table, seconds=seconds, commits=commits, rows=rows))


def counted_in(window: Window) -> tuple[int | None, int | None]:
    """Return how many commits and rows a window reads, by the commits' metadata; None where no commits tell of them."""
    return (None, None) if window.kind in _UNCOUNTED else (len(window.requested), window.rows)


def waiting_inputs(spec: PipelineSpec, plan: Plan, state: StateReader) -> Iterator[tuple[str, Window, str]]:
    """Yield the inputs that have a position: name, what waits of it, and the zone by which it names commits."""
    if plan.window.kind not in _WAITS or not (plan.source_zone or plan.checkpoint_after or plan.checkpoint_before):
        return
    driven = [stage.changes for stage in plan.stages if isinstance(stage, DriveRows)]
    # The plan's window counts what all of them leave.
    yield (
        spec.source.table.name,
        replace(
            plan.window,
            waiting_commits=plan.window.waiting_commits - sum(one.window.waiting_commits for one in driven),
            waiting_rows=plan.window.waiting_rows - sum(one.window.waiting_rows for one in driven),
        ),
        plan.source_zone,
    )
    windows = {one.table: one.window for one in driven}
    for table in dict.fromkeys(one.table for one in spec.inputs if one.drives):
        window = windows.get(table, Window(kind="idle"))
        found = state.table(table) if window.kind == "increment" else None
        if window.kind in _WAITS:
            yield table.name, window, zone_of(found) if found is not None else ""


def stage_teller(listen: Listener, pipeline: str) -> Finished:
    """Return what tells that a stage is over."""

    def finished(stage: str, seconds: float, rows: int | None) -> None:
        # Only checks, which need the rows, make Spark compute them before they are written.
        lazy = stage == "transform" and rows is None
        how = " (analysed alone: Spark computes the rows while it writes them)" if lazy else ""
        words = f"{stage} took {seconds:.3f} s" + (f", {counted(rows, 'row')}" if rows is not None else how)
        listen(StageFinished(pipeline=pipeline, message=words, stage=stage, seconds=seconds, rows=rows, lazy=lazy))

    return finished


def tell_done(listen: Listener, spec: PipelineSpec, plan: Plan, done: Committed) -> None:
    """Tell what a person should know of a commit: what failed after it, and what its checks found."""
    if done.service_error is not None:
        words = "SERVICE_FAILED: the rows are published; a table service failed after the commit: "
        listen(
            Notice(
                pipeline=spec.name,
                code="SERVICE_FAILED",
                message=words + done.service_error.message,
                error=done.service_error.as_json(),
            )
        )
    if done.quarantine_error is not None:
        left = (
            "the same command takes them out of the quarantine"
            if plan.window.kind == "replay"
            else "what the quarantine held before counts no more, and the next run that drops rows takes it out"
        )
        words = f"QUARANTINE_NOT_CLEARED: the rows are published; {left}: "
        listen(
            Notice(
                pipeline=spec.name,
                code="QUARANTINE_NOT_CLEARED",
                message=words + done.quarantine_error.message,
                error=done.quarantine_error.as_json(),
            )
        )
    after = plan.checkpoint_after.main if plan.checkpoint_after else None
    untold = kind_of(spec).published(spec, after) if after is not None else ""
    if untold:
        words = f"OFFSETS_NOT_PUBLISHED: the rows are published, and tools that show lag are not told: {untold}"
        listen(Notice(pipeline=spec.name, code="OFFSETS_NOT_PUBLISHED", message=words))
    for one in done.outcomes:
        kind = CheckEvaluated if one.status in ("warned", "dropped") else CheckPassed
        words = f"check {one.name} {one.status}: expected {one.expected}, seen {one.seen}"
        listen(kind(pipeline=spec.name, message=words, outcome=one.as_json()))
    if done.sync_error is not None:
        listen(Notice(pipeline=spec.name, message=str(done.sync_error), error=done.sync_error.as_json()))

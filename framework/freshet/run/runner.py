"""Run a pipeline: lease, plan, execute, repeat while draining."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import nullcontext

from freshet.errors import FreshetError, RetryableError, unforeseen
from freshet.events.event import Event, Listener
from freshet.hudi.options import compaction_is_due, concurrency_of
from freshet.hudi.table import StateReader
from freshet.jvm.java_end import java_ended
from freshet.lease.local import Lease, hold_lease
from freshet.lease.stale_lock import clear_stale_lock
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.replay import compile_replay
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.records import of_run, remember_killed, remembered
from freshet.run.result import RunResult, in_words, row_counts, summed
from freshet.run.sync_due import is_due
from freshet.run.watchdog import watched
from freshet.sources.hudi.read.held import hold_plan

# Of one run with a backfill or another pipeline's columns; after so many something else is wrong.
_MOST_CONFLICTS = 5
# Of a window that is read and written before an optimising compiler pays.
FEW_ROWS = 200_000
CONFLICTS = ("COMMIT_CONFLICT", "PARTITION_CHANGED")


def run_pipeline(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    drain: bool = False,
    wait_seconds: float | None = None,
) -> RunResult:
    """Run one pipeline under its target's lease; failures become the result."""

    def planned() -> Plan:
        return compile_plan(spec, state, RunRequest())

    return leased(project, spec, state, listen, planned, "run", drain, wait_seconds)


def set_checkpoint(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    instant: str | None,
) -> RunResult:
    """Publish a commit without rows that sets the checkpoint to ``instant``, or resets it where that is None."""
    return leased(project, spec, state, listen, lambda: compile_override(spec, state, instant), "checkpoint")


def replay_quarantine(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    where: str = "",
    repairs: tuple[tuple[str, str], ...] = (),
) -> RunResult:
    """Send rows that wait in the quarantine through the checks again, and publish those that keep them now.

    Rows that break a rule again stay there. Published rows leave the quarantine after the commit: a replay that is killed
    between the two publishes the same rows again, which changes nothing.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        where: SQL condition over the quarantine's columns; empty for all rows.
        repairs: Columns that are set, each to a SQL expression over the quarantine's row.
    """
    return leased(project, spec, state, listen, lambda: compile_replay(spec, state, where, repairs), "replay")


def leased(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    planned: Callable[[], Plan],
    what: str,
    drain: bool = False,
    wait_seconds: float | None = None,
    then: Callable[[Lease, Listener], None] = lambda lease, listen: None,
) -> RunResult:
    """Run what is planned under the target's lease, and leave a record of it; failures become the result.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        planned: Makes the plan.
        what: What the history calls it.
        drain: Repeat until the source has nothing left.
        wait_seconds: How long to wait for another run of the target; None takes the pipeline's own setting.
        then: Called after a commit, while the lease is held.
    """
    with remembered(spec.target.ref, spec.name, what) as record:
        result = _under_lease(project, spec, state, listen, planned, drain, wait_seconds, then)
        record.update(of_run(result))
    return result


def _under_lease(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    planned: Callable[[], Plan],
    drain: bool,
    wait_seconds: float | None,
    then: Callable[[Lease, Listener], None],
) -> RunResult:
    start = time.monotonic()
    wait = spec.lease_wait_seconds if wait_seconds is None else wait_seconds
    result = RunResult(pipeline=spec.name, outcome="idle")

    def waiting(words: str) -> None:
        listen(Event(name="waiting", pipeline=spec.name, message=words))

    try:
        with hold_lease(spec.target.ref, new_run_id(), wait, waiting, pipeline=spec.name) as lease:
            remember_killed(spec.target.ref, lease.left)
            listen = lease.noting(listen)
            if concurrency_of(spec) != "SINGLE_WRITER" and clear_stale_lock(spec.target.ref, lease, waiting):
                listen(Event(name="notice", pipeline=spec.name, message="STALE_LOCK: a killed writer's lock was removed"))
            conflicts = 0
            while True:
                try:
                    done = run_once(project, spec, state, listen, planned, lease)
                except RetryableError as lost:
                    conflicts += 1
                    if lost.code not in CONFLICTS or conflicts > _MOST_CONFLICTS:
                        raise
                    # A backfill that was faster yields to this run from now on.
                    listen(
                        Event(
                            name="conflict",
                            pipeline=spec.name,
                            message=f"{lost.code}: {lost.message} Repeating.",
                            fields=lost.as_json(),
                        )
                    )
                    continue
                result = summed(result, done)
                if done.outcome == "committed":
                    then(lease, listen)
                if not (drain and done.outcome == "committed" and done.waiting_commits):
                    break
    except Exception as unknown:  # whatever happens to one pipeline must not end the others
        error = java_ended(unknown, spec.name) or unforeseen(unknown, spec.name)
        result = summed(result, RunResult(pipeline=spec.name, outcome="failed", error=error))
        listen(Event(name="failed", pipeline=spec.name, message=str(error), fields=error.as_json()))
    whole = round(time.monotonic() - start, 3)
    return RunResult(**{**vars(result), "seconds": {**(result.seconds or {}), "total": whole}})


def run_once(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    planned: Callable[[], Plan],
    lease: Lease,
    is_watched: bool = False,
) -> RunResult:
    """Run one plan under a lease that is held.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        planned: Makes the plan.
        lease: The target's lease.
        is_watched: True where this is a part of what the caller watches over.

    Raises:
        FreshetError: What the plan or its execution raise.
    """
    plan = planned()
    for notice in plan.notices:
        listen(Event(name="notice", pipeline=spec.name, message=f"{notice.code}: {notice.message}"))
    before = plan.checkpoint_before.main if plan.checkpoint_before else None
    if not plan.stages:
        listen(Event(name="idle", pipeline=spec.name, message=f"nothing to do: {plan.window.reason}"))
        error = _told_later(project, spec, listen) if is_due(spec) and state.table(spec.target.ref) is not None else None
        return RunResult(
            pipeline=spec.name,
            outcome="idle",
            checkpoint=before.text if before else "",
            reason=plan.window.reason,
            error=error,
            zone=plan.source_zone,
        )
    hold_plan(plan, state)
    # PySpark costs a second to import and Spark three to start: a tick without news pays for neither.
    from freshet.run.executor import execute

    run_id = new_run_id()
    with nullcontext(listen) if is_watched else watched(spec, listen) as told:
        done = execute(
            plan,
            spec,
            project.root,
            project.env,
            state,
            lease.writer_file,
            run_id,
            lambda words: told(Event(name="phase", pipeline=spec.name, message=words)),
            _is_short(project, spec, plan, state),
        )
    if done.service_error is not None:
        words = "SERVICE_FAILED: the rows are published; a table service failed after the commit: "
        listen(
            Event(
                name="notice",
                pipeline=spec.name,
                message=words + done.service_error.message,
                fields=done.service_error.as_json(),
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
            Event(
                name="notice",
                pipeline=spec.name,
                message=words + done.quarantine_error.message,
                fields=done.quarantine_error.as_json(),
            )
        )
    for one in done.outcomes:
        if one.status in ("warned", "dropped"):
            words = f"check {one.name} {one.status}: expected {one.expected}, seen {one.seen}"
            listen(Event(name="check", pipeline=spec.name, message=words, fields=one.as_json()))
    if done.sync_error is not None:
        listen(Event(name="notice", pipeline=spec.name, message=str(done.sync_error), fields=done.sync_error.as_json()))
    rows = row_counts(spec, done.info)
    after = plan.checkpoint_after.main if plan.checkpoint_after else None
    result = RunResult(
        pipeline=spec.name,
        outcome="committed",
        run_id=run_id,
        commits=(done.instant.completed,),
        inserts=rows.inserts,
        updates=rows.updates,
        deletes=rows.deletes,
        checkpoint=after.text if after else "",
        waiting_commits=plan.window.waiting_commits,
        seconds=done.seconds,
        checks=tuple(one.as_json() for one in done.outcomes),
        quarantined=done.quarantined,
        error=done.sync_error,
        moves=rows.moves,
        mixed=(*rows.mixed, *(("older_kept",) if done.older.at_least else ())),
        zone=plan.source_zone,
        older_kept=done.older.kept,
        undeletable=done.older.undeletable,
        replaced_all=plan.replaces_all,
    )
    listen(Event(name="committed", pipeline=spec.name, message=in_words(result), fields=result.as_json()))
    return result


def _told_later(project: Project, spec: PipelineSpec, listen: Listener) -> FreshetError | None:
    """Make up for a sync that failed, or that a killed run never came to."""
    from freshet.run.catalogue import sync_if_due
    from freshet.run.executor import session_for

    with watched(spec, listen) as told:

        def phase(words: str) -> None:
            told(Event(name="phase", pipeline=spec.name, message=words))

        phase("starting Spark")
        error = sync_if_due(spec, session_for(spec, project.root, phase), phase)
    words = str(error) if error else f"SYNC_REPEATED: the catalogue knows {spec.target.ref.name} as it stands"
    listen(Event(name="notice", pipeline=spec.name, message=words, fields=error.as_json() if error else {}))
    return error


def _is_short(project: Project, spec: PipelineSpec, plan: Plan, state: StateReader) -> bool:
    # Of COPY_ON_WRITE, and of a compaction, the work follows from the files that are written again, whatever the window holds.
    few = plan.window.kind in ("increment", "driven") and plan.window.rows <= FEW_ROWS
    appends = len(project.pipelines) == 1 and not project.goes_on and spec.target.table_type == "MERGE_ON_READ"
    return few and appends and not compaction_is_due(spec, state.table(spec.target.ref))


def new_run_id() -> str:
    """Return a name for a run that no other has: its time, UTC, and random digits."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + "-" + uuid.uuid4().hex[:8]

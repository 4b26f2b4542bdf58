"""Run a pipeline: lease, plan, execute, repeat while draining."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext

from freshet.errors import FreshetError, RetryableError, unforeseen
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import Committed, Conflict, Failed, Idle, Notice, Phase
from freshet.hudi.options import compaction_is_due
from freshet.hudi.table import StateReader
from freshet.jvm.java_end import java_ended
from freshet.plan.compile import compile_override
from freshet.plan.exact import compile_run
from freshet.plan.replay import compile_replay
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.records import of_run, remembered
from freshet.run.result import RunResult, in_words, row_counts, summed
from freshet.run.sync_due import is_due
from freshet.run.telling import counted_in, stage_teller, tell_done, tell_notices, tell_plan, tell_started
from freshet.run.watchdog import watched
from freshet.run.write_session import WriteSession, write_session

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
    return leased(project, spec, state, listen, lambda: compile_run(spec, state), "run", drain, wait_seconds)


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
    then: Callable[[WriteSession], None] = lambda session: None,
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
        then: Called after a commit, while the target is held.
    """
    with remembered(spec.target.ref, spec.name, what) as record:
        result = _under_lease(project, spec, state, listen, planned, what, drain, wait_seconds, then)
        record.update(of_run(result))
    return result


def _under_lease(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    planned: Callable[[], Plan],
    what: str,
    drain: bool,
    wait_seconds: float | None,
    then: Callable[[WriteSession], None],
) -> RunResult:
    start, waited, conflicts = time.monotonic(), 0, 0
    result = RunResult(pipeline=spec.name, outcome="idle")
    run_id = tell_started(listen, spec.name, what, new_run_id())
    try:
        with write_session(spec, listen, run_id, wait_seconds=wait_seconds, pipeline=spec.name) as session:
            listen, waited = session.listen, int(time.monotonic() - start)
            while True:
                try:
                    done = run_once(project, spec, state, listen, planned, session, run_id=run_id)
                except RetryableError as lost:
                    conflicts += 1
                    if lost.code not in CONFLICTS or conflicts > _MOST_CONFLICTS:
                        raise
                    # A backfill that was faster yields to this run from now on.
                    listen(
                        Conflict(
                            pipeline=spec.name,
                            message=f"{lost.code}: {lost.message} Repeating.",
                            error=lost.as_json(),
                        )
                    )
                    run_id = tell_started(listen, spec.name, what, new_run_id())
                    continue
                result = summed(result, done)
                if done.outcome == "committed":
                    then(session)
                if not (drain and done.outcome == "committed" and done.more_waits):
                    break
                run_id = tell_started(listen, spec.name, what, new_run_id())
    except Exception as unknown:  # whatever happens to one pipeline must not end the others
        error = java_ended(unknown, spec.name) or unforeseen(unknown, spec.name)
        result = summed(result, RunResult(pipeline=spec.name, outcome="failed", error=error))
        listen(Failed(pipeline=spec.name, message=str(error), error=error.as_json()))
    whole = round(time.monotonic() - start, 3)
    more = {"seconds": {**(result.seconds or {}), "total": whole}, "conflicts": conflicts, "waited_seconds": waited}
    return RunResult(**{**vars(result), **more})


def run_once(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    planned: Callable[[], Plan],
    session: WriteSession,
    is_watched: bool = False,
    run_id: str = "",
) -> RunResult:
    """Run one plan on a target that is held.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        planned: Makes the plan.
        session: The target, held for writing.
        is_watched: True where this is a part of what the caller watches over.
        run_id: Of this run, for its commit; empty for a new one.

    Raises:
        FreshetError: What the plan or its execution raise.
    """
    plan = planned()
    tell_notices(listen, spec.name, plan.notices)
    tell_plan(listen, spec, plan, state)
    before = plan.checkpoint_before.main if plan.checkpoint_before else None
    if not plan.stages:
        listen(Idle(pipeline=spec.name, message=f"nothing to do: {plan.window.reason}"))
        error = _told_later(project, spec, listen) if is_due(spec) and state.table(spec.target.ref) is not None else None
        return RunResult(
            pipeline=spec.name,
            outcome="idle",
            checkpoint=before.text if before else "",
            reason=plan.window.reason,
            error=error,
            zone=plan.source_zone,
        )
    # PySpark costs a second to import and Spark three to start: a tick without news pays for neither, nor for what holds plans.
    from freshet.run.cost import hold_budget
    from freshet.sources.hudi.read.held import hold_plan

    hold_plan(plan, state, is_run_next=True)
    tell_notices(listen, spec.name, hold_budget(spec, plan, state))
    from freshet.run.executor import execute

    run_id = run_id or new_run_id()
    with nullcontext(listen) if is_watched else watched(spec, listen) as told:
        done = execute(
            plan,
            spec,
            project.root,
            project.env,
            state,
            session,
            run_id,
            teller(told, Phase, spec.name),
            _is_short(project, spec, plan, state),
            finished=stage_teller(told, spec.name),
        )
    tell_done(listen, spec, plan, done)
    rows = row_counts(spec, done.info)
    after = plan.checkpoint_after.main if plan.checkpoint_after else None
    read_commits, read_rows = counted_in(plan.window)
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
        waiting_rows=plan.window.waiting_rows,
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
        read_commits=read_commits,
        read_rows=read_rows,
    )
    listen(Committed(pipeline=spec.name, message=in_words(result), result=result.as_json()))
    return result


def _told_later(project: Project, spec: PipelineSpec, listen: Listener) -> FreshetError | None:
    """Make up for a sync that failed, or that a killed run never came to."""
    from freshet.run.catalogue import sync_if_due
    from freshet.run.spark import session_for

    with watched(spec, listen) as told:
        phase = teller(told, Phase, spec.name)
        phase("starting Spark")
        error = sync_if_due(spec, session_for(spec, project.root, phase), phase)
    words = str(error) if error else f"SYNC_REPEATED: the catalogue knows {spec.target.ref.name} as it stands"
    listen(Notice(pipeline=spec.name, message=words, error=error.as_json() if error else {}))
    return error


def _is_short(project: Project, spec: PipelineSpec, plan: Plan, state: StateReader) -> bool:
    # Of COPY_ON_WRITE, and of a compaction, the work follows from the files that are written again, whatever the window holds.
    few = plan.window.kind in ("increment", "driven") and plan.window.rows <= FEW_ROWS
    appends = len(project.pipelines) == 1 and not project.goes_on and spec.target.table_type == "MERGE_ON_READ"
    return few and appends and not compaction_is_due(spec, state.table(spec.target.ref))

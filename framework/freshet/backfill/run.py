"""Run a backfill chunk by chunk beside the live writer: yield to it, repeat what lost a conflict, resume from the table."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from freshet.backfill.alone import goes_alone
from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import BackfillPlan, PlannedChunk, compile_chunk, compile_failure, plan_backfill
from freshet.errors import DataError, FreshetError, RetryableError, SpecError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import ChunkDone, Conflict, Failed, Notice, Phase, Waiting
from freshet.hudi.table import StateReader
from freshet.lease.choice import leases_for
from freshet.lease.local import backfill_lease
from freshet.plan.stages import Plan
from freshet.project.model.logic import Logic
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.records import error_of, remembered
from freshet.run.runner import CONFLICTS
from freshet.run.telling import stage_teller, tell_plan, tell_started
from freshet.run.watchdog import watched
from freshet.run.write_session import WriteSession, write_session
from freshet.sources.hudi.reads import counted

#: Gives the project with the pipeline alone, rendered with ``start`` and ``end``; for None as its runs have it.
Load = Callable[[tuple[str, str] | None], Project]
# Of the data of one chunk; what is wrong with the files is wrong in every chunk, and ends the backfill.
_OF_THE_DATA = (
    "CHECK_FAILED",
    "NULL_VALUE",
    "OVERFLOW",
    "NOT_OF_TYPE",
    "BAD_BYTES",
    "BAD_PARTITION",
    "OUTSIDE_CHUNK",
    "KEY_AMBIGUOUS",
    "DUPLICATE_KEY",
    "SQL_RUNTIME_ERROR",
    "TOO_MANY_PARTITIONS",
)
# What passes by itself: another writer's commit, a clustering that is planned and will be executed, a source just cleaned.
_REPEATED = (*CONFLICTS, "CLUSTERING_PENDING", "LOCK_NOT_TAKEN", "SOURCE_CHANGED_UNDER_READ")
# The incremental writer goes first; but one that never ends must not starve the repair.
_YIELD_SECONDS = 120.0
# A chunk that must not run beside a run cannot go first.
_ALONE_SECONDS = 1800.0
_LONGEST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class BackfillResult:
    """What became of a backfill.

    Args:
        pipeline: The pipeline.
        backfill: The backfill's own name.
        chunks: How many chunks the range has.
        done: Chunks that stand in the table now.
        skipped: Chunks of earlier calls that were left alone.
        failed: The chunks that failed in this call or before, by their label, with the error's code.
        commits: Completion times of this call's commits.
        rows: Rows inserted, updated or deleted by this call.
        conflicts: How often a chunk was repeated because another writer was faster.
        seconds: Wall time.
        error: Why the backfill ended early; None where it did not.
    """

    pipeline: str
    backfill: str
    chunks: int
    done: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    rows: int = 0
    conflicts: int = 0
    seconds: float = 0.0
    error: FreshetError | None = None

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {**vars(self), "commits": list(self.commits), "error": self.error.as_json() if self.error else None}


def window_of(start: object, end: object) -> tuple[str, str]:
    """Return ``start`` and ``end`` as templates see them: a day alone where both are midnights."""
    texts = (f"{start:%Y-%m-%d %H:%M:%S}", f"{end:%Y-%m-%d %H:%M:%S}")
    if all(text.endswith(" 00:00:00") for text in texts):
        return texts[0][:10], texts[1][:10]
    return texts


def logic_of_runs(load: Load) -> Logic:
    """Return what makes a pipeline's rows; none where its files make sense in a backfill alone."""
    try:
        return load(None).pipelines[0].logic
    except SpecError:
        return ()


def run_backfill(
    load: Load,
    request: BackfillRequest,
    state: StateReader,
    listen: Listener,
    max_conflicts: int = 20,
    may_go_on: Callable[[PlannedChunk], bool] = lambda chunk: True,
) -> BackfillResult:
    """Do the chunks of a range that are to be done.

    Args:
        load: Loads the pipeline for a range.
        request: The range and what of it.
        state: Reader of the tables.
        listen: Told what happens.
        max_conflicts: How often one chunk is repeated before the backfill gives up.
        may_go_on: Asked before each chunk, and may let it wait; the chunks that are left are not begun where it says no.

    Returns:
        What was done; ``error`` where the backfill ended early.

    Raises:
        FreshetError: The backfill cannot begin: see ``plan_backfill`` and ``write_session``.
    """
    spec = load(window_of(request.start, request.end)).pipelines[0]
    with remembered(spec.target.ref, spec.name, "backfill") as record:
        result = _under_lease(load, spec, request, state, listen, max_conflicts, may_go_on)
        record.update(
            backfill=result.backfill,
            chunks=result.chunks,
            done=result.done,
            skipped=result.skipped,
            failed=result.failed,
            commits=list(result.commits),
            conflicts=result.conflicts,
            seconds={"total": result.seconds},
            rows={"written": result.rows},
            error=error_of(result.error) if result.error else None,
            outcome="failed" if result.error or result.failed else "done" if result.commits else "idle",
        )
    return result


def _under_lease(
    load: Load,
    spec: PipelineSpec,
    request: BackfillRequest,
    state: StateReader,
    listen: Listener,
    max_conflicts: int,
    may_go_on: Callable[[PlannedChunk], bool],
) -> BackfillResult:
    started = time.monotonic()
    run_id = tell_started(listen, spec.name, "backfill", new_run_id())
    with write_session(
        spec, listen, run_id, lease=backfill_lease(spec.target.ref), what="backfill", pipeline=spec.name
    ) as session:
        listen = session.listen
        plan = plan_backfill(spec, state, request, logic_of_runs(load))
        wanted = [one for one in plan.chunks if one.wanted]
        result = BackfillResult(
            pipeline=spec.name,
            backfill=plan.name,
            chunks=len(plan.chunks),
            skipped=len(plan.chunks) - len(wanted),
            done=sum(not one.wanted and one.status == "done" for one in plan.chunks),
            failed={one.label: one.error for one in plan.chunks if one.status == "failed" and not one.wanted},
        )
        left: float | None = None
        for number, one in enumerate(wanted, 1):
            if not may_go_on(one):
                break
            listen(
                Phase(
                    pipeline=spec.name,
                    message=one.label,
                    run_id=run_id,
                    unit="chunk",
                    number=number,
                    of=len(wanted),
                    seconds_left=left,
                )
            )
            before = result.commits
            try:
                result = _chunk(load, plan, one, state, listen, session, max_conflicts, result)
            except FreshetError as error:
                result = replace(result, error=error)
                listen(Failed(pipeline=spec.name, message=f"chunk {one.label}: {error}", error=error.as_json()))
                break
            left = (time.monotonic() - started) / number * (len(wanted) - number)
            expected = f", about {_in_words(left)} left" if number < len(wanted) else ""
            listen(
                ChunkDone(
                    pipeline=spec.name,
                    message=f"chunk {number}/{len(wanted)} {one.label}: {counted(result.rows, 'row')} so far, "
                    f"{counted(result.conflicts, 'conflict')}{expected}",
                    number=number,
                    of=len(wanted),
                    rows=result.rows,
                    conflicts=result.conflicts,
                    seconds_left=round(left),
                    commits=result.commits[len(before) :],
                )
            )
    return replace(result, seconds=round(time.monotonic() - started, 3))


def _chunk(
    load: Load,
    plan: BackfillPlan,
    one: PlannedChunk,
    state: StateReader,
    listen: Listener,
    session: WriteSession,
    max_conflicts: int,
    result: BackfillResult,
) -> BackfillResult:
    project = load(window_of(one.chunk.start, one.chunk.end))
    spec = project.pipelines[0]
    for attempt in range(max_conflicts + 1):
        run_id = tell_started(listen, spec.name, "chunk", new_run_id())
        _yield_to_the_run(spec, plan, listen)
        try:
            with _beside_the_run(spec, session, listen) as held:
                done = _execute(compile_chunk(spec, state, plan, one.chunk), spec, project, state, listen, held, run_id)
        except DataError as error:
            if error.code not in _OF_THE_DATA:
                raise
            listen(Notice(pipeline=spec.name, message=f"chunk {one.label} failed: {error}", error=error.as_json()))
            record = compile_failure(spec, state, plan, one.chunk, error.code)
            run_id = tell_started(listen, spec.name, "chunk", new_run_id())
            _execute(record, spec, project, state, listen, session, run_id)
            return replace(result, failed={**result.failed, one.label: error.code})
        except RetryableError as error:
            if error.code not in _REPEATED or attempt == max_conflicts:
                raise
            result = replace(result, conflicts=result.conflicts + 1)
            pause = min(_LONGEST_PAUSE_SECONDS, 0.5 * 2**attempt) * random.uniform(0.5, 1.0)
            words = f"chunk {one.label}: {error.code}, repeated in {pause:.1f} s"
            listen(Conflict(pipeline=spec.name, message=words, error=error.as_json()))
            time.sleep(pause)
        else:
            # Each chunk's commit syncs the whole table: what the last one failed at is what is left.
            return replace(
                result, done=result.done + 1, commits=(*result.commits, done[0]), rows=result.rows + done[1], error=done[2]
            )
    raise AssertionError("the last attempt returns or raises")


def _execute(
    plan: Plan,
    spec: PipelineSpec,
    project: Project,
    state: StateReader,
    listen: Listener,
    session: WriteSession,
    run_id: str,
) -> tuple[str, int, FreshetError | None]:
    from freshet.run.executor import execute

    tell_plan(listen, spec, plan, state)
    with watched(spec, listen) as told:
        done = execute(
            plan,
            spec,
            project.root,
            project.env,
            state,
            session,
            run_id,
            teller(told, Phase, spec.name),
            finished=stage_teller(told, spec.name),
        )
    if done.sync_error is not None:
        listen(Notice(pipeline=spec.name, message=str(done.sync_error), error=done.sync_error.as_json()))
    return done.instant.completed, done.info.rows, done.sync_error


@contextmanager
def _beside_the_run(spec: PipelineSpec, session: WriteSession, listen: Listener) -> Iterator[WriteSession]:
    if not goes_alone(spec):
        yield session
        return
    with write_session(spec, listen, new_run_id(), wait_seconds=_ALONE_SECONDS, chunk=True, clears_lock=False) as held:
        yield held


def _yield_to_the_run(spec: PipelineSpec, plan: BackfillPlan, listen: Listener) -> None:
    if plan.concurrency == "NON_BLOCKING_CONCURRENCY_CONTROL":
        return
    deadline, told = time.monotonic() + _YIELD_SECONDS, False
    leases = leases_for(spec.target.ref, spec.lease_across_machines)
    while leases.is_held(spec.target.ref) and time.monotonic() < deadline:
        if not told:
            listen(Waiting(pipeline=spec.name, message="the incremental run goes first"))
            told = True
        time.sleep(0.1)


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"

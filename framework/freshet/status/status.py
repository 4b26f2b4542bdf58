"""Where every pipeline stands, from the timelines alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from freshet.backfill.record import ChunkRecord, chunk_commits
from freshet.errors import FreshetError
from freshet.hudi.buckets import bucket_advice
from freshet.hudi.checkpoint import CHECKPOINT_KEY, PIPELINE_KEY, RUN_ID_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import CommitInfo, Instant, StateReader, TableState
from freshet.plan.exact import compile_run
from freshet.plan.migrated import refuse_unmigrated
from freshet.plan.positions import checkpoint_of
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.table import lost_words, may_drop
from freshet.secrets import redact_tree
from freshet.sources.hudi.reads import Window, counted
from freshet.sources.protocol import Lag
from freshet.sources.registry import find_source, kind_of
from freshet.status.ahead import drivers_in, look_ahead
from freshet.status.logic_report import LogicReport
from freshet.storage.files import is_local

# A run's commit has one of these, or one of HoodieStreamer's that a pipeline goes on from; those of others have none.
_OF_A_RUN = frozenset((RUN_ID_KEY, CHECKPOINT_KEY, STREAMER_V1_KEY, STREAMER_V2_KEY))


@dataclass(frozen=True, kw_only=True)
class PipelineStatus:
    """One pipeline's standing.

    Args:
        pipeline: Its name.
        state: ``new`` (no target yet), ``waiting`` (for the first run of another), ``up_to_date``, ``behind``, or an error's
            code such as CHECKPOINT_EXPIRED.
        last_commit: Completion time of the last commit that the pipeline made, or that it goes on from.
        checkpoint: The main source's position, as a completion time.
        commits_behind: Source commits since the checkpoint.
        rows_behind: Rows of those commits.
        minutes_behind: Minutes from the checkpoint to the source's last commit; 0 where nothing waits.
        horizon: Completion time of the oldest commit that the source can still be read from.
        minutes_to_horizon: Minutes from the horizon to the checkpoint: how much history is left before it expires;
            None where the source was never cleaned or archived.
        message: The error, where ``state`` is one.
        advice: What should be changed about the table, each on a line with a code before it.
        backfill: The newest backfill, where it is unfinished: its range and how many of its chunks are done.
        backfill_running: True where a backfill goes on now; the caller asks its lease.
        source_zone: Zone by which the source names instants, UTC or LOCAL.
        running: What its lease's holder has written of itself, where a run or a service is at work; the caller asks.
        waits_for: Pipelines whose first run it waits for; the caller knows them.
        logic: Which of the target's partitions hold rows of an older logic: see ``LogicReport``; None before the first run.
        audit: What the last audit found: ``when``, ``outcome``, ``checked``, ``differing`` and others; None where there was
            none; the caller asks.
        slo: What of the pipeline's ``slo`` is kept, at risk or broken: ``objective``, ``seconds``, ``result`` and ``reason`` of
            each; the caller asks.
        overdue_seconds: How long ago a run should have begun by ``schedule`` that did not; None where nobody can tell.
        latency: How late the events of the last commit were published, see ``Latency``; None where nobody counted them.
        captured: Of a table that is published together with others: up to where in the log of their database it holds all.
    """

    pipeline: str
    state: str
    last_commit: str = ""
    checkpoint: str = ""
    commits_behind: int = 0
    rows_behind: int = 0
    minutes_behind: float = 0.0
    horizon: str = ""
    minutes_to_horizon: float | None = None
    message: str = ""
    advice: str = ""
    backfill: str = ""
    backfill_running: bool = False
    source_zone: str = ""
    running: Mapping[str, Any] | None = None
    waits_for: tuple[str, ...] = ()
    logic: LogicReport | None = None
    audit: Mapping[str, Any] | None = None
    slo: tuple[Mapping[str, Any], ...] = ()
    overdue_seconds: float | None = None
    latency: Mapping[str, Any] | None = None
    captured: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the standing as a JSON-serialisable mapping, without secrets."""
        found: dict[str, Any] = redact_tree(asdict(self))
        return found


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A pipeline's standing, with what was seen on the way to it.

    Args:
        status: The standing.
        target: The target; None where there is none, or nobody came to look at it.
        last: The last commit that the pipeline made, or that it goes on from.
        lag: How far the main source has gone on; None where that is not known.
        drivers: What is new in each input that drives a run, by its name; None where that is not known.
        is_whole: False where something unforeseen ended the look.
    """

    status: PipelineStatus
    target: TableState | None = None
    last: tuple[Instant, CommitInfo] | None = None
    lag: Lag | None = None
    drivers: Mapping[str, Window] | None = None
    is_whole: bool = False


def newest_backfill(spec: PipelineSpec, state: StateReader) -> tuple[ChunkRecord, int] | None:
    """Return a record of the newest backfill, and how many of its chunks are done; None where none was ever made.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables; only the active timeline is looked at.
    """
    target = state.table(spec.target.ref) if spec.backfill is not None else None
    found = chunk_commits(target, spec.name, archived=False) if target else []
    if not found:
        return None
    newest = found[0].record
    latest = {c.record.start: c.record.state for c in reversed(found) if c.record.backfill == newest.backfill}
    return newest, sum(state == "done" for state in latest.values())


def unfinished_backfill(spec: PipelineSpec, state: StateReader) -> str:
    """Return the newest backfill in words where chunks of it are missing; empty where none is, or none was ever made.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables; only the active timeline is looked at.
    """
    found = newest_backfill(spec, state)
    if found is None or found[1] == found[0].chunks:
        return ""
    newest, done = found
    start, end, _ = newest.backfill.split("/")
    return f"{start[:10]} to {end[:10]}: {done} of {counted(newest.chunks, 'chunk')} done"


def pipeline_status(
    spec: PipelineSpec,
    state: StateReader,
    hold: Callable[[Plan], None] = lambda plan: None,
) -> PipelineStatus:
    """Look at a pipeline's target and source: the standing alone, see ``look_at``."""
    return look_at(spec, state, hold).status


def look_at(
    spec: PipelineSpec,
    state: StateReader,
    hold: Callable[[Plan], None] = lambda plan: None,
    is_planned: bool = True,
) -> Looked:
    """Look at a pipeline's target and source.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        hold: Raises what forbids the plan of the next run besides the timelines.
        is_planned: False where the next run need not be planned whole: what forbids it besides the timelines is not seen then,
            and nothing is advised; it takes a tenth of the time.

    Returns:
        Its standing; an error becomes its ``state``.
    """
    last = position = zone = ""
    target: TableState | None = None
    made: tuple[Instant, CommitInfo] | None = None
    lag: Lag | None = None
    drivers: Mapping[str, Window] | None = None
    advice: tuple[str, ...] = ()
    state = OneLook(state)
    try:
        target = state.table(spec.target.ref)
        refuse_unmigrated(spec, state, target)
        made = _last_commit(spec, target) if target else None
        last = made[0].completed if made else ""
        checkpoint = checkpoint_of(spec, target) if target else None
        source = find_source(spec, state)
        if source is None:
            words = f"no {kind_of(spec).what(spec)}"
            missing = PipelineStatus(pipeline=spec.name, state="SOURCE_MISSING", last_commit=last, message=words)
            return Looked(status=missing, target=target, last=made)
        zone = source.zone
        main = checkpoint.main if checkpoint else None
        position = source.position_words(main) if main else ""
        lag = source.lag(main)
        if is_planned:
            # By what a run plans, so that it is no second opinion.
            plan = compile_run(spec, state)
            window, drivers = plan.window, drivers_in(spec, plan)
            hold(plan)
            # Of a store that is not this machine's own, plan and run tell it: each commit that is looked at takes its time.
            lost = lost_words(spec, state, target) if may_drop(spec) and is_local(spec.target.ref.path) else ""
            advice = (f"QUARANTINE_LOST: {lost}" if lost else "", bucket_advice(spec, target))
        else:
            window, drivers = look_ahead(spec, state, target, checkpoint)
    except FreshetError as error:
        refused = PipelineStatus(
            pipeline=spec.name, state=error.code, last_commit=last, checkpoint=position, message=str(error), source_zone=zone
        )
        return Looked(status=refused, target=target, last=made, lag=lag, drivers=drivers)
    found = PipelineStatus(
        pipeline=spec.name,
        state="new" if target is None else "up_to_date" if window.kind == "idle" else "behind",
        last_commit=last,
        checkpoint=position,
        commits_behind=lag.commits,
        rows_behind=lag.rows,
        minutes_behind=lag.minutes,
        horizon=lag.horizon,
        minutes_to_horizon=lag.minutes_to_horizon,
        advice="\n".join(filter(None, advice)),
        source_zone=zone,
        captured=lag.captured,
    )
    return Looked(status=found, target=target, last=made, lag=lag, drivers=drivers)


def _last_commit(spec: PipelineSpec, target: TableState) -> tuple[Instant, CommitInfo] | None:
    return next(
        (
            (instant, info)
            for instant, info in target.newest_first()
            if info.extra.get(PIPELINE_KEY, spec.name) == spec.name and not _OF_A_RUN.isdisjoint(info.extra)
        ),
        None,
    )

"""What is known of a pipeline at one moment, read once: from timelines, commits, records of runs and leases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from freshet.account.complete import completeness_of
from freshet.account.windows import Completeness
from freshet.hudi.instants import seconds_since, timestamp_of, zone_of
from freshet.hudi.table import StateReader
from freshet.lease.held import READS_COMMITS, READS_ROWS
from freshet.project.model.cron import Schedule
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.last_runs import LastRuns, last_runs
from freshet.run.record_files import RUNS
from freshet.run.totals import Totals, totals_of
from freshet.sources.hudi.reads import Window
from freshet.status.standing import More, standing_of, unforeseen_in
from freshet.status.status import Looked, newest_backfill

# A scheduler's clock may be a little ahead of ours.
_EARLY = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """What waits of one input.

    Args:
        input: The input's table.
        commits, rows: What waits.
        seconds: Age of the oldest commit that waits; 0 where none does, None where nobody can tell.
    """

    input: str
    commits: int
    rows: int
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A pipeline at one moment.

    Args:
        spec: The pipeline.
        now: The moment, in seconds since 1970.
        looked: Its standing, and what was seen on the way.
        runs: Its newest runs; None where their records cannot be read.
        totals: What all its recorded runs came to; None where that cannot be read.
        waiting: What waits of the main source, then of each input that drives runs; without those of which nobody can tell.
        overdue: How many seconds ago a run should have begun that did not; None where nobody can tell.
        backfill: How many chunks of the newest backfill are done, and how many there are; None where there is none.
        completeness: How much of each window of event times was taken; None where the pipeline declares no windows.
    """

    spec: PipelineSpec
    now: float
    looked: Looked
    runs: LastRuns | None
    totals: Totals | None = None
    waiting: tuple[Waiting, ...] = ()
    overdue: float | None = None
    backfill: tuple[int, int] | None = None
    completeness: Completeness | None = None

    @property
    def last_success(self) -> float | None:
        """Return when the last success ended, in seconds since 1970; where none is recorded, the last commit."""
        if self.runs is not None and self.runs.success:
            return timestamp_of(self.runs.success)
        return timestamp_of(self.looked.last[0].completed) if self.looked.last else None

    @property
    def reading(self) -> tuple[int, int]:
        """Return how many commits of the main source the run at work reads, and their rows; 0 where none is at work."""
        found = self.looked.status.running or {}
        commits, rows = found.get(READS_COMMITS), found.get(READS_ROWS)
        return (commits, rows) if isinstance(commits, int) and isinstance(rows, int) else (0, 0)

    @property
    def running(self) -> tuple[str, float] | None:
        """Return what is at work on the target, and when it began; None where nothing is, or it does not tell."""
        found = self.looked.status.running
        begun = found.get("begun") if found else None
        return (str(found.get("what") or "run"), float(begun)) if found and isinstance(begun, int | float) else None


def measure(project: Project, spec: PipelineSpec, state: StateReader, more: More, now: float) -> Measured:
    """Look at a pipeline as ``freshet status`` does, without a plan of its next run.

    Args:
        project: The pipelines that were asked for.
        spec: One of them.
        state: Read-only view of the tables, which reads each of them once.
        more: Loads others of the project by their names.
        now: Seconds since 1970.
    """
    looked = standing_of(project, spec, more, state, is_planned=False)
    try:
        return measured(spec, state, looked, now)
    except Exception as unknown:  # one unreadable table must not hide the others
        return Measured(spec=spec, now=now, looked=unforeseen_in(spec, unknown), runs=None)


def measured(spec: PipelineSpec, state: StateReader, looked: Looked, now: float) -> Measured:
    """Add to a pipeline's standing what its runs and its schedule tell.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables, which reads each of them once.
        looked: Its standing.
        now: Seconds since 1970.
    """
    runs = _runs(spec)
    found = Measured(spec=spec, now=now, looked=looked, runs=runs)
    return Measured(
        **{
            **vars(found),
            "totals": _totals(spec),
            "waiting": tuple(_waiting(spec, state, looked, now)),
            "overdue": _overdue(found),
            "backfill": _backfill(spec, state),
            "completeness": completeness_of(spec, state, now),
        }
    )


def _runs(spec: PipelineSpec) -> LastRuns | None:
    try:
        return last_runs(spec)
    except Exception:  # a store that does not answer: the table's own state says so
        return None


def _totals(spec: PipelineSpec) -> Totals | None:
    try:
        return totals_of(spec.target.ref, spec.name)
    except Exception:  # a store that does not answer: the table's own state says so
        return None


def _waiting(spec: PipelineSpec, state: StateReader, looked: Looked, now: float) -> Iterator[Waiting]:
    lag = looked.lag
    if lag is not None:
        seconds = seconds_since(lag.oldest, looked.status.source_zone, now) if lag.commits else 0.0
        yield Waiting(input=spec.source.table.name, commits=lag.commits, rows=lag.rows, seconds=seconds)
    drivers: Mapping[str, Window] = looked.drivers or {}
    told = {spec.source.table.name}
    for one in spec.inputs:
        window = drivers.get(one.name)
        # Of a table that drives for the first time all is news, and no commit waits.
        if window is None or window.kind not in ("idle", "increment") or one.table.name in told:
            continue
        told.add(one.table.name)
        commits, rows = len(window.requested) + window.waiting_commits, window.rows + window.waiting_rows
        table = state.table(one.table) if commits else None
        age = seconds_since(window.begin_inclusive, zone_of(table), now) if table is not None else None
        yield Waiting(input=one.table.name, commits=commits, rows=rows, seconds=age if commits else 0.0)


def _overdue(found: Measured) -> float | None:
    recorded = found.runs.begun if found.runs else ""
    # Of before there were records; what else writes to the table, such as a backfill, is no run.
    last = timestamp_of(recorded or (found.looked.last[0].requested if found.looked.last else ""))
    if found.running is not None and found.running[0] in RUNS:
        last = max(last or 0.0, found.running[1])
    if not found.spec.schedule or last is None:
        return None
    schedule = Schedule(found.spec.schedule, found.spec.schedule_zone)
    due = schedule.next_after(datetime.fromtimestamp(last, timezone.utc) + _EARLY)
    return None if due is None else round(max(0.0, found.now - due.timestamp()), 3)


def _backfill(spec: PipelineSpec, state: StateReader) -> tuple[int, int] | None:
    try:
        found = newest_backfill(spec, state)
    except Exception:  # of a target that cannot be read the state says so
        return None
    return (found[1], found[0].chunks) if found else None

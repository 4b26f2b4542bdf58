"""Windows of event times of a Hudi table that is read: by what its commits say of themselves, and which of them were taken.

No row is read. What a commit does not say of its rows, nobody knows without a scan: as long as such a commit is taken nothing
of it is missing; where it is not, its rows may be of any window up to its completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from freshet.account.model import Fed
from freshet.account.windows import Tally
from freshet.event_times.counted import Counted, counted_in
from freshet.hudi.checkpoint import ORIGIN_KEY, TIMES_KEY
from freshet.hudi.instants import timestamp_of
from freshet.hudi.table import CommitInfo, Instant, TableState

_DAY = 86_400
_TAKEN = ("taken", "whole", "before")
# Their rows are no events that come for the first time.
_RECOMPUTES = ("backfill", "repair")


@dataclass
class Counts:
    """What was counted of a table.

    Args:
        tallies: By the window's begin, in seconds since 1970.
        uncounted: Rows that were not taken and of which no commit tells the window.
        upto: When the newest commit of these completed, in seconds since 1970; None where one of them nobody can place.
        is_told: True where some commit of the source tells its windows.
        is_partly_told: True where some commit with rows does not.
    """

    tallies: dict[int, Tally] = field(default_factory=dict)
    uncounted: int = 0
    upto: float | None = 0.0
    is_told: bool = False
    is_partly_told: bool = False


def since_of(begin: int) -> str:
    """Return an instant before all commits that can hold events of a window, whatever zone names them."""
    return f"{datetime.fromtimestamp(max(0, begin - _DAY), timezone.utc):%Y%m%d%H%M%S}000"


def count_source(source: TableState, fed: Iterable[Fed], size: int, zone: str, since: str) -> Counts:
    """Count a source's events by windows, and those that no commit of the target has taken.

    Args:
        source: The table.
        fed: What became of each of its commits.
        size: Length of the windows in seconds.
        zone: Zone by which the table names commits.
        since: Completion time; commits of before are left out.
    """
    known = {instant.completed: info for instant, info in _commits(source, since)}
    found = Counts()
    for one in fed:
        info = known.get(one.what)
        if one.fate in ("skipped", "gone") or info is None or not one.rows or info.extra.get(ORIGIN_KEY) in _RECOMPUTES:
            continue
        why = "" if one.fate in _TAKEN else "wait" if one.fate == "waiting" else f"were passed over: {one.why}"
        told = counted_in(info.extra.get(TIMES_KEY))
        windows = _windows(told, size)
        found.is_told |= windows is not None
        found.is_partly_told |= windows is None
        for begin, events in (windows or {}).items():
            found.tallies.setdefault(begin, Tally()).add(events, why)
        vague = one.rows if told is None or windows is None else told.earlier + told.beyond
        if why and vague:
            found.uncounted += vague
            moment = timestamp_of(one.what, zone)
            found.upto = None if moment is None or found.upto is None else max(found.upto, moment)
    return found


def count_target(target: TableState, pipeline: str, size: int, since: str, pipeline_key: str) -> Mapping[int, int]:
    """Return the events that a pipeline's own commits have published, by windows.

    Args:
        target: The table.
        pipeline: Its name.
        size: Length of the windows in seconds.
        since: Completion time; commits of before are left out.
        pipeline_key: By which a commit names its pipeline.
    """
    found: dict[int, int] = {}
    for _, info in _commits(target, since):
        if info.extra.get(pipeline_key, pipeline) == pipeline:
            for begin, events in (_windows(counted_in(info.extra.get(TIMES_KEY)), size) or {}).items():
                found[begin] = found.get(begin, 0) + events
    return found


def _commits(table: TableState, since: str) -> Iterator[tuple[Instant, CommitInfo]]:
    for instant in table.data_commits:
        if instant.completed > since:
            yield instant, table.info(instant)
    known = frozenset(instant.requested for instant in table.commits)
    yield from table.load_archived(since, known)


def _windows(told: Counted | None, size: int) -> dict[int, int] | None:
    """Return what a commit tells by windows of another length; None where its own do not fit into these."""
    if told is None or not told.window_seconds or size % told.window_seconds:
        return None
    found: dict[int, int] = {}
    for begin, events in told.windows.items():
        found[begin - begin % size] = found.get(begin - begin % size, 0) + events
    return found

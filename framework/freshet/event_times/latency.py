"""How late the events of a commit were published, by its metadata and its completion."""

from __future__ import annotations

from freshet.event_times.counted import Latency, counted_in
from freshet.hudi.checkpoint import TIMES_KEY
from freshet.hudi.instants import timestamp_of
from freshet.hudi.table import CommitInfo, Instant


def latency_of(instant: Instant, info: CommitInfo, zone: str) -> Latency | None:
    """Return how late a commit published its events; None where it counted none, or nobody can tell when it completed.

    Args:
        instant: The commit.
        info: What it did.
        zone: Zone by which the table names commits.
    """
    counted, completed = counted_in(info.extra.get(TIMES_KEY)), timestamp_of(instant.completed, zone)
    return counted.latency(completed) if counted is not None and completed is not None else None

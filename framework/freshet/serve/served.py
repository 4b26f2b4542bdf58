"""When a pipeline is due, and how long it rests after a failure. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal

from freshet.project.model.cron import Schedule
from freshet.project.model.pipeline import PipelineSpec, Project

Kind = Literal["scheduled", "continuous", "follows", "on_call"]
# A scheduler's clock may be a little ahead of ours.
_EARLY_SECONDS = 30.0
_MOST_SECONDS = 3600.0
# What another attempt may find otherwise is tried soon; what follows from the data or the files is not.
_FIRST_SECONDS = {True: 30.0, False: 300.0}
# Hudi's HBASE index has one connection for the whole JVM, which each run opens anew.
HBASE_INDEX = "the HBASE index"


@dataclass(frozen=True, kw_only=True)
class Served:
    """A pipeline as the agenda knows it.

    Args:
        name: Its name.
        schedule: When it is due; None where it has no schedule.
        interval: Of a continuous one, seconds from the begin of one look or run to the next at least.
        upstream: The pipelines of the project whose targets it reads, whether they are served or not.
        apart: No two that run at a time have one of these in common.
    """

    name: str
    schedule: Schedule | None = None
    interval: float | None = None
    upstream: tuple[str, ...] = ()
    apart: frozenset[str] = frozenset()

    @property
    def kind(self) -> Kind:
        """Return what makes it due: its schedule, an interval, its upstream's commits, or a call alone."""
        if self.schedule is not None:
            return "scheduled"
        return "continuous" if self.interval is not None else "follows" if self.upstream else "on_call"


def served_of(project: Project) -> tuple[Served, ...]:
    """Return the pipelines of a project as the agenda knows them, upstream before downstream."""
    return tuple(_served(spec, project.upstream.get(spec.name, ())) for spec in project.pipelines)


def _served(spec: PipelineSpec, upstream: tuple[str, ...]) -> Served:
    return Served(
        name=spec.name,
        schedule=Schedule(spec.schedule, spec.schedule_zone) if spec.schedule else None,
        interval=None if spec.interval_seconds is None else float(spec.interval_seconds),
        upstream=tuple(upstream),
        apart=frozenset({spec.target.ref.path, *([HBASE_INDEX] if spec.index.hbase else ())}),
    )


def followed_by(project: Project) -> frozenset[str]:
    """Return the pipelines whose commits make others due."""
    return frozenset(name for one in served_of(project) if one.kind == "follows" for name in one.upstream)


def next_time(schedule: Schedule, wall: float) -> float | None:
    """Return when a schedule is due after a time, both in seconds since 1970; None where it never is."""
    found = schedule.next_after(datetime.fromtimestamp(wall, timezone.utc))
    return None if found is None else found.timestamp()


def has_missed(schedule: Schedule, last_begun: float | None, wall: float) -> bool:
    """Say whether a run was due since the last one began, and nobody began it.

    Args:
        schedule: The schedule.
        last_begun: When the last run began, in seconds since 1970; None where none ever did: then its first time is to come.
        wall: The time now.
    """
    if last_begun is None:
        return False
    due = next_time(schedule, last_begun + _EARLY_SECONDS)
    return due is not None and due <= wall


def pause_after(failures: int, retryable: bool) -> float:
    """Return how many seconds a pipeline rests after so many failures in a row.

    Args:
        failures: How many; 1 after the first.
        retryable: True where the next attempt may find something else: another writer, a store that answers.
    """
    return min(_FIRST_SECONDS[retryable] * 2.0 ** min(failures - 1, 20), _MOST_SECONDS)

"""How much of each window of event times has been taken: plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from freshet.project.model.promises import EventTimes
from freshet.sources.hudi.reads import counted

#: Windows that are due and looked at; those that are not due yet come after them.
LOOKED_AT = 24
#: What is true of a window. open: its events may still come. complete: it is due, and nothing of it is left at the source.
#: short: it is due, and events of it are not taken. unknown: it is due, and what is left at the source may be of it.
Fill = Literal["open", "complete", "short", "unknown"]


@dataclass(frozen=True, kw_only=True)
class WindowFill:
    """One window of event times.

    Args:
        begin: In seconds since 1970.
        due: When all of its events have to be there, in seconds since 1970.
        at_source: Its events at the source; None where the source does not say.
        missing: Those of them that no commit of the target has taken.
        published: Its events in the target's own commits; None where these do not count them.
        fill: What is true of it.
        why: Why events are missing, or may be; empty where none are.
        in_doubt: True where more events may be left at the source, of which nobody knows the window.
    """

    begin: int
    due: int
    at_source: int | None = None
    missing: int = 0
    published: int | None = None
    fill: Fill = "open"
    why: str = ""
    in_doubt: bool = False

    @property
    def taken(self) -> int | None:
        """Return how many of its events were taken; None where the source does not say how many there are."""
        return None if self.at_source is None else self.at_source - self.missing

    @property
    def share(self) -> float | None:
        """Return which part of its events was taken, from 0 to 1, at most where it is in doubt; None where nobody can tell."""
        if not self.missing:
            return None if self.in_doubt else 1.0
        return max(0.0, 1 - self.missing / self.at_source) if self.at_source else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {**vars(self), "begin": named(self.begin), "due": named(self.due), "taken": self.taken, "share": self.share}


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """How complete a pipeline's target is, by windows of event times.

    Args:
        pipeline, source: The pipeline, and its main source.
        windows: Oldest first.
        window_seconds: How long each is.
        unit: What is counted: ``row`` or ``record``.
        uncounted: Rows that wait, or were passed over, and of which nobody knows the windows.
        note: What the counts rest on, or lack, in words.
        error: Why nothing can be told; empty where it can.
    """

    pipeline: str
    source: str
    windows: tuple[WindowFill, ...] = ()
    window_seconds: int = 0
    unit: str = "row"
    uncounted: int = 0
    note: str = ""
    error: str = ""

    def of(self, *fills: Fill) -> tuple[WindowFill, ...]:
        """Return the windows of which one of these is true."""
        return tuple(one for one in self.windows if one.fill in fills)

    @property
    def share(self) -> float | None:
        """Return the least share of a window that is due; None where none is, or one of them nobody can tell."""
        shares = [one.share for one in self.of("complete", "short", "unknown")]
        known = [one for one in shares if one is not None]
        return min(known) if known and len(known) == len(shares) else None

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {**vars(self), "share": self.share, "windows": [one.as_json() for one in self.windows]}


@dataclass
class Tally:
    """What is known of one window while it is counted."""

    at_source: int | None = None
    missing: int = 0
    published: int | None = None
    whys: dict[str, int] = field(default_factory=dict)

    def add(self, events: int, why: str) -> None:
        """Count events of the source; what is missing of them has a reason."""
        self.at_source = (self.at_source or 0) + events
        if why:
            self.missing += events
            self.whys[why] = self.whys.get(why, 0) + events

    def publish(self, events: int) -> None:
        """Count events of the target."""
        self.published = (self.published or 0) + events


def first_of(times: EventTimes, now: float) -> int:
    """Return the begin of the first window that is looked at, in seconds since 1970."""
    size = times.window_seconds
    last_due = int(now - times.lateness_seconds - size) // size * size
    return last_due - (LOOKED_AT - 1) * size


def filled(
    tallies: Mapping[int, Tally], times: EventTimes, now: float, unit: str, doubts: Mapping[int, str]
) -> Iterator[WindowFill]:
    """Yield the windows that are looked at, oldest first.

    Args:
        tallies: What was counted, by the window's begin.
        times: Length and lateness of the windows.
        now: Seconds since 1970.
        unit: What was counted.
        doubts: Windows of which more may be left at the source, each with the reason.
    """
    for begin, found in sorted(tallies.items()):
        due = begin + times.window_seconds + times.lateness_seconds
        if begin < first_of(times, now):
            continue
        doubt = doubts.get(begin, "")
        fill: Fill = "open" if due > now else "short" if found.missing else "unknown" if doubt else "complete"
        whys = [f"{counted(events, unit)} {why}" for why, events in found.whys.items()]
        yield WindowFill(
            begin=begin,
            due=due,
            at_source=found.at_source,
            missing=found.missing,
            published=found.published,
            fill=fill,
            why="; ".join([*whys, *([doubt] if doubt else [])]),
            in_doubt=bool(doubt),
        )


def named(seconds: int) -> str:
    """Return a moment such as ``2026-11-25T23:00:00Z``."""
    try:
        return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return str(seconds)

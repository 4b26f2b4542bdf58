"""The event times of what one commit publishes: how late it is, and how many events are of each window. Pure.

When a commit completes is known only once it stands. So it keeps how long before the count the events were, and whoever reads
it adds what lay between the count and the commit's completion. Events from the future are counted apart: of a producer whose
clock is ahead no latency is known, and least of all a negative one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: So many windows of one commit are told apart, up to that of the count.
MOST_WINDOWS = 240
#: Latencies that a commit keeps: the shortest, the longest, and what half, 95% and 99% of the events do not exceed.
LAGS = ("min", "p50", "p95", "p99", "max")
_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The event times of one commit.

    Args:
        at_ms: When they were counted, in milliseconds since 1970.
        events: How many events lie before that.
        lags_ms: How long before that they were, by ``LAGS``; empty where there are none.
        untimed: Events without a time.
        future: Events from after the count.
        ahead_ms: How far the furthest of these is ahead.
        window_seconds: Length of the windows; 0 where none are counted.
        windows: Events by the window's begin, in seconds since 1970.
        earlier: Events of windows before those that are told apart.
        first: Begin of the first window that is told apart, in seconds since 1970.
        beyond: Events of windows after that of the count.
    """

    at_ms: int
    events: int = 0
    lags_ms: Mapping[str, int] = field(default_factory=dict)
    untimed: int = 0
    future: int = 0
    ahead_ms: int = 0
    window_seconds: int = 0
    windows: Mapping[int, int] = field(default_factory=dict)
    earlier: int = 0
    first: int = 0
    beyond: int = 0

    def metadata(self) -> str:
        """Return the text that the commit keeps."""
        windows = {str(begin): count for begin, count in self.windows.items()}
        return json.dumps({"version": _VERSION, **vars(self), "windows": windows}, sort_keys=True)

    def latency(self, completed: float) -> Latency:
        """Return how late the events were published.

        Args:
            completed: When the commit completed, in seconds since 1970.
        """
        # A clock that is set back between the two makes no event early.
        since = max(0, round(completed * 1000) - self.at_ms)
        return Latency(
            events=self.events,
            seconds={name: round((lag + since) / 1000, 3) for name, lag in self.lags_ms.items()},
            future=self.future,
            ahead_seconds=round(self.ahead_ms / 1000, 3),
            untimed=self.untimed,
        )


@dataclass(frozen=True, kw_only=True)
class Latency:
    """How late the events of one commit were published.

    Args:
        events: How many have a latency.
        seconds: From the event to the commit, by ``LAGS``; empty where there are none.
        future: Events whose time lay in the future: some clock is ahead.
        ahead_seconds: How far the furthest of these was ahead.
        untimed: Events without a time.
    """

    events: int
    seconds: Mapping[str, float]
    future: int = 0
    ahead_seconds: float = 0.0
    untimed: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {**vars(self), "seconds": dict(self.seconds)}


def counted_in(text: str | None) -> Counted | None:
    """Return what a commit's metadata tells of event times; None where it tells nothing that can be read.

    Args:
        text: What the commit keeps, see ``Counted.metadata``; None where it keeps nothing.
    """
    try:
        told = json.loads(text or "{}")
        if told.get("version") != _VERSION:
            return None
        numbers = {name: int(told[name]) for name in Counted.__dataclass_fields__ if name not in ("lags_ms", "windows")}
        return Counted(
            **numbers,
            lags_ms={name: int(told["lags_ms"][name]) for name in LAGS if name in told["lags_ms"]},
            windows={int(begin): int(count) for begin, count in told["windows"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None

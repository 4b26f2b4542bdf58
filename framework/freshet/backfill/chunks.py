"""A range of dates that is asked for, and its chunks. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from freshet.errors import Exit, FreshetError
from freshet.project.model.pipeline import Granularity

_STEP = re.compile(r"(\d{1,4})(h|d|w|mo)")
_HOURS = {"h": 1, "d": 24, "w": 168}
MOST_CHUNKS = 10_000
Reprocess = Literal["none", "failed", "all"]


class BadRange(FreshetError):
    """The command line's range cannot be cut as it says."""

    exit_code = Exit.USAGE


@dataclass(frozen=True)
class Chunk:
    """A half-open range of event times, UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, kw_only=True)
class BackfillRequest:
    """What the caller wants.

    Args:
        start: Begin of the range of event times, inclusive, UTC.
        end: End, exclusive.
        chunk: Length of a chunk, such as ``1d``; empty for one partition of the target, or a day.
        reprocess: ``none`` does what was not tried; ``failed`` also what failed; ``all`` everything again.
        accept_changes: Go on although the pipeline's logic changed since the backfill began.
    """

    start: datetime
    end: datetime
    chunk: str = ""
    reprocess: Reprocess = "none"
    accept_changes: bool = False


@dataclass(frozen=True)
class Step:
    """The length of a chunk: calendar months, of which a range may cut the first and the last, or hours."""

    months: int = 0
    hours: int = 0

    def after(self, moment: datetime) -> datetime:
        """Return the moment one step later; of months the beginning of one."""
        if not self.months:
            return moment + timedelta(hours=self.hours)
        month = moment.month - 1 + self.months
        return datetime(moment.year + month // 12, month % 12 + 1, 1)


ONE: Mapping[Granularity, Step] = {"hour": Step(hours=1), "day": Step(hours=24), "month": Step(months=1)}


def length_of(granularity: Granularity) -> str:
    """Return the length of one partition as the command line writes it."""
    return {"hour": "1h", "day": "1d", "month": "1mo"}[granularity]


def step_of(text: str) -> Step | None:
    """Return a chunk's length such as ``6h``, ``1d``, ``2w`` or ``1mo``; None where the text is none."""
    match = _STEP.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        return None
    return Step(months=int(match[1])) if match[2] == "mo" else Step(hours=int(match[1]) * _HOURS[match[2]])


def cut(start: datetime, end: datetime, chunk: str, granularity: Granularity | None) -> tuple[Chunk, ...]:
    """Cut ``[start, end)`` into chunks, in order.

    Args:
        start: Begin, inclusive, UTC.
        end: End, exclusive.
        chunk: Length of a chunk; the last one may be shorter, and of months the first one.
        granularity: What one partition of the target holds, where chunks must be whole partitions; None where any will do.

    Raises:
        BadRange: BAD_RANGE.
    """
    step = step_of(chunk)
    if step is None:
        raise _bad(f"'{chunk[:40]}' is no length of a chunk.", "Write for instance --chunk 6h, 1d, 1w or 1mo.")
    if start >= end:
        raise _bad(f"The range from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} is empty.", "The end is exclusive.")
    ragged = [text for text, moment in (("start", start), ("end", end)) if granularity and not _whole(moment, granularity)]
    if ragged:
        raise _bad(
            f"The {' and '.join(ragged)} lies within a partition of the target, which holds a whole {granularity}.",
            f"Begin and end where a {granularity} does.",
        )
    if (granularity == "month" and not step.months) or (granularity == "day" and step.hours % 24):
        raise _bad(
            f"A chunk of {chunk} is no whole partition of the target, which holds a {granularity}.",
            f"Write --chunk {length_of(granularity)}.",
        )
    found: list[Chunk] = []
    while start < end:
        found.append(Chunk(start, min(step.after(start), end)))
        start = found[-1].end
        if len(found) > MOST_CHUNKS:
            raise _bad(f"The range has more than {MOST_CHUNKS:,} chunks of {chunk}.", "Write a longer --chunk.")
    return tuple(found)


def partition_values(chunk: Chunk, granularity: Granularity) -> tuple[str, ...]:
    """Return the values of a chunk's partitions, as text: ``2026-01-05``, ``2026-01-05-13`` or ``2026-01``."""
    step = ONE[granularity]
    form = {"hour": "%Y-%m-%d-%H", "day": "%Y-%m-%d", "month": "%Y-%m"}[granularity]
    found, moment = [], chunk.start
    while moment < chunk.end:
        found.append(moment.strftime(form))
        moment = step.after(moment)
    return tuple(found)


def _whole(moment: datetime, granularity: Granularity) -> bool:
    floor = moment.replace(minute=0, second=0, microsecond=0)
    if granularity != "hour":
        floor = floor.replace(hour=0)
    return moment == (floor.replace(day=1) if granularity == "month" else floor)


def _bad(message: str, hint: str) -> BadRange:
    return BadRange("BAD_RANGE", message, "Nothing was read or written.", hint)

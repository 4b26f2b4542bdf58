"""What a run will cost, by what the pipeline's own runs have cost: a curve through them, and how far off it was. Pure.

Each quantity takes whichever of four curves would have foretold the pipeline's own runs best, each by the runs before it: what
is usual, what the last run cost, a straight line over the rows that are read, or a power of them. Tables grow and machines
change: so a curve's slope comes from all runs, and its height from the newest ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log
from statistics import median
from typing import Any

#: So many runs are needed, and no more are looked at.
FEWEST, MOST = 4, 30
# So many of the newest runs say how high a curve lies.
_NEWEST = 10
# Of the first runs nothing can be foretold.
_FIRST = 2
# A curve tells little of what lies so much further out than any run.
_BEYOND = 4
# No work grows faster than this power of its rows; sorting and looking up stay well below it.
_STEEPEST = 1.5

Curve = Callable[[float], float]
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Past:
    """What one run has cost.

    Args:
        rows: Rows of the main source that it read, by the commits' metadata.
        seconds: Wall time without the start of Spark.
        written_bytes: Bytes of the files that its commit wrote.
        file_groups: File groups that its commit wrote to.
    """

    rows: int
    seconds: float
    written_bytes: int
    file_groups: int


@dataclass(frozen=True)
class Figure:
    """An estimate of one quantity.

    Args:
        value: The estimate.
        error: By which part of the true value such estimates of the runs so far were off, in the median.
    """

    value: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run will cost.

    Args:
        rows: Rows that it reads.
        runs: Of how many runs the estimate is made.
        seconds, written_bytes, file_groups: See ``Past``.
        is_beyond: True where no run has read nearly as many rows.
    """

    rows: int
    runs: int
    seconds: Figure
    written_bytes: Figure
    file_groups: Figure
    is_beyond: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        figures = {"seconds": self.seconds, "written_bytes": self.written_bytes, "file_groups": self.file_groups}
        told = {name: {"value": round(one.value, 3), "median_error": round(one.error, 3)} for name, one in figures.items()}
        return {"rows": self.rows, "runs": self.runs, "is_beyond": self.is_beyond, **told}


def estimate(rows: int, past: Sequence[Past]) -> Estimate | None:
    """Return what a run that reads so many rows will cost; None where too few runs have been.

    Args:
        rows: Rows of the main source, by the commits' metadata.
        past: The pipeline's runs, newest first.
    """
    known = [one for one in past if one.rows > 0][:MOST][::-1]
    if len(known) < FEWEST:
        return None

    def figure(of: Callable[[Past], float]) -> Figure:
        points = [(float(one.rows), float(of(one))) for one in known]
        error, _, fit = min((_error(fit, points), number, fit) for number, fit in enumerate(_CURVES))
        return Figure(max(0.0, fit(points)(rows)), error)

    return Estimate(
        rows=rows,
        runs=len(known),
        seconds=figure(lambda one: one.seconds),
        written_bytes=figure(lambda one: one.written_bytes),
        file_groups=figure(lambda one: one.file_groups),
        is_beyond=rows > _BEYOND * max(one.rows for one in known),
    )


def _error(fit: Callable[[Points], Curve], points: Points) -> float:
    """Return by which part a curve through all points before a point misses it, in the median."""
    missed = []
    for number, (x, y) in enumerate(points[_FIRST:], _FIRST):
        found = max(0.0, fit(points[:number])(x))
        missed.append(abs(found - y) / y if y else float(found > 0))
    return median(missed)


def _same(points: Points) -> Curve:
    usual = median(y for _, y in points[-_NEWEST:])
    return lambda x: usual


def _last(points: Points) -> Curve:
    newest = points[-1][1]
    return lambda x: newest


def _line(points: Points) -> Curve:
    # The median of all slopes (Theil and Sen): one run that hung moves it little.
    slope = max(0.0, median(_slopes(points)))
    base = median(y - slope * x for x, y in points[-_NEWEST:])
    return lambda x: base + slope * x


def _power(points: Points) -> Curve:
    logs = [(log(x), log(y)) for x, y in points if x > 0 and y > 0]
    if len(logs) < 2:
        return _same(points)
    steepness = min(_STEEPEST, max(0.0, median(_slopes(logs))))
    base = median(y - steepness * x for x, y in logs[-_NEWEST:])
    return lambda x: exp(base + steepness * log(x)) if x > 0 else 0.0


def _slopes(points: Points) -> list[float]:
    found = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2]
    return found or [0.0]


# The simplest first: it is taken where another one is no better.
_CURVES: tuple[Callable[[Points], Curve], ...] = (_same, _last, _line, _power)

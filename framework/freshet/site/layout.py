"""Where the boxes and lines of a graph lie: in layers from left to right, by Sugiyama's method in its simplest form. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_LINE, _GAP, _BETWEEN, _EDGE = 44, 18, 64, 12
_SIGN = 7.4
_PADDING, _LEAST_WIDTH, _MOST_SIGNS = 40, 110, 34
_SWEEPS = 8
# Of a chain of boxes the longer it is the more its lines would bend without end.
_RELAXED = 12


@dataclass(frozen=True, kw_only=True)
class Box:
    """A box of a graph: its centre's height, its left side, and its size."""

    key: str
    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line between two boxes, as SVG draws it."""

    start: str
    end: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A graph that is laid out."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def lay_out(labels: Mapping[str, str], edges: Sequence[tuple[str, str]], signs: Mapping[str, int] | None = None) -> Drawing:
    """Lay out a graph without circles.

    Args:
        labels: The text of each box, by its key; the order decides among equals.
        edges: Pairs of keys, from the left one to the right one.
        signs: How many signs must fit into a box besides its label, by its key.
    """
    edges = [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1] and edge[0] in labels and edge[1] in labels]
    layers = _layers(list(labels), edges)
    columns, chains = _columns(labels, edges, layers)
    _order(columns, chains)
    heights = _heights(columns, chains)
    short = {key: _short(label) for key, label in labels.items()}
    needed = {key: max(len(label), (signs or {}).get(key, 0)) for key, label in short.items()}
    widths = [max([_LEAST_WIDTH, *(needed[k] * _SIGN + _PADDING for k in column if k in needed)]) for column in columns]
    lefts, x = [], float(_EDGE)
    for width in widths:
        lefts.append(x)
        x += width + _BETWEEN
    boxes = tuple(
        Box(key=k, x=lefts[at], y=heights[k], width=widths[at], height=_LINE, label=short[k])
        for at, column in enumerate(columns)
        for k in column
        if k in labels
    )
    lines = tuple(Line(start=a, end=b, path=_path(chain, layers, lefts, widths, heights)) for (a, b), chain in chains.items())
    most = max((box.y for box in boxes), default=0.0) + _LINE / 2 + _EDGE
    return Drawing(width=max(x - _BETWEEN + _EDGE, 2 * _EDGE), height=most, boxes=boxes, lines=lines)


def _short(label: str) -> str:
    return label if len(label) <= _MOST_SIGNS else f"{label[: _MOST_SIGNS - 1]}…"


def _layers(keys: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    found = dict.fromkeys(keys, 0)
    after: dict[str, list[str]] = {}
    open_before = dict.fromkeys(keys, 0)
    for start, end in edges:
        after.setdefault(start, []).append(end)
        open_before[end] += 1
    ready = [key for key in keys if not open_before[key]]
    for key in ready:
        for other in after.get(key, ()):
            found[other] = max(found[other], found[key] + 1)
            open_before[other] -= 1
            if not open_before[other]:
                ready.append(other)
    # What nothing comes before stands beside what it feeds, and not at the far end of a long line.
    fed = {end for _, end in edges}
    for key in keys:
        if key not in fed and after.get(key):
            found[key] = min(found[other] for other in after[key]) - 1
    return found


def _columns(
    labels: Mapping[str, str], edges: Sequence[tuple[str, str]], layers: dict[str, int]
) -> tuple[list[list[str]], dict[tuple[str, str], tuple[str, ...]]]:
    """Return the keys of each layer, and of each edge the keys that it passes; in a layer between, a key of its own."""
    columns: list[list[str]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for key in labels:
        columns[layers[key]].append(key)
    chains = {}
    for start, end in edges:
        between = tuple(f"{start}\0{end}\0{layer}" for layer in range(layers[start] + 1, layers[end]))
        for at, key in enumerate(between, layers[start] + 1):
            columns[at].append(key)
            layers[key] = at
        chains[start, end] = (start, *between, end)
    return columns, chains


def _neighbours(chains: Mapping[tuple[str, str], tuple[str, ...]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for chain in chains.values():
        for left, right in pairwise(chain):
            before.setdefault(right, []).append(left)
            after.setdefault(left, []).append(right)
    return before, after


def _order(columns: list[list[str]], chains: Mapping[tuple[str, str], tuple[str, ...]]) -> None:
    """Sort each layer by the middle of what its boxes hang on in the layer beside it, to and fro."""
    before, after = _neighbours(chains)
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        beside = before if forth else after
        for column in columns if forth else reversed(columns):
            place = {key: float(at) for other in columns for at, key in enumerate(other)}
            column.sort(key=lambda key: _mean([place[one] for one in beside.get(key, ())], place[key]))


def _heights(columns: list[list[str]], chains: Mapping[tuple[str, str], tuple[str, ...]]) -> dict[str, float]:
    before, after = _neighbours(chains)
    step = _LINE + _GAP
    found = {key: _EDGE + _LINE / 2 + at * step for column in columns for at, key in enumerate(column)}
    for turn in range(_RELAXED):
        for column in columns if turn % 2 == 0 else reversed(columns):
            wanted = [_mean([found[one] for one in (*before.get(k, ()), *after.get(k, ()))], found[k]) for k in column]
            found.update(zip(column, _apart(wanted, step), strict=True))
    least = min(found.values(), default=0.0)
    return {key: round(y - least + _EDGE + _LINE / 2, 1) for key, y in found.items()}


def _apart(wanted: Sequence[float], step: float) -> list[float]:
    """Return heights in the same order that are as near to the wanted ones as may be, and at least a step apart."""
    # Of blocks that would overlap one is made, whose boxes all move by as much: the mean of what each wants.
    blocks: list[tuple[float, int]] = []
    for at, y in enumerate(wanted):
        mean, count = y - at * step, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return [mean + at * step for at, mean in enumerate(means)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _path(
    chain: Sequence[str],
    layers: Mapping[str, int],
    lefts: Sequence[float],
    widths: Sequence[float],
    heights: Mapping[str, float],
) -> str:
    first = layers[chain[0]]
    x, y = lefts[first] + widths[first], heights[chain[0]]
    parts = [f"M{x:.0f} {y:.0f}"]
    for key in chain[1:]:
        at = layers[key]
        left, middle, right = lefts[at], (x + lefts[at]) / 2, heights[key]
        parts.append(f"C{middle:.0f} {y:.0f} {middle:.0f} {right:.0f} {left:.0f} {right:.0f}")
        x, y = left, right
        if key != chain[-1]:
            x += widths[at]
            parts.append(f"H{x:.0f}")
    return "".join(parts)

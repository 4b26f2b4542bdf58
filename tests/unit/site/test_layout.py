"""Where the boxes of a graph lie: none over another, every line from left to right, the same at every time."""

from __future__ import annotations

import random
import re

import pytest

from freshet.site.layout import Drawing, lay_out


def faults_of(drawing: Drawing) -> list[str]:
    """Say which boxes overlap or leave the drawing, and which lines go back."""
    found = []
    boxes = {box.key: box for box in drawing.boxes}
    for one in drawing.boxes:
        if (
            one.x < 0
            or one.y - one.height / 2 < 0
            or one.x + one.width > drawing.width
            or one.y + one.height / 2 > drawing.height
        ):
            found.append(f"{one.key} leaves the drawing")
        found += [
            f"{one.key} over {other.key}"
            for other in drawing.boxes
            if one.key < other.key
            and one.x < other.x + other.width
            and other.x < one.x + one.width
            and abs(one.y - other.y) < (one.height + other.height) / 2
        ]
    for line in drawing.lines:
        start, end = boxes[line.start], boxes[line.end]
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", line.path)]
        found += [f"{line.start} to {line.end} goes back"] * (start.x + start.width >= end.x)
        found += [f"{line.start} to {line.end} ends elsewhere"] * (
            abs(numbers[-1] - end.y) > 1 or abs(numbers[0] - start.x - start.width) > 1
        )
    return found


def drawn(*edges: str, **labels: str) -> Drawing:
    pairs = [tuple(edge.split(">")) for edge in edges]
    keys = dict.fromkeys(key for pair in pairs for key in pair)
    return lay_out({**{key: key for key in keys}, **labels}, [(a, b) for a, b in pairs])


@pytest.mark.parametrize(
    "edges",
    [
        (),
        ("a>b",),
        ("a>b", "b>c", "a>c"),
        ("a>c", "b>c", "c>d", "a>d", "b>e"),
        ("a>d", "a>b", "b>c", "c>d", "d>e", "a>e", "x>e"),
    ],
)
def test_small_graphs(edges: tuple[str, ...]) -> None:
    assert faults_of(drawn(*edges, alone="alone")) == []


def test_any_graph() -> None:
    drawer = random.Random(7)
    for size in (3, 10, 40, 200):
        keys = [f"n{number}" for number in range(size)]
        edges = [(keys[drawer.randrange(at)], keys[at]) for at in range(1, size) for _ in range(drawer.randrange(3))]
        found = lay_out({key: key * drawer.randrange(1, 12) for key in keys}, edges)
        assert faults_of(found) == []
        assert len(found.boxes) == size


def test_a_table_stands_beside_its_first_reader() -> None:
    boxes = {box.key: box.x for box in drawn("a>b", "b>c", "t>c").boxes}
    assert boxes["t"] == boxes["b"]


def test_what_is_twice_or_leads_to_itself_or_nowhere_is_left_out() -> None:
    found = lay_out({"a": "a", "b": "b"}, [("a", "b"), ("a", "b"), ("a", "a"), ("a", "gone")])
    assert [(line.start, line.end) for line in found.lines] == [("a", "b")]


def test_a_long_name_is_cut_and_an_empty_graph_has_a_size() -> None:
    (box,) = lay_out({"a": "x" * 100}, []).boxes
    assert box.label.endswith("…")
    assert box.width < 320
    assert lay_out({}, []).width > 0

"""YAML as text: hostile and broken files are ordinary problems with a line."""

from __future__ import annotations

import sys

import pytest

from freshet.problems import Problems
from freshet.project.syntax.yaml_nodes import MapNode, ScalarNode, walk
from freshet.project.syntax.yaml_text import parse_yaml


def parsed(text: str) -> tuple[MapNode | None, list[tuple[int, str]]]:
    problems = Problems()
    return parse_yaml(text, "f.yml", problems), [(p.line, p.code) for p in problems.found]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a: 1\nb: !!python/object/apply:os.system ['true']", 2, "YAML_TAG"),
        ("a: !!str 1", 1, "YAML_TAG"),
        ("a: ! x", 1, "YAML_TAG"),
        ("!!python/name:os.system {}", 1, "YAML_TAG"),
        ("a: &x 1\nb: *x", 1, "YAML_ALIAS"),
        ("a:\n  b: *x", 2, "YAML_ALIAS"),
        ("a: 1\n<<: {b: 1}", 2, "YAML_ALIAS"),
        ("a: 1\nb: 2\na: 3", 3, "DUPLICATE_KEY"),
        ("a:\n  x: 1\n  x: 2", 3, "DUPLICATE_KEY"),
        ("- a\n- b", 1, "YAML_NOT_A_MAPPING"),
        ("just text", 1, "YAML_NOT_A_MAPPING"),
        ("a: 1\nb: [1, 2\nc: 3", 3, "YAML_SYNTAX"),
        ("a: b: c", 1, "YAML_SYNTAX"),
        ("a: 1\n\tb: 2", 2, "YAML_SYNTAX"),
        ("a: 1\n---\nb: 2", 2, "YAML_SYNTAX"),
        ("a: {{ var.x }}", 1, "YAML_SYNTAX"),
        ("a: \x07", 1, "YAML_SYNTAX"),
        # Python 3.10 counts the parser's own calls, of which there are too many before.
        ("a: " + "[" * 5000, 1, "YAML_TOO_DEEP" if sys.version_info >= (3, 11) else "YAML_SYNTAX"),
        ("? [a]\n: b", 1, "YAML_SYNTAX"),
        ("%TAG ! x\n--- \na: !b c", 3, "YAML_TAG"),
    ],
)
def test_hostile_and_broken_files(text: str, line: int, code: str) -> None:
    _, problems = parsed(text)
    assert problems[:1] == [(line, code)]


def test_an_alias_bomb_takes_no_time() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24))
    assert parsed(bomb)[1] == [(1, "YAML_ALIAS")]


def test_values_are_typed_and_keep_their_text() -> None:
    tree, problems = parsed(
        "a: 1.10\nb: on\nc: True\nd: ~\ne: 007\nf: -5\ng: '1'\nh: 2026-01-01\ni: 1_000\nj: 0x10\nk: "
        + "9" * 5000
        + "\nl: |\n  x\n"
    )
    assert tree is not None
    assert not problems
    found = {path[0]: (node.value, node.text) for path, node in walk(tree)}
    assert str(found["a"][0]) == "1.10"
    assert found["a"][0] == 1.1
    assert found["b"] == ("on", "on")
    assert found["c"] == (True, "true")
    assert found["d"][0] is None
    assert found["e"] == ("007", "007")
    assert found["f"] == (-5, "-5")
    assert found["g"] == ("1", "1")
    assert found["h"][0] == "2026-01-01"
    assert found["i"][0] == "1_000"
    assert found["k"][0] == "9" * 5000
    block = tree.entries["l"]
    assert isinstance(block, ScalarNode)
    assert (block.line, block.content_line) == (12, 13)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "~"])
def test_an_empty_file_is_an_empty_mapping(text: str) -> None:
    tree, problems = parsed(text)
    assert tree is not None
    assert not tree.entries
    assert not problems


def test_entries_stand_at_their_keys() -> None:
    tree, _ = parsed("a:\n  b:\n    - x\n  c: {d: 1}\n")
    assert tree is not None
    inner = tree.entries["a"]
    assert isinstance(inner, MapNode)
    assert [(key, node.line) for key, node in inner.entries.items()] == [("b", 2), ("c", 4)]

"""Values of a YAML file with the lines where they stand, and how plain text gets its type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_INT = re.compile(r"0|[-+]?[1-9][0-9]{0,30}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}

Value = bool | int | float | str | None


class WrittenFloat(float):
    """A number that prints as it was written, so that version ``1.10`` does not become ``1.1``."""

    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """One value: typed, and as it was written.

    Args:
        value: The value by YAML's core schema (decimal numbers only; a number with leading zeros is text).
        text: The source text; ``true`` and ``false`` in lower case.
        file: File that holds it.
        line: Line of its key, or of the item in a list.
        content_line: Line where the value's text begins.
        key: The key as the file spells it, where it is known by another name.
        template: What the text was rendered from, where a template made it.
    """

    value: Value
    text: str
    file: str
    line: int
    content_line: int
    key: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list and the line where it starts."""

    items: tuple[Node, ...]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping with text keys; each entry knows its own file and line, so that maps of several files can be merged."""

    entries: Mapping[str, Node]
    file: str
    line: int


Node = ScalarNode | ListNode | MapNode


def scalar_value(text: str) -> Value:
    """Give unquoted text its type: bool, int, float, null, else the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    leading_zero = len(text) > 1 and text[0] == "0" and text[1].isdigit()
    return WrittenFloat(text) if not leading_zero and _FLOAT.fullmatch(text) and not text.isdigit() else text


def scalar(text: str, file: str, line: int, *, plain: bool = True, content_line: int = 0) -> ScalarNode:
    """Build a scalar from its text; ``plain`` says that it was not quoted, so that its type counts."""
    value = scalar_value(text) if plain else text
    shown = text.lower() if isinstance(value, bool) else text
    return ScalarNode(value=value, text=shown, file=file, line=line, content_line=content_line or line)


def find_node(tree: Node, *path: str) -> Node | None:
    """Return the node below mappings' keys; None where there is none."""
    node: Node | None = tree
    for part in path:
        node = node.entries.get(part) if isinstance(node, MapNode) else None
    return node


def node_below(tree: MapNode, *path: str) -> Node:
    """Return the node below mappings' keys; the tree itself where there is none."""
    return find_node(tree, *path) or tree


def walk(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ScalarNode]]:
    """Yield every scalar below ``node`` with its path; list positions are written as numbers."""
    match node:
        case ScalarNode():
            yield path, node
        case ListNode(items):
            for position, item in enumerate(items):
                yield from walk(item, (*path, str(position)))
        case MapNode(entries):
            for key, entry in entries.items():
                yield from walk(entry, (*path, key))

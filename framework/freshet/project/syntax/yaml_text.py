"""YAML text to a tree of located values, without constructing any object that the text names.

The parser's events are read one by one, so an alias is refused where it stands (it can never multiply), nesting is
counted instead of recursed into, and a tag is an error and not a constructor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import yaml

from freshet.problems import Problems
from freshet.project.syntax.yaml_nodes import ListNode, MapNode, Node, ScalarNode, scalar

MAX_DEPTH = 32
#: A line as Java's property files and HoodieStreamer's command line have it.
PROPERTY_LINE = re.compile(r"^[ \t]*(?:--hoodie-conf[ \t]+)?((hoodie|spark)\.[A-Za-z0-9_.-]+)[ \t]*=", re.MULTILINE)
# libyaml's parser reads 100 files in the time that the pure one needs for 10; PyYAML has it nearly everywhere.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str, file: str, problems: Problems) -> MapNode | None:
    """Parse one YAML file into located nodes.

    Args:
        text: The file's text.
        file: Its name in problems.
        problems: Receives everything that is wrong with it.

    Returns:
        The top-level mapping (an empty file is an empty one), or None where the text cannot be used.
    """
    builder = _Builder(file, problems)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
            if builder.broken:
                return None
    except yaml.reader.ReaderError as error:
        line = text[: max(int(error.position), 0)].count("\n") + 1
        problems.add(file, line, "YAML_SYNTAX", "The file holds a character that YAML does not allow.")
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.add(
            file,
            mark.line + 1 if mark else 0,
            "YAML_SYNTAX",
            f"Not valid YAML: {error.problem or 'cannot be read'}{_context(error)}.",
            _properties(text) or "A text that contains ':', '#', '{' or '%' belongs in quotes.",
        )
        return None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problems.add(file, 0, "YAML_SYNTAX", f"Not valid YAML: {type(error).__name__}.")
        return None
    if builder.root is None:
        return MapNode({}, file, 1)
    if isinstance(builder.root, ScalarNode) and builder.root.value is None:
        return MapNode({}, file, 1)
    if not isinstance(builder.root, MapNode):
        problems.add(
            file,
            builder.root.line,
            "YAML_NOT_A_MAPPING",
            "The file must be a mapping of keys to values.",
            _properties(text) or "Write 'key: value' lines.",
        )
        return None
    return builder.root


def _properties(text: str) -> str:
    found = PROPERTY_LINE.search(text)
    return f"'{found[1]}=' is a line of a .properties file: write '{found[1]}: value' below '{found[2]}:'." if found else ""


def _context(error: yaml.MarkedYAMLError) -> str:
    return f" {error.context}" if error.context else ""


@dataclass(kw_only=True)
class _Open:
    line: int
    entries: dict[str, Node] | None
    items: list[Node]
    key: ScalarNode | None = None


class _Builder:
    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.root: Node | None = None
        self.broken = False
        self._stack: list[_Open] = []
        self._documents = 0

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        match event:
            case yaml.AliasEvent():
                self._refuse(line, "YAML_ALIAS", f"An alias (*{event.anchor}) is not allowed.", "Write the value out.")
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._refuse(line, "YAML_SYNTAX", "The file holds more than one document.", "Remove the '---'.")
            case yaml.ScalarEvent():
                self._check_properties(event, line)
                self._scalar(event, line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_properties(event, line)
                self._open(line, is_map=isinstance(event, yaml.MappingStartEvent))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()

    def _check_properties(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            self._refuse(line, "YAML_ALIAS", f"An anchor (&{event.anchor}) is not allowed.", "Write the value out.")
        # A quoted scalar has no tag either; only a written one ('!x', '!!str', '!') is set by the parser.
        if event.tag is not None:
            self._refuse(line, "YAML_TAG", f"A tag ({event.tag}) is not allowed.", "Write a plain value.")

    def _scalar(self, event: Any, line: int) -> None:
        plain = not event.style
        # The text of a block ('|', '>') begins on the line below its sign.
        content_line = line + 1 if event.style in ("|", ">") else line
        node = scalar(event.value, self.file, line, plain=plain, content_line=content_line)
        if plain and event.value == "<<" and self._awaits_key():
            self._refuse(line, "YAML_ALIAS", "A merge key (<<) is not allowed.", "Write the keys out.")
        self._put(node)

    def _awaits_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].entries is not None and self._stack[-1].key is None

    def _open(self, line: int, *, is_map: bool) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._refuse(line, "YAML_TOO_DEEP", f"Values are nested more than {MAX_DEPTH} levels deep.")
        elif self._awaits_key():
            self._refuse(
                line,
                "YAML_SYNTAX",
                "A key must be plain text.",
                "A text that starts with '{' or '[' belongs in quotes.",
            )
        else:
            own = self._stack[-1].key.line if self._stack and self._stack[-1].key else line
            self._stack.append(_Open(line=own, entries={} if is_map else None, items=[]))

    def _close(self) -> None:
        done = self._stack.pop()
        if done.entries is not None:
            self._put(MapNode(done.entries, self.file, done.line))
        else:
            self._put(ListNode(tuple(done.items), self.file, done.line))

    def _put(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        if top.entries is None:
            top.items.append(node)
        elif top.key is None and isinstance(node, ScalarNode):
            if node.text in top.entries:
                first = top.entries[node.text].line
                self.problems.add(
                    self.file,
                    node.line,
                    "DUPLICATE_KEY",
                    f"Key '{node.text}' stands already in line {first}.",
                    "Remove one of them.",
                )
            top.key = node
        elif top.key is not None:
            before = top.entries.get(top.key.text)
            # Of two of one name the first that says something counts.
            if before is None or (isinstance(before, ScalarNode) and before.value in (None, "")):
                top.entries[top.key.text] = node if node.line == top.key.line else replace(node, line=top.key.line)
            top.key = None

    def _refuse(self, line: int, code: str, message: str, hint: str = "") -> None:
        if not self.broken:
            self.problems.add(self.file, line, code, message, hint)
        self.broken = True

"""Write a test case as text, and put it into a file of cases without touching what people wrote there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal as Number
from typing import Any

from freshet.cases.load import Shape
from freshet.cases.shape import validate_fixture
from freshet.cases.values import RowSet
from freshet.errors import FreshetError
from freshet.problems import Problems
from freshet.project.syntax.yaml_text import MapNode, parse_yaml, scalar_value
from freshet.types.columns import Array, Atomic, Column, DataType, Map, Struct

_WIDTH = 118
_STEP = "  "


def case_lines(
    name: str,
    given: Mapping[str, tuple[Sequence[Column], RowSet]],
    columns: Sequence[Column],
    rows: RowSet,
) -> list[str]:
    """Return a case as lines, not indented.

    Args:
        name: The case's name.
        given: By name the columns and rows of ``SRC`` and the inputs.
        columns: The target's columns.
        rows: What the transformation returned for them.
    """
    lines = [f"{text_of(name, Atomic('string'))}:", f"{_STEP}given:"]
    for table, (kinds, held) in given.items():
        lines.append(f"{_STEP * 2}{text_of(table, Atomic('string'))}:" + ("" if held.rows else " []"))
        lines += _row_lines(held, kinds, _STEP * 3, nulls=False)
    lines += [f"{_STEP}expect:", f"{_STEP * 2}rows:" + ("" if rows.rows else " []")]
    return lines + _row_lines(rows, columns, _STEP * 3, nulls=True)


def table_line(name: str, shape: Shape) -> str:
    """Return the declaration of a table, not indented."""
    columns = ", ".join(f"{_quoted_name(c.name)} {c.type}" for c in shape.columns)
    located = (("key", shape.record_key), ("partition", shape.partition_by))
    more = [f"{key}: [{', '.join(found)}]" for key, found in located if found]
    more += [f"ordering: {shape.ordering}"] if shape.ordering else []
    return f"{text_of(name, Atomic('string'))}: {{" + ", ".join([f"schema: {json.dumps(columns)}", *more]) + "}"


def with_case(file: str, text: str, name: str, case: Sequence[str], tables: Sequence[str]) -> str:
    """Return a file's text with one more case at its end, and with what it must declare of tables.

    Args:
        file: The file, for messages.
        text: Its text; empty for a new file.
        name: The new case's name.
        case: The case's lines, not indented.
        tables: Declarations of tables, not indented.

    Raises:
        FreshetError: CASE_EXISTS; NOT_APPENDABLE: the file is written in a way to which nothing can be added by lines.
    """
    problems = Problems()
    tree = parse_yaml(text, file, problems)
    cases = tree.entries.get("cases") if tree else None
    declared = tree.entries.get("tables") if tree else None
    before = list(cases.entries) if isinstance(cases, MapNode) else []
    if name in before:
        raise FreshetError(
            "CASE_EXISTS",
            f"{file} has a case '{name}' already.",
            "Nothing was written.",
            "Give the new one another name: --case NAME; or remove the old one.",
        )
    lines = text.rstrip().split("\n") if text.strip() else []
    if cases is None:
        lines += ["cases:"]
        indent = _STEP
    else:
        indent = _indent(lines, cases)
        lines.append("")
    lines += [indent + line for line in case]
    if tables:
        at = declared.line if declared is not None else (cases.line - 1 if cases is not None else len(lines) - len(case) - 1)
        inner = _indent(lines, declared) if declared is not None else _STEP
        added = [inner + line for line in tables]
        lines[at:at] = added if declared is not None else ["tables:", *added, ""]
    made = "\n".join(lines) + "\n"
    found = parse_yaml(made, file, problems)
    content = validate_fixture(found, problems) if found else None
    if problems.found or content is None or list(content.cases) != [*before, name]:
        raise FreshetError(
            "NOT_APPENDABLE",
            f"{file} is written in a way to which a case cannot be added by lines.",
            "Nothing was written.",
            "Let 'cases:' be its last key, with one case per block below it.",
        )
    return made


def text_of(value: Any, kind: DataType) -> str:
    """Return a typed value as YAML, such that reading it gives the same."""
    match value, kind:
        case None, _:
            return "null"
        case bool(), _:
            return str(value).lower()
        case list(), Array(element):
            return "[" + ", ".join(text_of(item, element) for item in value) + "]"
        case dict(), Map(key, inner):
            return "{" + ", ".join(f"{text_of(k, key)}: {text_of(v, inner)}" for k, v in value.items()) + "}"
        case tuple(), Struct(fields):
            pairs = zip(fields, value, strict=True)
            return "{" + ", ".join(f"{_plain_text(name)}: {text_of(item, inner)}" for (name, inner), item in pairs) + "}"
        case Number(), _:
            return format(value, "f")
        case bytearray(), _:
            return _plain_text(value.decode("utf-8", "replace"))
        case _, Atomic("timestamp" | "timestamp_ntz"):
            return f'"{value.replace(tzinfo=None).isoformat(" ")}"'
        case str(), _:
            return _plain_text(value)
    return str(value)


def _plain_text(value: str) -> str:
    word = value.replace("_", "").replace("-", "")
    if word.isascii() and word.isalnum() and not value.startswith("-") and isinstance(scalar_value(value), str):
        return value
    shown = (c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value)
    return '"' + "".join(shown) + '"'


def _quoted_name(name: str) -> str:
    return name if name.replace("_", "").isalnum() else f"`{name}`"


def _row_lines(rows: RowSet, columns: Sequence[Column], indent: str, *, nulls: bool) -> list[str]:
    lines: list[str] = []
    for row in rows.rows:
        line = f"{indent}- {{"
        parts = [
            f"{_plain_text(c.name)}: {text_of(row.get(c.name), c.type)}"
            for c in columns
            if c.name in rows.columns and (nulls or row.get(c.name) is not None)
        ]
        for number, part in enumerate(parts):
            part += "}" if number == len(parts) - 1 else ","
            if len(line) + len(part) > _WIDTH and not line.endswith("{"):
                lines.append(line.rstrip())
                line = indent + "   "
            line += part + " "
        lines.append(line.rstrip() if parts else f"{indent}- {{}}")
    return lines


def _indent(lines: Sequence[str], node: Any) -> str:
    first = min((entry.line for entry in node.entries.values()), default=0) if isinstance(node, MapNode) else 0
    line = lines[first - 1] if first else _STEP
    return line[: len(line) - len(line.lstrip())] or _STEP

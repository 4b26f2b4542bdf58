"""Which logic made a row: a digest of all in a pipeline's files that decides what its rows are, and of nothing else.

Comments and spaces do not count, nor do Spark's settings, table services and schedules. The fingerprint is another thing: it
changes with every word.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from freshet.project.model.checks import CheckSpec
from freshet.project.syntax.statements import without_comments
from freshet.project.syntax.yaml_text import ListNode, MapNode, Node, ScalarNode
from freshet.secrets import Redactor

if TYPE_CHECKING:
    from freshet.project.model.pipeline import InputSpec, TransformSpec

_NO_MATTER = ("name", "line", "severity", "rule", "most_rows", "most_share")
# What a backfill renders otherwise than a run.
_WINDOW = re.compile(r"\{[{%](?:(?![}%]\}).)*\b(?:start|end)\b", re.DOTALL)
# A template's comment, and what looks like one within a tag. One with a hyphen or a plus takes the spaces around it away.
_COMMENT_OR_TAG = re.compile(r"\{#(?![-+]).*?(?<![-+])#\}|(?P<tag>\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)
# Of keyword tokens the text is one of several ways to write the same.
_VERBATIM = ("VAR", "IDENTIFIER", "STRING", "NUMBER", "RAW_STRING", "HINT", "PARAMETER")


@dataclass(frozen=True)
class Part:
    """One file of the logic, or one matter of another file.

    Args:
        name: As people are told of it.
        kind: How its normal form is found.
        text: Its text, without secrets.
    """

    name: str
    kind: Literal["sql", "template", "python", "json"]
    text: str


Logic = tuple[Part, ...]


def logic_of(
    root: Path,
    chain: Sequence[tuple[TransformSpec, str]],
    matters: Mapping[str, Any],
    secrets: Redactor,
) -> Logic:
    """Return what makes a pipeline's rows.

    Args:
        root: The project's folder.
        chain: Its steps, each with its text: a SQL's rendered, outside of a backfill.
        matters: What else decides about rows, JSON-serialisable, by what people are told of it; always the same ones.
        secrets: The secrets that its files read.
    """
    parts: list[Part] = []
    for step, text in chain:
        if step.kind == "python":
            parts.append(Part(step.file, "python", text))
            continue
        parts += (Part(step.file, "sql", statement.text.strip()) for statement in step.statements)
        template = _COMMENT_OR_TAG.sub(lambda found: found["tag"] or "", (root / step.file).read_text("utf-8", "replace"))
        if _WINDOW.search(template):
            # What it is in a backfill cannot be seen in what it is outside of one.
            parts.append(Part(step.file, "template", template))
    parts += (Part(name, "json", json.dumps(value, sort_keys=True, ensure_ascii=False)) for name, value in matters.items())
    # The same project in another folder has the same logic.
    place = json.dumps(str(root), ensure_ascii=False)[1:-1]
    return tuple(
        replace(part, name=secrets.hidden(part.name), text=secrets.redact_whole(part.text).replace(place, "."))
        for part in parts
    )


def of_inputs(inputs: Sequence[InputSpec]) -> list[Any]:
    """Return what of the inputs decides about rows."""
    return [(i.name, i.table.name, i.read, i.lookback_seconds, i.drives, i.on, i.as_of) for i in inputs]


def of_checks(checks: Sequence[CheckSpec]) -> list[str]:
    """Return what of the checks decides about rows: those that drop some."""
    # Limits end a run and drop nothing. A later field that has its default says what was so before.
    return [
        repr(
            [
                type(check.rule).__name__,
                *(
                    (field.name, getattr(one, field.name))
                    for one in (check, check.rule)
                    for field in fields(one)
                    if field.name not in _NO_MATTER and getattr(one, field.name) != field.default
                ),
            ]
        )
        for check in checks
        if check.severity == "drop"
    ]


def windowed(node: Node) -> Iterator[str]:
    """Yield the texts of settings that a backfill renders otherwise than a run."""
    match node:
        case MapNode(entries=entries):
            for below in entries.values():
                yield from windowed(below)
        case ListNode(items=items):
            for below in items:
                yield from windowed(below)
        case ScalarNode() if _WINDOW.search(node.text):
            yield node.text


@lru_cache(maxsize=64)
def digest_of(logic: Logic) -> str:
    """Return the digest of a logic, 16 hexadecimal digits; empty for none."""
    # A file's name makes no row.
    return _hash([(part.kind, _normal(part)) for part in logic])[:16] if logic else ""


def digests_by_name(logic: Logic) -> dict[str, str]:
    """Return the digest of each of a logic's parts, 8 hexadecimal digits, so that what changed can be named."""
    names = dict.fromkeys(part.name for part in logic)
    return {name: _hash([_normal(part) for part in logic if part.name == name])[:8] for name in names}


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=256)
def _normal(part: Part) -> str:
    match part.kind:
        case "sql":
            return _normal_sql(part.text)
        case "template":
            return without_comments(part.text)
        case "python":
            return _normal_python(part.text)
        case _:
            return part.text


def _normal_sql(text: str) -> str:
    # It takes a fifth of a second to import, which an idle run must not pay.
    from sqlglot.dialects.spark import Spark
    from sqlglot.errors import SqlglotError

    try:
        tokens = Spark().tokenize(text)
    except SqlglotError:
        return without_comments(text)
    return json.dumps(
        [
            (kind, token.text if kind in _VERBATIM else " ".join(token.text.upper().split()))
            for token in tokens
            if (kind := token.token_type.name)
        ],
        ensure_ascii=False,
    )


def _normal_python(text: str) -> str:
    # As tokenize counts them: to it no form feed and no U+2028 ends a line.
    lines = [line.removesuffix("\n") for line in io.StringIO(text)]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    dropped = set()
    for token in tokens:
        row, column = token.start
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column].rstrip()
        if token.type == tokenize.NL and not lines[row - 1].strip():
            dropped.add(row - 1)
    return "\n".join(line for number, line in enumerate(lines) if number not in dropped)

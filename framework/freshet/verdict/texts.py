"""Expressions over the main source's row, in one spelling, by which they are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark

#: What the parser reads instead of the function's name ``window``, which it takes for a keyword; as long, so that places stay.
CALL = "wind0w"
#: What the SQL says.
SHOWN = "window"
_FLAG = "_hoodie_is_deleted"
_DEAD = {f"{flag}{said}" for flag in (_FLAG, f"coalesce({_FLAG}, false)") for said in ("", " = true", " is true")}
_LIVE = {f"{flag} {said} false" for flag in (_FLAG, f"coalesce({_FLAG}, false)") for said in ("=", "is")}
_LIVE |= {f"not {one}" for one in _DEAD}
_NAME = re.compile(r"[\w.]+")


def is_name(text: str) -> bool:
    """Say whether an expression in the one spelling is a column."""
    return _NAME.fullmatch(text) is not None


def tells_dead(text: str) -> bool:
    """Say whether a condition is true of the rows that the source deleted, and of no others."""
    return text.lower() in _DEAD


def tells_live(text: str) -> bool:
    """Say whether a condition is true of the rows that the source did not delete, and of no others."""
    return text.lower() in _LIVE


def spelled(node: exp.Expr, texts: Mapping[int, str]) -> str:
    """Return an expression in the one spelling.

    Args:
        node: The expression.
        texts: What stands for each of its columns, by ``id``; empty where they stand for themselves.
    """
    if id(node) in texts:
        return texts[id(node)]
    columns = list(node.find_all(exp.Column))
    swapped = node.copy()
    for copied, original in zip(list(swapped.find_all(exp.Column)), columns, strict=True):
        if texts:
            text = texts[id(original)]
            copied.replace(exp.Var(this=text if _NAME.fullmatch(text) else f"({text})"))
    for name in swapped.find_all(exp.Identifier):
        name.replace(exp.to_identifier(name.name.lower(), quoted=False))
    while isinstance(swapped, exp.Paren):
        swapped = swapped.this
    return swapped.sql("spark", normalize_functions="lower", comments=False)


def text_of(text: str) -> str:
    """Return an expression over the main source, as a YAML has it, in the one spelling; empty where it is none."""
    node = _parsed(text)
    return spelled(node, {}) if node is not None else ""


def columns_of(text: str) -> set[str]:
    """Return the main source's columns that an expression names."""
    node = _parsed(text)
    return {column.parts[0].name.lower() for column in node.find_all(exp.Column)} if node is not None else {"?"}


def _parsed(text: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(text, dialect=Spark)
    except sqlglot.errors.SqlglotError:
        return None

"""Names and texts as Spark SQL writes them."""

from __future__ import annotations

from collections.abc import Iterable


def name(word: str) -> str:
    """Return a column's or field's name in backquotes."""
    return f"`{word.replace('`', '``')}`"


def text(words: str) -> str:
    """Return a text literal; Spark reads a backslash in it as an escape."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def struct(fields: Iterable[tuple[str, str]]) -> str:
    """Return a struct of named SQL expressions."""
    return f"named_struct({', '.join(f'{text(field)}, {value}' for field, value in fields)})"


def any_of(conditions: Iterable[str]) -> str:
    """Return whether a condition holds; false where there is none."""
    return " OR ".join(f"({condition})" for condition in conditions) or "false"


def first_reason(reasons: Iterable[tuple[str, str]]) -> str:
    """Return the first of some reasons whose condition holds, or null.

    Args:
        reasons: Each reason, a literal word or SQL in parentheses, with its condition.
    """
    cases = " ".join(f"WHEN {condition} THEN {reason}" for reason, condition in reasons)
    return f"CASE {cases} END" if cases else "CAST(NULL AS STRING)"

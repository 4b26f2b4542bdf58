"""What is wrong with a value that a column does not take, in words: a text of another form is no number that is too large."""

from __future__ import annotations

import re

#: How the texts of a type look, for types of which every other text is none of their values.
FORMS = {
    "date": "a day of the calendar is expected, as yyyy-MM-dd",
    "timestamp": "a time is expected, as yyyy-MM-dd HH:mm:ss, with at most six digits after the seconds",
    "boolean": "true or false is expected",
}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_A_NUMBER = "a number is expected, with a point before its decimals and nothing between its digits"
_NUMBER = re.compile(r"\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity)\s*")


def misfit_code(kind: str, value: str) -> str:
    """Return the code by which a value is refused.

    Args:
        kind: The column's type.
        value: The value as text.

    Returns:
        ``NOT_OF_TYPE`` for a text that is no value of the type, ``BAD_BYTES`` where a text is none, else ``OVERFLOW``.
    """
    name = kind.partition("(")[0]
    if name in FORMS or (name in _NUMBERS and not _NUMBER.fullmatch(value)):
        return "NOT_OF_TYPE"
    return "OVERFLOW" if name in _NUMBERS else "BAD_BYTES"


def expected(kind: str) -> str:
    """Return how a text of a type looks."""
    return FORMS.get(kind, _A_NUMBER)


def how_to_convert(kind: str, column: str) -> str:
    """Return what of SQL makes a value of another form."""
    if kind in ("date", "timestamp"):
        form = "dd/MM/yyyy" if kind == "date" else "dd/MM/yyyy HH:mm"
        return f"to_{kind}({column}, '{form}')"
    return f"try_cast(replace({column}, ',', '.') AS {kind})" if kind != "boolean" else f"{column} = 'yes'"

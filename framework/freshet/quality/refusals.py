"""What a query says of a value that it refuses while it runs, and how a failed job's text is read back into that.

A text is the only way out of a running query. Both of its ends are here: ``refuse`` writes it, ``refused_in`` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from freshet.types.columns import DataType

MARK = "FRESHET_REFUSED"
#: How much of a value is shown.
SHOWN = 200
_MOST_OF_ROW = 300
# Values hold bars, quotes and the ends of lines; hardly one holds this.
_SEPARATOR = "\x1f"
# Not where a query plan is shown, which holds the call that would raise it.
_TEXT = re.compile(rf"(?<!concat\(){MARK}" + rf"{_SEPARATOR}([^{_SEPARATOR}]*)" * 6 + _SEPARATOR)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A value that a query has refused.

    Args:
        code: Why.
        column: Its column.
        kind: The type of that.
        check: The check whose matter it is; empty where no check names it.
        value: The value, as far as it is shown.
        row: The row's key in words, and the check.
    """

    code: str
    column: str
    kind: str
    check: str
    value: str
    row: str


def refuse(code: str, column: str, kind: DataType, row: SparkColumn, check: str = "") -> SparkColumn:
    """Return the expression that fails the job for a column's value.

    Args:
        code: Why.
        column: The column.
        kind: The type of that, for the words.
        row: See ``row_in_words``.
        check: The check whose matter it is.
    """
    return F.raise_error(text_of(code, column, kind, row, check))


def text_of(code: str, column: str, kind: DataType, row: SparkColumn, check: str = "") -> SparkColumn:
    """Return the text by which ``refuse`` fails the job."""
    head, between = _SEPARATOR.join((MARK, code, column, str(kind), check, "")), F.lit(_SEPARATOR)
    return F.concat(F.lit(head), _shown(column), between, row, between)


def row_in_words(key: Mapping[str, str], *more: SparkColumn) -> SparkColumn:
    """Return what tells a row from others: made once for all columns, as each call of PySpark asks the JVM four times.

    Args:
        key: The column of each part of the record key, by the part's name.
        more: Said behind the key.
    """
    parts = [F.lit("")]
    for number, (name, column) in enumerate(key.items()):
        parts += [F.lit(f"{', ' if number else ''}{name}="), _shown(column)]
    return F.substring(F.concat(*parts, *more), 1, _MOST_OF_ROW)


def refused_in(text: str) -> Refused | None:
    """Return the value that a failed job has refused; None where it failed for something else.

    Args:
        text: What Spark raised, causes included.
    """
    found = _TEXT.search(text)
    if found is None:
        return None
    code, column, kind, check, value, row = found.groups()
    return Refused(
        code=code, column=column, kind=kind, check=check, value=value, row=f"{row} (check {check})" if check else row
    )


def _shown(column: str) -> SparkColumn:
    return F.expr(f"substring(coalesce(cast(`{column}` AS string), 'null'), 1, {SHOWN})")

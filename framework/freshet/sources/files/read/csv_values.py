"""Texts of CSV become columns: what does not fit is seen, and nothing is rounded or cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from freshet.types.columns import Atomic, Column, Decimal

_MOST_DIGITS = 38
# By a cast alone 20000 would be a year, 10:15 today, and anything may stand behind a date.
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FORMS = {"timestamp": _DAY, "timestamp_ntz": _DAY, "date": f"{_DAY}$"}
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def csv_values(
    columns: Sequence[Column], placed: Mapping[str, str], formats: Mapping[str, str]
) -> tuple[list[SparkColumn], list[SparkColumn]]:
    """Return the columns, and why a row does not fit them, each null where that is not the reason.

    Args:
        columns: The columns.
        placed: Where the text of each stands, by its name; one that is not there is null.
        formats: ``dateFormat`` and ``timestampFormat``, where they are declared.
    """
    values, wrong = [], []
    for column in columns:
        place = placed.get(column.name)
        if place is None:
            values.append(F.lit(None).cast(str(column.type)).alias(column.name))
            continue
        value, misfit = _value(place, column, formats)
        values.append(F.expr(value).alias(column.name))
        if misfit:
            wrong.append(F.when(F.expr(misfit), f"{column.name} does not fit {column.type}"))
    return values, wrong


def _value(place: str, column: Column, formats: Mapping[str, str]) -> tuple[str, str]:
    """Return a value, and the condition that its text is none, which is never null."""
    kind = column.type
    tried = f"try_cast({place} AS {kind})"
    fails = f"({place} IS NOT NULL AND {tried} IS NULL)"
    match kind:
        case Atomic("string"):
            return place, ""
        case Atomic(name) if name in _WHOLE:
            # '1.0' is a whole number to some casts, and none to others: here digits alone are.
            return tried, f"({place} IS NOT NULL AND ({tried} IS NULL OR NOT {place} RLIKE '^ *[+-]?[0-9]+ *$'))"
        case Atomic("float" | "double"):
            return tried, f"({fails} OR coalesce(abs({tried}) = double('Infinity') AND NOT {place} RLIKE '(?i)inf', false))"
        case Decimal(precision, scale):
            # All digits behind the point that there is room for: by its own type they would be rounded.
            exact = f"try_cast({place} AS {Decimal(_MOST_DIGITS, _MOST_DIGITS - precision + scale)})"
            return tried, f"({place} IS NOT NULL AND NOT coalesce({tried} = {exact}, false))"
        case Atomic("timestamp" | "timestamp_ntz" | "date" as name):
            given = formats.get("dateFormat" if name == "date" else "timestampFormat")
            if given is not None:
                form = given.replace("\\", "\\\\").replace("'", "\\'")
                moment = f"CAST(try_to_timestamp({place}, '{form}') AS {kind})"
            else:
                moment = f"CASE WHEN {place} RLIKE '{_FORMS[name]}' THEN {tried} END"
            return moment, f"({place} IS NOT NULL AND {moment} IS NULL)"
    return tried, fails

"""Texts of JSON become columns: by Spark's own parser, and no value that is read as something that it is not."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.types.columns import Atomic, Column, DataType, Decimal

#: The column that has the text.
TEXT = "__freshet_text"
_PARSED = "__freshet_parsed"
_NO_OBJECT = "it is no JSON object, or a field of it does not fit its column"
_MOST_DIGITS = 38
# By a cast alone 20000 would be a year, 10:15 today, and anything may stand behind a date.
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FORMS = {"timestamp": _DAY, "timestamp_ntz": _DAY, "date": f"{_DAY}$"}
_JSON = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": "corrupt",
    # Else 'NaN' and 'Infinity' are numbers, and 'a' is as good as "a".
    "allowNonNumericNumbers": "false",
    "allowSingleQuotes": "false",
    # By the default, that of the United States, the text "1,50" is a hundred and fifty; here a comma is no part of a number.
    "locale": "de-CH",
}


def json_values(
    raw: DataFrame, columns: Sequence[Column], is_strict: bool, there: SparkColumn
) -> tuple[DataFrame, list[SparkColumn], list[SparkColumn]]:
    """Read the columns of objects.

    Args:
        raw: Rows with ``TEXT``.
        columns: The columns.
        is_strict: True where an object may have no field that they lack.
        there: Condition that a row has an object at all.

    Returns:
        The rows with what was parsed; the columns; and why a text is no such object, each null where that is not the reason.
    """
    raw = raw.withColumn(_PARSED, _parsed(columns))
    found, not_json = _element(there)
    why = [F.when(not_json, _NO_OBJECT)]
    why += [F.when(bad, f"{name} does not fit {kind}") for name, kind, bad in _misfits(found, columns)]
    return raw, [_value(column).alias(column.name) for column in columns], why + (_unknown(columns) if is_strict else [])


def _parsed(columns: Sequence[Column]) -> SparkColumn:
    # Alone, Spark would take the first object of several that stand behind each other, the first element of an array, and no
    # notice of what follows. So the value is the one element of an array, with something behind it that must be read, too.
    fields = ",".join(f"`{c.name}`:{_exact(c.type)}" for c in columns)
    schema = f"struct<v:array<struct<{fields}>>,end:int,corrupt:string>"
    return F.from_json(F.concat(F.lit('{"v":['), F.col(TEXT), F.lit('],"end":1}')), schema, _JSON)


def _element(there: SparkColumn) -> tuple[SparkColumn, SparkColumn]:
    """Return the one object of a value, and the condition that it is none."""
    parsed = F.col(_PARSED)
    objects = parsed.getField("v")
    found = F.get(objects, 0)
    whole = parsed.getField("corrupt").isNull() & (parsed.getField("end") == 1) & (F.size(objects) == 1) & found.isNotNull()
    return found, there & ~F.coalesce(whole, F.lit(False))


def _exact(kind: DataType) -> str:
    """Return the type by which a field is read, where its own would take more than it holds: what does not fit is seen then."""
    match kind:
        case Decimal():
            # All digits behind the point that there is room for: by its own type they would be rounded.
            return str(Decimal(_MOST_DIGITS, _MOST_DIGITS - kind.precision + kind.scale))
        case Atomic("tinyint"):
            # 200 would be -56.
            return "int"
        case Atomic("timestamp" | "timestamp_ntz" | "date"):
            # A number would be seconds since 1970, and a text nearly anything.
            return "string"
    return str(kind)


def _value(column: Column) -> SparkColumn:
    place = f"get({_PARSED}.v, 0).`{column.name.replace('`', '``')}`"
    if _exact(column.type) == str(column.type):
        return F.expr(place)
    cast = f"try_cast({place} AS {column.type})"
    form = _FORMS.get(str(column.type))
    return F.expr(f"CASE WHEN {place} RLIKE '{form}' THEN {cast} END" if form else cast)


def _misfits(found: SparkColumn, columns: Sequence[Column]) -> list[tuple[str, DataType, SparkColumn]]:
    result: list[tuple[str, DataType, SparkColumn]] = []
    for column in columns:
        read, value = found.getField(column.name), _value(column)
        if isinstance(column.type, Decimal) or column.type == Atomic("tinyint"):
            result.append((column.name, column.type, read.isNotNull() & ~F.coalesce(value == read, F.lit(False))))
        elif _exact(column.type) != str(column.type):
            result.append((column.name, column.type, read.isNotNull() & value.isNull()))
        elif column.type in (Atomic("float"), Atomic("double")):
            # Parsers give infinity for 1e999.
            result.append((column.name, column.type, F.abs(read) == float("inf")))
    return result


def _unknown(columns: Sequence[Column]) -> list[SparkColumn]:
    keys = F.json_object_keys(TEXT)
    more = F.array_except(keys, F.array(*(F.lit(column.name) for column in columns)))
    return [
        F.when(F.size(more) > 0, F.concat(F.lit("it has fields that are no columns: "), F.array_join(more, ", "))),
        F.when(F.size(F.array_distinct(keys)) < F.size(keys), "a field stands twice in it"),
    ]

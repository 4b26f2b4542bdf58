"""How Debezium, set as in ``settings``, writes a column: the lake's column for it, and what a pipeline declares of it.

What it writes in a form that would be taken for another one, or not at all, is left out and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshet.databases.address import Kind
from freshet.databases.model import DbColumn
from freshet.types.columns import Array, Atomic, DataType, Decimal

_PLAIN = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
# Types of PostgreSQL that the lake keeps as texts, and Debezium writes as the same texts.
_TEXTS = (
    *("text", "varchar", "bpchar", "uuid", "citext", "json", "jsonb", "xml", "enum", "inet", "cidr", "macaddr", "macaddr8"),
    *("char", "tinytext", "mediumtext", "longtext", "set"),
)
_ELEMENTS = ("_int2", "_int4", "_int8", "_float4", "_float8", "_bool", "_text", "_varchar", "_bpchar", "_uuid")
_MILLIS, _MICROS = 3, 6


@dataclass(frozen=True, kw_only=True)
class Written:
    """A column as Debezium writes it.

    Args:
        type: The type of the lake's column.
        values: What a pipeline says under ``values_of``; empty where nothing is to be said.
        note: What a person should know; empty where there is nothing.
    """

    type: DataType
    values: Mapping[str, object]
    note: str = ""


def written(kind: Kind, column: DbColumn) -> Written | None:
    """Return how Debezium writes a column.

    Args:
        kind: The database.
        column: The column.

    Returns:
        None where its values are not read.
    """

    def as_is(note: str = column.note, **values: object) -> Written:
        return Written(type=column.type, values=values, note=note)

    match column.type:
        case _ if column.base == "bit" and column.type != Atomic("boolean"):
            # Bytes, the least one first.
            return None
        case Decimal(20, 0) if column.base == "bigint":
            return as_is(unsigned=True)
        case Decimal():
            return as_is()
        case Array():
            return as_is() if column.base in _ELEMENTS else None
        case Atomic("date"):
            return as_is(times="days")
        case Atomic("timestamp"):
            return _time(kind, column)
        case Atomic("binary"):
            return as_is()
        case Atomic("string") if column.base in _TEXTS or column.base in ("numeric", "decimal"):
            return as_is()
        case Atomic("string") if column.base == "interval":
            return as_is(note="it is kept as a text of ISO 8601")
        case Atomic("string") if column.base == "timetz":
            return as_is(note="it is kept as a text, by UTC")
        case Atomic("string") if column.base == "time":
            return Written(type=Atomic("bigint"), values={}, note="microseconds since midnight")
        case Atomic(name) if name in _PLAIN:
            return as_is()
    return None


def _time(kind: Kind, column: DbColumn) -> Written | None:
    """Return how a point in time is written: one with a zone as a text, any other as a number of its digits' unit."""
    if column.base in ("timestamptz", "timestamp") and (kind == "mariadb" or column.base == "timestamptz"):
        return Written(type=column.type, values={"times": "text"}, note=column.note)
    if not 0 <= column.digits <= _MICROS:
        return None
    unit = "millis" if column.digits <= _MILLIS else "micros"
    return Written(type=column.type, values={"times": unit}, note=column.note)

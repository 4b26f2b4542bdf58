"""Types and values of MariaDB: the column that the lake has for a type, and a value as JSON has it.

Values come as Python's, of the binary log and of a query, which differ for a few types; here they become the same.
"""

from __future__ import annotations

import base64
import datetime
import re
from dataclasses import dataclass
from decimal import Decimal as Exact
from typing import Any

from freshet.types.columns import Atomic, DataType, Decimal

_MOST_DIGITS = 38
_SIGNED = {"tinyint": "tinyint", "smallint": "smallint", "mediumint": "int", "int": "int", "bigint": "bigint"}
_UNSIGNED = {"tinyint": "smallint", "smallint": "int", "mediumint": "int", "int": "bigint"}
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
#: What stands where a date is none that a calendar has: it fits no column, and goes aside.
NO_DATE = "0000-00-00"
#: What mysql-replication makes of a zero that the log has for a timestamp and for a year: neither type has such a value.
_ZERO_TIME, _ZERO_YEAR = datetime.datetime(1970, 1, 1), 1900


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What of a column's type its values depend on.

    Args:
        name: The type's name, such as ``varchar``.
        length: Of ``binary`` how many bytes each value has.
        members: Of ``set`` its members, in order.
    """

    name: str
    length: int = 0
    members: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Return whether its values are texts."""
        return self.name in _TEXTS


def kind_of(data_type: str, column_type: str) -> Kind:
    """Return what of a type values depend on, by the catalogue's ``DATA_TYPE`` and ``COLUMN_TYPE``."""
    length = re.search(r"\((\d+)\)", column_type)
    members = re.findall(r"'((?:[^']|'')*)'", column_type) if data_type == "set" else ()
    return Kind(
        name=data_type,
        length=int(length[1]) if length and data_type == "binary" else 0,
        members=tuple(one.replace("''", "'") for one in members),
    )


def lake_type(data_type: str, column_type: str, precision: int | None, scale: int | None) -> tuple[DataType | None, str]:
    """Return the column of the lake for a type, and what a person should know of it.

    Args:
        data_type, column_type: As the catalogue has them.
        precision, scale: Of a number.

    Returns:
        None for a type whose values the log and a query do not give alike.
    """
    unsigned = "unsigned" in column_type or "zerofill" in column_type
    if data_type == "bigint" and unsigned:
        return Decimal(20, 0), "it has no sign, and more values than a BIGINT"
    if data_type in _SIGNED:
        return Atomic((_UNSIGNED if unsigned else _SIGNED)[data_type]), ""
    if data_type in _TEXTS:
        return Atomic("string"), ""
    if data_type in _BYTES:
        return Atomic("binary"), ""
    match data_type:
        case "decimal" if (precision or 99) <= _MOST_DIGITS:
            return Decimal(precision or 10, scale or 0), ""
        case "decimal":
            return Atomic("string"), "it is kept as a text: it has more digits than a DECIMAL"
        case "float" | "double":
            return Atomic(data_type), ""
        case "bit":
            bits = int(precision or 1)
            return (Atomic("boolean"), "") if bits == 1 else (Atomic("bigint") if bits < 64 else Decimal(20, 0), "")
        case "date":
            return Atomic("date"), "0000-00-00 and the like go aside"
        case "datetime":
            return Atomic("timestamp"), "it has no zone, and is taken as UTC"
        case "timestamp":
            return Atomic("timestamp"), ""
        case "time" if "(" not in column_type:
            # Of a negative one mysql-replication reads the digits behind the seconds wrongly.
            return Atomic("string"), "it is kept as a text: the lake has no such type"
        case "year":
            return Atomic("int"), ""
    return None, ""


def as_json(kind: Kind, value: Any) -> Any:
    """Return a value as JSON has it.

    Args:
        kind: What of the column's type it depends on.
        value: As the drivers give it.
    """
    match value:
        case datetime.datetime() if kind.name == "timestamp" and value == _ZERO_TIME:
            return NO_DATE
        case int() if kind.name == "year" and value == _ZERO_YEAR:
            return 0
        case None | bool() | int() | float():
            return value
        case Exact():
            return f"{value:f}"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.date():
            return value.isoformat()
        case datetime.timedelta():
            return _time(value)
        case set() | frozenset():
            return ",".join([one for one in kind.members if one in value] + sorted(value - set(kind.members)))
        case bytes() | bytearray():
            if kind.name == "bit":
                return int.from_bytes(value, "big")
            # The log leaves out the zeros at the end, with which a value of a fixed length is filled.
            return base64.b64encode(bytes(value).ljust(kind.length, b"\0")).decode()
        case str() if kind.name == "bit":
            return int(value, 2)
        case str() if kind.name in _BYTES:
            return as_json(kind, value.encode("utf-8", "surrogateescape"))
    return value


def _time(value: datetime.timedelta) -> str:
    micros = round(value.total_seconds() * 1_000_000)
    seconds, rest = divmod(abs(micros), 1_000_000)
    text = f"{'-' * (micros < 0)}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{rest:06d}" if rest else text

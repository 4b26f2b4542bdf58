"""Types and values of PostgreSQL: the column that the lake has for a type, and a value's text as JSON has it.

Values come as PostgreSQL's own texts, of the log and of a query alike, in a session that was set by ``SESSION``.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from freshet.types.columns import Array, Atomic, DataType, Decimal

#: What the texts depend on, and which rows a query gives.
SESSION = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "iso_8601",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    # A policy that hides rows from who copies is an error, and not a copy without them.
    "row_security": "off",
}
_MOST_DIGITS = 38
_INTEGRAL = {"int2": "smallint", "int4": "int", "int8": "bigint", "oid": "bigint"}
_FRACTIONAL = {"float4": "float", "float8": "double"}
_TEXTS = ("text", "varchar", "bpchar", "uuid", "name", "citext")
_ELEMENTS = (*_INTEGRAL, *_FRACTIONAL, *_TEXTS, "bool")
_AS_TEXT = "it is kept as PostgreSQL's text"
_SHORT_ZONE = re.compile(r"([+-]\d{2})$")


def lake_type(name: str, modifier: int) -> tuple[DataType, str]:
    """Return the column of the lake for a type, and what a person should know of it.

    Args:
        name: The type's name in ``pg_type``, of a domain that of the type below it; of an array with ``_`` in front.
        modifier: Its modifier (``atttypmod``), -1 where it has none.
    """
    if name in _INTEGRAL:
        return Atomic(_INTEGRAL[name]), ""
    if name in _FRACTIONAL:
        return Atomic(_FRACTIONAL[name]), ""
    match name:
        case "bool":
            return Atomic("boolean"), ""
        case "bytea":
            return Atomic("binary"), ""
        case "date":
            return Atomic("date"), ""
        case "timestamptz":
            return Atomic("timestamp"), ""
        case "timestamp":
            return Atomic("timestamp"), "it has no zone, and is taken as UTC"
        case "numeric":
            return _numeric(modifier)
        case _ if name in _TEXTS:
            return Atomic("string"), ""
        case "json" | "jsonb":
            return Atomic("string"), "it is kept as the text of its JSON"
        case _ if name.startswith("_") and name[1:] in _ELEMENTS:
            inner, _ = lake_type(name[1:], -1)
            inner = {"smallint": Atomic("int"), "float": Atomic("double")}.get(str(inner), inner)
            return Array(inner), "a value of more than one dimension goes aside"
    return Atomic("string"), f"{_AS_TEXT}: the lake has no such type"


def _numeric(modifier: int) -> tuple[DataType, str]:
    if modifier < 4:
        return Atomic("string"), f"{_AS_TEXT}: it may have any number of digits"
    precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
    # Eleven bits with a sign.
    scale = scale - 2048 if scale >= 1024 else scale
    if precision > _MOST_DIGITS or not 0 <= scale <= precision:
        return Atomic("string"), f"{_AS_TEXT}: it has more digits than a DECIMAL"
    return Decimal(precision, scale), ""


def as_json(name: str, text: str | None) -> Any:
    """Return a value as JSON has it, for the column that ``lake_type`` gives.

    What the lake's type cannot hold, such as infinity, stays a text: it does not fit, and goes aside with its reason.

    Args:
        name: The type's name, as for ``lake_type``.
        text: PostgreSQL's text of the value.
    """
    if text is None:
        return None
    if name in _INTEGRAL:
        return int(text)
    if name in _FRACTIONAL:
        return text if text in ("NaN", "Infinity", "-Infinity") else float(text)
    match name:
        case "bool":
            return text == "t" or text == "true"
        case "bytea":
            return base64.b64encode(bytes.fromhex(text[2:])).decode() if text.startswith("\\x") else text
        case "timestamptz":
            return _SHORT_ZONE.sub(r"\1:00", text)
        case _ if name.startswith("_") and name[1:] in _ELEMENTS:
            return _array(name[1:], text)
    return text


def _array(element: str, text: str) -> Any:
    """Return an array's values; one of more dimensions, or with bounds of its own, as its text, which fits no column."""
    if not text.startswith("{") or text.startswith("{{"):
        return text
    found: list[Any] = []
    at, inside = 0, text[1:-1]
    while at < len(inside):
        if inside[at] == '"':
            part, at = _quoted(inside, at + 1)
            found.append(as_json(element, part))
        else:
            end = inside.find(",", at)
            end = len(inside) if end < 0 else end
            part = inside[at:end]
            found.append(None if part == "NULL" else as_json(element, part))
            at = end
        at += 1
    return found


def _quoted(text: str, at: int) -> tuple[str, int]:
    part = []
    while text[at] != '"':
        at += text[at] == "\\"
        part.append(text[at])
        at += 1
    return "".join(part), at + 1

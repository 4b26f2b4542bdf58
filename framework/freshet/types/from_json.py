"""Column types from JSON: Avro schemas as Hudi's commits carry them, and Spark's own form, also written here.

Nothing heavy is imported, so that commands which only look at tables stay fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct

# Hudi's own columns; a user's column only in the case of the delete mark.
META_PREFIX = "_hoodie_"
DELETE_MARK = "_hoodie_is_deleted"
#: Columns that go along with a batch of freshet's.
OWN_PREFIX = "__freshet_"
_AVRO = {
    "string": "string",
    "bytes": "binary",
    "fixed": "binary",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "null": "void",
    "enum": "string",
}
# Avro 1.11 "Logical Types", each with the type that it is of: of another one it says nothing. What Hudi's schema converter
# writes is among them.
_LOGICAL = {
    ("int", "date"): "date",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
}
_SPARK = {
    "string": "string",
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "void": "void",
    "null": "void",
}
_SPARK_NAMES = {name: spark for spark, name in _SPARK.items() if spark != "null"}


def from_avro(schema: str | Mapping[str, Any]) -> tuple[Column, ...]:
    """Read the columns of a record schema.

    Args:
        schema: Avro schema, as JSON text or already parsed; the value of ``schema`` in a Hudi commit's extraMetadata.

    Returns:
        The columns, nullable where the type is a union with null, without Hudi's meta columns.

    Raises:
        ValueError: When it is not an Avro record, or holds a union of several types.
    """
    parsed = json.loads(schema) if isinstance(schema, str) else schema
    if not isinstance(parsed, Mapping) or parsed.get("type") != "record":
        raise ValueError("not an Avro record schema")
    named: dict[str, Any] = {}
    columns = []
    for field in parsed["fields"]:
        nullable, kind = _nullable(field["type"])
        column = Column(
            name=field["name"], type=_from_avro(kind, named), nullable=nullable, comment=str(field.get("doc") or "")
        )
        if not column.name.startswith(META_PREFIX) or column.name == DELETE_MARK:
            columns.append(column)
    return tuple(columns)


def from_spark(schema: str | Mapping[str, Any]) -> tuple[Column, ...]:
    """Read the columns of a Spark schema.

    Args:
        schema: What ``DataFrame.schema.json()`` gives, or ``jsonValue()``; exact for any column name and any size,
            where ``simpleString()`` is neither.

    Returns:
        The columns, Hudi's meta columns included.

    Raises:
        ValueError: When a type is not one that a table can hold, such as an interval.
    """
    parsed = json.loads(schema) if isinstance(schema, str) else schema
    return tuple(
        Column(
            name=field["name"],
            type=type_from_spark(field["type"]),
            nullable=bool(field["nullable"]),
            comment=str((field.get("metadata") or {}).get("comment", "")),
        )
        for field in parsed["fields"]
    )


def type_from_spark(value: Any) -> DataType:
    """Read one type of Spark's JSON form: a name, or a mapping for array, map and struct.

    Raises:
        ValueError: When the type is not known.
    """
    match value:
        case str() if value in _SPARK:
            return Atomic(_SPARK[value])
        case str() if found := re.fullmatch(r"decimal\((\d+),\s*(-?\d+)\)", value):
            return Decimal(int(found[1]), int(found[2]))
        case str() if value.startswith(("varchar(", "char(")):
            return Atomic("string")
        case {"type": "array", "elementType": element}:
            return Array(type_from_spark(element))
        case {"type": "map", "keyType": key, "valueType": item}:
            return Map(type_from_spark(key), type_from_spark(item))
        case {"type": "struct", "fields": fields}:
            return Struct(tuple((field["name"], type_from_spark(field["type"])) for field in fields))
    raise ValueError(f"a table cannot hold the type {json.dumps(value, default=str)[:80]}")


def type_to_spark(kind: DataType) -> Any:
    """Write a type in Spark's JSON form; everything inside it is nullable. The inverse of type_from_spark."""
    match kind:
        case Atomic(name):
            return _SPARK_NAMES[name]
        case Decimal():
            return str(kind)
        case Array(element):
            return {"type": "array", "elementType": type_to_spark(element), "containsNull": True}
        case Map(key, value):
            return {
                "type": "map",
                "keyType": type_to_spark(key),
                "valueType": type_to_spark(value),
                "valueContainsNull": True,
            }
        case Struct(fields):
            return {
                "type": "struct",
                "fields": [
                    {"name": name, "type": type_to_spark(field), "nullable": True, "metadata": {}} for name, field in fields
                ],
            }


def _nullable(kind: Any) -> tuple[bool, Any]:
    if not isinstance(kind, list):
        return False, kind
    others = [branch for branch in kind if branch != "null"]
    if len(others) > 1:
        raise ValueError(f"a union of {len(others)} types cannot be a column")
    return "null" in kind, others[0] if others else "null"


def _from_avro(kind: Any, named: dict[str, Any]) -> DataType:
    if isinstance(kind, list):
        return _from_avro(_nullable(kind)[1], named)
    if isinstance(kind, str):
        # A record or fixed that was defined once is named the next time.
        if kind in _AVRO:
            return Atomic(_AVRO[kind])
        # A name without a namespace of its own has that of the record around it.
        known = named.get(kind) or named.get(kind.rpartition(".")[2])
        if known is not None:
            return _from_avro(known, named)
        raise ValueError(f"the Avro type '{kind}' is not known")
    if "name" in kind:
        full = f"{kind['namespace']}.{kind['name']}" if kind.get("namespace") else kind["name"]
        named |= {kind["name"]: kind, full: kind}
    logical, base = kind.get("logicalType"), kind["type"]
    if logical == "decimal" and base in ("bytes", "fixed"):
        return Decimal(int(kind["precision"]), int(kind.get("scale", 0)))
    if isinstance(base, str) and (base, logical) in _LOGICAL:
        return Atomic(_LOGICAL[base, logical])
    match base:
        case "record":
            return Struct(tuple((field["name"], _from_avro(field["type"], named)) for field in kind["fields"]))
        case "array":
            return Array(_from_avro(kind["items"], named))
        case "map":
            return Map(Atomic("string"), _from_avro(kind["values"], named))
        case inner:
            return _from_avro(inner, named)

"""The format as producers declare it: an Avro schema and a JSON Schema of an event, made of the ten fields.

``python -m freshet.changelog.producers`` writes the two files anew that are shipped in ``freshet/changelog/schemas``; a test
holds them against the fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from freshet.changelog.fields import EVENT, FIELDS
from freshet.types.columns import PLAIN_NAME, Array, Atomic, Column, DataType, Decimal, Map, Struct

FOLDER = Path(__file__).parent / "schemas"
_NAMESPACE = "freshet.changelog"
_AVRO: Mapping[str, Any] = {
    "string": "string",
    "boolean": "boolean",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamp_ntz": {"type": "long", "logicalType": "local-timestamp-micros"},
}
_JSON: Mapping[str, Any] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "bigint": {"type": "integer"},
}


def event_avro() -> dict[str, Any]:
    """Return the Avro schema of an event: a record that a producer's record holds as its field ``_event``."""
    fields = []
    for field in FIELDS:
        kind = _avro(field.type, f"{_NAMESPACE}.{field.name}")
        if field.required:
            fields.append({"name": field.name, "type": kind, "doc": field.means})
        elif field.type == Atomic("boolean"):
            fields.append({"name": field.name, "type": kind, "default": False, "doc": field.means})
        else:
            fields.append({"name": field.name, "type": ["null", kind], "default": None, "doc": field.means})
    return {"type": "record", "name": "Event", "namespace": _NAMESPACE, "fields": fields}


def record_avro(name: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the Avro schema of a table's changelog: its columns, each of which may be null, and ``_event``.

    Args:
        name: The table's name.
        columns: Its columns.

    Raises:
        ValueError: When a name is none of Avro's, or a map has keys that are no texts.
    """
    bad = [one for one in (name, *(column.name for column in columns)) if not PLAIN_NAME.fullmatch(one)]
    if bad:
        raise ValueError(f"Avro takes no such name: {', '.join(bad)}")
    fields = [
        {"name": column.name, "type": ["null", _avro(column.type, f"{_NAMESPACE}.{name}.{column.name}")], "default": None}
        for column in columns
    ]
    record = {"type": "record", "name": name, "namespace": f"{_NAMESPACE}.tables"}
    return {**record, "fields": [*fields, {"name": EVENT, "type": event_avro()}]}


def event_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an event; a field that may be null may also be left out."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "description": f"The field {EVENT} of each message of a changelog.",
        **_json_struct(
            {field.name: (field.type, field.required, field.means) for field in FIELDS},
        ),
    }


def files() -> dict[str, str]:
    """Return the shipped files by name."""
    return {
        "event.avsc": json.dumps(event_avro(), indent=2) + "\n",
        "event.schema.json": json.dumps(event_json_schema(), indent=2) + "\n",
    }


def _avro(kind: DataType, name: str) -> Any:
    match kind:
        case Atomic(atomic):
            return _AVRO[atomic]
        case Decimal(precision, scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case Array(element):
            return {"type": "array", "items": _avro_inner(element, name)}
        case Map(Atomic("string"), value):
            return {"type": "map", "values": _avro_inner(value, name)}
        case Struct(fields):
            inner = [{"name": n, "type": _avro_inner(t, f"{name}.{n}"), "default": None} for n, t in fields]
            namespace, _, last = name.rpartition(".")
            return {"type": "record", "name": last, "namespace": namespace, "fields": inner}
    raise ValueError(f"Avro has no {kind}")


def _avro_inner(kind: DataType, name: str) -> list[Any]:
    return ["null", _avro(kind, name)]


def _json_struct(fields: Mapping[str, tuple[DataType, bool, str]]) -> dict[str, Any]:
    properties = {}
    for name, (kind, required, means) in fields.items():
        found = _json(kind)
        if not required:
            found = {**found, "type": [found["type"], "null"]}
        properties[name] = {**found, "description": means} if means else found
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, (_, required, _) in fields.items() if required],
        "additionalProperties": False,
    }


def _json(kind: DataType) -> dict[str, Any]:
    match kind:
        case Atomic(name):
            return dict(_JSON[name])
        case Array(element):
            return {"type": "array", "items": _json(element)}
        case Struct(fields):
            return _json_struct({name: (inner, name == "name", "") for name, inner in fields})
    raise ValueError(f"no field of an event has the type {kind}")


if __name__ == "__main__":
    for _name, _text in files().items():
        (FOLDER / _name).write_text(_text, encoding="utf-8")

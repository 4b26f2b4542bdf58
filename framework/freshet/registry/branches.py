"""How the values of a topic are decoded whose schemas are known: a branch of Avro's decoder for each of them.

Spark decodes Avro by a function that takes the writer's schema as a literal. Schemas of which the same is read share a column
of its result, so that a row has no more of these than there are shapes. A decoder alone would take no notice of bytes behind a
value, and make a row of nulls of one that it cannot read. So a value is read as the first field of a record, whose second is
an end that is appended to every value: what is read there shows that the value ended where it should.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from freshet.registry.client import Schema
from freshet.registry.inline import parsed
from freshet.registry.read_schema import fields_of, read_schema

#: What is appended, in hex. Its first byte is in it once, so that no end of it can be the beginning of another one.
END = "F5" + "66726573686574" + "00017E80C3A97F02"
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Group:
    """Schemas of which the same is read.

    Args:
        reader: What is read of them, a record of ``value`` and ``end``.
        writers: By id the schema that a value was written with, in a record of ``value`` and ``end``.
    """

    reader: str
    writers: Mapping[int, str]


@dataclass(frozen=True, kw_only=True)
class Branches:
    """How the values of a topic are decoded.

    Args:
        groups: Those that are.
        refused: By id, why the values of a schema are not.
    """

    groups: tuple[Group, ...]
    refused: Mapping[int, str]


def branches(schemas: Mapping[int, Schema], columns: Sequence[str], is_strict: bool = False) -> Branches:
    """Return how values are decoded.

    Args:
        schemas: By id.
        columns: Names of the columns; fields are found by them, with their case.
        is_strict: True where a record may have no field that is no column.
    """
    groups: dict[str, dict[int, str]] = {}
    refused: dict[int, str] = {}
    for number, schema in sorted(schemas.items()):
        try:
            reader = _framed(_read(schema, columns, is_strict))
            groups.setdefault(reader, {})[number] = _framed(json.loads(schema.text))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            refused[number] = str(error) if isinstance(error, ValueError) else f"it is none of Avro's ({error})"
    return Branches(groups=tuple(Group(reader=one, writers=of) for one, of in groups.items()), refused=refused)


def as_record(schema: Schema, name: str) -> Schema:
    """Return a schema as one of a record: that of a plain value, as keys are, becomes its one field, and has the same bytes.

    Args:
        schema: The schema.
        name: The field's name.
    """
    if schema.kind != "AVRO":
        return schema
    found = parsed(schema.text)
    if isinstance(found, dict) and found.get("type") == "record":
        return schema
    return replace(
        schema, text=json.dumps({"type": "record", "name": "freshet_plain", "fields": [{"name": name, "type": found}]})
    )


def _read(schema: Schema, columns: Collection[str], is_strict: bool) -> dict[str, Any]:
    if schema.kind != "AVRO":
        raise ValueError(f"it is one of {schema.kind}, which is not decoded")
    fields = fields_of(schema.text)
    others = [name for name in fields if name not in columns]
    for name in columns:
        near = next((one for one in others if one.lower() == name.lower()), "")
        if near and name not in fields:
            raise ValueError(f"its field '{near}' and the column '{name}' differ in case")
    if is_strict and others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        raise ValueError(f"it has fields that are no columns: {', '.join(others[:_SHOWN])}{more}")
    if len(others) == len(fields):
        raise ValueError("none of its fields is a column")
    return read_schema(schema.text, columns)


def _framed(value: Any) -> str:
    end = {"type": "fixed", "name": "freshet_end", "size": len(END) // 2}
    fields = [{"name": "value", "type": value}, {"name": "end", "type": end}]
    return json.dumps({"type": "record", "name": "freshet_framed", "fields": fields})

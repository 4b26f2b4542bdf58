"""What is done with schemas: one text of several, a branch for each id, a DDL held against a subject."""

from __future__ import annotations

import io
import json

import fastavro
import pytest

from freshet.registry.client import Schema
from freshet.registry.compatibility import differences
from freshet.registry.inline import inlined
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type

MONEY = {"type": "fixed", "name": "Money", "namespace": "m", "size": 2}
LINE = {"type": "record", "name": "Line", "namespace": "l", "fields": [{"name": "of", "type": "m.Money"}]}


def test_one_text_defines_each_name_where_it_stands_first_and_writes_the_same_bytes() -> None:
    trip = {
        "type": "record",
        "name": "Trip",
        "namespace": "t",
        "fields": [
            {"name": "lines", "type": {"type": "array", "items": "l.Line"}},
            {"name": "by", "type": {"type": "map", "values": ["null", "m.Money"]}},
            {"name": "again", "type": ["null", "Trip"]},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        ],
    }
    text = inlined(json.dumps(trip), {"m.Money": json.dumps(MONEY), "l.Line": json.dumps(LINE)})
    row = {"lines": [{"of": b"ab"}], "by": {"x": b"cd", "y": None}, "again": None, "at": 5}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(text)), row)
    assert out.tell() > 0
    assert text.count('"size"') == 1
    assert inlined(text, {}) == text


def test_a_name_without_a_namespace_keeps_its_place() -> None:
    plain = {"type": "enum", "name": "Mood", "symbols": ["GOOD"]}
    trip = {"type": "record", "name": "Trip", "namespace": "t", "fields": [{"name": "mood", "type": "Mood"}]}
    found = json.loads(inlined(json.dumps(trip), {"Mood": json.dumps(plain)}))
    assert found["fields"][0]["type"]["namespace"] == ""
    fastavro.parse_schema(found)


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"type": "record", "name": "A", "fields": [{"name": "x", "type": "B"}]}', '{"type": "record"}']
)
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        inlined(text, {})


def subject(**kinds: object) -> Schema:
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return Schema(id=1, kind="AVRO", text=json.dumps({"type": "record", "name": "Trip", "fields": fields}))


def column(name: str, kind: str, nullable: bool = True) -> Column:
    return Column(name=name, type=parse_type(kind), nullable=nullable)


@pytest.mark.parametrize(
    ("table", "schema", "found"),
    [
        ([column("a", "bigint")], subject(a="int"), []),
        ([column("a", "int")], subject(a="long"), [("notice", "a")]),
        ([column("a", "int")], subject(a="string"), [("problem", "a")]),
        ([column("a", "int", nullable=False)], subject(a=["null", "int"]), [("problem", "a")]),
        ([column("a", "int")], subject(b="int"), [("notice", "a"), ("notice", "b")]),
        ([column("a", "int", nullable=False)], subject(b="int"), [("problem", "a"), ("notice", "b")]),
        ([column("a", "int")], subject(A="int"), [("problem", "a"), ("notice", "A")]),
        ([column("a", "int")], subject(a=["int", "string"]), [("problem", "")]),
        ([column("a", "int")], Schema(id=1, kind="JSON", text="{}"), [("problem", "")]),
        ([column("a", "int")], Schema(id=1, kind="AVRO", text='"string"'), [("problem", "")]),
    ],
)
def test_a_table_is_held_against_a_subject(table: list[Column], schema: Schema, found: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.column) for one in differences(table, schema)] == found


def test_a_registry_that_holds_nothing_is_said() -> None:
    assert [one.kind for one in differences([column("a", "int")], subject(a="int"), "NONE")] == ["notice"]

"""How values of Avro are read: which fields, by which branch, and what is known of a value's end.

Avro's rules are held against fastavro here; that Spark's decoder does the same is tests/integration/test_avro_decode.py.
"""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from freshet.registry.branches import END, Group, as_record, branches
from freshet.registry.client import Schema
from freshet.registry.fitted import fitted
from freshet.registry.inline import inlined
from freshet.registry.read_schema import fields_of, read_schema
from freshet.types.from_json import from_avro
from freshet.types.from_sql import parse_type

OTHERS = (
    {"name": "tree", "type": ["null", "Trip"]},
    {"name": "any", "type": ["int", "string"]},
    {"name": "at", "type": {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "double"}]}},
)


def trip(*fields: Any, name: str = "Trip", namespace: str = "t") -> str:
    return json.dumps({"type": "record", "name": name, "namespace": namespace, "fields": list(fields)})


def field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind}


def avro(number: int, text: str) -> Schema:
    return Schema(id=number, kind="AVRO", text=inlined(text, {}))


def written(schema: str, row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), row)
    return out.getvalue()


def read(group: Group, number: int, data: bytes) -> Any:
    writer, reader = (fastavro.parse_schema(json.loads(text)) for text in (group.writers[number], group.reader))
    found = fastavro.schemaless_reader(io.BytesIO(data + bytes.fromhex(END)), writer, reader)
    assert isinstance(found, dict)
    return found["value"] if found["end"] == bytes.fromhex(END) else None


EMPTY = {"type": "record", "name": "Empty", "fields": [{"name": "x", "type": {"type": "fixed", "name": "F0", "size": 0}}]}
V1 = trip(field("id", "long"), *OTHERS)
V2 = trip(field("id", "long"), field("city", ["null", "string"]), *OTHERS)


def test_schemas_of_which_the_same_is_read_share_a_group() -> None:
    found = branches({7: avro(7, V1), 9: avro(9, V2), 4: avro(4, V1)}, ["id"])
    (group,) = found.groups
    assert (list(group.writers), found.refused) == ([4, 7, 9], {})
    assert [field["name"] for field in json.loads(group.reader)["fields"][0]["type"]["fields"]] == ["id"]
    assert [list(one.writers) for one in branches({7: avro(7, V1), 9: avro(9, V2)}, ["id", "city"]).groups] == [[7], [9]]


def test_fields_that_are_no_columns_are_passed_over_whatever_they_are() -> None:
    (group,) = branches({9: avro(9, V2)}, ["city", "more"]).groups
    row = {"id": 1, "city": "Oslo", "tree": None, "any": "x", "at": {"x": 0.5}}
    assert read(group, 9, written(V2, row)) == {"city": "Oslo"}


def test_a_value_is_read_to_its_end_and_no_further() -> None:
    (group,) = branches({7: avro(7, V1)}, ["id"]).groups
    data = written(V1, {"id": 1, "tree": None, "any": 3, "at": {"x": 0.5}})
    end = bytes.fromhex(END)
    assert read(group, 7, data) == {"id": 1}
    for more in (b"\0", end[:15], end[:5], end[:1], data):
        assert read(group, 7, data + more) is None, more
    for length in range(len(data)):
        # What a decoder without an end would read of them; here there is none.
        with pytest.raises((EOFError, ValueError, IndexError)):
            read(group, 7, data[:length])


@pytest.mark.parametrize(("kind", "value"), [("string", "ü"), ("long", -7), ({"type": "fixed", "name": "F", "size": 2}, b"ab")])
def test_a_plain_value_is_a_record_of_one_field_with_the_same_bytes(kind: Any, value: object) -> None:
    whole = as_record(avro(1, json.dumps(kind)), "id")
    assert fields_of(whole.text) == ("id",)
    found = []
    for schema, told in ((kind, value), (json.loads(whole.text), {"id": value})):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), told)
        found.append(out.getvalue())
    assert found[0] == found[1]
    record = avro(2, trip(field("id", "string")))
    other = Schema(id=3, kind="PROTOBUF", text="x")
    assert (as_record(record, "id"), as_record(other, "id")) == (record, other)


def test_no_end_of_the_end_is_its_beginning() -> None:
    end = bytes.fromhex(END)
    assert len(end) == 16
    assert [n for n in range(1, 16) if end[:n] == end[-n:]] == []


@pytest.mark.parametrize(
    ("schema", "strict", "why"),
    [
        (Schema(id=1, kind="PROTOBUF", text="syntax"), False, "PROTOBUF"),
        (Schema(id=1, kind="JSON", text="{}"), False, "JSON"),
        (Schema(id=1, kind="AVRO", text='"string"'), False, "no record"),
        (Schema(id=1, kind="AVRO", text='["null", "string"]'), False, "no record"),
        (Schema(id=1, kind="AVRO", text="{"), False, "JSON"),
        (Schema(id=1, kind="AVRO", text='{"type": "record", "name": "A", "fields": [{}]}'), False, "none of Avro's"),
        (avro(1, trip(field("other", "int"))), False, "none of its fields"),
        (avro(1, trip(field("ID", "int"), field("city", "string"))), False, "'ID' and the column 'id' differ in case"),
        (avro(1, trip(field("id", "int"), field("more", "int"))), True, "no columns: more"),
        (avro(1, trip(field("id", ["int", "string"]))), False, "'id': a value of one of 2 types"),
        (avro(1, trip(field("id", ["null"]))), False, "'id': a value of one of 0 types"),
        (avro(1, trip(field("id", "int"), field("no", ["int", {"type": "array", "items": "null"}]))), False, "take no byte"),
        (
            avro(1, trip(field("id", "int"), field("no", {"type": "map", "values": {"type": "array", "items": EMPTY}}))),
            False,
            "take no byte",
        ),
        (
            avro(1, trip(field("id", "int"), field("a", EMPTY), field("no", {"type": "array", "items": "Empty"}))),
            False,
            "take no byte",
        ),
        (avro(1, trip(field("id", ["null", "Trip"]))), False, "'id': a value that may hold another 't.Trip'"),
        (
            avro(1, trip(field("id", {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 40}))),
            False,
            "40 digits",
        ),
    ],
)
def test_what_is_not_decoded_is_said(schema: Schema, strict: bool, why: str) -> None:
    found = branches({1: schema}, ["id", "city"], strict)
    assert found.groups == ()
    assert why in found.refused[1]


def test_a_type_that_is_named_again_is_defined_where_it_stands_first() -> None:
    money = {"type": "fixed", "name": "Money", "size": 2}
    text = trip(field("a", money), field("b", "Money"), field("c", {"type": "array", "items": "t.Money"}), field("d", "Money"))
    found = read_schema(inlined(text, {}), ["b", "c", "d"])
    kinds = [one["type"] for one in found["fields"]]
    assert kinds[0] == {"type": "fixed", "name": "Money", "namespace": "t", "size": 2}
    assert kinds[1:] == [{"type": "array", "items": "t.Money"}, "t.Money"]
    fastavro.parse_schema(found)
    assert fields_of(text) == ("a", "b", "c", "d")


def test_a_name_of_the_schema_hides_none_of_another_namespace() -> None:
    inner = {"type": "record", "name": "Money", "namespace": "m", "fields": [{"name": "of", "type": "long"}]}
    text = trip(field("a", inner), field("b", {"type": "record", "name": "Money", "fields": [{"name": "no", "type": "int"}]}))
    assert [str(one.type) for one in from_avro(read_schema(inlined(text, {}), ["a", "b"]))] == [
        "struct<of:bigint>",
        "struct<no:int>",
    ]


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}
FIXED = {**DECIMAL, "type": "fixed", "name": "F"}


@pytest.mark.parametrize(
    ("kind", "declared", "as_read"),
    [
        (DECIMAL, "decimal(5,2)", "decimal(38,2)"),
        ({**FIXED, "size": 4}, "decimal(5,2)", "decimal(9,2)"),
        ({**FIXED, "size": 20}, "decimal(5,2)", "decimal(38,2)"),
        # Avro takes no notice of a logical type that breaks its rules.
        ({**FIXED, "size": 1}, "binary", "binary"),
        ({**DECIMAL, "scale": 6}, "binary", "binary"),
        ({**DECIMAL, "type": "string"}, "string", "string"),
        ({"type": "string", "logicalType": "uuid"}, "string", "string"),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, "binary", "binary"),
        ({"type": "int", "logicalType": "timestamp-micros"}, "int", "int"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, "bigint", "bigint"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, "timestamp_ntz", "timestamp_ntz"),
        ({"type": "int", "logicalType": "time-millis"}, "int", "int"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "string", "string"),
        (["string", {"type": "null"}], "string", "string"),
        ([DECIMAL], "decimal(5,2)", "decimal(38,2)"),
    ],
)
def test_types_are_what_spark_reads_and_decimals_have_room_for_more_digits(kind: Any, declared: str, as_read: str) -> None:
    text = trip(field("id", kind))
    for as_declared, expected in ((True, declared), (False, as_read)):
        (found,) = from_avro(read_schema(text, ["id"], as_declared))
        assert str(found.type) == expected


@pytest.mark.parametrize(
    ("found", "wanted", "value", "misfit"),
    [
        ("int", "int", "v", ""),
        ("int", "bigint", "CAST(v AS bigint)", ""),
        ("bigint", "int", "try_cast(v AS int)", "(v IS NOT NULL AND try_cast(v AS int) IS NULL)"),
        ("decimal(38,2)", "decimal(10,2)", "try_cast(v AS decimal(10,2))", "try_cast"),
        ("string", "string", "v", "decode(CAST(v AS BINARY), 'UTF-8')"),
        ("array<int>", "array<int>", "v", ""),
        ("array<int>", "array<bigint>", "transform(v, x0 -> CAST(x0 AS bigint))", ""),
        ("array<bigint>", "array<int>", "transform", "coalesce(exists(v, x0 -> "),
        ("array<array<int>>", "array<array<bigint>>", "transform(v, x0 -> transform(x0, x1 -> CAST(x1 AS bigint)))", ""),
        ("map<string,int>", "map<string,bigint>", "transform_values(v, (k0, x0) -> CAST(x0 AS bigint))", "map_keys(v)"),
        ("struct<a:int>", "struct<a:int>", "v", ""),
        ("struct<b:int,a:int>", "struct<a:int,c:date>", "named_struct('a', v.`a`, 'c', CAST(NULL AS date))", ""),
        ("struct<a:bigint>", "struct<a:int>", "named_struct", "v.`a` IS NOT NULL"),
    ],
)
def test_a_value_becomes_that_of_its_column(found: str, wanted: str, value: str, misfit: str) -> None:
    one = fitted("v", parse_type(found), parse_type(wanted))
    assert value in one.value
    assert misfit in one.misfit
    assert bool(misfit) == bool(one.misfit)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("string", "int"),
        ("int", "string"),
        ("bigint", "double"),
        ("decimal(38,4)", "decimal(38,2)"),
        ("double", "float"),
        ("array<string>", "array<int>"),
        ("array<int>", "int"),
        ("struct<x:int>", "struct<a:int>"),
        ("struct<a:int,B:int>", "struct<a:int,b:int>"),
        ("map<string,string>", "map<int,string>"),
    ],
)
def test_what_would_lose_something_is_refused(found: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        fitted("v", parse_type(found), parse_type(wanted))

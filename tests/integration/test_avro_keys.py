"""Keys of Avro, and schemas that headers name, on frames in memory: by Spark's decoder, and none is read otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import Row, SparkSession

from freshet.project.model.kafka import KeySpec
from freshet.project.model.pipeline import TableRef
from freshet.registry.address import Address
from freshet.registry.client import Schema
from freshet.registry.inline import inlined
from freshet.sources.hudi.reads import Window
from freshet.sources.kafka.read.decode import WHY, decode
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.records import raw
from tests.kit.registry import avro, framed, record
from tests.kit.topics import a_topic_spec

REGISTRY = Address(urls=("http://r:1",))
GUIDS = [UUID(int=number) for number in range(1, 4)]
VALUE = record(id="string", n="int")
KEYS = record(id="string", part="int")
WHOLE = avro(VALUE, {"id": "a", "n": 7})


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def schema(number: int, told: object, guid: UUID | None = None) -> Schema:
    return Schema(id=number, kind="AVRO", text=inlined(json.dumps(told), {}), guid=guid.hex.upper() if guid else "")


def columns(**kinds: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=parse_type(kind)) for name, kind in kinds.items())


def stage(form: str = "avro", **how: Any) -> ReadTopics:
    is_avro = form == "avro"
    return ReadTopics(
        **{
            "table": TableRef("kafka:orders", "kafka:orders"),
            "window": Window(kind="increment"),
            "with_deletes": False,
            "ranges": (Range("orders", 0, 0, 9),),
            "client": {},
            "columns": columns(id="string", n="int"),
            "format": form,
            "registry": REGISTRY if is_avro else None,
            "subjects": ("orders-value",) if is_avro else (),
            **how,
        }
    )


def with_keys(**kinds: str) -> ReadTopics:
    return stage(
        "text",
        columns=(),
        tombstones="delete",
        key_columns=columns(**kinds),
        key_registry=REGISTRY,
        key_subjects=("orders-key",),
    )


def rows_of(
    spark: SparkSession, one: ReadTopics, values: Sequence[bytes | str | None], schemas: Mapping[int, Schema], **more: Any
) -> list[Row]:
    by = {"key_schemas": schemas} if one.key_columns else {"schemas": schemas}
    return decode(raw(spark, *values, **more), one, **by).orderBy("_kafka.offset").collect()


def test_a_key_becomes_a_struct_and_tells_which_row_a_tombstone_deletes(spark: SparkSession) -> None:
    later = record(id="string", part="long", more="string")
    schemas = {1: schema(1, KEYS), 2: schema(2, later), 3: schema(3, record(id="int"))}
    good = {
        framed(1, avro(KEYS, {"id": "a", "part": 1})): ("a", 1),
        framed(2, avro(later, {"id": "b", "part": 2, "more": "x"})): ("b", 2),
    }
    bad = {
        "its key: part does not fit int": framed(2, avro(later, {"id": "b", "part": 1 << 40, "more": "x"})),
        "its key: its schema has the id 9, which is no version of orders-key": framed(9, b"x"),
        "its key: its schema (id 3) cannot be read": framed(3, b"\x02"),
        "its key: its bytes are not one record of its schema (id 1)": framed(1, b"\x02"),
        "its key: it does not begin with a schema's id": b"a",
    }
    keys = [*good, None, *bad.values()]
    one = with_keys(id="string", part="int")
    rows = rows_of(spark, one, [None, "v", "v", *(["v"] * len(bad))], schemas, keys=keys)
    assert [(row["_key"] and tuple(row["_key"]), row["_hoodie_is_deleted"], row[WHY]) for row in rows[:3]] == [
        (("a", 1), True, None),
        (("b", 2), False, None),
        (None, False, None),
    ]
    for words, row in zip(bad, rows[3:], strict=True):
        assert (row[WHY] or "").startswith(words), (words, row[WHY])
    assert bytes(rows[0]["_kafka"]["key"]) == keys[0]
    spec = a_topic_spec(format="text", tombstones="delete", key=KeySpec(columns=one.key_columns, registry=REGISTRY), columns=())
    found = decode(raw(spark, "v"), one, key_schemas=schemas).drop(WHY).schema.fields
    assert {f.name: f.dataType.simpleString() for f in found} == {c.name: str(c.type) for c in spec.row_columns}


def test_a_key_that_is_no_record_is_the_one_field(spark: SparkSession) -> None:
    schemas = {1: schema(1, "string"), 2: schema(2, record(id="string")), 3: schema(3, "long")}
    keys = [framed(1, b"\x02a"), framed(2, b"\x02b"), framed(3, b"\x02")]
    rows = rows_of(spark, with_keys(id="string"), ["v"] * 3, schemas, keys=keys)
    assert [row["_key"] and row["_key"]["id"] for row in rows[:2]] == ["a", "b"]
    assert [row[WHY] is None for row in rows] == [True, True, False]
    assert "'id' does not fit string" in rows[2][WHY]


def test_a_header_names_the_schema_of_a_value_and_nothing_stands_in_front_of_it(spark: SparkSession) -> None:
    schemas = {1: schema(1, VALUE, GUIDS[0]), 2: schema(2, VALUE)}

    def named(*values: bytes | None) -> list[tuple[str, bytes | None]]:
        return [("trace", b"\x01"), *(("__value_schema_id", one) for one in values), ("__key_schema_id", b"\x07")]

    cases: list[tuple[bytes | None, list[tuple[str, bytes | None]] | None, str]] = [
        (WHOLE, named(b"\x01" + GUIDS[0].bytes), ""),
        (framed(2, WHOLE), None, ""),
        (framed(2, WHOLE), named(), ""),
        # The header counts, and what looks like an id in front of the value is a part of it.
        (framed(1, WHOLE), named(b"\x01" + GUIDS[0].bytes), "its bytes are not one record of its schema (id 1)"),
        (WHOLE, named(b"\x01" + GUIDS[2].bytes), f"its schema has the GUID {GUIDS[2].hex.upper()}, which is no version of"),
        (WHOLE, named(b"\x00\x00\x00\x00\x01"), "its header __value_schema_id holds no GUID of a schema"),
        (WHOLE, named(None), "its header __value_schema_id holds no GUID of a schema"),
        (WHOLE, named(*[b"\x01" + GUIDS[0].bytes] * 2), "it has several headers __value_schema_id"),
        (WHOLE, named(), "it does not begin with a schema's id"),
        (None, named(b"\x01" + GUIDS[0].bytes), "it has no value"),
    ]
    values, headers, words = zip(*cases, strict=True)
    rows = rows_of(spark, stage(), values, schemas, headers=headers)
    for row, wanted in zip(rows, words, strict=True):
        assert (row[WHY] or "")[: len(wanted)] == wanted, (wanted, row[WHY])
        assert bool(row[WHY]) == bool(wanted), row[WHY]
        assert wanted or (row["id"], row["n"]) == ("a", 7)


def test_json_and_keys_whose_schemas_headers_name(spark: SparkSession) -> None:
    text = b'{"id":"a","n":7}'
    named = [("__value_schema_id", b"\x01" + GUIDS[0].bytes)]
    rows = rows_of(spark, stage("json_schema"), [text, framed(1, text), text], {}, headers=[named, None, None])
    assert [(row["id"], bool(row[WHY])) for row in rows] == [("a", False), ("a", False), (None, True)]
    schemas = {1: schema(1, "string", GUIDS[1])}
    headers = [[("__key_schema_id", b"\x01" + GUIDS[1].bytes)], named]
    rows = rows_of(spark, with_keys(id="string"), ["v", "v"], schemas, keys=[b"\x02k", b"\x02k"], headers=headers)
    assert [row["_key"] and row["_key"]["id"] for row in rows] == ["k", None]
    assert rows[1][WHY] == "its key: it does not begin with a schema's id"

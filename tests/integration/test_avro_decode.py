"""Records of Avro become rows, on frames in memory: by Spark's decoder, each by its own schema, and none is read otherwise.

The kind: a value that a decoder reads in part, cuts, or makes a row of nulls of. What is known without Spark is
tests/unit/registry/test_branches.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import Row, SparkSession

from freshet.errors import StateError
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.registry.address import Address
from freshet.registry.client import Schema
from freshet.registry.inline import inlined
from freshet.sinks.failures import in_words
from freshet.sources.hudi.reads import Window
from freshet.sources.kafka.read import avro as avro_module
from freshet.sources.kafka.read import reader
from freshet.sources.kafka.read.decode import WHY, decode
from freshet.sources.kafka.read.reader import KafkaReader
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.records import raw
from tests.kit.registry import avro, framed, record
from tests.kit.topics import a_topic_spec

MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
PLACE = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "float"}, {"name": "y", "type": "int"}]}
V1 = record(id="string", n="int")
V2 = record(
    tree=["null", "Order"],
    any=["int", "string", {"type": "array", "items": "string"}],
    id=["null", "string"],
    n="long",
    amount=["null", MONEY],
    at=MILLIS,
    tags={"type": "array", "items": ["null", "int"]},
    place=["null", PLACE],
)
COLUMNS = {
    "id": "string",
    "n": "int",
    "amount": "decimal(5,2)",
    "at": "timestamp",
    "tags": "array<bigint>",
    "place": "struct<y:int,x:double>",
    "more": "date",
}
FULL = {
    "tree": {"tree": None, "any": 1, "id": "b", "n": 1, "amount": None, "at": 0, "tags": [], "place": None},
    "any": ["x"],
    "id": "a",
    "n": 7,
    "amount": Decimal("1.50"),
    "at": datetime(2026, 8, 1, 10, 15, tzinfo=timezone.utc),
    "tags": [1, None],
    "place": {"x": 0.5, "y": 3},
}
#: A string that says it has 2,000,000,000 bytes, or a list so many elements.
HUGE = b"\x80\xd0\xac\xf3\x0e"


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def schema(number: int, told: object, kind: str = "AVRO") -> Schema:
    return Schema(id=number, kind=kind, text=inlined(json.dumps(told), {}) if kind == "AVRO" else str(told))


def of_columns(columns: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=parse_type(kind)) for name, kind in columns.items())


def stage(columns: Mapping[str, str] = COLUMNS, registry: bool = True, **how: Any) -> ReadTopics:
    return ReadTopics(
        **{
            "table": TableRef("kafka:orders", "kafka:orders"),
            "window": Window(kind="increment"),
            "with_deletes": False,
            "ranges": (Range("orders", 0, 0, 9),),
            "client": {},
            "columns": of_columns(columns),
            "format": "avro",
            "registry": Address(urls=("http://r:1",)) if registry else None,
            "subjects": ("orders-value",) if registry else (),
            **how,
        }
    )


def rows_of(
    spark: SparkSession, one: ReadTopics, values: Sequence[bytes | None], schemas: Mapping[int, Schema] | None = None
) -> list[Row]:
    return decode(raw(spark, *values), one, schemas=schemas).orderBy("_kafka.offset").collect()


def test_records_of_several_schemas_become_rows_of_the_ddl_and_no_other_value_does(spark: SparkSession) -> None:
    bytes_for_id = record(id="bytes", n="int")
    schemas = {
        1: schema(1, V1),
        2: schema(2, V2),
        3: schema(3, "syntax", "PROTOBUF"),
        4: schema(4, record(id="string", n="string")),
        5: schema(5, V1),
    }
    plain = avro(V1, {"id": "a", "n": 7})
    good = [framed(1, plain), framed(2, avro(V2, FULL)), framed(5, plain), framed(1, avro(V1, {"id": "", "n": 0}))]
    bad = {
        "n does not fit int": framed(2, avro(V2, {**FULL, "n": 1 << 40})),
        "amount does not fit decimal(5,2)": framed(2, avro(V2, {**FULL, "amount": Decimal("1000.00")})),
        "id does not fit string": framed(1, avro(bytes_for_id, {"id": b"\xff", "n": 7})),
        "not one record of its schema (id 1)": framed(1, plain + b"\0"),
        "its bytes are not one record": framed(1, plain[:-1]),
        "its bytes are not": framed(1, HUGE),
        "its bytes": framed(2, b""),
        "has the id 9, which is no version of orders-value": framed(9, plain),
        "it does not begin with a schema's id": b"\x01" + framed(1, plain)[1:],
        "it does not begin": b"\0\0",
        "(id 3) cannot be read: it is one of PROTOBUF": framed(3, plain),
        "(id 4) cannot be read: its field 'n' does not fit int": framed(4, plain),
        "it has no value": None,
    }
    # Moved, so that Spark's planner does not compute rows that it has at hand.
    decoded = decode(raw(spark, *good, *bad.values()).repartition(1), stage(), schemas=schemas)
    # One reading, whatever the number of schemas, and each value by one decoder, however many columns look at what it gives.
    plan: Any = decoded._jdf.queryExecution().optimizedPlan()
    assert (plan.collectLeaves().size(), "Union" in plan.toString()) == (1, False)
    assert plan.toString().count("from_avro(") == len(schemas) - 2, plan.toString()
    rows = decoded.orderBy("_kafka.offset").collect()
    assert [row[WHY] for row in rows[: len(good)]] == [None] * len(good)
    first, second = rows[:2]
    assert tuple(first[name] for name in COLUMNS) == ("a", 7, None, None, None, None, None)
    assert (second["id"], second["n"], second["amount"], second["tags"]) == ("a", 7, Decimal("1.50"), [1, None])
    assert second["at"].astimezone(timezone.utc) == FULL["at"]
    assert (second["place"].asDict(), second["more"]) == ({"y": 3, "x": 0.5}, None)
    assert (rows[2]["id"], rows[3]["id"], rows[3]["n"]) == ("a", "", 0)
    for words, row in zip(bad, rows[len(good) :], strict=True):
        assert words in (row[WHY] or ""), (words, row[WHY])
    assert {f.name: f.dataType.simpleString() for f in decoded.drop(WHY).schema.fields} == {
        c.name: str(c.type) for c in a_topic_spec(format="avro", columns=of_columns(COLUMNS)).row_columns
    }


def test_avro_by_the_schema_of_a_file_has_no_id_in_front(spark: SparkSession) -> None:
    one = stage({"id": "string", "n": "bigint"}, registry=False, avro_schema=json.dumps(V1), tombstones="delete")
    plain = avro(V1, {"id": "a", "n": 7})
    rows = rows_of(spark, one, [plain, framed(1, plain), None], {0: schema(0, V1)})
    assert [(row["id"], row["n"], row["_hoodie_is_deleted"]) for row in (rows[0], rows[2])] == [
        ("a", 7, False),
        (None, None, True),
    ]
    assert [bool(row[WHY]) for row in rows] == [False, True, False]
    assert rows[1][WHY] == "its bytes are not one record of its schema"


FIXED = {"type": "fixed", "name": "F", "size": 9, "logicalType": "decimal", "precision": 6, "scale": 2}


@pytest.mark.parametrize("kind", [MONEY, FIXED])
def test_digits_beyond_those_of_a_decimals_schema_are_not_cut(spark: SparkSession, kind: Any) -> None:
    """Spark alone takes the lowest 64 bits of a decimal of up to 18 digits."""
    bare = {key: value for key, value in kind.items() if key not in ("logicalType", "precision", "scale")}
    raw_bytes, told = record(amount=bare), record(amount=kind)
    width = 9
    numbers = [150, (1 << 64) + 150, -(1 << 64) - 150, 99_999, 100_000, -1]
    values = [framed(1, avro(raw_bytes, {"amount": n.to_bytes(width, "big", signed=True)})) for n in numbers]
    for wanted, fits in (("decimal(5,2)", [0, 3, 5]), ("decimal(30,2)", list(range(6)))):
        rows = rows_of(spark, stage({"amount": wanted}), values, {1: schema(1, told)})
        assert [n for n, row in enumerate(rows) if row[WHY] is None] == fits
        assert [int(rows[n]["amount"] * 100) for n in fits] == [numbers[n] for n in fits]


def test_values_within_lists_maps_and_structs_are_held_to_their_columns(spark: SparkSession) -> None:
    deep = {
        "type": "record",
        "name": "Deep",
        "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": ["null", "bytes"]}],
    }
    text = {
        "type": "record",
        "name": "Deep",
        "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": ["null", "string"]}],
    }
    columns = {"of": "map<string,array<struct<s:string,n:int>>>"}

    def told(inner: Any) -> dict[str, Any]:
        return record(of=["null", {"type": "map", "values": {"type": "array", "items": inner}}])

    rows = [
        {"of": None},
        {"of": {"a": [{"n": 1, "s": b"x"}, {"n": 2, "s": None}], "b": []}},
        {"of": {"a": [{"n": 1 << 40, "s": None}]}},
        {"of": {"a": [], "b": [{"n": 1, "s": b"\xff"}]}},
    ]
    values = [framed(1, avro(told(deep), row)) for row in rows]
    found = rows_of(spark, stage(columns), values, {1: schema(1, told(text))})
    assert [row[WHY] is None for row in found] == [True, True, False, False]
    assert found[0]["of"] is None
    assert {key: [tuple(one) for one in of] for key, of in found[1]["of"].items()} == {"a": [("x", 1), (None, 2)], "b": []}


def test_every_kind_of_value_is_what_its_producer_wrote(spark: SparkSession) -> None:
    kinds: dict[str, Any] = {
        "b": "boolean",
        "f": "float",
        "d": "double",
        "raw": "bytes",
        "fix": {"type": "fixed", "name": "Fix", "size": 2},
        "mood": {"type": "enum", "name": "Mood", "symbols": ["GOOD", "BAD"]},
        "day": {"type": "int", "logicalType": "date"},
        "micros": {"type": "long", "logicalType": "timestamp-micros"},
        "local": {"type": "long", "logicalType": "local-timestamp-micros"},
        "time": {"type": "long", "logicalType": "time-micros"},
        "uid": {"type": "string", "logicalType": "uuid"},
    }
    columns = {
        "b": "boolean",
        "f": "double",
        "d": "double",
        "raw": "binary",
        "fix": "binary",
        "mood": "string",
        "day": "date",
        "micros": "timestamp",
        "local": "timestamp_ntz",
        "time": "bigint",
        "uid": "string",
    }
    plain = {
        name: kind if isinstance(kind, str) else {k: v for k, v in kind.items() if k != "logicalType"}
        for name, kind in kinds.items()
    }
    # A day of before 1582, and a time of before 1900.
    row = {
        "b": True,
        "f": 0.5,
        "d": float("inf"),
        "raw": b"\xff",
        "fix": b"ab",
        "mood": "BAD",
        "day": -150_000,
        "micros": -2_500_000_000_000_001,
        "local": 1,
        "time": 5,
        "uid": "u",
    }
    (found,) = rows_of(spark, stage(columns), [framed(1, avro(record(**plain), row))], {1: schema(1, record(**kinds))})
    assert found[WHY] is None
    assert (found["b"], found["f"], found["d"], bytes(found["raw"]), bytes(found["fix"])) == (
        True,
        0.5,
        float("inf"),
        b"\xff",
        b"ab",
    )
    assert (found["mood"], found["time"], found["uid"], found["local"]) == ("BAD", 5, "u", datetime(1970, 1, 1, 0, 0, 0, 1))
    assert found["day"].toordinal() - datetime(1970, 1, 1).toordinal() == -150_000
    assert found["micros"].astimezone(timezone.utc) == datetime(1890, 10, 11, 19, 33, 19, 999_999, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ({"type": "array", "items": "string"}, HUGE),
        ({"type": "map", "values": "int"}, HUGE),
        ("bytes", HUGE),
        ("string", b"\x01"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x08"),
        (["null", "int"], b"\x08"),
        ("int", b"\xff" * 11),
    ],
)
def test_garbled_bytes_are_no_rows_and_do_no_harm(spark: SparkSession, kind: Any, data: bytes) -> None:
    told = record(of=kind, id="string")
    for columns in ({"of": "string", "id": "string"}, {"id": "string"}):
        kinds = {"array": "array<string>", "map": "map<string,int>", "enum": "string"}
        name = kind["type"] if isinstance(kind, dict) else kind if isinstance(kind, str) else "int"
        wanted = {**columns, **({"of": kinds.get(name, "binary" if name == "bytes" else name)} if "of" in columns else {})}
        (row,) = rows_of(spark, stage(wanted), [framed(1, data)], {1: schema(1, told)})
        assert "its bytes are not one record" in (row[WHY] or ""), row


def test_strict_avro_has_no_field_that_is_no_column(spark: SparkSession) -> None:
    value = framed(1, avro(V1, {"id": "a", "n": 7}))
    for columns, why in (({"id": "string", "n": "int"}, None), ({"id": "string"}, "fields that are no columns: n")):
        (row,) = rows_of(spark, stage(columns, is_strict=True), [value], {1: schema(1, V1)})
        assert (row[WHY] is None) if why is None else (why in row[WHY])


def test_json_behind_the_id_of_a_schema(spark: SparkSession) -> None:
    one = stage({"id": "string", "n": "int"}, registry=False, format="json_schema", tombstones="row")
    text = b'{"id":"a","n":7}'
    rows = rows_of(spark, one, [framed(1, text), framed(2, b"{nonsense"), text, b"", framed(1, b"\xff"), None])
    assert [(row["id"], row["n"], row[WHY]) for row in (rows[0], rows[5])] == [("a", 7, None), (None, None, None)]
    why = [row[WHY] for row in rows[1:5]]
    assert "no JSON object" in why[0]
    assert why[1:] == ["it does not begin with a schema's id"] * 2 + ["its value is no UTF-8"]


def test_a_reader_parts_records_of_avro_that_can_be_decoded_from_the_rest(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, late = avro(V1, {"id": "a", "n": 7}), framed(9, b"x")
    monkeypatch.setattr(reader, "schemas_of", lambda asked: {1: schema(1, V1)})
    monkeypatch.setattr(reader, "read_records", lambda session, asked: raw(session, framed(1, value), late))
    good, bad = KafkaReader().read(spark, stage(rule="decoded"))
    assert bad is not None
    assert [row["id"] for row in good.collect()] == ["a"]
    assert good.columns == [*COLUMNS, "_kafka"]
    (row,) = bad.collect()
    kept = json.loads(row[ORIGINAL])
    assert (kept["topic"], kept["partition"], kept["offset"]) == ("orders", 0, 11)
    assert "id 9" in row[REASONS][0]
    rows, _ = KafkaReader().read(spark, stage())
    with pytest.raises(Py4JJavaError) as failed:
        rows.select("id").collect()
    error = in_words(TableRef("derived.copy", "/lake/copy"), str(failed.value))
    assert error.code == "RECORD_UNREADABLE"
    assert "offset=11" in error.message


def test_a_window_of_avro_without_records_has_the_columns(spark: SparkSession) -> None:
    rows, _ = KafkaReader().read(spark, stage(ranges=(), subjects=()))
    assert (rows.columns, rows.count()) == ([*COLUMNS, "_kafka"], 0)


def test_a_session_without_avros_jar_is_said(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_module, "JavaClass", type("Nothing", (), {}))
    with pytest.raises(StateError) as refused:
        decode(raw(spark, b"x"), stage(), schemas={1: schema(1, V1)})
    assert refused.value.code == "AVRO_JARS_MISSING"

"""Records become rows, on frames in memory: what each format takes, and that no record is read as something that it is not.

The kind: a value that a parser reads in part, rounds, replaces or passes over, without a word. That the others go to the
quarantine is `test_a_record_that_cannot_be_decoded...` of tests/kafka.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.sinks.failures import in_words
from freshet.sources.hudi.reads import ReadRange, Window
from freshet.sources.kafka.read import reader
from freshet.sources.kafka.read.decode import WHY, decode, original
from freshet.sources.kafka.read.reader import KafkaReader
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.records import raw
from tests.kit.topics import a_topic_spec

COLUMNS = {
    "id": "string",
    "n": "int",
    "amount": "decimal(5,2)",
    "at": "timestamp",
    "tags": "array<string>",
    "x": "double",
    "t": "tinyint",
    "d": "date",
}
GOOD = '{"id":"a","n":1,"amount":1.50,"at":"2026-08-01T10:15:00Z","tags":["p","q"],"x":0.5}'


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def stage(columns: dict[str, str] | None = None, **how: Any) -> ReadTopics:
    kinds = COLUMNS if columns is None else columns
    return ReadTopics(
        table=TableRef("kafka:orders", "kafka:orders"),
        window=Window(kind="increment"),
        with_deletes=False,
        ranges=(Range("orders", 0, 0, 9),),
        client={},
        columns=tuple(Column(name=name, type=parse_type(kind)) for name, kind in kinds.items()),
        **how,
    )


def one(spark: SparkSession, value: bytes | str | None, columns: dict[str, str] | None = None, **how: Any) -> Row:
    return decode(raw(spark, value), stage(columns, **how)).collect()[0]


def test_a_json_object_becomes_columns_and_where_it_came_from(spark: SparkSession) -> None:
    found = one(spark, GOOD)
    assert (found["id"], found["n"], str(found["amount"]), found["tags"], found["x"]) == ("a", 1, "1.50", ["p", "q"], 0.5)
    assert found["at"].astimezone(timezone.utc) == datetime(2026, 8, 1, 10, 15, tzinfo=timezone.utc)
    assert found[WHY] is None
    came = found["_kafka"]
    assert (came["topic"], came["partition"], came["offset"], bytes(came["key"])) == ("orders", 0, 10, b"k0")
    assert (came["timestamp_type"], came["tombstone"]) == ("CreateTime", False)
    assert [(h["key"], h["value"] and bytes(h["value"])) for h in came["headers"]] == [("trace", b"\x01"), ("nil", None)]


def test_the_rows_have_the_columns_that_the_plan_says(spark: SparkSession) -> None:
    for changes in ({}, {"tombstones": "delete"}, {"format": "text"}, {"format": "bytes", "tombstones": "row"}):
        spec: KafkaSpec = a_topic_spec(columns=stage().columns, **changes)
        found = decode(raw(spark, "{}"), stage(**changes)).drop(WHY)
        assert {f.name: f.dataType.simpleString() for f in found.schema.fields} == {
            c.name: str(c.type) for c in spec.row_columns
        }


DECODED = (
    "{}",
    '{"id":null}',
    ' \n {"id":"a"} ',
    '{"id":"a","more":{"deep":[1]}}',
    '{"id":"}],\\"end\\":1}"}',
    '{"id":"ü😀\\u00e9"}',
    '{"amount":999.99}',
    '{"amount":-0.10}',
    '{"amount":1.5000}',
    '{"amount":1e2}',
    '{"n":-2147483648}',
    '{"amount":"1.50"}',
    '{"t":-128,"d":"2026-08-01"}',
    '{"at":"2026-08-01 10:15:00.5+02:00"}',
    '{"x":12345678901}',
)
#: What is no JSON object, or not of these columns.
NOT_DECODED: tuple[bytes | str | None, ...] = (
    *(
        "",
        " ",
        "null",
        "7",
        '"text"',
        "[]",
        "[{}]",
        '[{"id":"a"}]',
        "{",
        '{"id":',
        "{}{}",
        "{},{}",
        '{"id":"a"} {"id":"b"}',
    ),
    *('{"id":"a"}]', '{"id":"a"}]}', '{"id":"a"} rest', "{'id':'a'", "{id:a}", '{"id":"a",}', "}{"),
    # A field that is no value of its column, at the top and within.
    *('{"n":"ten"}', '{"n":1.5}', '{"n":2147483648}', '{"n":true}', '{"at":"yesterday"}', '{"tags":"p"}', '{"x":"much"}'),
    *('{"t":200}', '{"t":-129}', '{"at":1700000000}', '{"at":1700000000000}', '{"d":"soon"}', '{"d":20000}', '{"at":""}'),
    *('{"at":20000}', '{"at":"10:15"}', '{"d":"2026-08-01 soon"}', '{"at":"2026-13-01"}', '{"d":"2026-02-30"}'),
    *(
        '{"x":"NaN"}',
        '{"x":NaN}',
        '{"x":"Infinity"}',
        "{'id':'a'}",
        '{"amount":"1,50"}',
        '{"amount":"1,000"}',
        '{"tags":["p"}',
    ),
    # Digits that would be rounded, or be too many.
    *('{"amount":1.505}', '{"amount":1000}', '{"amount":99999999999999999999999999}', '{"amount":1e30}', '{"x":1e999}'),
    # Bytes that are no text.
    *(b"\xff\xfe", b'{"id":"\xff"}', b'{"id":"\xc3"}'),
    None,
)


def test_what_can_be_decoded(spark: SparkSession) -> None:
    for value, found in zip(DECODED, decode(raw(spark, *DECODED), stage()).orderBy("_kafka.offset").collect(), strict=True):
        assert found[WHY] is None, (value, found[WHY])
        given = json.loads(value)
        assert (found["id"], found["n"]) == (given.get("id"), given.get("n")), value
        assert found["amount"] is None or float(found["amount"]) == float(given["amount"]), value


def test_what_cannot_be_decoded_is_said_so(spark: SparkSession) -> None:
    rows = decode(raw(spark, *NOT_DECODED), stage()).orderBy("_kafka.offset").collect()
    assert [value for value, found in zip(NOT_DECODED, rows, strict=True) if not found[WHY]] == []


def test_strict_json_has_no_field_that_is_no_column_and_none_twice(spark: SparkSession) -> None:
    strict = {"is_strict": True}
    assert one(spark, '{"id":"a"}', **strict)[WHY] is None
    assert "more, other" in one(spark, '{"id":"a","more":1,"other":2}', **strict)[WHY]
    assert "twice" in one(spark, '{"id":"a","id":"b"}', **strict)[WHY]
    assert one(spark, '{"ID":"a"}', **strict)[WHY]


def test_text_and_bytes(spark: SparkSession) -> None:
    assert one(spark, "ü", format="text")["value"] == "ü"
    assert one(spark, b"\xff", format="text")[WHY] == "its value is no UTF-8"
    found = one(spark, b"\xff", format="bytes")
    assert (bytes(found["value"]), found[WHY]) == (b"\xff", None)
    assert one(spark, None, format="bytes")[WHY] == "it has no value"


@pytest.mark.parametrize("form", ["json", "text", "bytes"])
def test_tombstones_delete_or_are_rows_of_nulls(spark: SparkSession, form: str) -> None:
    value = GOOD if form == "json" else "x"
    rows = decode(raw(spark, value, None), stage(format=form, tombstones="delete")).collect()
    assert [(row["_hoodie_is_deleted"], row[WHY], row["_kafka"]["tombstone"]) for row in rows] == [
        (False, None, False),
        (True, None, True),
    ]
    row = one(spark, None, format=form, tombstones="row")
    assert (row[WHY], row["_kafka"]["tombstone"], bytes(row["_kafka"]["key"])) == (None, True, b"k0")
    assert row["id" if form == "json" else "value"] is None


def test_a_record_is_kept_whole_for_the_quarantine(spark: SparkSession) -> None:
    rows = raw(spark, b"\xff{", "not json", None).select(original().alias("text")).collect()
    found = [json.loads(row["text"]) for row in rows]
    assert [(one["topic"], one["partition"], one["offset"], one["key"]) for one in found] == [
        ("orders", 0, 10, "k0"),
        ("orders", 0, 11, "k1"),
        ("orders", 0, 12, "k2"),
    ]
    assert [(one.get("value"), one.get("value_base64")) for one in found] == [(None, "/3s="), ("not json", None), (None, None)]


def test_a_reader_parts_what_can_be_decoded_from_the_rest(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "read_records", lambda session, stage: raw(session, GOOD, "bad", '{"id":"b"}'))
    good, bad = KafkaReader().read(spark, stage(rule="decoded"))
    assert bad is not None
    assert sorted(row["id"] for row in good.collect()) == ["a", "b"]
    assert set(good.columns) == {*COLUMNS, "_kafka"}
    rows = bad.collect()
    assert [json.loads(row[ORIGINAL])["offset"] for row in rows] == [11]
    assert "no JSON object" in rows[0][REASONS][0]


@pytest.mark.parametrize("query", ["id", "_kafka.offset", "id, n"])
def test_without_a_check_one_record_fails_the_run_with_its_place(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(reader, "read_records", lambda session, stage: raw(session, GOOD, "bad"))
    rows, bad = KafkaReader().read(spark, stage())
    assert bad is None
    with pytest.raises(Py4JJavaError) as failed:
        rows.selectExpr(*query.split(", ")).collect()
    error = in_words(TableRef("derived.copy", "/lake/copy"), str(failed.value))
    assert error.code == "RECORD_UNREADABLE"
    assert "topic=orders, partition=0, offset=11" in error.message


def test_good_records_alone_pass_where_one_fails_the_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "read_records", lambda session, stage: raw(session, GOOD, '{"id":"b"}'))
    rows, _ = KafkaReader().read(spark, stage())
    assert [row["id"] for row in rows.orderBy("_kafka.offset").collect()] == ["a", "b"]
    assert rows.where(F.col("n") == 1).count() == 1


def test_a_window_without_records_has_the_columns(spark: SparkSession) -> None:
    rows, _ = KafkaReader().read(spark, ReadTopics(**{**vars(stage()), "ranges": ()}))
    assert rows.columns == [*COLUMNS, "_kafka"]
    assert rows.count() == 0


def test_a_backfill_reads_records_of_its_range(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    late = GOOD.replace('"a"', '"late"').replace("10:15", "10:45")
    monkeypatch.setattr(reader, "read_records", lambda session, stage: raw(session, GOOD, late, "bad"))

    def of(column: str, start: str, end: str) -> tuple[list[str], int]:
        times = ReadRange(view="SRC", table=stage().table, as_of="", column=column, start=start, end=end)
        good, bad = KafkaReader().read(spark, stage(rule="decoded", times=times))
        return sorted(row["id"] for row in good.collect()), bad.count() if bad is not None else 0

    assert of("at", "2026-08-01T10:00:00", "2026-08-01T10:30:00") == (["a"], 1)
    # All were written at ten.
    assert of("_kafka.timestamp", "2026-08-01T10:00:00", "2026-08-01T10:01:00") == (["a", "late"], 1)
    assert of("_kafka.timestamp", "2026-08-01T10:01:00", "2026-08-01T11:00:00") == ([], 0)
    assert of("at", "2026-08-01T10:30:00", "2026-08-01T11:00:00") == (["late"], 0)

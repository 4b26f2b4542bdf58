"""Adapters on frames: messages become events, each value without a loss, and what is none goes aside with its reason."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.changelog.adapter import FROM, Adapter, Source
from freshet.changelog.canal import canal
from freshet.changelog.conform import REASON
from freshet.changelog.debezium import UNAVAILABLE, Debezium, debezium
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import adapt, aside, mark_typed, mergeable
from freshet.changelog.layout import Layout
from freshet.changelog.maxwell import maxwell
from freshet.changelog.plain import changelog, plain
from freshet.changelog.reference import (
    BinlogPosition,
    Given,
    KafkaOffset,
    Lsn,
)
from freshet.changelog.values import Coding
from freshet.registry import wire
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


_KAFKA = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key:string,value:binary>>"
)
ROWS = tuple(
    Column(name=name, type=parse_type(kind)) for name, kind in (("id", "bigint"), ("name", "string"), ("fare", "decimal(10,2)"))
)
LAYOUT = Layout(key=("id",), columns=ROWS, groups={"names": ("name",)})
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def _bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


def _adapted(spark: SparkSession, adapter: Adapter, layout: Layout, messages: Sequence[tuple[Any, Any]]) -> DataFrame:
    rows = [("t", 0, number, _AT, _bytes(key), _bytes(value), None) for number, (key, value) in enumerate(messages)]
    return adapt(adapter, layout, frame(spark, rows, _KAFKA))


def _told(marked: DataFrame) -> list[list[tuple[Any, ...]]]:
    """Return for each message its changes: reason, or mark of a delete, id, name, fare."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in marked.orderBy(f"{FROM}.offset", f"{EVENT}.is_deleted").collect():
        told = found.setdefault(row[FROM]["offset"], [])
        if row[REASON] is not None:
            told.append((row[REASON],))
        else:
            told.append(("-" if row[EVENT]["is_deleted"] else "+", row["id"], row["name"], row["fare"] and str(row["fare"])))
    return [found[number] for number in sorted(found)]


def _envelope(op: str | None, before: Any, after: Any, **source: Any) -> dict[str, Any]:
    told = {"connector": "postgresql", "ts_ms": 5, "snapshot": "false", "lsn": 7, "sequence": '["6","7"]', **source}
    return {"op": op, "before": before, "after": after, "source": told, "ts_ms": 9}


ANN = {"id": 1, "name": "Ann", "fare": "1.50"}
KEY = {"id": 1}
DEBEZIUM: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
    (KEY, _envelope("r", None, ANN, snapshot="first"), [("+", 1, "Ann", "1.50")]),
    (KEY, _envelope("u", None, {**ANN, "name": UNAVAILABLE}), [("+", 1, None, "1.50")]),
    # A new key has no older value that could stay.
    (KEY, _envelope("c", None, {**ANN, "name": UNAVAILABLE}), [("unavailable_value",)]),
    # What is made up beside the key of a delete makes no difference.
    (KEY, _envelope("d", {"id": 1, "name": "", "fare": "none"}, None), [("-", 1, None, None)]),
    (KEY, None, [("skipped",)]),
    (KEY, _envelope("t", None, None), [("truncated",)]),
    (None, _envelope("m", None, None), [("skipped",)]),
    (KEY, _envelope("x", None, ANN), [("no_change",)]),
    (KEY, {"hello": 1}, [("no_change",)]),
    (KEY, b"{", [("malformed",)]),
    (KEY, b'"text"', [("malformed",)]),
    (KEY, b"", [("malformed",)]),
    (KEY, b"null", [("malformed",)]),
    (KEY, json.dumps([_envelope("c", None, ANN)]).encode(), [("malformed",)]),
    (KEY, json.dumps(_envelope("c", None, ANN)).encode() * 2, [("malformed",)]),
    (KEY, json.dumps(_envelope("c", None, ANN)).encode() + b"]", [("malformed",)]),
    (KEY, json.dumps(_envelope("c", None, ANN)).encode().replace(b"Ann", b"A\xff"), [("malformed",)]),
    (KEY, _envelope("c", None, {**ANN, "fare": "1.555"}), [("value:fare",)]),
    (KEY, _envelope("c", None, {**ANN, "fare": "123456789.5"}), [("value:fare",)]),
    (KEY, _envelope("c", None, {**ANN, "id": None}), [("null_key",)]),
    (KEY, _envelope("c", None, ANN, sequence=None), [("no_reference",)]),
    (KEY, _envelope("c", None, ANN, ts_ms=None), [("no_timestamp",)]),
    (None, _envelope("d", ANN, None), [("unavailable_key",)]),
]


@pytest.mark.parametrize("with_schema", [False, True])
def test_debezium(spark: SparkSession, with_schema: bool) -> None:
    def wrapped(value: Any) -> Any:
        return {"schema": {"type": "struct"}, "payload": value} if with_schema and isinstance(value, dict) else value

    adapter = debezium(Source(layout=LAYOUT, reference=Lsn(), data_center="oslo"), Debezium(with_schema=with_schema))
    marked = _adapted(spark, adapter, LAYOUT, [(wrapped(key), wrapped(value)) for key, value, _ in DEBEZIUM]).localCheckpoint()
    assert _told(marked) == [told for _, _, told in DEBEZIUM]
    events = [row[EVENT].asDict(recursive=True) for row in mergeable(marked).orderBy(f"{EVENT}.ref_key").collect()]
    assert events[0] == {
        "row_key": "1",
        "ref_key": "0000.0",
        "changelog_columns": None,
        "source": "postgresql",
        "timestamp": 5,
        "is_deleted": False,
        "error_exception": None,
        "error_source_data": None,
        "force_update": False,
        "data_center": "oslo",
    }
    assert {str(event["changelog_columns"]) for event in events[1:]} == {
        "None",
        "[{'name': 'row', 'ref_key': None, 'changed_fields': ['fare']}]",
    }
    out = aside(marked).orderBy("offset").collect()
    assert [row.offset for row in out] == [2, 5, *range(7, len(DEBEZIUM))]
    assert b"{" in [bytes(row.value) for row in out]
    assert dict(marked.dtypes)[EVENT] == str(event_type())


def test_debezium_of_a_full_row_image_unwrapped_and_with_tombstones_that_delete(spark: SparkSession) -> None:
    source = Source(layout=LAYOUT, reference=BinlogPosition(("mysql-bin",)), strict=True)
    at = {"file": "mysql-bin.000003", "pos": 4, "row": 0, "connector": "mysql"}
    full = debezium(source, Debezium(identity="full", unavailable=""))
    messages = [
        (None, _envelope("u", ANN, {**ANN, "id": 2}, **at)),
        (None, _envelope("d", ANN, None, **at)),
        (None, _envelope("d", None, None, **at)),
        (None, _envelope("c", None, {"id": 1, "name": "x"}, **at)),
    ]
    assert _told(_adapted(spark, full, LAYOUT, messages)) == [
        [("+", 2, "Ann", "1.50"), ("-", 1, None, None)],
        [("-", 1, None, None)],
        [("no_change",)],
        [("missing",)],
    ]
    meta = {f"__source_{name}": value for name, value in {**at, "ts_ms": 5, "snapshot": "false"}.items()}
    flat = debezium(source, Debezium(unwrapped=True, tombstones="delete"))
    messages = [
        (KEY, {**ANN, **meta, "__op": "u", "__deleted": "false"}),
        (KEY, {**ANN, **meta, "__op": "d", "__deleted": "true"}),
        (KEY, {**ANN, **meta}),
        (KEY, None),
    ]
    # A tombstone alone has no position in the log.
    assert _told(_adapted(spark, flat, LAYOUT, messages)) == [
        [("+", 1, "Ann", "1.50")],
        [("-", 1, None, None)],
        [("no_change",)],
        [("no_reference",)],
    ]


def test_maxwell(spark: SparkSession) -> None:
    coding = Coding(decimals="number")
    adapter = maxwell(Source(layout=LAYOUT, reference=BinlogPosition(("master",)), coding=coding))
    told = {"ts": 5, "position": "master.000006:800911", "xoffset": 3}
    ann = {"id": 1, "name": "Ann", "fare": 1.5}
    cases: list[tuple[Any, list[tuple[Any, ...]]]] = [
        ({**told, "type": "insert", "data": ann}, [("+", 1, "Ann", "1.50")]),
        ({**told, "type": "update", "data": ann, "old": {"id": 7}}, [("+", 1, "Ann", "1.50"), ("-", 7, None, None)]),
        ({**told, "type": "update", "data": ann, "old": {"name": "A"}}, [("+", 1, "Ann", "1.50")]),
        ({**told, "type": "delete", "data": ann, "commit": True}, [("-", 1, None, None)]),
        ({"ts": 5, "type": "bootstrap-insert", "data": ann}, [("+", 1, "Ann", "1.50")]),
        ({**told, "type": "bootstrap-start", "data": {}}, [("skipped",)]),
        ({**told, "type": "table-alter"}, [("skipped",)]),
        ({**told, "type": "table-drop"}, [("truncated",)]),
        ({**told, "type": "what", "data": ann}, [("no_change",)]),
        ({**told, "type": "insert", "data": {**ann, "fare": 1.555}}, [("value:fare",)]),
        ({**told, "type": "insert", "data": ann, "xoffset": None}, [("no_reference",)]),
    ]
    marked = _adapted(spark, adapter, LAYOUT, [(None, value) for value, _ in cases])
    assert _told(marked) == [found for _, found in cases]
    rows = mergeable(marked).select(f"{EVENT}.ref_key", f"{EVENT}.timestamp").distinct().orderBy("ref_key").collect()
    # Read before all others; within a transaction the row that commits is the last.
    assert [row.ref_key.split(".")[-1][-2:] for row in rows] == ["0", "03", "99"]
    assert {row.timestamp for row in rows} == {5000}


def test_canal(spark: SparkSession) -> None:
    adapter = canal(Source(layout=LAYOUT, reference=KafkaOffset()))
    ann = {"id": "1", "name": "Ann", "fare": "1.5"}
    cases: list[tuple[Any, list[tuple[Any, ...]]]] = [
        ({"type": "INSERT", "es": 5, "data": [ann, {**ann, "id": "2"}]}, [("+", 1, "Ann", "1.50"), ("+", 2, "Ann", "1.50")]),
        (
            {"type": "UPDATE", "es": 5, "data": [ann, ann], "old": [{"name": "A"}, {"id": "7"}]},
            [("+", 1, "Ann", "1.50"), ("+", 1, "Ann", "1.50"), ("-", 7, None, None)],
        ),
        ({"type": "DELETE", "es": 5, "data": [ann]}, [("-", 1, None, None)]),
        ({"type": "ALTER", "isDdl": True, "es": 5, "data": None}, [("skipped",)]),
        ({"type": "TRUNCATE", "isDdl": True, "es": 5, "data": None}, [("truncated",)]),
        ({"type": "INSERT", "es": 5, "data": []}, [("no_change",)]),
        ({"type": "INSERT", "es": 5, "data": [ann, {**ann, "fare": "x"}]}, [("+", 1, "Ann", "1.50"), ("value:fare",)]),
    ]
    marked = _adapted(spark, adapter, LAYOUT, [(None, value) for value, _ in cases]).localCheckpoint()
    assert [sorted(one, key=str) for one in _told(marked)] == [sorted(found, key=str) for _, found in cases]
    first = [row[0] for row in marked.where(f"{FROM}.offset = 1").select(f"{EVENT}.ref_key").collect()]
    assert len(set(first)) == 2


def test_rows_with_a_key_beside_them_and_the_format_itself(spark: SparkSession) -> None:
    adapter = plain(Source(layout=LAYOUT, reference=KafkaOffset()))
    messages = [(KEY, ANN), (KEY, None), (None, None), (b"1", None), (KEY, {"id": 1})]
    assert _told(_adapted(spark, adapter, LAYOUT, messages)) == [
        [("+", 1, "Ann", "1.50")],
        [("-", 1, None, None)],
        [("unavailable_key",)],
        [("unavailable_key",)],
        [("+", 1, None, None)],
    ]
    own = changelog(Source(layout=LAYOUT, reference=Given()))

    def event(**more: Any) -> dict[str, Any]:
        return {**ANN, EVENT: {"row_key": "1", "ref_key": "7", "timestamp": 5, **more}}

    names, fares = {"name": "names", "changed_fields": ["name"]}, {"name": "row"}
    cases: list[tuple[Any, str | None]] = [
        (event(), None),
        (event(is_deleted=True, force_update=True, changelog_columns=[names]), None),
        (event(changelog_columns=[names, fares]), None),
        (event(changelog_columns=[{**names, "ref_key": "9"}], ref_key=None), None),
        (event(changelog_columns=[{**names, "ref_key": "x"}]), "no_reference"),
        (event(changelog_columns=[]), "no_change"),
        (event(changelog_columns=[names, names]), "unknown_group"),
        (event(changelog_columns=[{"name": "nope"}]), "unknown_group"),
        (event(changelog_columns=[{**names, "changed_fields": ["other"]}]), "partial_group"),
        (event(ref_key="7a"), "no_reference"),
        (event(timestamp="soon"), "no_timestamp"),
        (event(error_exception="no schema", error_source_data="\u0000"), "error_at_source"),
        ({**ANN, EVENT: None}, "no_change"),
    ]
    marked = _adapted(spark, own, LAYOUT, [(None, value) for value, _ in cases]).localCheckpoint()
    assert [row[REASON] for row in marked.orderBy(f"{FROM}.offset").collect()] == [reason for _, reason in cases]
    # The same events with their types already; a time that is no number is then none from the beginning.
    value = F.expr(f"get_json_object(CAST({FROM}.value AS STRING), '$.{EVENT}')")
    typed = marked.where(f"{FROM}.offset < 10").select(
        "id", "name", "fare", F.from_json(value, str(event_type())).alias(EVENT), FROM
    )
    again = mark_typed(Given(), LAYOUT, typed).orderBy(f"{FROM}.offset").collect()
    assert [row[REASON] for row in again] == [reason for _, reason in cases[:10]]
    first = marked.where(REASON + " IS NULL").select(EVENT).orderBy(f"{FROM}.offset").collect()
    assert [row[EVENT] for row in again if row[REASON] is None] == [row[EVENT] for row in first]


VALUES: dict[str, tuple[str, Coding, list[tuple[Any, Any]], list[Any]]] = {
    "tiny": ("tinyint", Coding(), [(127, 127), ("-5", -5)], [128, "x", 1.5, True]),
    "big": ("bigint", Coding(), [(2**63 - 1, 2**63 - 1)], [2**63]),
    "unsigned": ("decimal(20,0)", Coding(decimals="number", unsigned=True), [(-1, Decimal(2**64 - 1)), (5, Decimal(5))], []),
    "text": (
        "decimal(38,2)",
        Coding(),
        [("9" * 36 + ".99", Decimal("9" * 36 + ".99")), ("1.500", Decimal("1.50"))],
        ["1.501", "1e3", ""],
    ),
    "number": ("decimal(10,2)", Coding(decimals="number"), [(1.25, Decimal("1.25"))], [1.255, 123456789.0]),
    "coded": (
        "decimal(38,3)",
        Coding(decimals="base64", scale=3),
        [
            (base64.b64encode(n.to_bytes(size, "big", signed=True)).decode(), Decimal(n).scaleb(-3))
            for n, size in (
                (0, 1),
                (-1, 1),
                (1234567, 3),
                (-1234567, 4),
                (10**37, 16),
                (-(10**37), 16),
                (2**63, 9),
                (-(2**64), 9),
            )
        ],
        ["%%", base64.b64encode(b"\x00" * 17).decode(), base64.b64encode(b"\x7f" * 16).decode()],
    ),
    "finer": (
        "decimal(10,1)",
        Coding(decimals="base64", scale=3),
        [(base64.b64encode((1500).to_bytes(2, "big")).decode(), Decimal("1.5"))],
        [base64.b64encode((1501).to_bytes(2, "big")).decode()],
    ),
    "bytes": ("binary", Coding(), [("AQI=", b"\x01\x02")], ["%%%"]),
    "hexed": ("binary", Coding(binary="hex"), [("0102", b"\x01\x02")], ["zz"]),
    "double": ("double", Coding(), [(0.1, 0.1), ("NaN", "nan")], [b"1e999"]),
    "float": ("float", Coding(), [(0.5, 0.5)], [1e300]),
    "truth": ("boolean", Coding(), [(True, True), (0, False), ("1", True)], [2, "maybe"]),
    "days": ("date", Coding(times="days"), [(-1, date(1969, 12, 31)), (19000, date(2022, 1, 8))], [10**9, "2022-01-08"]),
    "day": ("date", Coding(times="text"), [("2022-01-08", date(2022, 1, 8))], ["2022-01-08 10:00:00", "0000-00-00", 19000]),
    "millis": ("timestamp", Coding(times="millis"), [(1, datetime(1970, 1, 1, 0, 0, 0, 1000))], [2**63 - 1, "x"]),
    "micros": ("timestamp", Coding(times="micros"), [(-1, datetime(1969, 12, 31, 23, 59, 59, 999999))], [2**63 - 1]),
    "nanos": ("timestamp", Coding(times="nanos"), [(1000, datetime(1970, 1, 1, 0, 0, 0, 1))], [1001]),
    "zoned": (
        "timestamp",
        Coding(times="text"),
        [
            ("2022-01-08T10:00:00+01:00", datetime(2022, 1, 8, 9)),
            ("2022-01-08T10:00:00.123456000Z", datetime(2022, 1, 8, 10, 0, 0, 123456)),
        ],
        ["2022-01-08 10:00:00", "2022-01-08T10:00:00.1234567Z"],
    ),
    "oslo": (
        "timestamp",
        Coding(times="text", zone="Europe/Oslo"),
        [("2022-07-08 10:00:00", datetime(2022, 7, 8, 8))],
        ["2022-07-08 99:00:00"],
    ),
    "local": (
        "timestamp_ntz",
        Coding(times="text"),
        [("2022-07-08 10:00:00.5", datetime(2022, 7, 8, 10, 0, 0, 500000))],
        ["2022-07-08 10:00:00Z"],
    ),
    "ntz": (
        "timestamp_ntz",
        Coding(times="micros"),
        [(-1, datetime(1969, 12, 31, 23, 59, 59, 999999)), (0, datetime(1970, 1, 1))],
        [2**63 - 1],
    ),
    "list": ("array<string>", Coding(), [(["a", None], ["a", None])], []),
}


def _one_value(name: str, raw: Any) -> Any:
    # A number that Python does not write stands in bytes.
    return b'{"id": 1, "%s": %s}' % (name.encode(), raw) if isinstance(raw, bytes) else {"id": 1, name: raw}


def test_each_value_is_read_without_a_loss_or_goes_aside(spark: SparkSession) -> None:
    columns = tuple(Column(name=name, type=parse_type(kind)) for name, (kind, _, _, _) in VALUES.items())
    layout = Layout(key=("id",), columns=(ROWS[0], *columns))
    codings: Mapping[str, Coding] = {name: coding for name, (_, coding, _, _) in VALUES.items()}
    adapter = plain(Source(layout=layout, reference=KafkaOffset(), codings=codings))
    good = [(name, raw, value) for name, (_, _, pairs, _) in VALUES.items() for raw, value in pairs]
    bad = [(name, raw) for name, (_, _, _, raws) in VALUES.items() for raw in raws]
    messages = [(KEY, _one_value(name, raw)) for name, raw, *_ in [*good, *bad]]
    marked = _adapted(spark, adapter, layout, messages)
    # Both forms of a time as texts, which do not depend on the zone of the test's own process.
    times = [
        F.col(c.name).cast("string").alias(c.name) if str(c.type).startswith("timestamp") else F.col(c.name) for c in columns
    ]
    rows = marked.select(*times, REASON, FROM).orderBy(f"{FROM}.offset").collect()
    zone = spark.conf.get("spark.sql.session.timeZone")
    for row, (name, raw, value) in zip(rows, good, strict=False):
        expected = value
        if raw == "NaN":
            assert (row[REASON], str(row[name])) == (None, value)
            continue
        if isinstance(value, datetime):
            expected = str(value).rstrip("0").rstrip(":") if "." in str(value) else str(value)
            assert zone == "UTC"
        assert (row[REASON], row[name]) == (None, expected), (name, raw)
    wrong = {(name, str(raw)): row[REASON] for row, (name, raw) in zip(rows[len(good) :], bad, strict=True)}
    assert {at: reason for at, reason in wrong.items() if reason not in (f"value:{at[0]}", "malformed")} == {}


def test_the_id_in_front_of_a_value_is_split_off(spark: SparkSession) -> None:
    values = [b"\x00\x00\x00\x00\x07abc", b"\x00\xff\xff\xff\xff", b"\x01\x00\x00\x00\x07a", b"\x00\x00", b"", None]
    batch = frame(spark, [(number, value) for number, value in enumerate(values)], "at int, value binary").withColumn(
        "headers", F.lit(None).cast("array<struct<key:string,value:binary>>")
    )
    rows = batch.selectExpr(
        "at",
        f"{wire.schema_id('value', {})} AS id",
        f"{wire.payload('value')} AS payload",
    )
    assert [row.id for row in rows.orderBy("at").collect()] == [7, 4294967295, None, None, None, None]
    assert rows.where("at = 0").first()["payload"] == b"abc"  # type: ignore[index]

"""Changelogs on frames: reference keys compare right, messages become events, and the merge is what its model says.

The model itself is held by tests/unit/changelog/test_any_order.py.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.changelog.adapter import FROM, Adapter, Source
from freshet.changelog.canal import canal
from freshet.changelog.conform import REASON
from freshet.changelog.debezium import UNAVAILABLE, Debezium, debezium
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import adapt, aside, mark_typed, merge_events, mergeable
from freshet.changelog.layout import STATE, Equal, Layout, reserved_columns
from freshet.changelog.maxwell import maxwell
from freshet.changelog.plain import changelog, plain
from freshet.changelog.reference import (
    BinlogPosition,
    Columns,
    Given,
    KafkaOffset,
    Lsn,
    MariaDbGtid,
    MySqlGtid,
    Reference,
    expression,
    needed,
)
from freshet.changelog.values import Coding
from freshet.registry import wire
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.changelogs import Change, Event, Register, Row, meaning
from tests.kit.frames import frame


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


# --- reference keys -------------------------------------------------------------------------------------------------

ONE, TWO = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "aaaaaaaa-71ca-11e1-9e33-c80aa9429562"
_BINLOG = ("file", "pos", "row", "snapshot", "snapshot_has_position")
#: Per kind of reference: rows of its parts from the oldest to the newest, and rows that have no place in the order.
ORDERS: dict[str, tuple[Reference, list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "binlog": (
        BinlogPosition(("mysql-bin", "other.bin")),
        [
            (None, None, None, True, False),
            ("mysql-bin.000009", "4", "0", False, True),
            ("mysql-bin.999999", "4", None, True, True),
            ("mysql-bin.999999", "4", "0", False, True),
            ("mysql-bin.999999", "4", "2", False, True),
            ("mysql-bin.999999", "4", "10", False, True),
            ("mysql-bin.999999", "1000", "0", False, True),
            ("mysql-bin.1000000", "4", "0", False, True),
            ("other.bin.000001", "4", "0", False, True),
        ],
        [
            ("relay-bin.000001", "4", "0", False, True),
            ("mysql-bin", "4", "0", False, True),
            ("mysql-bin.1", None, "0", False, True),
        ],
    ),
    "mariadb": (
        MariaDbGtid(1),
        [(None, None, None, True), *((f"1-{server}-{n}", "4", "0", False) for server, n in ((7, 9), (3, 10), (7, 100)))],
        [("0-7-9", "4", "0", False), ("1-7-9,0-1-1", "4", "0", False), (None, "4", "0", False)],
    ),
    "mysql": (
        MySqlGtid((TWO, ONE), "total_order"),
        [(f"{TWO}:9", "2", False), (f"{TWO.upper()}:10", "1", False), (f"{TWO}:10", "3", False), (f"{ONE}:1", "1", False)],
        [(f"{ONE[:-1]}0:1", "1", False), (f"{ONE}:tag:1", "1", False), (f"{ONE}:1-5", "1", False)],
    ),
    "lsn": (
        Lsn(),
        # What a transaction wrote before the snapshot's position, and committed after it, is newer than the snapshot.
        [
            ("0", "900", True),
            (None, "850", False),
            ("1000", "990", False),
            ("1000", "1010", False),
            ("18446744073709551615", "1", False),
        ],
        [("1", "0/16B3748", False), ("1", None, False)],
    ),
    "given": (
        Given(),
        [("9",), ("10",), ("00011",), ("18446744073709551615",)],
        [("-1",), ("1.5",), ("",), (None,), ("1" * 21,)],
    ),
    "text": (Given("text"), [("a",), ("ab",), ("b",)], [("",), (None,)]),
    "offset": (KafkaOffset(), [(0, "0"), (9, "1"), (9, "10"), (10, "0")], [(None, "0")]),
}


@pytest.mark.parametrize("kind", ORDERS)
def test_reference_keys_compare_as_what_they_are_made_of(spark: SparkSession, kind: str) -> None:
    reference, ordered, nowhere = ORDERS[kind]
    names = needed(reference)
    types = {"snapshot": "boolean", "snapshot_has_position": "boolean", "offset": "bigint"}
    schema = ", ".join(["at int", *(f"{name} {types.get(name, 'string')}" for name in names)])
    rows = [(number, *row) for number, row in enumerate([*ordered, *nowhere])]
    keys = frame(spark, rows, schema).selectExpr("at", f"{expression(reference, {name: name for name in names})} AS k")
    found = [row.k for row in keys.orderBy("at").collect()]
    assert found[: len(ordered)] == sorted(set(found[: len(ordered)])), kind
    assert found[len(ordered) :] == [None] * len(nowhere)


def test_reference_keys_of_columns_compare_as_the_columns(spark: SparkSession) -> None:
    kinds = {"i": "int", "l": "bigint", "d": "decimal(12,8)", "t": "timestamp", "a": "date", "s": "string"}
    values: dict[str, list[Any]] = {
        "i": [-5, 0, 7, 10],
        "l": [-(2**63), -1, 0, 2**63 - 1],
        "d": [Decimal("-9999.99999999"), Decimal("-0.00000001"), Decimal("0.00000001"), Decimal("10.5")],
        "t": [datetime(1969, 12, 31, tzinfo=UTC), *(datetime(2026, 1, 1, 0, 0, 0, n, tzinfo=UTC) for n in (0, 1, 20))],
        "a": [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)],
        "s": ["", "a", "ab", "é"],
    }
    columns = [Column(name=name, type=parse_type(kind)) for name, kind in kinds.items()]
    batch = frame(spark, list(zip(*values.values(), strict=True)), ", ".join(f"{n} {k}" for n, k in kinds.items()))
    one = {c.name: expression(Columns((c,)), {c.name: c.name}) for c in columns}
    pair = expression(Columns((columns[5], columns[0])), {"s": "substring('aaab', i, 1)", "i": "i"})
    rows = batch.selectExpr(*(f"{sql} AS {name}" for name, sql in one.items()), f"{pair} AS pair").collect()
    for name in kinds:
        assert [row[name] for row in rows] == sorted({row[name] for row in rows}), name


# --- the merge ------------------------------------------------------------------------------------------------------

SIZES = {"row": 2, "tips": 1}
TABLE = tuple(
    Column(name=name, type=parse_type(kind)) for name, kind in (("id", "int"), ("a", "int"), ("b", "string"), ("tip", "int"))
)
_TABLE_SCHEMA = ", ".join(f"{c.name} {c.type}" for c in TABLE)
_COLUMNS = {"row": ("a", "b"), "tips": ("tip",)}


def _histories(drawn: random.Random, count: int) -> list[Event]:
    found = []
    for key in range(count):
        for _ in range(drawn.randrange(1, 7)):
            is_deleted = drawn.random() < 0.25
            touched = [] if is_deleted else drawn.choice([["row", "tips"], ["row"], ["tips"]])
            values = {
                "row": (drawn.choice([None, 1, 2]), drawn.choice([None, "x", "y"])),
                "tips": (drawn.choice([None, 1, 2]),),
            }
            found.append(
                Event(
                    key=key,
                    ref_key=drawn.choice("abcd"),
                    timestamp=drawn.randrange(4),
                    is_deleted=is_deleted,
                    force_update=drawn.random() < 0.2,
                    values={group: values[group] for group in touched},
                    references={group: drawn.choice("abcd") for group in (touched or SIZES) if drawn.random() < 0.3},
                )
            )
    return found


def _event_frame(spark: SparkSession, events: Sequence[Event]) -> DataFrame:
    rows = []
    for event in events:
        named = event.references if event.is_deleted else event.values
        changed = [(group, event.references.get(group), list(_COLUMNS[group])) for group in named]
        whole = not event.references and (event.is_deleted or set(event.values) == set(SIZES))
        told = (str(event.key), event.ref_key, None if whole else changed, None, event.timestamp, event.is_deleted or None)
        a, b = event.values.get("row", (9, "left out"))
        (tip,) = event.values.get("tips", (9,))
        rows.append((event.key, a, b, tip, (*told, None, None, event.force_update, None)))
    return frame(spark, rows, f"{_TABLE_SCHEMA}, {EVENT} {event_type()}")


def _table(rows: Sequence[Any]) -> dict[int, Row]:
    found: dict[int, Row] = {}
    for row in rows:
        made = {}
        for group, columns in _COLUMNS.items():
            told, forced = row[STATE]["groups"][group], row[STATE]["forced"][group]
            shown = tuple(row[name] for name in columns)
            ordinary = None if told["ref_key"] is None else (told["ref_key"], told["timestamp"], told["is_deleted"])
            change = None
            if forced is not None:
                change = Change(forced["ref_key"], forced["timestamp"], forced["is_deleted"], tuple(forced["values"]))
            is_deleted = ordinary[2] if ordinary else True
            if change and (ordinary is None or change.timestamp >= ordinary[1]):
                is_deleted = change.is_deleted
            made[group] = Register(ordinary, change, shown, is_deleted)
        assert row["_event_deleted"] == all(register.is_deleted for register in made.values())
        found[row["id"]] = made
    return found


@pytest.mark.parametrize("equal", ["deleted", "row"])
def test_the_merge_is_what_its_model_says_whatever_the_order_and_the_cuts(spark: SparkSession, equal: Equal) -> None:
    drawn = random.Random(f"changelog {equal}")
    layout = Layout(key=("id",), columns=TABLE, groups={"tips": ("tip",)}, equal=equal)
    history = _histories(drawn, 150)
    arrived = [*history, *drawn.sample(history, len(history) // 3)]
    drawn.shuffle(arrived)
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    table = frame(spark, [], f"{_TABLE_SCHEMA}, {reserved}")
    size = len(arrived) // 3 + 1
    for start in range(0, len(arrived), size):
        events = _event_frame(spark, arrived[start : start + size])
        merged = merge_events(layout, events, table)
        others = table.join(events.select("id").distinct(), "id", "left_anti").select(*merged.columns)
        table = merged.unionByName(others).localCheckpoint()
    assert _table(table.collect()) == meaning(SIZES, equal, history)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_merge_over_a_table_of_hudi(spark: SparkSession, tmp_path: Path, table_type: str) -> None:
    drawn = random.Random(f"changelog {table_type}")
    layout = Layout(key=("id",), columns=TABLE, groups={"tips": ("tip",)})
    history = _histories(drawn, 60)
    arrived = drawn.sample(history, len(history))
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    empty = frame(spark, [], f"{_TABLE_SCHEMA}, {reserved}")
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "batch",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
    }
    path, size = str(tmp_path / "trips"), len(arrived) // 3 + 1
    for batch, start in enumerate(range(0, len(arrived), size)):
        stands = spark.read.format("hudi").load(path) if batch else empty
        merged = merge_events(layout, _event_frame(spark, arrived[start : start + size]), stands)
        whole = merged.withColumn("batch", F.lit(batch)).localCheckpoint()
        whole.coalesce(1).write.format("hudi").options(**options).mode("append").save(path)
    assert _table(spark.read.format("hudi").load(path).collect()) == meaning(SIZES, "deleted", history)


def test_a_column_of_maps_is_compared_too(spark: SparkSession) -> None:
    columns = (TABLE[0], Column(name="m", type=parse_type("map<string,int>")))
    layout = Layout(key=("id",), columns=columns)
    schema = f"id int, m map<string,int>, {EVENT} {event_type()}"
    told = ("1", "a", None, None, 1, False, None, None, False, None)
    batch = frame(spark, [(1, {"x": 1}, told), (1, {"x": 2}, told)], schema)
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    empty = frame(spark, [], f"id int, m map<string,int>, {reserved}")
    assert [row.m for row in merge_events(layout, batch, empty).collect()] == [{"x": 2}]


# --- adapters -------------------------------------------------------------------------------------------------------

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
    batch = frame(spark, [(number, value) for number, value in enumerate(values)], "at int, value binary")
    rows = batch.selectExpr(
        "at",
        f"{wire.schema_id('value')} AS id",
        f"{wire.payload('value')} AS payload",
    )
    assert [row.id for row in rows.orderBy("at").collect()] == [7, 4294967295, None, None, None, None]
    assert rows.where("at = 0").first()["payload"] == b"abc"  # type: ignore[index]

"""Debezium's events in Avro, as docs/guides/changelog.md has them: one pipeline decodes them, and another one merges them.

The schemas are what Debezium's connector for PostgreSQL gives to a registry, with the names of Connect's types.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.changelog.adapter import FROM
from freshet.changelog.conform import REASON
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import mark_typed, mergeable
from freshet.changelog.history import counted_history
from freshet.changelog.layout import Layout, reserved_columns
from freshet.changelog.reference import Given
from freshet.registry.client import Schema
from freshet.sources.kafka.read.decode import WHY, decode
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.integration.test_avro_decode import schema, stage
from tests.kit.records import raw
from tests.kit.registry import avro, framed

GUIDE = Path(__file__).parents[2] / "docs/guides/changelog.md"
DATE = {"type": "int", "connect.version": 1, "connect.name": "io.debezium.time.Date"}
MICROS = {"type": "long", "connect.version": 1, "connect.name": "io.debezium.time.MicroTimestamp"}
MONEY = {
    "type": "bytes",
    "scale": 2,
    "precision": 10,
    "connect.version": 1,
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "logicalType": "decimal",
}
ANY_SCALE = {
    "type": "record",
    "name": "VariableScaleDecimal",
    "namespace": "io.debezium.data",
    "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
    "connect.version": 1,
    "connect.name": "io.debezium.data.VariableScaleDecimal",
}
SNAPSHOT = [
    {
        "type": "string",
        "connect.version": 1,
        "connect.parameters": {"allowed": "true,first,first_in_data_collection,last,false,incremental"},
        "connect.default": "false",
        "connect.name": "io.debezium.data.Enum",
    },
    "null",
]


def _optional(kind: object) -> dict[str, object]:
    return {"type": ["null", kind], "default": None}


def _field(name: str, kind: object, optional: bool = True) -> dict[str, Any]:
    return {"name": name, **(_optional(kind) if optional else {"type": kind})}


VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [
        _field("order_id", "long", optional=False),
        _field("status", "string"),
        _field("amount", MONEY),
        _field("placed_on", DATE),
        _field("changed_at", MICROS),
        # No column of the table, and of a type that none is made of.
        _field("weight", ANY_SCALE),
    ],
    "connect.name": "shop.public.orders.Value",
}
SOURCE = {
    "type": "record",
    "name": "Source",
    "namespace": "io.debezium.connector.postgresql",
    "fields": [
        *(_field(name, "string", optional=False) for name in ("version", "connector", "name")),
        _field("ts_ms", "long", optional=False),
        {"name": "snapshot", "type": SNAPSHOT, "default": "false"},
        _field("sequence", "string"),
        _field("lsn", "long"),
    ],
    "connect.name": "io.debezium.connector.postgresql.Source",
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.public.orders",
    "fields": [
        _field("before", VALUE),
        _field("after", "Value"),
        _field("source", SOURCE, optional=False),
        _field("op", "string", optional=False),
        _field("ts_ms", "long"),
    ],
    "connect.version": 1,
    "connect.name": "shop.public.orders.Envelope",
}
COLUMNS = tuple(
    Column(name=name, type=parse_type(kind))
    for name, kind in (
        ("order_id", "bigint"),
        ("status", "string"),
        ("amount", "decimal(10,2)"),
        ("placed_on", "date"),
        ("changed_at", "timestamp"),
    )
)


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def a_row(number: int, status: str | None, amount: str, day: int = 20_458) -> dict[str, Any]:
    weight = {"scale": 1, "value": b"\x07"}
    moment = 1_767_607_200_000_001
    told = {"status": status, "amount": Decimal(amount), "placed_on": day, "changed_at": moment, "weight": weight}
    return {"order_id": number, **told}


def an_envelope(op: str, lsn: int, before: Any = None, after: Any = None, snapshot: str = "false") -> bytes:
    source = {
        "version": "3.6.1.Final",
        "connector": "postgresql",
        "name": "shop",
        "ts_ms": 1000 + lsn,
        "snapshot": snapshot,
        "sequence": f'["{lsn - 1}","{lsn}"]' if snapshot == "false" else f'[null,"{lsn}"]',
        "lsn": lsn,
    }
    told = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 2000 + lsn}
    return framed(7, avro(ENVELOPE, told))


def test_events_of_avro_become_a_table_of_events_and_that_the_history_of_rows(spark: SparkSession) -> None:
    text = GUIDE.read_text("utf-8")
    files = dict(re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    source = yaml.safe_load(files["pipelines/order_events.yml"])["source"]
    messages = [
        an_envelope("r", 90, after=a_row(1, "new", "1.50"), snapshot="first"),
        an_envelope("u", 120, before=a_row(1, None, "0.00", 0), after=a_row(1, "paid", "2.50")),
        # Of a row that is gone the connector makes up what is not of the key.
        an_envelope("d", 130, before=a_row(1, None, "0.00", 0)),
        None,
        an_envelope("c", 110, after=a_row(2, "__debezium_unavailable_value", "9.00")),
        an_envelope("t", 140),
    ]
    one = stage(source["columns"], tombstones=source["tombstones"])
    schemas: dict[int, Schema] = {7: schema(7, ENVELOPE)}
    decoded = decode(raw(spark, *messages), one, schemas=schemas)
    assert [row[0] for row in decoded.where(F.col(WHY).isNotNull()).select(WHY).collect()] == []
    decoded.drop(WHY).createOrReplaceTempView("debezium_in_avro")
    events = spark.sql(files["transformers/order_events.sql"].replace("<SRC>", "debezium_in_avro"))
    assert str(parse_type(events.schema[EVENT].dataType.simpleString())) == str(event_type())

    layout = Layout(key=("order_id",), columns=COLUMNS, keeps="history")
    marked = mark_typed(Given("text"), layout, events.withColumn(FROM, F.struct("record")))
    # The row that lacks a value, and the table that was emptied, of which no key is known.
    reasons = sorted(str(row[0]) for row in marked.select(REASON).collect())
    assert reasons == ["None", "None", "None", "error_at_source", "error_at_source"]
    empty = spark.range(0).selectExpr(*(f"cast(null as {c.type}) as `{c.name}`" for c in (*COLUMNS, *reserved_columns(layout))))
    shown = "status, amount, placed_on, unix_micros(changed_at), unix_millis(valid_from), unix_millis(valid_to), _event_deleted"
    merged = counted_history(layout, mergeable(marked), empty).selectExpr(*shown.split(", ")).collect()
    moment, day = 1_767_607_200_000_001, date(2026, 1, 5)
    assert sorted((tuple(row) for row in merged), key=lambda row: row[4]) == [
        ("new", Decimal("1.50"), day, moment, 1090, 1120, False),
        ("paid", Decimal("2.50"), day, moment, 1120, 1130, False),
        (None, None, None, None, 1130, 1130, True),
    ]

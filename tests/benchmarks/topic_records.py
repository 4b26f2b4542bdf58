"""The records of the benchmark's topic: changes of orders as Debezium's Avro converter writes them, each by its number."""

from __future__ import annotations

import io
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import fastavro

from tests.kit.registry import framed

_STATUSES = ("created", "accepted", "picked up", "delivered", "cancelled")
_VALUE = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "city", "type": "int"},
        {"name": "status", "type": "string"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "changed_at", "type": "long"},
    ],
}
_SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [
        {"name": "version", "type": "string"},
        {"name": "connector", "type": "string"},
        {"name": "name", "type": "string"},
        {"name": "ts_ms", "type": "long"},
        {"name": "snapshot", "type": "string"},
        {"name": "db", "type": "string"},
        {"name": "schema", "type": "string"},
        {"name": "table", "type": "string"},
        {"name": "txId", "type": ["null", "long"]},
        {"name": "lsn", "type": ["null", "long"]},
    ],
}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.public.orders",
    "fields": [
        {"name": "before", "type": ["null", _VALUE]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "source", "type": _SOURCE},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"]},
    ],
}
_BEGIN_MS = 1_767_225_600_000


def records(events: int, number: int) -> Iterator[tuple[int, bytes]]:
    """Yield rows' keys and the records of their changes: a quarter creates rows, the rest updates them at random.

    Args:
        events: How many.
        number: Id of the schema.
    """
    parsed, rows, out = fastavro.parse_schema(SCHEMA), max(events // 4, 1), io.BytesIO()
    for n in range(events):
        # An odd factor: each row once in the first quarter, and scattered afterwards.
        key = n if n < rows else n * 2_654_435_761 % rows
        out.seek(0)
        out.truncate()
        fastavro.schemaless_writer(out, parsed, _change(n, key, n < rows))
        yield key, framed(number, out.getvalue())


def _change(n: int, key: int, is_new: bool) -> dict[str, Any]:
    after = {
        "id": key,
        "city": key % 200,
        "status": _STATUSES[n % 5],
        "amount": Decimal(n % 100_000).scaleb(-2),
        "changed_at": _BEGIN_MS + n,
    }
    source = {
        "version": "3.6.1.Final",
        "connector": "postgresql",
        "name": "shop",
        "ts_ms": _BEGIN_MS + n,
        "snapshot": "false",
        "db": "shop",
        "schema": "public",
        "table": "orders",
        "txId": n,
        "lsn": 1000 + n,
    }
    before = None if is_new else {**after, "status": "created"}
    return {"before": before, "after": after, "source": source, "op": "c" if is_new else "u", "ts_ms": _BEGIN_MS + n}

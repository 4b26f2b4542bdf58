"""Reference keys on frames: one text compares as the parts that it is made of."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

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
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


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

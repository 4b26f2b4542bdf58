"""Columns as Debezium writes them: what the lake has of them, and what is left out."""

from __future__ import annotations

import pytest

from freshet.connect.values import written
from freshet.databases.address import Kind
from freshet.databases.model import DbColumn
from tests.kit.catalogue import mariadb_column, postgres_column


@pytest.mark.parametrize(
    ("kind", "column", "expected"),
    [
        ("postgresql", postgres_column("int4"), ("int", {})),
        ("postgresql", postgres_column("numeric", (10 << 16) + 2 + 4), ("decimal(10,2)", {})),
        ("postgresql", postgres_column("numeric"), ("string", {})),
        ("postgresql", postgres_column("enum"), ("string", {})),
        ("postgresql", postgres_column("bytea"), ("binary", {})),
        ("postgresql", postgres_column("date"), ("date", {"times": "days"})),
        ("postgresql", postgres_column("timestamptz"), ("timestamp", {"times": "text"})),
        ("postgresql", postgres_column("timestamp", digits=6), ("timestamp", {"times": "micros"})),
        ("postgresql", postgres_column("timestamp", digits=3), ("timestamp", {"times": "millis"})),
        # Of a domain nobody tells the digits: a number in another unit would be another time.
        ("postgresql", postgres_column("timestamp"), None),
        ("postgresql", postgres_column("time"), ("bigint", {})),
        ("postgresql", postgres_column("_int4"), ("array<int>", {})),
        ("postgresql", postgres_column("_citext"), None),
        ("postgresql", postgres_column("money"), None),
        ("postgresql", postgres_column("bit"), None),
        ("postgresql", postgres_column("point"), None),
        ("postgresql", postgres_column(""), None),
        ("mariadb", mariadb_column("bigint(20) unsigned"), ("decimal(20,0)", {"unsigned": True})),
        ("mariadb", mariadb_column("decimal(20,0)", 20), ("decimal(20,0)", {})),
        ("mariadb", mariadb_column("datetime", digits=0), ("timestamp", {"times": "millis"})),
        ("mariadb", mariadb_column("datetime(6)", digits=6), ("timestamp", {"times": "micros"})),
        ("mariadb", mariadb_column("timestamp"), ("timestamp", {"times": "text"})),
        ("mariadb", mariadb_column("time"), ("bigint", {})),
        ("mariadb", mariadb_column("bit(1)", 1), ("boolean", {})),
        ("mariadb", mariadb_column("bit(9)", 9), None),
        ("mariadb", mariadb_column("bit(64)", 64), None),
        ("mariadb", mariadb_column("set('a','b')"), ("string", {})),
        ("mariadb", mariadb_column("year(4)"), ("int", {})),
    ],
    ids=str,
)
def test_a_column_as_debezium_writes_it(kind: Kind, column: DbColumn, expected: tuple[str, dict[str, object]] | None) -> None:
    found = written(kind, column)
    assert (None if found is None else (str(found.type), dict(found.values))) == expected

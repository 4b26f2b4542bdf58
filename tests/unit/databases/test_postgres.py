"""What is asked of PostgreSQL, in which order, and which of its tables are refused, by answers that are data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg2
import pytest

from freshet.databases.address import read_address
from freshet.databases.model import DbTable
from freshet.databases.postgres import catalogue
from freshet.databases.postgres.catalogue import tables_of
from freshet.databases.postgres.connection import Connection
from freshet.databases.postgres.log import Slot
from freshet.databases.postgres.source import PostgresSource
from freshet.databases.postgres.values import SESSION
from freshet.errors import FreshetError, RetryableError


class Answers:
    """A connection whose answers are data: one table, number 7."""

    def __init__(self, *columns: tuple[Any, ...], schema: str = "public", **more: Any) -> None:
        self.columns, self.schema = columns, schema
        self.table = {
            "identity": "d",
            "kind": "r",
            "persistence": "p",
            "key": ["id"],
            "of_identity": None,
            "parent": False,
        } | more
        self.asked: list[str] = []

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self.asked.append(sql)
        if sql == catalogue._TABLES:
            return [(7, self.schema, "orders", *self.table.values())]
        if sql == catalogue._COLUMNS:
            return [(7, *one) for one in self.columns]
        if "pg_current_wal_flush_lsn" in sql:
            return [(100,)]
        if "pg_current_xact_id" in sql:
            return [(5,)]
        if "pg_snapshot_xmin" in sql:
            return [(9,)]
        if "pg_create_logical_replication_slot" in sql:
            return [(90,)]
        if "pg_publication p WHERE" in sql:
            return [(True,)]
        if "pg_attribute" in sql:
            return [(name, 23) for name, *_ in self.columns]
        return [(23, "int4", "b")] if sql == catalogue._TYPES else []

    def quoted(self, *names: str) -> str:
        return ".".join(f'"{name}"' for name in names)


def a_column(name: str, kind: str = "int4", *, generated: bool = False, seen: bool = True) -> tuple[Any, ...]:
    return (name, kind, kind, "b", -1, False, False, generated, seen, False)


def a_table(*columns: tuple[Any, ...], **more: Any) -> DbTable:
    (found,) = tables_of(Answers(a_column("id"), *columns, **more))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, ""),
        # Such as a table of TimescaleDB: a query gives the rows of its parts, and the log has them under their names.
        ({"parent": True}, "other tables inherit from it"),
        ({"schema": "a.b"}, "has a point"),
        ({"key": ["id", "sum"]}, "which the database computes"),
        ({"key": ["id", "mail"]}, "citext"),
        ({"key": ["id", "name"]}, ""),
        ({"kind": "p"}, "partitioned"),
        ({"persistence": "u"}, "unlogged"),
        ({"key": None}, "no primary key"),
        ({"identity": "n"}, "replica identity"),
        ({"identity": "i", "of_identity": ["name"]}, "replica identity"),
    ],
)
def test_tables_that_are_refused(more: dict[str, Any], said: str) -> None:
    columns = (a_column("sum", generated=True), a_column("mail", "citext", seen=False), a_column("name", "citext"))
    found = a_table(*columns, **more)
    assert (said in found.refused) if said else not found.refused, found.refused
    assert (found.number, [one.name for one in found.columns], found.computed) == (7, ["id", "mail", "name"], ("sum",))


def at(asked: list[str], part: str) -> int:
    return next(number for number, sql in enumerate(asked) if part in sql)


def test_a_table_that_is_added_counts_from_before_the_wait() -> None:
    """What commits between the wait and the place would be in neither: the copy may not see it yet, and would be newer."""
    answers = Answers()
    base = Slot(answers, "s").add([("public", "orders")], 1.0)  # type: ignore[arg-type]
    assert base.number == 100
    assert at(answers.asked, "CREATE PUBLICATION") < at(answers.asked, "flush_lsn") < at(answers.asked, "pg_snapshot_xmin")


def test_a_slot_is_made_when_nobody_is_waited_for() -> None:
    """The server itself waits for open transactions without a bound of ours; and a copy waits for those that began since."""
    answers = Answers()
    Slot(answers, "s").make([("public", "orders")], 1.0)  # type: ignore[arg-type]
    waits = [number for number, sql in enumerate(answers.asked) if "pg_snapshot_xmin" in sql]
    assert waits[0] < at(answers.asked, "pg_create_logical_replication_slot") < waits[-1]


def test_a_query_gives_all_rows_and_whole_values_or_fails() -> None:
    assert SESSION["row_security"] == "off"
    answers = Answers(a_column("id"), a_column("part"))
    source = object.__new__(PostgresSource)
    source._connection, source._types = answers, None  # type: ignore[assignment]
    (table,) = tables_of(answers)  # type: ignore[arg-type]
    source.piece(table, None, 10)
    sql = answers.asked[-1]
    # A function of that name may be anybody's; of a row that has a null in it "is not null" is not true.
    assert "pg_catalog.format(" in sql
    assert "IS NOT NULL" not in sql


@pytest.mark.parametrize(
    ("code", "kind", "expected"),
    [
        ("55006", RetryableError, "DATABASE_UNREACHABLE"),
        ("57014", RetryableError, "DATABASE_UNREACHABLE"),
        ("40P01", RetryableError, "DATABASE_UNREACHABLE"),
        ("57P01", RetryableError, "DATABASE_UNREACHABLE"),
        ("42501", FreshetError, "DATABASE_DENIED"),
        ("42P01", FreshetError, "DATABASE_FAILED"),
    ],
)
def test_what_may_be_repeated_says_so(code: str, kind: type[FreshetError], expected: str) -> None:
    class Said(psycopg2.Error):
        pgcode = code  # type: ignore[assignment]

    connection = object.__new__(Connection)
    connection._address = read_address("postgresql://cdc@db/shop")
    error = connection._in_words(Said("it says so"))
    assert (type(error), error.code) == (kind, expected)

"""What is asked of MariaDB, and which of its tables and servers are refused, by answers that are data."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from freshet.databases.address import read_address
from freshet.databases.mariadb import catalogue
from freshet.databases.mariadb.catalogue import tables_of
from freshet.databases.mariadb.source import MariaDbSource
from freshet.databases.model import DbTable
from freshet.errors import FreshetError

FIT = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "log_bin_compress": "OFF",
    "gtid_slave_pos": "",
    "log_slave_updates": "OFF",
}


class Answers:
    """A connection whose answers are data: one table, ``orders``."""

    address = read_address("mysql://cdc@db/shop")

    def __init__(self, *columns: tuple[str, str, str | None], key: Sequence[str] = ("id",), **more: Any) -> None:
        self.columns = columns or (("id", "int(11)", None),)
        self.key, self.made_by = key, more.pop("made_by", "CREATE TABLE `orders` (\n  `id` int\n)")
        self.found: list[tuple[Any, ...]] = more.pop("found", [])
        self.variables = {**FIT, **more}
        self.asked: list[tuple[str, Sequence[object]]] = []

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self.asked.append((sql, values))
        told = [
            ("orders", name, kind.partition("(")[0].partition(" ")[0], kind, 30, 0, "YES", "NEVER", charset)
            for name, kind, charset in self.columns
        ]
        known: dict[str, list[tuple[Any, ...]]] = {
            catalogue._TABLES: [("orders", "InnoDB")],
            catalogue._COLUMNS: told,
            catalogue._KEYS: [("orders", name) for name in self.key],
            "SHOW CREATE TABLE `orders`": [("orders", self.made_by)],
        }
        return known.get(sql, self.found)

    def variable(self, name: str) -> str:
        return str(self.variables[name])


def a_table(*columns: tuple[str, str, str | None], **more: Any) -> DbTable:
    (found,) = tables_of(Answers(*columns, **more))  # type: ignore[arg-type]
    return found


def a_source(answers: Answers) -> MariaDbSource:
    found = object.__new__(MariaDbSource)
    found._connection = answers  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(
    ("kind", "charset", "said"),
    [
        ("varchar(9)", "utf8mb4", ""),
        ("varchar(9)", "latin1", ""),
        # Python would read the bytes the other way round, or not at all: then they would come as base64.
        ("varchar(9)", "utf16", "character set utf16"),
        ("text", "ucs2", "character set ucs2"),
        ("enum('a','b')", "latin1", ""),
        ("enum('ä')", "utf8mb3", ""),
        # mysql-replication gives an empty text for a member that is no UTF-8.
        ("enum('ä')", "latin1", "members beyond ASCII"),
        ("set('ä','b')", "latin1", "members beyond ASCII"),
        ("datetime /* mariadb-5.3 */", None, "an older or compressed form"),
        ("longtext /*!100301 COMPRESSED*/", "utf8mb4", "an older or compressed form"),
        ("enum('/*')", "utf8mb4", ""),
        ("uuid", None, "of the type uuid"),
    ],
)
def test_columns_that_the_log_gives_otherwise_are_refused(kind: str, charset: str | None, said: str) -> None:
    refused = a_table(("id", "int(11)", None), ("what", kind, charset)).refused
    assert (said in refused) if said else not refused, refused


def test_a_table_that_a_foreign_key_changes_is_refused() -> None:
    """InnoDB deletes its rows itself, and no row of the log says so."""
    key = (
        "CREATE TABLE `orders` (\n  `id` int COMMENT 'a',\n"
        "  CONSTRAINT `its ``key` FOREIGN KEY (`id`) REFERENCES `sh op` (`id`)%s\n)"
    )
    assert "its `key" in a_table(made_by=key % " ON DELETE CASCADE").refused
    assert "sh op" in a_table(made_by=key % " ON DELETE NO ACTION ON UPDATE SET NULL,").refused
    assert not a_table(made_by=key % " ON DELETE NO ACTION ON UPDATE RESTRICT").refused
    comment = "CONSTRAINT `a` FOREIGN KEY (`b`) REFERENCES `c` (`d`) ON DELETE CASCADE"
    said = f"CREATE TABLE `orders` (\n  `id` int COMMENT '{comment}'\n)"
    assert not a_table(made_by=said).refused


@pytest.mark.parametrize(
    ("kind", "is_fit"),
    [("enum('z','a')", False), ("set('z','a')", False), ("varchar(9)", True), ("time", True), ("decimal(30,0)", True)],
)
def test_keys_by_which_a_copy_is_cut(kind: str, is_fit: bool) -> None:
    """MariaDB sorts members by their places, and compares their texts: rows would be passed over."""
    charset = None if kind.startswith(("decimal", "time")) else "utf8mb4"
    assert bool(a_table(("id", kind, charset)).refused) is not is_fit


def test_a_piece_begins_behind_the_last_key_whatever_its_type() -> None:
    columns = [("id", "decimal(30,0)", None), ("at", "time", None), ("bits", "bit(9)", None)]
    row = (Decimal("123456789012345678901"), datetime.timedelta(hours=-2), b"\x01\x00")
    answers = Answers(*columns, key=("id", "at", "bits"), found=[row])
    (table,) = tables_of(answers)  # type: ignore[arg-type]
    rows, last = a_source(answers).piece(table, None, 10)
    assert rows == [{"id": "123456789012345678901", "at": "-02:00:00", "bits": 256}]
    assert last == ["123456789012345678901", "-02:00:00", 256], "it is kept as JSON"
    a_source(answers).piece(table, last, 10)
    sql, values = answers.asked[-1]
    number = Decimal("123456789012345678901")
    assert (sql.count("%s"), values) == (4, (number, number, "-02:00:00", 256))
    a_source(answers).piece(replace(table, schema="50% off"), last, 10)
    assert "`50% off`.`orders`" in answers.asked[-1][0] % tuple(answers.asked[-1][1])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"binlog_row_image": "MINIMAL"}, "binlog_row_image"),
        ({"log_bin_compress": "ON"}, "log_bin_compress"),
        ({"gtid_slave_pos": "0-1-7"}, "log_slave_updates"),
        ({"gtid_slave_pos": "0-1-7", "log_slave_updates": "ON"}, ""),
    ],
)
def test_servers_whose_log_lacks_rows_are_refused(changed: dict[str, str], said: str) -> None:
    source = a_source(Answers(**changed))
    if not said:
        source._refuse_parts()
        return
    with pytest.raises(FreshetError) as error:
        source._refuse_parts()
    assert (error.value.code, said in error.value.message) == ("DATABASE_UNFIT", True)

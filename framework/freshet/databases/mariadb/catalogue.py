"""What MariaDB's catalogue says of tables: columns, types and keys."""

from __future__ import annotations

import re
from collections.abc import Mapping

from freshet.databases.mariadb.connection import Connection, quoted
from freshet.databases.mariadb.values import Kind, kind_of, lake_type
from freshet.databases.model import DbColumn, DbTable
from freshet.types.columns import Atomic

_TABLES = """
SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME
"""
_COLUMNS = """
SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE, IS_GENERATED,
  CHARACTER_SET_NAME
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX
"""
_MADE_BY = "SHOW CREATE TABLE {}"
# The rules of information_schema are hidden from a user who may only read.
_CHANGES_ROWS = re.compile(
    r"^ +CONSTRAINT `((?:[^`]|``)+)` FOREIGN KEY .* REFERENCES `((?:[^`]|``)+)`.* ON (?:DELETE|UPDATE) (?:CASCADE|SET)\b",
    re.MULTILINE,
)
_OF_KEYS = ("tinyint", "smallint", "int", "bigint", "string", "date", "timestamp")
#: Types that MariaDB sorts by the places of their members and compares by their texts.
_SORTED_OTHERWISE = ("enum(", "set(")
_UTF8 = ("utf8mb4", "utf8mb3", "utf8")
#: Character sets that Python reads as MariaDB does; mysql-replication gives others wrongly, or as bytes.
_CHARSETS = (*_UTF8, "ascii", "latin1", "latin2", "cp1250", "cp1251", "cp1256", "cp1257")


def tables_of(connection: Connection) -> tuple[DbTable, ...]:
    """Return every table of the database, in order."""
    schema = connection.address.database
    columns: dict[str, list[DbColumn]] = {}
    refused: dict[str, str] = {}
    engines = connection.rows(_TABLES)
    for table, _ in engines:
        ((_, statement),) = connection.rows(_MADE_BY.format(quoted(table)))
        if found := _CHANGES_ROWS.search(statement):
            constraint, parent = (name.replace("``", "`") for name in found.groups())
            refused[table] = (
                f"its foreign key {constraint} changes its rows when those of {parent} change, which the log does not say"
            )
    for table, name, data_type, column_type, precision, scale, nullable, generated, charset in connection.rows(_COLUMNS):
        kind, note = lake_type(data_type, column_type, precision, scale)
        if (why := _unread(data_type, column_type, charset)) or kind is None:
            why = why or f"of the type {column_type}"
            refused.setdefault(table, f"its column {name} is {why}, which the log and a query give differently")
        if generated != "NEVER":
            refused.setdefault(table, f"its column {name} is computed by the database, which was not tried")
        columns.setdefault(table, []).append(
            DbColumn(
                name=name,
                declared=column_type,
                type=kind or Atomic("string"),
                note=note,
                nullable=nullable == "YES",
                base=data_type,
                digits=_digits(data_type, column_type),
            )
        )
    keys: dict[str, list[str]] = {}
    for table, name in connection.rows(_KEYS):
        keys.setdefault(table, []).append(name)
    return tuple(
        DbTable(
            schema=schema,
            name=table,
            columns=tuple(columns.get(table, ())),
            key=tuple(keys.get(table, ())),
            whole_rows=True,
            refused=refused.get(table, "") or _refused(engine, keys.get(table), columns.get(table, [])),
        )
        for table, engine in engines
    )


def kinds_of(connection: Connection) -> Mapping[str, Mapping[str, Kind]]:
    """Return what of their types the values of columns depend on, by table and column."""
    found: dict[str, dict[str, Kind]] = {}
    for table, name, data_type, column_type, *_ in connection.rows(_COLUMNS):
        found.setdefault(table, {})[name] = kind_of(data_type, column_type)
    return found


def _unread(data_type: str, column_type: str, charset: str | None) -> str:
    """Return in words what of a column's values the log gives otherwise than a query; empty for nothing."""
    has_members = data_type in ("enum", "set")
    # Older forms of times, and compressed columns, have a comment there.
    if "/*" in column_type and not has_members:
        return f"stored in an older or compressed form ({column_type})"
    if charset is not None and charset not in _CHARSETS:
        return f"in the character set {charset}"
    if has_members and charset not in _UTF8 and not column_type.isascii():
        return f"of the type {data_type}, with members beyond ASCII in the character set {charset}"
    return ""


def _digits(data_type: str, column_type: str) -> int:
    if data_type != "datetime":
        return -1
    found = re.fullmatch(r"datetime\((\d)\)", column_type)
    return int(found[1]) if found else 0


def _refused(engine: str | None, key: list[str] | None, columns: list[DbColumn]) -> str:
    if engine not in ("InnoDB", "Aria", "MyISAM"):
        return f"it is of the engine {engine}"
    if engine != "InnoDB":
        return f"it is of the engine {engine}, without transactions: a copy may miss what is logged already"
    if not key:
        return "it has no primary key, by which a change would find its row"
    of = {one.name: one for one in columns}
    bad = [of[name] for name in key if not _sorts(of[name])]
    return f"its key has {bad[0].name}, of type {bad[0].declared}, by which a copy cannot be cut into pieces" if bad else ""


def _sorts(column: DbColumn) -> bool:
    kind = str(column.type)
    return (kind in _OF_KEYS or kind.startswith("decimal")) and not column.declared.startswith(_SORTED_OTHERWISE)

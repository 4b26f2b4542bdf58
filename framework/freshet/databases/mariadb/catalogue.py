"""What MariaDB's catalogue says of tables: columns, types and keys."""

from __future__ import annotations

import re
from collections.abc import Mapping

from freshet.databases.mariadb.connection import Connection
from freshet.databases.mariadb.values import Kind, kind_of, lake_type
from freshet.databases.model import DbColumn, DbTable
from freshet.types.columns import Atomic

_TABLES = """
SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME
"""
_COLUMNS = """
SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE, IS_GENERATED
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX
"""
_OF_KEYS = ("tinyint", "smallint", "int", "bigint", "string", "date", "timestamp")


def tables_of(connection: Connection) -> tuple[DbTable, ...]:
    """Return every table of the database, in order."""
    schema = connection.address.database
    columns: dict[str, list[DbColumn]] = {}
    refused: dict[str, str] = {}
    for table, name, data_type, column_type, precision, scale, nullable, generated in connection.rows(_COLUMNS):
        found, note = lake_type(data_type, column_type, precision, scale)
        if found is None:
            refused.setdefault(
                table, f"its column {name} is of the type {column_type}, which the log and a query give differently"
            )
        if generated != "NEVER":
            refused.setdefault(table, f"its column {name} is computed by the database, which was not tried")
        columns.setdefault(table, []).append(
            DbColumn(
                name=name,
                declared=column_type,
                type=found or Atomic("string"),
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
        for table, engine in connection.rows(_TABLES)
    )


def kinds_of(connection: Connection) -> Mapping[str, Mapping[str, Kind]]:
    """Return what of their types the values of columns depend on, by table and column."""
    found: dict[str, dict[str, Kind]] = {}
    for table, name, data_type, column_type, *_ in connection.rows(_COLUMNS):
        found.setdefault(table, {})[name] = kind_of(data_type, column_type)
    return found


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
    types = {one.name: str(one.type) for one in columns}
    bad = [name for name in key if types[name] not in _OF_KEYS and not types[name].startswith("decimal")]
    return f"its key has {bad[0]}, of type {types[bad[0]]}, by which a copy cannot be cut into pieces" if bad else ""

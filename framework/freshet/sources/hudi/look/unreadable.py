"""Refuse tables of which Hudi 1.0.2 itself shows other rows than were written. Pure."""

from __future__ import annotations

import json
from typing import Any

from freshet.errors import StateError
from freshet.hudi.table import TableState


def refuse_unreadable(name: str, table: TableState) -> None:
    """Refuse a table whose partition columns Hudi shows as null, or as another value.

    It does so with times and bytes, of which a path has the microseconds and the hexadecimal digits: in snapshots and in
    increments alike. And it does where it merges the logs of MERGE_ON_READ by a payload of the table's own, and the partition's
    path is not the columns' value: of every file group that has a log.

    Args:
        name: The pipeline's name, for messages.
        table: A table that it reads.

    Raises:
        StateError: PARTITION_UNREADABLE.
    """
    config = table.config
    # A table of an older version names no mode, and Hudi infers its own.
    own_merge = config.own_merge and "hoodie.record.merge.mode" in config.properties
    if config.table_type == "MERGE_ON_READ" and own_merge and config.partition_by and not config.plain_paths:
        raise _unreadable(
            name,
            table,
            f"columns of {table.ref.name} ({', '.join(config.partition_by)}) as null: its paths are computed by a "
            "key generator, and a payload or merger of its own merges its logs.",
            "Make the table without such a payload, as COPY_ON_WRITE, or with the column's own value as its partition.",
        )
    # A key generator makes a text of a time, and Hudi reads the column from the rows.
    for column in config.partition_by if config.plain_paths else ():
        kind = _hidden(table, column)
        if kind:
            raise _unreadable(
                name,
                table,
                f"column {column} of {table.ref.name} as null, or as another value than its rows were written "
                f"with: it is a {kind}.",
                "Partition the table by a DATE or STRING that is computed from it.",
            )


def _unreadable(name: str, table: TableState, what: str, remedy: str) -> StateError:
    return StateError(
        "PARTITION_UNREADABLE",
        f"{name}: Hudi 1.0.2 shows the partition {what}",
        "Nothing was read or written.",
        remedy,
        path=table.ref.path,
    )


def _hidden(table: TableState, column: str) -> str:
    """Return the type of a column whose partitions Hudi misreads; empty where it reads them."""
    # Every commit of a writer has one; an idle tick opens neither the archive for it, nor parses it for nothing.
    schema = next((text for i in reversed(table.commits) if (text := table.info(i).extra.get("schema"))), "")
    if "timestamp" not in schema and '"bytes"' not in schema:
        return ""
    found: list[Any] = [json.loads(schema)]
    for name in column.split("."):
        fields = [field for one in found if isinstance(one, dict) for field in one.get("fields", ())]
        kind = next((field["type"] for field in fields if field["name"] == name), None)
        found = kind if isinstance(kind, list) else [kind]
    # A decimal is of bytes, too.
    words = [str(one.get("logicalType", one["type"]) if isinstance(one, dict) else one) for one in found]
    return "TIMESTAMP" if any("timestamp" in word for word in words) else "BINARY" if "bytes" in words else ""

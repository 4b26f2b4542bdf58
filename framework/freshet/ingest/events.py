"""Changes of a database as events of the changelog format: a line of JSON with the row's columns and ``_event``."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from freshet.changelog.fields import EVENT, FIELDS
from freshet.changelog.log_place import reference_key
from freshet.databases.model import Change, Transaction

_NOTHING: Mapping[str, Any] = {field.name: None for field in FIELDS} | {"is_deleted": False, "force_update": False}


def of_copy(row: Mapping[str, Any], base: int, millis: int, source: str, key: Sequence[str]) -> dict[str, Any]:
    """Return the event of a row that was copied.

    Args:
        row: Its values.
        base: The number from which on the log has the table's changes.
        millis: When it was read, in milliseconds since 1970.
        source: The kind of database.
        key: Columns of the table's key.
    """
    return {**row, EVENT: _event(row, key, reference_key(base, 0), millis, source)}


def of_change(
    change: Change, transaction: Transaction, source: str, key: Sequence[str], groups: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """Return the event of a change.

    Args:
        change: The change.
        transaction: The one that it is of.
        source: The kind of database.
        key: Columns of the table's key.
        groups: Columns that change together, by name, as the table's pipeline has them.
    """
    event = _event(change.row, key, reference_key(transaction.number, change.within), transaction.millis, source)
    event["is_deleted"] = change.deleted
    error = change.error
    if change.left_out and not error:
        left = set(change.left_out)
        touched = {name: columns for name, columns in groups.items() if not left & set(columns)}
        torn = [name for name, columns in groups.items() if left & set(columns) and set(columns) - left]
        if torn:
            error = (
                f"the log leaves out {', '.join(sorted(left))} as unchanged, and other columns of the group {torn[0]} it has: "
                "ALTER TABLE ... REPLICA IDENTITY FULL, or give such columns a group each"
            )
        else:
            event["changelog_columns"] = [
                {"name": name, "ref_key": None, "changed_fields": sorted(columns)} for name, columns in touched.items()
            ]
    if error:
        event |= {"error_exception": error, "error_source_data": json.dumps(dict(change.row), ensure_ascii=False)}
    return {**change.row, EVENT: event}


def _event(row: Mapping[str, Any], key: Sequence[str], reference: str, millis: int, source: str) -> dict[str, Any]:
    values = [row.get(name) for name in key]
    text = str(values[0]) if len(values) == 1 else json.dumps(dict(zip(key, values, strict=True)), ensure_ascii=False)
    return {**_NOTHING, "row_key": text, "ref_key": reference, "timestamp": millis, "source": source}

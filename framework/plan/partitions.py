"""What a table's partition paths tell of its partition columns. Pure; where a path tells nothing for sure, it is left alone."""

from __future__ import annotations

import json
from typing import Any

from framework.plan.reads import Window
from framework.spec.model import InputSpec
from framework.state.table import TableState

#: How Hudi names the partition of rows whose partition column is null or empty.
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def partition_values(path: str, columns: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the values of the partition columns that a path stands for.

    Args:
        path: Path below the table's base, such as ``day=2026-01-05``.
        columns: The table's partition columns.

    Returns:
        One text per column; None where the path leaves it open: a value that holds ``/`` or ``%`` looks the same with and
        without ``hoodie.datasource.write.partitionpath.urlencode``.
    """
    parts = path.split("/")
    if not columns or len(parts) != len(columns) or "%" in path:
        return None
    return tuple(part.removeprefix(f"{column}=") for part, column in zip(parts, columns, strict=True))


def touched_partitions(state: TableState, window: Window) -> tuple[str, ...]:
    """Return the paths of the partitions that the window's commits wrote to, deleted from or replaced."""
    return tuple(sorted({p for i in state.data_commits if i.requested in window.requested for p in state.info(i).partitions}))


def known_partitions(one: InputSpec, source: TableState, window: Window) -> tuple[tuple[str, ...], ...] | None:
    """Return an input's partitions that the main source's commits name.

    They hold more than the batch does: where a row came from that moved to another partition.

    Args:
        one: The input, read by ``affected_partitions``.
        source: The main source.
        window: What is read of it.

    Returns:
        Values in the order of ``one.on``; None where they follow from anything but the source's partition columns, or these
        are no text, so that the path may show a value otherwise than SQL does.
    """
    columns = source.config.partition_by
    wanted = {text for _, texts in one.on for text in texts}
    if window.kind not in ("increment", "driven") or not wanted <= set(columns) or not wanted <= _texts(source):
        return None
    found: set[tuple[str, ...]] = set()
    for path in touched_partitions(source, window):
        values = partition_values(path, columns)
        if values is None:
            return None
        by_column = dict(zip(columns, values, strict=True))
        tuples: list[tuple[str, ...]] = [()]
        for _, texts in one.on:
            tuples = [(*begun, by_column[text]) for begun in tuples for text in texts]
        found.update(tuples)
    return tuple(sorted(found))


def _texts(state: TableState) -> set[str]:
    schema: dict[str, Any] = json.loads(state.latest_extra("schema") or "{}")
    return {field["name"] for field in schema.get("fields", ()) if field["type"] in ("string", ["null", "string"])}

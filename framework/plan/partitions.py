"""What a table's partition paths tell of its partition columns. Pure; where a path tells nothing for sure, it is left alone."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

from framework.plan.reads import Partitions, Window
from framework.spec.model import InputSpec
from framework.state.table import TableState

#: How Hudi names the partition of rows whose partition column is null or empty.
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def partition_values(path: str, columns: tuple[str, ...], url_encoded: bool = False) -> tuple[str, ...] | None:
    """Return the values of the partition columns that a path stands for.

    Args:
        path: Path below the table's base, such as ``day=2026-01-05``.
        columns: The table's partition columns.
        url_encoded: True where the path holds the values escaped.

    Returns:
        One text per column; None where the path leaves it open: one of a value with a ``/`` has more parts than columns, and a
        ``%`` that was written as it is may be taken for an escape by whoever reads it.
    """
    parts = path.split("/")
    if not columns or len(parts) != len(columns) or ("%" in path and not url_encoded):
        return None
    values = (part.removeprefix(f"{column}=") for part, column in zip(parts, columns, strict=True))
    return tuple(unquote(value) if url_encoded else value for value in values)


def touched_partitions(state: TableState, window: Window) -> Partitions:
    """Return the partitions that the window's commits wrote to, deleted from or replaced; all where paths tell no values."""
    if window.kind != "increment" or not state.config.plain_paths:
        return Partitions()
    paths = {path for i in state.data_commits if i.requested in window.requested for path in state.info(i).partitions}
    return Partitions(state.config.partition_by, tuple(sorted(paths)), state.config.url_encoded)


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
    touched = touched_partitions(source, window)
    wanted = {text for _, texts in one.on for text in texts}
    if window.kind == "increment" and not touched.paths:
        return None
    if window.kind not in ("increment", "driven") or not wanted <= set(columns) or not wanted <= _texts(source):
        return None
    found: set[tuple[str, ...]] = set()
    for path in touched.paths:
        values = partition_values(path, columns, touched.url_encoded)
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

"""What a table's partition paths tell of its partition columns. Pure; where a path tells nothing for sure, it is left alone."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from freshet.hudi.table import TableConfig, TableState
from freshet.project.model.pipeline import InputSpec
from freshet.sources.hudi.reads import Partitions, Window

#: How Hudi names the partition of rows whose partition column is null or empty.
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_PLAIN_VALUE = re.compile(r"[\w.-]+")


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


def is_plain(path: str, config: TableConfig) -> bool:
    """Say whether nobody can take a path for other values than it was made of; a null is none."""
    # Of a path that can be read in two ways, such as a=b, Hudi shows the one that it takes it for, in a snapshot too.
    parts = path.split("/") if path else []
    marks = [f"{column}=" if config.hive_style else "" for column in config.partition_by]
    values = [part.removeprefix(mark) for part, mark in zip(parts, marks, strict=False) if part.startswith(mark)]
    return len(values) == len(parts) == len(marks) and all(
        _PLAIN_VALUE.fullmatch(value) and value != NULL_PARTITION for value in values
    )


def touched_partitions(state: TableState, window: Window) -> Partitions:
    """Return the partitions that the window's commits wrote to, deleted from or replaced; all where paths do not tell them."""
    config, paths = state.config, _touched(state, window)
    if not config.plain_paths or not (config.url_encoded or all(is_plain(path, config) for path in paths)):
        return Partitions()
    return Partitions(config.partition_by, paths, config.url_encoded)


def _touched(state: TableState, window: Window) -> tuple[str, ...]:
    taken = [i for i in state.data_commits if i.requested in window.requested] if window.kind == "increment" else []
    return tuple(sorted({path for i in taken for path in state.info(i).partitions}))


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
    if not source.config.plain_paths or window.kind not in ("increment", "driven"):
        return None
    if not wanted <= set(columns) or not wanted <= _texts(source):
        return None
    found: set[tuple[str, ...]] = set()
    for path in _touched(source, window):
        values = partition_values(path, columns, source.config.url_encoded)
        if values is None:
            return None
        by_column = dict(zip(columns, values, strict=True))
        tuples: list[tuple[str, ...]] = [()]
        for _, texts in one.on:
            tuples = [(*begun, by_column[text]) for begun in tuples for text in texts]
        found.update(tuples)
    return tuple(sorted(found))


def _texts(state: TableState) -> set[str]:
    schema = json.loads(state.latest_extra("schema") or "{}")
    fields = schema.get("fields", ()) if isinstance(schema, dict) else ()
    return {field["name"] for field in fields if field["type"] in ("string", ["null", "string"])}

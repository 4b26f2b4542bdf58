"""Texts in a commit's metadata that are more than words: held as the commit is read, so that of a garbled one the file is told.

Those that have a code of their own where they are not what they must be (checkpoint, backfill, migration) are not among them,
nor is the record of the logic, without which only less is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import CHECKS_KEY, COLUMNS_KEY, INDEX_KEY, INDEX_ROWS_KEY
from freshet.project.model.pipeline import TableRef
from freshet.types.columns import Column
from freshet.types.from_json import from_avro

#: What was landed, of a commit of ``freshet land``.
LANDED_KEY = "streamer.freshet.landed"
SCHEMA_KEY = "schema"
#: A schema of nothing.
NO_COLUMNS = '{"type": "record", "fields": []}'


def hold_texts(extra: Mapping[str, str]) -> None:
    """Make sure that a commit's own texts are what they must be.

    Args:
        extra: The commit's ``extraMetadata``.

    Raises:
        ValueError: One is not; the message names it.
    """
    schema = extra.get(SCHEMA_KEY)
    if schema and not _may_be_schema(schema):
        raise ValueError(f"its {SCHEMA_KEY} is garbled")
    for key, is_whole in _HELD.items():
        text = extra.get(key)
        if text and not _holds(is_whole, text):
            raise ValueError(f"its {key} is garbled")


def columns_in(table: TableRef, schema: str) -> tuple[Column, ...]:
    """Return the columns that a commit's schema names.

    Args:
        table: The table.
        schema: The Avro schema.

    Raises:
        StateError: TIMELINE_UNREADABLE.
    """
    try:
        return from_avro(schema)
    except ValueError as error:
        raise unreadable(table, f"names columns that cannot be read: {without_credentials(str(error))}") from error
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(table, "has no whole Avro schema") from error


def unreadable(table: TableRef, what: str) -> StateError:
    """Return the error of a commit whose texts are not what they must be.

    Args:
        table: The table.
        what: What is wrong with it.
    """
    return StateError(
        "TIMELINE_UNREADABLE",
        f"{table.name} ({table.path}): its newest commit {what}.",
        "Nothing was read or written.",
        "Restore the commit's file below .hoodie/timeline from a copy.",
        table=table.path,
    )


def field_of(text: str | None, name: str, garbled: str) -> str:
    """Return a value of a JSON text; empty where it has none.

    Args:
        text: The text.
        name: The value's name.
        garbled: What is returned where the text is no JSON object.
    """
    try:
        return str(json.loads(text or "{}").get(name, ""))
    except (ValueError, AttributeError, RecursionError):
        return garbled


def _holds(is_whole: Callable[[Any], bool], text: str) -> bool:
    try:
        return is_whole(json.loads(text))
    except (ValueError, RecursionError):
        return False


# Nearly every commit of a table has the same one. What its types are is asked by who reads them: see ``columns_in``.
@lru_cache(maxsize=64)
def _may_be_schema(text: str) -> bool:
    return _holds(_is_record, text)


def _is_record(found: Any) -> bool:
    # A writer without news may say that its schema is "null".
    fields = found.get("fields", []) if isinstance(found, Mapping) else []
    return isinstance(fields, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("name"), str) and "type" in one for one in fields
    )


def _are_checks(found: Any) -> bool:
    checks = found.get("checks", {}) if isinstance(found, Mapping) else None
    rows = found.get("quarantined", 0) if isinstance(found, Mapping) else None
    return isinstance(rows, int) and isinstance(checks, Mapping) and all(isinstance(one, Mapping) for one in checks.values())


def _is_index(found: Any) -> bool:
    parts = [found.get(part, {}) for part in ("parameters", "digests")] if isinstance(found, Mapping) else [None]
    return all(isinstance(one, Mapping) and all(isinstance(text, str) for text in one.values()) for one in parts)


def _are_types(found: Any) -> bool:
    return isinstance(found, Mapping) and all(isinstance(one, str) for one in found.values())


_HELD: Mapping[str, Callable[[Any], bool]] = {
    CHECKS_KEY: _are_checks,
    INDEX_KEY: _is_index,
    COLUMNS_KEY: _are_types,
    LANDED_KEY: lambda found: isinstance(found, Mapping),
    INDEX_ROWS_KEY: lambda found: isinstance(found, int),
}

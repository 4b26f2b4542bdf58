"""Messages without an envelope: rows as JSON, with the key beside them, and rows with ``_event``, the format itself."""

from __future__ import annotations

from typing import Literal

from freshet.changelog.adapter import (
    FROM,
    KEY,
    MESSAGE,
    SKIPPED,
    Adapter,
    Source,
    build,
    change,
    is_malformed,
    key_row,
    lacks_columns,
    object_of,
    raw_row,
    read_json,
)
from freshet.changelog.fields import EVENT, FIELDS
from freshet.changelog.reference import Given, given
from freshet.changelog.sql import first_reason, struct, text
from freshet.types.columns import Atomic


def plain(source: Source, tombstones: Literal["delete", "skip", "aside"] = "delete") -> Adapter:
    """Return the adapter of rows with a key: each message has a whole row, and one without a value deletes it.

    Args:
        source: The table, the order of changes, and how values are written.
        tombstones: What a message without a value is. One that deletes has the key's columns as JSON in its key.

    Raises:
        ValueError: When the table or the order needs what the messages do not tell.
    """
    value, key = f"{FROM}.value", f"{FROM}.key"
    is_tombstone = f"{value} IS NULL"
    reads = {MESSAGE: read_json(value, source.raw_fields())}
    row, refused = raw_row(source, object_of(MESSAGE)), []
    if tombstones == "delete":
        reads[KEY] = read_json(key, source.raw_fields(source.key_columns))
        row = f"CASE WHEN {is_tombstone} THEN {key_row(source, object_of(KEY))} ELSE {row} END"
        refused.append(("'unavailable_key'", f"{is_tombstone} AND ({key} IS NULL OR ({is_malformed(key, KEY)}))"))
    else:
        refused.append((text(SKIPPED) if tombstones == "skip" else "'no_change'", is_tombstone))
    refused.append(("'malformed'", f"{value} IS NOT NULL AND ({is_malformed(value, MESSAGE)})"))
    if source.strict:
        refused.append(("'missing'", f"{value} IS NOT NULL AND ({lacks_columns(source, value, '$')})"))
    return build(
        source,
        reads=reads,
        refused=first_reason(refused),
        changes=f"array({change(is_tombstone, row)})",
        fields={"source": "'kafka'", "timestamp": f"unix_millis({FROM}.timestamp)"},
        parts={},
    )


def changelog(source: Source) -> Adapter:
    """Return the adapter of the format itself: JSON with the table's columns and ``_event``.

    Args:
        source: The table and how values are written; its order is ``Given``.

    Raises:
        ValueError: When another order is declared: the event has one.
    """
    if not isinstance(source.reference, Given):
        raise ValueError("events of the changelog format have a reference key: declare it as given")
    value, event = f"{FROM}.value", f"{object_of(MESSAGE)}.{EVENT}"
    kinds = ", ".join(f"{field.name}: {'STRING' if field.type == Atomic('bigint') else str(field.type)}" for field in FIELDS)
    # Values of an event that the producer could not make need not fit: it goes aside anyway.
    refused = [
        (text(SKIPPED), f"{value} IS NULL"),
        ("'malformed'", is_malformed(value, MESSAGE)),
        ("'error_at_source'", f"{event}.error_exception IS NOT NULL OR {event}.error_source_data IS NOT NULL"),
        ("'no_change'", f"{event} IS NULL"),
    ]
    strict = (
        [
            (
                "'missing'",
                f"{event}.changelog_columns IS NULL AND NOT coalesce({event}.is_deleted, false) AND "
                f"({lacks_columns(source, value, '$')})",
            )
        ]
        if source.strict
        else []
    )
    return build(
        source,
        reads={MESSAGE: read_json(value, f"{source.raw_fields()}, {EVENT}: STRUCT<{kinds}>")},
        refused=first_reason([*refused, *strict]),
        changes=f"array({change(f'coalesce({event}.is_deleted, false)', raw_row(source, object_of(MESSAGE)))})",
        fields={**_as_written(source.reference, event), "timestamp": f"try_cast({event}.timestamp AS BIGINT)"},
        parts={"ref_key": f"{event}.ref_key"},
    )


def typed_event(reference: Given) -> str:
    """Return ``_event`` over rows that have it with its types already, as files and Avro do.

    Args:
        reference: How the event's reference keys are written.
    """
    fields = {
        **_as_written(reference, EVENT),
        "ref_key": given(reference, f"{EVENT}.ref_key"),
        "timestamp": f"{EVENT}.timestamp",
        "is_deleted": f"coalesce({EVENT}.is_deleted, false)",
    }
    return struct((field.name, fields[field.name]) for field in FIELDS)


def _as_written(reference: Given, event: str) -> dict[str, str]:
    key = given(reference, "x.ref_key")
    groups = (
        f"transform({event}.changelog_columns, x -> named_struct('name', x.name, 'ref_key', "
        # A key that is none must not be taken for one that is not there: then the row's own would count.
        f"CASE WHEN x.ref_key IS NOT NULL THEN coalesce({key}, '') END, 'changed_fields', x.changed_fields))"
    )
    taken = ("row_key", "source", "error_exception", "error_source_data", "data_center")
    return {
        **{one: f"{event}.{one}" for one in taken},
        "force_update": f"coalesce({event}.force_update, false)",
        "changelog_columns": groups,
    }

"""What keeps an event out of the table, as Spark SQL that marks the row: nothing here fails."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.changelog.fields import EVENT
from freshet.changelog.layout import Layout
from freshet.changelog.sql import first_reason, name, text
from freshet.changelog.values import FIRST_SECOND, LAST_SECOND
from freshet.types.columns import Column

#: Column of a row that goes aside: why. The words are stable; those with a colon name a column behind it.
REASON = "_event_reason"
REASONS = {
    "malformed": "the message is none of the declared form",
    "no_change": "the message is of a kind that says nothing of one row",
    "truncated": "the source's table was emptied: every row of the table is meant, which no merge of rows can do",
    "unavailable_key": "a key column has no value in the message",
    "unavailable_value": "the message leaves out a value as unchanged, and its row is a new one",
    "value": "a value does not fit its column without a loss",
    "missing": "the message lacks a column of the table",
    "error_at_source": "the producer says that it could not make the event",
    "null_key": "a key column is null",
    "no_reference": "the change has no place in the order of the declared reference key",
    "no_timestamp": "the event does not say when it was created, or names a time that no calendar has",
    "unknown_group": "the event changes a column group that the table does not have, or names one twice",
    "partial_group": "the event changes some columns of a group and not the others",
}
#: Reasons that concern the whole table: a run may not go on as if nothing had been.
STOPS = ("truncated",)


def event_reason(layout: Layout) -> str:
    """Return why an event is not merged, or null: over the key columns and ``_event``.

    Args:
        layout: The table.
    """
    return first_reason(
        [
            (text("error_at_source"), f"{EVENT}.error_exception IS NOT NULL OR {EVENT}.error_source_data IS NOT NULL"),
            (text("null_key"), " OR ".join(f"{name(key)} IS NULL" for key in layout.key)),
            (text("no_timestamp"), _is_timeless(layout)),
            *_groups(layout),
        ]
    )


def _is_timeless(layout: Layout) -> str:
    missing = f"{EVENT}.timestamp IS NULL"
    if layout.keeps == "newest":
        return missing
    return f"{missing} OR NOT {EVENT}.timestamp BETWEEN {FIRST_SECOND * 1000} AND {LAST_SECOND * 1000 + 999}"


def value_reasons(columns: Iterable[tuple[Column, str, str]]) -> list[tuple[str, str]]:
    """Return a reason for each column whose value does not fit.

    Args:
        columns: Each column with its value as it came and as it was converted, as SQL.
    """
    return [(text(f"value:{c.name}"), f"{raw} IS NOT NULL AND ({value}) IS NULL") for c, raw, value in columns]


def _groups(layout: Layout) -> list[tuple[str, str]]:
    changed, deleted = f"{EVENT}.changelog_columns", f"coalesce({EVENT}.is_deleted, false)"
    whole = f"{changed} IS NULL OR {deleted}"
    groups = layout.all_groups
    known = ", ".join(map(text, groups))
    reference = f"{EVENT}.ref_key"
    # A group that is changed in part would have the reference key of fields that it does not have.
    members = {group: ", ".join(text(c.name) for c in columns) for group, columns in groups.items()}
    lacks = " OR ".join(
        f"x.name = {text(group)} AND size(array_except(array({fields}), x.changed_fields)) > 0"
        for group, fields in members.items()
    )
    unknown = f"exists({changed}, x -> coalesce(x.name NOT IN ({known}), true))"
    twice = f"size(array_distinct(transform({changed}, x -> x.name))) < size({changed})"
    return [
        (text("no_reference"), f"({whole}) AND {reference} IS NULL"),
        (text("no_change"), f"NOT ({whole}) AND size({changed}) = 0"),
        (text("unknown_group"), f"NOT ({whole}) AND ({unknown} OR {twice})"),
        (
            text("no_reference"),
            f"exists({changed}, x -> nullif(coalesce(x.ref_key, {reference}), '') IS NULL)",
        ),
        (
            text("partial_group"),
            f"NOT ({whole}) AND exists({changed}, x -> size(coalesce(x.changed_fields, array())) > 0 AND ({lacks}))",
        ),
    ]

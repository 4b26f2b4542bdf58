"""The ten fields of the changelog format, in one place: the struct ``_event`` of ``<SRC>`` and what producers write.

They follow the published format of DBEvents one to one. One type differs: there a reference key is a number of 64 bits. A
position in a binary log has three parts and a GTID has two, so that it is a text here, which compares as these parts do.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshet.types.columns import Array, Atomic, DataType, Struct

#: The column of ``<SRC>`` that holds the ten fields, beside the row's own columns.
EVENT = "_event"
_TEXT, _TRUTH, _MILLISECONDS = Atomic("string"), Atomic("boolean"), Atomic("bigint")
CHANGED = Struct((("name", _TEXT), ("ref_key", _TEXT), ("changed_fields", Array(_TEXT))))


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of an event.

    Args:
        name: Its name in ``_event``.
        type: Its type.
        required: False where a producer may leave it out; it is then null, and a truth value false.
        means: What it says, in one sentence.
    """

    name: str
    type: DataType
    required: bool = False
    means: str


FIELDS = (
    Field(name="row_key", type=_TEXT, required=True, means="The key of the row in its source, as a text."),
    Field(
        name="ref_key",
        type=_TEXT,
        required=True,
        means="The version of the row: a change with a greater reference key is newer. Texts compare byte by byte.",
    ),
    Field(
        name="changelog_columns",
        type=Array(CHANGED),
        means="The column groups that the event changes, each with its own reference key and the fields it changes. Null where "
        "the event has the whole row.",
    ),
    Field(name="source", type=_TEXT, means="The kind of system that the change comes from, such as mysql."),
    Field(
        name="timestamp",
        type=_MILLISECONDS,
        required=True,
        means="When the event was created, in milliseconds since 1970-01-01 UTC.",
    ),
    Field(name="is_deleted", type=_TRUTH, means="True where the row was deleted."),
    Field(name="error_exception", type=_TEXT, means="What went wrong where the event was made. Null where nothing did."),
    Field(
        name="error_source_data",
        type=_TEXT,
        means="The source's data from which no event could be made. Null where nothing went wrong.",
    ),
    Field(
        name="force_update",
        type=_TRUTH,
        means="True where the event is applied whatever its reference key says, over all that was created up to it.",
    ),
    Field(name="data_center", type=_TEXT, means="The data centre that the event comes from."),
)


def event_type() -> Struct:
    """Return the type of ``_event``."""
    return Struct(tuple((field.name, field.type) for field in FIELDS))

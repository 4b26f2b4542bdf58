"""The stages that make a result rows of the target: its columns and types, the columns that others own, and events."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.changelog.declared import Changelog
from freshet.project.model.checks import Evolution
from freshet.project.model.pipeline import TableRef
from freshet.types.columns import Column


@dataclass(frozen=True)
class Paths:
    """How a table's partition paths are written.

    Args:
        columns: The partition columns, in order.
        hive_style: True where a path names its columns, as in ``day=2026-01-05``.
        encoded: True where a value stands there as a URL has it.
    """

    columns: tuple[str, ...] = ()
    hive_style: bool = False
    encoded: bool = False


@dataclass(frozen=True, kw_only=True)
class EnforceSchema:
    """Project and cast the result to the target's columns; refuse what does not fit.

    Args:
        columns: The target's columns, in order.
        required: Columns in which a null is refused.
        keys: Record key columns, in which an empty text is refused too.
        ignored: Columns of the target that the batch may hold and that are not written.
        rule: The check whose matter is a value that does not fit; empty where no check names it.
        marks: True where such a row is marked, for the quarantine, and not refused.
        keeps_original: True where the row as it was goes along, as JSON.
        evolution: What the batch may change about the table.
        optional: Columns that an earlier batch added to the table, null where this one has none.
        alive_by: Columns that tell the target's rows apart: of a row that the batch holds alive it drops the deleted ones. That
            row has moved to where the target sees the same. Empty where no row has moved.
        paths: How the partition's path is made of the row.
        only: Values of the partition column that a row may have: of what is overwritten; empty for any.
    """

    columns: tuple[Column, ...]
    required: tuple[str, ...]
    keys: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    rule: str = ""
    marks: bool = False
    keeps_original: bool = False
    evolution: Evolution = "nothing"
    optional: tuple[str, ...] = ()
    alive_by: tuple[str, ...] = ()
    paths: Paths = Paths()
    only: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MergeColumns:
    """Make whole rows of a batch that owns only some columns: the others come from the target as it stands.

    Args:
        table: The target.
        columns: Its columns, in order.
        owned: The columns that the batch may change.
        record_key, partition_by: Columns that find a row.
        ordering: Column by which an older update loses: an owned one, or the table's ordering field.
        table_ordering: The table's ordering field; it never goes back.
        global_index: True where a key is looked for in every partition.
        insert_missing: True where a row whose key is not in the target is inserted.
        keep_others: True for a full outer join: the target's other rows are written again.
        null_is_unchanged: True where a null means that the row does not carry the column.
        changed_columns: Column of the batch that names what a row carries; empty where there is none.
        target_exists: False before the first run.
    """

    table: TableRef
    columns: tuple[Column, ...]
    owned: tuple[str, ...]
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: str
    table_ordering: str
    global_index: bool
    insert_missing: bool
    keep_others: bool
    null_is_unchanged: bool
    changed_columns: str
    target_exists: bool


@dataclass(frozen=True, kw_only=True)
class AdaptEvents:
    """Make events of what was read as ``<SRC>``; what holds none goes aside, with the reason.

    Args:
        changelog: How they are read.
        rule: The check that events which do not conform break, so that they go to the quarantine; empty where one fails the
            run.
        also: Columns of what was read that go along. An event of which they are then goes on whole, or not at all: where one
            change of a message goes aside, so do the others.
        window_seconds: By windows of so long their event times are counted; 0 for none.
    """

    changelog: Changelog
    rule: str = ""
    also: tuple[str, ...] = ()
    window_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class MergeEvents:
    """Merge a batch's events into what the target keeps: its rows, by their reference keys, their versions, or each event.

    Args:
        table: The target.
        columns: Its columns, in order, those that freshet keeps included.
        changelog: How the events are merged.
        partition_by: The partition columns; all of them are of the key.
        target_exists: False before the first run, and where what stands is replaced.
    """

    table: TableRef
    columns: tuple[Column, ...]
    changelog: Changelog
    partition_by: tuple[str, ...]
    target_exists: bool

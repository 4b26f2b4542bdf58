"""What landing files is asked for, and what became of it: for machines, in words, and where it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from freshet.errors import DataError, StateError
from freshet.landing.changes import WRONG, Found
from freshet.landing.heads import shown
from freshet.landing.plan import UNTOUCHED
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import counted


@dataclass(frozen=True, kw_only=True)
class Landing:
    """Files to land, and the table to land them in.

    Args:
        table: ``database.table``.
        files: Files, folders and patterns.
        key, ordering, partition_by, table_type: Of a new table; of one that stands they must be what it has.
        columns: Types of columns of a new table, as ``CREATE TABLE`` has them; the others' follow from the files.
        format: ``csv``, ``json`` or ``parquet``; empty for what the files' names say.
        delimiter: Of CSV; empty for a comma.
        whole: True where the files hold all that the table shall hold: other rows are deleted.
        partition_bytes: What a partition of a new table will hold as Parquet; None where nobody says.
        generated: True where the table orders rows by when they were landed, for files that have no such column.
        remember: What the commit says of the files, besides their names.
    """

    table: str
    files: tuple[str, ...]
    key: tuple[str, ...] = ()
    ordering: str = ""
    partition_by: tuple[str, ...] | None = None
    columns: str = ""
    format: str = ""
    delimiter: str = ""
    table_type: str = ""
    whole: bool = False
    partition_bytes: int | None = None
    generated: bool = False
    remember: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Landed:
    """What became of files.

    Args:
        table, path: The table.
        outcome: ``committed``, or ``idle`` where the files changed nothing.
        files: Their paths.
        rows: Rows that the files hold.
        inserted, updated, deleted, unchanged: Keys of the table, by what became of them.
        older: Keys of which the table holds a newer row.
        replaced: Those of ``updated`` whose ordering value is the one that stood there.
        moved: Those of ``updated`` that went to another partition.
        absent: Keys that the files delete and the table does not hold.
        made: True where the landing made the table.
        commit: Completion time of the commit; empty where there is none.
        columns: The table's columns, each with its type.
        key, ordering, partition_by: Of the table.
        readers: Pipelines that read it.
        notices: What a person should know.
        seconds: Wall time.
    """

    table: str
    path: str
    outcome: Literal["committed", "idle"]
    files: tuple[str, ...] = ()
    rows: int = 0
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    older: int = 0
    replaced: int = 0
    moved: int = 0
    absent: int = 0
    made: bool = False
    commit: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    key: tuple[str, ...] = ()
    ordering: str = ""
    partition_by: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    seconds: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        listed = {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        return {**vars(self), **listed, "columns": dict(self.columns)}


def in_words(landed: Landed) -> str:
    """Return what became of files, in one line."""
    parts = [
        f"{counted(landed.rows, 'row')} read",
        f"{landed.inserted:,} inserted",
        f"{landed.updated:,} updated",
        f"{landed.deleted:,} deleted",
        f"{landed.unchanged:,} unchanged",
    ]
    if landed.moved:
        parts.insert(3, f"{landed.moved:,} of them in another partition")
    if landed.older:
        parts.append(f"{landed.older:,} older than what stands there")
    if landed.absent:
        parts.append(f"{landed.absent:,} to delete that were not there")
    return ", ".join(parts)


def refuse_nameless(landing: Landing) -> None:
    """Refuse to make a table of which nobody says what tells its rows apart, and which of two is newer.

    Raises:
        StateError: TABLE_NOT_DECLARED.
    """
    missing = [option for option, said in (("--key", landing.key), ("--ordering", landing.ordering)) if not said]
    if missing:
        raise StateError(
            "TABLE_NOT_DECLARED",
            f"There is no table {landing.table} yet, and {' and '.join(missing)} "
            f"{'say' if len(missing) > 1 else 'says'} nothing about it.",
            UNTOUCHED,
            "Name the columns that tell rows apart by --key, and the one that grows with every change by --ordering.",
        )


def refuse_wrong(spec: PipelineSpec, found: Mapping[str, Found]) -> None:
    """Refuse rows of which nobody can say where they belong.

    Args:
        spec: The table.
        found: What becomes of the files' keys.

    Raises:
        DataError: NULL_KEY, NULL_ORDERING, NULL_PARTITION or ROWS_TIED.
    """
    key, ordering = ", ".join(spec.target.record_key), spec.target.ordering_field
    what = {
        "no_key": (
            "NULL_KEY",
            "{rows} without a value of the record key {key}",
            "Give each row one, or name another key by --key.",
        ),
        "no_ordering": (
            "NULL_ORDERING",
            "{unordered} without a value of the ordering field {ordering}",
            "Give each row one: without it nobody can say which of two rows is newer.",
        ),
        "no_partition": (
            "NULL_PARTITION",
            "{keys} without a value of the partition column {partition}",
            "Give each row one; a row that is deleted needs none.",
        ),
        "tied": (
            "ROWS_TIED",
            "{keys} with several rows of the same {ordering} and other values",
            "Leave one row of each in the files, or order by a column that tells them apart.",
        ),
    }
    wrong = [(kind, found[kind]) for kind in WRONG if kind in found]
    if not wrong:
        return
    said = "; ".join(
        what[kind][1].format(
            rows=counted(one.rows, "row"),
            unordered=counted(one.unordered, "row"),
            keys=counted(one.keys, "key"),
            key=key,
            ordering=ordering,
            partition=", ".join(spec.target.partition_by),
        )
        + f", as {one.example} of {shown(unquote(one.file.removeprefix('file://')))}"
        for kind, one in wrong
    )
    code, _, to_do = what[wrong[0][0]]
    raise DataError(
        code,
        f"{spec.name}: the files hold {said}.",
        UNTOUCHED,
        to_do,
        **{kind: {"keys": one.keys, "rows": one.rows} for kind, one in wrong},
    )


def refuse_odd(landed: Landed, landing: Landing, files: str, older: str = "") -> None:
    """Refuse files that can hardly be what was meant.

    Args:
        landed: What would become of them.
        landing: What was asked for.
        files: The files in words.
        older: One of the keys whose row is older than the table's.

    Raises:
        DataError: NO_ROWS or ROWS_OLDER.
    """
    if landed.made and not landed.inserted:
        what = "only rows that are deleted" if landed.rows else "no row"
        raise DataError(
            "NO_ROWS", f"{files}: {what}, and there is no {landed.table} yet.", UNTOUCHED, "Land files that have rows."
        )
    if landing.whole and not landed.rows:
        raise DataError(
            "NO_ROWS",
            f"{files}: no row, and {landed.table} would lose all of its own.",
            UNTOUCHED,
            f"Write the rows to the file; to be rid of the table: freshet land {landed.table} --drop",
        )
    if landing.whole and landed.older:
        raise DataError(
            "ROWS_OLDER",
            f"{files}: {counted(landed.older, 'row')} older than what {landed.table} holds"
            + (f", as {older}" if older else "")
            + ", and the files are said to hold all that counts.",
            UNTOUCHED,
            f"Write a newer {landed.ordering} where a row goes back, or leave out --delete-missing.",
            older=landed.older,
        )

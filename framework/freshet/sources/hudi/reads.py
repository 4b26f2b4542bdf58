"""What of the tables a run reads: windows of commits, versions, partitions and ranges, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freshet.project.model.pipeline import TableRef
from freshet.types.columns import Column

#: A time before all commits.
NEVER = "0"

Kind = (
    Literal["idle", "whole_table", "start_at_latest", "increment", "driven", "deferred", "override", "backfill", "replay"]
    | Literal["index", "repair"]
)


def counted(number: int, noun: str) -> str:
    """Return ``3 commits``, ``1 commit`` and the like."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True)
class Logs:
    """Logs of a MERGE_ON_READ table that hold the rows of a window whole, unless one of them says otherwise.

    Args:
        since: Completion time of the first commit that logged over the same base files.
        ordering: Column by which a base file's row may outrank a logged one; empty where the last write wins.
    """

    since: str
    ordering: str = ""


@dataclass(frozen=True, kw_only=True)
class Window:
    """What of the main source one run reads.

    Args:
        kind: ``increment``: the commits named; ``whole_table``: all rows as they stood at ``end_inclusive``;
            ``start_at_latest``: no rows, the checkpoint starts at ``end_inclusive``; ``idle``: nothing new; ``driven``: nothing
            new here, but in an input that drives; ``deferred``: decided when the run looks at the tables; ``override``: a
            checkpoint set by hand; ``backfill``: a range of event times; ``replay``: of the quarantine; ``index``: made anew;
            ``repair``: of rows that an audit found wrong.
        begin_inclusive, end_inclusive: Completion times of the first and the last commit read (Hudi 1.0 includes both).
        requested: Request times of the commits read, by which Hudi names them.
        rows: Rows that those commits wrote, by their metadata.
        whole_files: True where the rows stand whole, by the table's present schema, in the Parquet files of those commits,
            and no other action has written between them.
        logs: Where the rows may be read out of logs alone; None where the version at the window's end must be read.
        unseen_deletes: Rows that those commits deleted and that an increment without change data does not show.
        waiting_commits, waiting_rows: Commits that are left for the next run, and the rows that these wrote.
        reason: Why this window, in words.
        late: Of the commits read, those that came after the checkpoint was taken and are named by times before it.
        warning: What of files came too late to be read, in words.
    """

    kind: Kind
    begin_inclusive: str = ""
    end_inclusive: str = ""
    requested: tuple[str, ...] = ()
    rows: int = 0
    whole_files: bool = False
    logs: Logs | None = None
    unseen_deletes: int = 0
    waiting_commits: int = 0
    waiting_rows: int = 0
    reason: str = ""
    late: tuple[str, ...] = ()
    warning: str = ""


@dataclass(frozen=True)
class Partitions:
    """Partitions of a table, by their paths.

    Args:
        by: The table's partition columns.
        paths: Paths below the table's base; none: all that there are.
        url_encoded: True where the paths hold the values escaped.
    """

    by: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    url_encoded: bool = False


@dataclass(frozen=True)
class Version:
    """A version of a table.

    Args:
        as_of: Time to travel to: commits that were requested later are not seen.
        overtakers: Request times of later ones that are part of it all the same: they completed before one that was requested
            before them, which is not.
    """

    as_of: str
    overtakers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadIncrement:
    """Read the main source's window as the view ``SRC``.

    Args:
        table: The source.
        window: Which commits.
        with_deletes: True where the rows that the source deleted are wanted too.
        before: Versions that the target has read before: what is in one of them, and at the window's end no more, was deleted.
            None where nothing was deleted.
        as_of: Time to travel to for the window's end; empty for the latest version.
        partitions: Where the window's commits wrote: its rows, and those that they deleted, lie there.
    """

    table: TableRef
    window: Window
    with_deletes: bool
    before: tuple[Version, ...] = ()
    as_of: str = ""
    partitions: Partitions = Partitions()


@dataclass(frozen=True, kw_only=True)
class ReadSnapshot:
    """Read another table whole, as the view ``view``.

    Args:
        view: Name that the SQL uses.
        table: The table.
        as_of: Time of the version that is read; empty for the latest.
        columns: Where there is nothing to read yet: the columns of a view without rows.
        empty: True where no row is read, such as before the first checkpoint.
        overtakers: See ``Version``.
    """

    view: str
    table: TableRef
    as_of: str = ""
    columns: tuple[Column, ...] = ()
    empty: bool = False
    overtakers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadLookback:
    """Read what changed in another table within a look-back, as the view ``view``.

    Args:
        view: Name that the SQL uses.
        table: The table.
        window: Which commits; ``whole_table`` where the look-back reaches further than the table's history.
        partitions: Where those commits wrote.
        as_of: Time to travel to; empty for the latest version.
    """

    view: str
    table: TableRef
    window: Window
    partitions: Partitions = Partitions()
    as_of: str = ""


@dataclass(frozen=True, kw_only=True)
class DriveRows:
    """Bring rows of the main source into ``SRC`` whose key changed in another table.

    Args:
        changes: What changed in the other table; with ``before``, what its rows named then counts too, because rows were
            deleted or may name another row now.
        on: Pairs of its column and the main source's column.
        source: The main source.
        as_of: Time of the main source's version.
        partition_by: The main source's partition columns; one that ``on`` names prunes the read.
        held: Request times of the commits whose rows ``SRC`` holds already.
        earlier: What other inputs have driven by now: their changes, and how these find the main source's rows.
        every_row: True where all rows are brought: nobody can tell which of them the other table had named.
    """

    changes: ReadIncrement
    on: tuple[tuple[str, str], ...]
    source: TableRef
    as_of: str
    partition_by: tuple[str, ...]
    held: tuple[str, ...] = ()
    earlier: tuple[tuple[ReadIncrement, tuple[tuple[str, str], ...]], ...] = ()
    every_row: bool = False


@dataclass(frozen=True, kw_only=True)
class ReadPartitions:
    """Read only those partitions of another table that the rows of ``SRC`` need, as the view ``view``.

    Args:
        view: Name that the SQL uses.
        table: The table.
        on: Its partition columns, each with SQL expressions over ``SRC``.
        as_of: Time of the version that is read; empty for the latest.
        known: The partitions' values in the order of ``on``, where the timelines tell them; None where the batch does.
        also: Partitions that the timelines tell and that are read besides those that the batch tells.
        overtakers: See ``Version``.
    """

    view: str
    table: TableRef
    on: tuple[tuple[str, tuple[str, ...]], ...]
    as_of: str = ""
    known: tuple[tuple[str, ...], ...] | None = None
    also: tuple[tuple[str, ...], ...] = ()
    overtakers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadRange:
    """Read a table's rows of a range of event times, as the view ``view``.

    Args:
        view: ``SRC``, or the name that the SQL uses.
        table: The table.
        as_of: Time of the version that is read; empty for the latest.
        column: The event-time column: a timestamp, a date, or text that begins ``yyyy-MM-dd``.
        start: Begin, inclusive, ``yyyy-MM-ddTHH:mm:ss``, UTC.
        end: End, exclusive.
        with_deletes: True where the SQL expects the mark of deleted rows, which a snapshot has none of.
    """

    view: str
    table: TableRef
    as_of: str
    column: str
    start: str
    end: str
    with_deletes: bool = False


@dataclass(frozen=True, kw_only=True)
class ReadQuarantine:
    """Read rows that wait in the pipeline's quarantine, as the view ``SRC``.

    Args:
        table: The quarantine.
        columns: The target's columns, or those of a message, which is then made of what is kept of it.
        where: SQL condition that selects rows; empty for all.
        repairs: Columns that are set, each to a SQL expression over the quarantine's row.
        hidden_runs: Runs whose rows do not count, because their commit on the target never came.
    """

    table: TableRef
    columns: tuple[Column, ...]
    where: str
    repairs: tuple[tuple[str, str], ...]
    hidden_runs: tuple[str, ...]

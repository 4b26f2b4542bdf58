"""A plan is data: a tuple of frozen stages that the executor runs, the explainer prints and the golden tests read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from framework.spec.model import TableRef
from framework.spec.statements import Statement
from framework.spec.types import Column
from framework.state.checkpoint import Checkpoint

Kind = Literal["idle", "whole_table", "start_at_latest", "increment", "deferred", "override"]


def counted(number: int, noun: str) -> str:
    """Return ``3 commits``, ``1 commit`` and the like."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True)
class Window:
    """What of the main source one run reads.

    Args:
        kind: ``increment``: the commits named; ``whole_table``: all rows as they stood at ``end_inclusive``;
            ``start_at_latest``: no rows, the checkpoint starts at ``end_inclusive``; ``idle``: nothing new;
            ``deferred``: decided when the run looks at the tables; ``override``: no rows, a checkpoint set by hand.
        begin_inclusive: Completion time of the first commit read (Hudi 1.0 includes the begin).
        end_inclusive: Completion time of the last commit read.
        requested: Request times of the commits read, by which Hudi names them.
        rows: Rows that those commits wrote, by their own metadata.
        unseen_deletes: Rows that those commits deleted and that an increment without change data does not show.
        waiting_commits: Commits that are left for the next run.
        waiting_rows: Rows that those commits wrote.
        reason: Why this window, in words.
    """

    kind: Kind
    begin_inclusive: str = ""
    end_inclusive: str = ""
    requested: tuple[str, ...] = ()
    rows: int = 0
    unseen_deletes: int = 0
    waiting_commits: int = 0
    waiting_rows: int = 0
    reason: str = ""


@dataclass(frozen=True)
class ReadIncrement:
    """Read the main source's window as the view ``SRC``.

    Args:
        table: The source.
        window: Which commits.
        with_deletes: True where the source's change data is read for the keys it deleted.
        record_key: The source's record key columns, to tell deleted rows by.
        previous: Completion time up to which the target has read before; deleted rows are shown as they stood then.
        partition_by: The source's partition columns.
        partitions: Paths of the partitions that the window's commits touched; deleted rows lie in these.
    """

    table: TableRef
    window: Window
    with_deletes: bool
    record_key: tuple[str, ...]
    previous: str
    partition_by: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadSnapshot:
    """Read another table whole, as the view ``view``."""

    view: str
    table: TableRef


@dataclass(frozen=True)
class RunSql:
    """Run the statements of one file in order; the last one's result goes on."""

    file: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class RunPython:
    """Call ``transform(inputs, context)`` of one file; its result goes on."""

    file: str


@dataclass(frozen=True)
class Conform:
    """Project and cast the result to the target's columns; refuse what does not fit.

    Args:
        columns: The target's columns, in order.
        required: Columns in which a null is refused.
        keys: Record key columns, in which an empty text is refused too.
        ignored: Columns of the target that the batch may hold and that are not written.
    """

    columns: tuple[Column, ...]
    required: tuple[str, ...]
    keys: tuple[str, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Commit:
    """Publish the batch, its index entries and the checkpoint as one Hudi commit.

    Args:
        table: The target.
        options: Every option of the Hudi writer.
        checkpoint: The vector that the commit carries.
        metadata: The commit's metadata entries, checkpoint included; the run adds its own id.
        empty: True where the commit carries a checkpoint and no rows, so that no transformation runs.
    """

    table: TableRef
    options: Mapping[str, str]
    checkpoint: Checkpoint | None
    metadata: Mapping[str, str]
    empty: bool = False


Stage = ReadIncrement | ReadSnapshot | RunSql | RunPython | Conform | Commit


@dataclass(frozen=True)
class SchemaChange:
    """A difference between the table as it stands and its DDL that the run will make."""

    column: str
    change: Literal["add", "widen"]
    before: str
    after: str


@dataclass(frozen=True)
class Notice:
    """Something that a person should know before the run; nothing is refused for it."""

    code: str
    message: str


@dataclass(frozen=True)
class Plan:
    """What one run of one pipeline will do.

    Args:
        pipeline: Its name.
        fingerprint: Of the pipeline's files.
        target: The table written.
        first_run: True where the target was looked for and does not exist yet.
        window: What is read.
        checkpoint_before: What the target carries now; None where it carries none.
        checkpoint_after: What the commit will carry; None where it is decided at run time, or nothing is written.
        schema_changes: What the commit will change about the table's schema.
        notices: What a person should know.
        stages: What the executor does, in order; empty where there is nothing to do.
    """

    pipeline: str
    fingerprint: str
    target: TableRef
    first_run: bool
    window: Window
    checkpoint_before: Checkpoint | None
    checkpoint_after: Checkpoint | None
    schema_changes: tuple[SchemaChange, ...]
    notices: tuple[Notice, ...]
    stages: tuple[Stage, ...]

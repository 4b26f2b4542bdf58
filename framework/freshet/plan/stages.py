"""A plan is data: a tuple of frozen stages that the executor runs, the explainer prints and the golden tests read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.keys.options import OPERATION
from freshet.hudi.options import NO_ENTRIES, REPLACES_ALL
from freshet.plan.checks import CheckBatch, CheckTable
from freshet.project.model.checks import Evolution
from freshet.project.model.pipeline import Operation, TableRef
from freshet.project.syntax.statements import Statement
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.reads import (
    DriveRows,
    ReadIncrement,
    ReadLookback,
    ReadPartitions,
    ReadQuarantine,
    ReadRange,
    ReadSnapshot,
    Window,
)
from freshet.types.columns import Column


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
class Conform:
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


@dataclass(frozen=True)
class Guard:
    """Refuse the commit where another one came between.

    Args:
        base: Completion time of the target's last commit when the plan was made; empty where there was none.
        partitions: Values of the partitions that the commit writes; empty for all.
        after_write: Look again after the commit: what it overwrote may have changed while it was written.
    """

    base: str
    partitions: tuple[str, ...]
    after_write: bool


@dataclass(frozen=True, kw_only=True)
class Commit:
    """Publish the batch, its index entries and the checkpoint as one Hudi commit.

    Args:
        table: The target.
        operation: Hudi's write operation.
        options: Every other option of the Hudi writer. An HBase index adds the rates that it is asked at, which follow from
            the region servers that are alive when the run begins; nothing else is added, and nothing is changed.
        validators: Options of Hudi's validators, for a batch that has rows: one that names a column fails on a batch without
            rows, which Hudi 1.0 gives no columns.
        checkpoint: The vector that the commit carries.
        metadata: The commit's metadata entries, checkpoint included; the run adds its own id and what its checks found.
        empty: True where the commit carries a checkpoint and no rows, so that no transformation runs.
        guard: What must not have happened to the target since the plan was made; None where nothing is guarded.
    """

    table: TableRef
    operation: Operation
    options: Mapping[str, str]
    checkpoint: Checkpoint | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, str] = field(default_factory=dict)
    empty: bool = False
    guard: Guard | None = None

    def writer_options(self, has_rows: bool = True) -> dict[str, str]:
        """Return what Hudi's writer is given, sorted by key, without the metadata.

        Args:
            has_rows: False for a batch without rows.
        """
        validators = self.validators if has_rows else {}
        return dict(sorted({**self.options, OPERATION: self.operation, **validators}.items()))


Stage = (
    ReadIncrement
    | ReadRange
    | ReadQuarantine
    | DriveRows
    | ReadSnapshot
    | ReadLookback
    | ReadPartitions
    | RunSql
    | RunPython
    | Conform
    | CheckBatch
    | MergeColumns
    | CheckTable
    | Commit
)


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
        source_zone: Zone by which the main source names instants; empty where nobody looked.
        source_kind: The main source's kind, which has the words for its window and positions.
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
    source_zone: str = ""
    source_kind: str = HUDI

    @property
    def index_follows(self) -> bool:
        """Return True for a load that looks no key up, and whose index is made afterwards."""
        commit = self.stages[-1] if self.stages else None
        return isinstance(commit, Commit) and commit.options["hoodie.index.type"] == NO_ENTRIES

    @property
    def replaces_all(self) -> bool:
        """Return True for a full refresh: no row that stands outlives the commit."""
        commit = self.stages[-1] if self.stages else None
        return isinstance(commit, Commit) and commit.operation == REPLACES_ALL

"""A plan is data: a tuple of frozen stages that the executor runs, the explainer prints and the golden tests read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.keys.options import OPERATION
from freshet.hudi.options import NO_ENTRIES, REPLACES_ALL
from freshet.plan.checks import CheckBatch, CheckTable
from freshet.plan.row_stages import AdaptEvents, EnforceSchema, MergeColumns, MergeEvents
from freshet.project.model.pipeline import TableRef
from freshet.project.model.steps import Operation
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
class Precondition:
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
    guard: Precondition | None = None

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
    | AdaptEvents
    | RunSql
    | RunPython
    | EnforceSchema
    | CheckBatch
    | MergeColumns
    | MergeEvents
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
    first_run: bool = False
    window: Window
    checkpoint_before: Checkpoint | None = None
    checkpoint_after: Checkpoint | None = None
    schema_changes: tuple[SchemaChange, ...] = ()
    notices: tuple[Notice, ...] = ()
    stages: tuple[Stage, ...] = ()
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

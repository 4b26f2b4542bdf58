"""What is known of a table without a JVM: its settings, its timeline, what each commit did. Read-only, by design.

``StateReader`` is all that planning asks of the world. ``MemoryState`` is its twin for tests; the real one is
``freshet.hudi.timeline.TimelineState``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from freshet.hudi.checkpoint import PIPELINE_KEY, Checkpoint, decode
from freshet.project.model.pipeline import TableRef

COMMIT_ACTIONS = ("commit", "deltacommit", "replacecommit")


@dataclass(frozen=True, kw_only=True)
class TableConfig:
    """The part of ``hoodie.properties`` that matters to a reader or writer.

    Args:
        table_type: COPY_ON_WRITE or MERGE_ON_READ.
        record_key: Record key columns.
        partition_by: Partition columns; empty for a non-partitioned table.
        ordering_field: Ordering (precombine) field; empty where the table has none.
        records_changes: True where the table keeps change data (``hoodie.table.cdc.enabled``).
        whole_files: True where a file that a commit wrote holds its rows whole, and in no other way than they are read:
            COPY_ON_WRITE as Parquet, with the partition columns and with these alone as the partition's path.
        whole_logs: True where the rows of a log may be whole in the same way, and Hudi's own rules tell which of two stays:
            MERGE_ON_READ.
        hive_style: True where the partition's path names the columns, as in ``day=2026-01-05``.
        plain_paths: True where the partition's path holds the columns' own values, and nothing else.
        url_encoded: True where the path holds the values escaped (``hoodie.datasource.write.partitionpath.urlencode``).
        meta_fields: True where each row says which commit wrote it (``hoodie.populate.meta.fields``).
        own_merge: True where a payload or merger of the table's own decides what becomes of a row, deletes included.
        properties: ``hoodie.properties`` as they stand.
    """

    table_type: str
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering_field: str
    records_changes: bool = False
    whole_files: bool = False
    whole_logs: bool = False
    hive_style: bool = False
    plain_paths: bool = True
    url_encoded: bool = False
    meta_fields: bool = True
    own_merge: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, order=True)
class Instant:
    """A completed action. Ordered by completion, which is how increments are read.

    Args:
        completed: Completion time, ``yyyyMMddHHmmssSSS``, milliseconds.
        requested: Request time, same format; Hudi names a commit by it.
        action: ``commit``, ``deltacommit``, ``replacecommit``, ``clean`` ...
    """

    completed: str
    requested: str
    action: str


@dataclass(frozen=True, kw_only=True)
class CommitInfo:
    """What one commit did, from its own metadata.

    Args:
        operation: Hudi's operation type, such as ``UPSERT``, ``COMPACT`` or ``CLUSTER``.
        inserts, updates, deletes: Rows.
        file_ids: The file groups written, each as its partition's path, a slash and its id.
        replaced_ids: The file groups that others replaced.
        partitions: Paths of the partitions written or replaced.
        base_files: Number of base files written.
        base_bytes: Of all of them.
        files: Path below the table's base, and size in bytes, of each base and log file that it wrote.
        errors: Rows that Hudi left out because they could not be written.
        extra: The commit's ``extraMetadata``, the Avro ``schema`` included.
        log_ids: The file groups that it wrote a log of.
    """

    operation: str = "UPSERT"
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    file_ids: tuple[str, ...] = ()
    replaced_ids: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    base_files: int = 0
    base_bytes: int = 0
    files: tuple[tuple[str, int], ...] = ()
    errors: int = 0
    extra: Mapping[str, str] = field(default_factory=dict)
    log_ids: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Return the number of rows the commit inserted, updated or deleted."""
        return self.inserts + self.updates + self.deletes


@dataclass(frozen=True, kw_only=True)
class TableState:
    """One table at the moment it was looked at.

    Args:
        ref: The table.
        config: Its settings.
        instants: Completed actions of the active timeline, any order.
        load: Reads one commit's metadata.
        load_archived: Reads the archived commits (Hudi's timeline history) that completed after the time given, any order,
            without those whose request times are given; only called when somebody asks.
        retained_from: Request time of the earliest commit whose files the cleaner has kept; empty: never cleaned.
        pending: Request times of the commits that have begun and not completed, table services left out.
        compacting: Request times of the compactions that are planned and not done.
        list_archived: Reads which commits that completed after the time given are in the archive, without what they did; None
            where ``load_archived`` tells it as well.
        load_cleaned: Reads which files the active timeline's cleans deleted, each as its file group and its request time.
        load_cleaning: Reads in the same way which files a clean is to delete that has begun, and not completed; None where its
            plan does not tell.
        load_overtaken: Reads which rollbacks are planned and not done though their commit has completed: each with the commit's
            request time.
        load_taken_back: Reads which commits, by their request times, a rollback took back.
        has_schema_history: Tells whether columns may have other names in files than in the table ("schema on read").
    """

    ref: TableRef
    config: TableConfig
    instants: tuple[Instant, ...]
    load: Callable[[Instant], CommitInfo]
    load_archived: Callable[..., Sequence[tuple[Instant, CommitInfo]]] = lambda completed_after, without=frozenset(): ()
    retained_from: str = ""
    pending: tuple[str, ...] = ()
    compacting: tuple[str, ...] = ()
    load_cleaned: Callable[[], Sequence[tuple[str, str]]] = lambda: ()
    load_cleaning: Callable[[], Sequence[tuple[str, str]] | None] = lambda: ()
    load_overtaken: Callable[[], Sequence[tuple[str, str]]] = lambda: ()
    load_taken_back: Callable[[Instant], tuple[str, ...]] = lambda instant: ()
    has_schema_history: Callable[[], bool] = lambda: False
    list_archived: Callable[[str], Sequence[Instant]] | None = None

    @cached_property
    def commits(self) -> tuple[Instant, ...]:
        """Commits of the active timeline, table services included, oldest completion first."""
        return tuple(sorted(i for i in self.instants if i.action in COMMIT_ACTIONS))

    @cached_property
    def data_commits(self) -> tuple[Instant, ...]:
        """Commits that brought rows: no clustering, no compaction; oldest completion first."""
        return tuple(i for i in self.commits if not self._is_service(i))

    def commits_between(self, begin_exclusive: str, end_inclusive: str = "9") -> tuple[Instant, ...]:
        """Return the data commits whose completion time lies in ``(begin_exclusive, end_inclusive]``."""
        return tuple(
            i
            for i in self.data_commits
            # A log compaction ends as a deltacommit; only its metadata, which the caller reads anyway, tells them apart.
            if begin_exclusive < i.completed <= end_inclusive and self.info(i).operation != "LOG_COMPACT"
        )

    def info(self, instant: Instant) -> CommitInfo:
        """Return what the commit did."""
        return self.load(instant)

    def archived(self, completed_after: str) -> tuple[Instant, ...]:
        """Return the archived commits that completed after a time, any order."""
        if self.list_archived is not None:
            return tuple(self.list_archived(completed_after))
        return tuple(i for i, _ in self.load_archived(completed_after))

    def newest_first(self) -> Iterator[tuple[Instant, CommitInfo]]:
        """Walk all commits from the newest completion back, through the archive as far as it reaches."""
        for instant in reversed(self.commits):
            yield instant, self.info(instant)
        yield from sorted(self.load_archived(""), key=lambda pair: pair[0], reverse=True)

    @property
    def has_no_logs(self) -> bool:
        """True where no row can lie in a log: COPY_ON_WRITE, or nothing but bulk inserts since the table was made."""
        if self.config.table_type == "COPY_ON_WRITE":
            return True
        return all(info.operation in ("BULK_INSERT", "CLUSTER") for _, info in self.newest_first())

    def checkpoints(
        self,
        co_writers: Collection[str] = (),
        pipeline: str = "",
    ) -> Iterator[tuple[Instant, CommitInfo, Checkpoint]]:
        """Walk the commits that carry a checkpoint, newest first; clustering, backfills and other writers carry none.

        Args:
            co_writers: Pipelines that own other columns of the table; their commits are passed over.
            pipeline: The pipeline that asks, for an error.

        Raises:
            StateError: A checkpoint is newer than this code, or no checkpoint at all.
        """
        for instant, info in self.newest_first():
            checkpoint = None
            if info.extra.get(PIPELINE_KEY) not in co_writers:
                checkpoint = decode(info.extra, self.ref.name, pipeline)
            if checkpoint is not None:
                yield instant, info, checkpoint

    def latest_checkpoint(self, co_writers: Collection[str] = (), pipeline: str = "") -> Checkpoint | None:
        """Return the newest checkpoint, None where no commit but those of ``co_writers`` ever carried one."""
        return next((checkpoint for _, _, checkpoint in self.checkpoints(co_writers, pipeline)), None)

    def latest_extra(self, key: str) -> str | None:
        """Return the newest value of one metadata key, None where no commit carries it."""
        return next((info.extra[key] for _, info in self.newest_first() if info.extra.get(key)), None)

    def _is_service(self, instant: Instant) -> bool:
        if instant.action == "replacecommit":
            return self.info(instant).operation == "CLUSTER"
        if instant.action == "commit" and self.config.table_type == "MERGE_ON_READ":
            return self.info(instant).operation in ("COMPACT", "LOG_COMPACT")
        return False


class StateReader(Protocol):
    """Where planning learns what stands in the tables. Implementations only read."""

    def table(self, ref: TableRef) -> TableState | None:
        """Return the table's state now, None where there is no table at that path."""
        ...


class MemoryState:
    """A ``StateReader`` over tables held in memory, for tests.

    Args:
        tables: State by base path.
    """

    def __init__(self, tables: Mapping[str, TableState]) -> None:
        self._tables = tables

    def table(self, ref: TableRef) -> TableState | None:
        """Return the table's state, None where none was given for that path."""
        return self._tables.get(ref.path)

"""What a valid project is, typed and frozen: the output of ``spec`` and the input of ``plan``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from freshet.changelog.declared import Changelog
from freshet.project.model import promises
from freshet.project.model.backup import BackupSpec
from freshet.project.model.checks import CheckSpec, Evolution
from freshet.project.model.limits import DEFAULT_LIMITS, RunLimits
from freshet.project.model.logic import Logic
from freshet.project.model.readers import Reader
from freshet.project.model.steps import Accepted, BackfillSpec, Operation, TransformSpec, WriteSpec
from freshet.types.columns import Column

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]
MissingCheckpoint = Literal["READ_UPTO_LATEST_COMMIT", "READ_LATEST", "ERROR"]
IncrementalFormat = Literal["latest_state", "cdc", "auto"]
ReadStrategy = Literal["snapshot", "incremental", "affected_partitions"]
AsOf = Literal["latest", "run_start", "checkpoint"]


@dataclass(frozen=True)
class TableRef:
    """A Hudi table: its dotted name where the project knows one (else its path), and its base path.

    Args:
        name: ``database.table``, or the path where no DDL and no warehouse root names it.
        path: Absolute local path or URI of the table's base path.
    """

    name: str
    path: str


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """The target as its DDL file declares it.

    Args:
        ref: Name and base path (``warehouse`` root of the database + table name, or the DDL's LOCATION).
        file: DDL file, relative to the project.
        columns: Columns in the table's order, partition columns included.
        partition_by: Partition column names, in order; empty for a non-partitioned table.
        record_key, ordering_field: Record key columns; the column whose larger value wins between two rows of one key.
        table_type: COPY_ON_WRITE or MERGE_ON_READ.
        properties: The DDL's other ``hoodie.*`` TBLPROPERTIES.
        column_lines: Line of each column's definition in the DDL, by column name.
    """

    ref: TableRef
    file: str
    columns: tuple[Column, ...]
    partition_by: tuple[str, ...]
    record_key: tuple[str, ...]
    ordering_field: str
    table_type: TableType
    properties: Mapping[str, str]
    column_lines: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class SourceSpec:
    """The main source, read incrementally as ``<SRC>``.

    Args:
        table: The source table.
        max_commits: Bound on data commits per run (HoodieStreamer's ``num_instants``).
        missing_checkpoint: What to read when the target has no checkpoint.
        full_scan_when_expired: Read all when the checkpoint has expired (Hudi's ``...incr.fallback.fulltablescan.enable``).
        incremental_format: ``cdc`` passes deletes on, ``latest_state`` does not, ``auto`` is cdc where the table records it.
        changelog, bootstrap: How its rows, or records, are changes of the target's rows; a backup that is loaded before these.
    """

    #: See ``freshet.sources.registry``.
    kind: ClassVar[str] = "hudi"
    table: TableRef
    max_commits: int
    missing_checkpoint: MissingCheckpoint
    full_scan_when_expired: bool
    incremental_format: IncrementalFormat
    changelog: Changelog | None = None
    bootstrap: BackupSpec | None = None

    @property
    def place(self) -> str:
        """Return where it lies, as a position names it."""
        return self.table.path


@dataclass(frozen=True, kw_only=True)
class InputSpec:
    """Another table that the transformation names.

    Args:
        name: Name used in the SQL and as key of ``inputs`` in Python.
        table: The table.
        read: Read strategy.
        line: Line in the pipeline's YAML.
        lookback_seconds: ``incremental``: how far back before the window commits are read, by completion time.
        drives: ``incremental``: pairs of this table's column and the main source's; a change here brings the main
            source's rows of that key into ``<SRC>``. Empty where it drives nothing.
        on: ``affected_partitions``: this table's partition column with SQL expressions over ``<SRC>``.
        as_of: Which version is read, for the strategies that are not incremental.
    """

    name: str
    table: TableRef
    read: ReadStrategy
    line: int
    lookback_seconds: int = 0
    drives: tuple[tuple[str, str], ...] = ()
    on: tuple[tuple[str, tuple[str, ...]], ...] = ()
    as_of: AsOf = "latest"


@dataclass(frozen=True, kw_only=True)
class HBaseSpec:
    """The HBase table that holds the index of a target, and how much of its cluster the pipeline may use.

    Args:
        quorum: ZooKeeper hosts, separated by commas.
        port: ZooKeeper's client port.
        znode: HBase's node in ZooKeeper.
        table: Index table, ``namespace:name`` or a name.
        server_rate: Requests a second that one region server holds (``freshet index benchmark`` measures it).
        shares: Every pipeline of the environment with an index on this cluster: its target, and the share declared, None
            where its rows decide.
        client: Settings of the HBase client, Kerberos included.
    """

    quorum: str
    port: int
    znode: str
    table: str
    server_rate: int
    shares: Mapping[str, tuple[TableRef, float | None]]
    client: Mapping[str, str]

    @property
    def cluster(self) -> str:
        """Return the cluster's name, as ``quorum:port:znode``."""
        return f"{self.quorum}:{self.port}:{self.znode}"


@dataclass(frozen=True)
class IndexSpec:
    """The index of the target and the parameters that must never change once rows are written.

    Args:
        type: ``BUCKET``, ``RECORD_INDEX`` or ``HBASE``.
        parameters: Immutable parameters by Hudi key, such as the bucket count.
        hbase: Where an HBASE index lies; None for the others.
    """

    type: Literal["BUCKET", "RECORD_INDEX", "HBASE"]
    parameters: Mapping[str, str]
    hbase: HBaseSpec | None = None

    @property
    def is_global(self) -> bool:
        """Return True where a key is looked for in every partition."""
        return self.type != "BUCKET"


@dataclass(frozen=True, kw_only=True)
class PipelineSpec:
    """One validated pipeline.

    Args:
        name, file: File name of the YAML without its ending; the YAML file, relative to the project.
        owner, description, tags, schedule: What people and schedulers read; ``schedule_zone`` is the schedule's time zone.
        target, source, inputs: The table written, the main source, and other tables, by name order of the YAML.
        transform: The chain, in order.
        operation, write: Hudi's write operation; how the batch reaches the target, and which columns the pipeline owns.
        backfill: How a range of dates is computed again; None where the pipeline declares none.
        co_writers: Names of the pipelines that own other columns of the same table; their checkpoints are not this one's.
        readers: The pipelines of the project that read the target: what they have not read must stay readable.
        index, checks: The target's index, and what must hold before anything is published.
        evolution, quarantine: What a batch may change about the table beyond the DDL; the table for the rows that checks drop.
        write_options: Every other ``hoodie.*`` option handed to the Hudi writer, streamer keys removed.
        spark_conf, variables: ``spark.*`` settings of the session, and the merged ``vars``, for Python steps.
        lease_wait_seconds, lease_across_machines: How long a run waits for another of its target; see ``lease.choice``.
        fingerprint: SHA-256 over all that defines the pipeline's result, secrets left out; hex, 16 characters.
        interval_seconds: Of a continuous pipeline, how long at least from the begin of a run to the next; None of others.
        limits, event_times, slo, budget, metrics, lineage: How long a run may take; and see ``model.promises``.
        logic, accepts: What makes the rows; why increments may differ from a recompute, as the author accepts.
        row_by_row: True where each Python step makes one row of each, by itself alone.
        hidden: Paths of tables and names that commits keep and that hold a secret, each with what is shown of it.
    """

    name: str
    file: str
    owner: str
    description: str
    tags: tuple[str, ...]
    schedule: str
    target: TableSpec
    source: SourceSpec
    inputs: tuple[InputSpec, ...]
    transform: tuple[TransformSpec, ...]
    operation: Operation
    write: WriteSpec
    backfill: BackfillSpec | None
    co_writers: tuple[str, ...]
    readers: tuple[Reader, ...]
    index: IndexSpec
    checks: tuple[CheckSpec, ...]
    evolution: Evolution
    quarantine: TableRef
    write_options: Mapping[str, str]
    spark_conf: Mapping[str, str]
    variables: Mapping[str, str]
    lease_wait_seconds: float
    fingerprint: str
    schedule_zone: str = "UTC"
    interval_seconds: int | None = None
    limits: RunLimits = DEFAULT_LIMITS
    event_times: promises.EventTimes | None = None
    slo: promises.Slo = promises.NO_SLO
    budget: promises.BudgetSpec = promises.NO_BUDGET
    metrics: promises.MetricsOut = promises.NO_METRICS
    lineage: promises.LineageOut = promises.NO_LINEAGE
    lease_across_machines: bool | None = None
    logic: Logic = ()
    accepts: tuple[Accepted, ...] = ()
    row_by_row: bool = False
    hidden: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Project:
    """All pipelines of a project that were asked for, valid, in dependency order.

    Args:
        root: Absolute path of the project.
        env: Name of the environment (``configs/<env>.yml``).
        pipelines: Upstream before downstream; ties by name.
        upstream: For each pipeline, the names of the pipelines whose targets it reads.
        goes_on: True where the process does more than this: a notebook, a scheduler.
    """

    root: str
    env: str
    pipelines: tuple[PipelineSpec, ...]
    upstream: Mapping[str, tuple[str, ...]]
    goes_on: bool = False

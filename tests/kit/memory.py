"""Small builders for what the unit tests are about: a valid pipeline, a table's timeline, one commit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from freshet.hudi.checkpoint import INDEX_KEY, MAIN, Checkpoint, encode
from freshet.hudi.table import CommitInfo, Instant, TableConfig, TableState
from freshet.project.model.pipeline import IndexSpec, InputSpec, PipelineSpec, SourceSpec, TableRef, TableSpec
from freshet.project.model.steps import Accepted, TransformSpec, WriteSpec
from freshet.project.shape.strategies import Reason
from freshet.project.syntax.statements import split_statements
from freshet.sources.hudi.position import Basis, HudiPosition
from freshet.types.columns import Atomic, Column, Decimal

SOURCE = TableRef("raw.trips", "/lake/raw/trips")
TARGET = TableRef("derived.earnings", "/lake/derived/earnings")
CITIES = TableRef("raw.cities", "/lake/raw/cities")
BUCKETS = IndexSpec("BUCKET", {"hoodie.bucket.index.num.buckets": "4"})
COLUMNS = (
    Column(name="trip_id", type=Atomic("string"), nullable=False),
    Column(name="fare", type=Decimal(10, 2)),
    Column(name="rides", type=Atomic("int")),
    Column(name="updated_at", type=Atomic("timestamp")),
    Column(name="day", type=Atomic("string")),
)
# What Hudi's schema converter writes for COLUMNS.
AVRO_TYPES: dict[str, Any] = {
    "trip_id": "string",
    "fare": ["null", {"type": "fixed", "name": "fixed", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}],
    "rides": ["null", "int"],
    "updated_at": ["null", {"type": "long", "logicalType": "timestamp-micros"}],
    "day": ["null", "string"],
}

Loaded = tuple[Instant, CommitInfo]


def at(moment: int) -> str:
    """Return an instant's time: so many milliseconds into the tests' one minute."""
    return f"20260801101500{moment:03d}"


def an_instant(completed: int, requested: int | None = None, action: str = "commit") -> Instant:
    """Return a completed action; requested one millisecond before it completed where nothing else is said."""
    return Instant(at(completed), at(completed - 1 if requested is None else requested), action)


def a_commit(
    completed: int,
    requested: int | None = None,
    *,
    action: str = "commit",
    operation: str = "UPSERT",
    rows: int = 10,
    deletes: int = 0,
    **info: Any,
) -> Loaded:
    """Return an instant and what it did: by default ten rows inserted."""
    return an_instant(completed, requested, action), CommitInfo(
        operation=operation, inserts=rows, updates=0, deletes=deletes, **info
    )


def a_checkpoint(completed: int | None, table: str = SOURCE.path, basis: Basis = "completed") -> Checkpoint:
    """Return a vector with the main source's position; the empty vector of a reset for None."""
    return (
        Checkpoint() if completed is None else Checkpoint({MAIN: HudiPosition(instant=at(completed), table=table, basis=basis)})
    )


def a_table_state(
    commits: Sequence[Loaded] = (),
    *,
    ref: TableRef = SOURCE,
    archived: Sequence[Loaded] = (),
    other: Sequence[Instant] = (),
    retained_from: str = "",
    **config: Any,
) -> TableState:
    """Return a table with these commits; ``other`` are its cleans and rollbacks, ``config`` changes its settings."""
    loaded = dict(commits)
    settings = TableConfig(
        **{
            "table_type": "COPY_ON_WRITE",
            "record_key": ("trip_id",),
            "partition_by": ("day",),
            "ordering_field": "updated_at",
            "properties": {"hoodie.table.timeline.timezone": "UTC"},
            **config,
        }
    )
    return TableState(
        ref=ref,
        config=settings,
        instants=(*loaded, *other),
        load=loaded.__getitem__,
        retained_from=retained_from,
        load_archived=lambda completed_after, without=frozenset(): tuple(
            pair for pair in archived if pair[0].completed > completed_after and pair[0].requested not in without
        ),
    )


def a_target(
    *checkpoints: tuple[int, Checkpoint],
    index: IndexSpec | None = BUCKETS,
    schema: dict[str, Any] | None = None,
    extra: dict[str, str] | None = None,
    file_ids: tuple[str, ...] = (),
    **config: Any,
) -> TableState:
    """Return the target as freshet's own commits leave it: (completion, checkpoint) pairs, its index and its schema."""
    known = {"schema": an_avro_schema(schema or AVRO_TYPES), **(extra or {})}
    if index:
        known[INDEX_KEY] = json.dumps({"type": index.type, "parameters": dict(index.parameters)}, sort_keys=True)
    commits = [
        a_commit(completed, extra={**known, **encode(checkpoint)}, file_ids=file_ids) for completed, checkpoint in checkpoints
    ] or [a_commit(1, extra=known, file_ids=file_ids)]
    return a_table_state(commits, ref=TARGET, **config)


def an_avro_schema(types: dict[str, Any]) -> str:
    """Return a Hudi table's Avro schema, its meta columns included."""
    fields = [{"name": "_hoodie_commit_time", "type": ["null", "string"], "default": None}]
    fields += [{"name": name, "type": kind} for name, kind in types.items()]
    return json.dumps({"type": "record", "name": "earnings_record", "namespace": "hoodie.earnings", "fields": fields})


def a_source_spec(**changes: Any) -> SourceSpec:
    """Return the main source's settings: five commits a run, the whole table first, no full scan, format ``auto``."""
    return replace(
        SourceSpec(
            table=SOURCE,
            max_commits=5,
            missing_checkpoint="READ_UPTO_LATEST_COMMIT",
            full_scan_when_expired=False,
            incremental_format="auto",
        ),
        **changes,
    )


def a_table_spec(**changes: Any) -> TableSpec:
    """Return the target: keyed by trip_id, ordered by updated_at, partitioned by day, COPY_ON_WRITE."""
    return replace(
        TableSpec(
            ref=TARGET,
            file="ddl/earnings.sql",
            columns=COLUMNS,
            partition_by=("day",),
            record_key=("trip_id",),
            ordering_field="updated_at",
            table_type="COPY_ON_WRITE",
            properties={},
            column_lines={},
        ),
        **changes,
    )


def a_spec(**changes: Any) -> PipelineSpec:
    """Return a valid pipeline: ``source`` and ``target`` may be mappings of changes to their own builders."""
    for part, build in (("source", a_source_spec), ("target", a_table_spec)):
        if isinstance(changes.get(part), dict):
            changes[part] = build(**changes[part])
    sql = "create temporary view paid as select * from <SRC>;\nselect p.* from paid p join cities c using (city)\n"
    return replace(
        PipelineSpec(
            name="earnings",
            file="pipelines/earnings.yml",
            owner="earnings-data",
            description="Earnings per trip.",
            tags=("hourly",),
            schedule="*/30 * * * *",
            target=a_table_spec(),
            source=a_source_spec(),
            inputs=(InputSpec(name="cities", table=CITIES, read="snapshot", line=7),),
            transform=(
                TransformSpec(file="transformers/earnings.sql", kind="sql", statements=split_statements(sql)),
                TransformSpec(file="transformers/earnings.py", kind="python"),
            ),
            operation="upsert",
            write=WriteSpec(strategy="rows", columns=tuple(c.name for c in a_table_spec().columns)),
            backfill=None,
            co_writers=(),
            readers=(),
            index=BUCKETS,
            checks=(),
            evolution="nothing",
            quarantine=TableRef("derived.earnings_quarantine", "/lake/derived/earnings_quarantine"),
            write_options={"hoodie.upsert.shuffle.parallelism": "2"},
            spark_conf={},
            variables={"currency": "EUR"},
            lease_wait_seconds=0.0,
            fingerprint="0123456789abcdef",
            accepts=tuple(Accepted(code, "not this test") for code in get_args(Reason)),
        ),
        **changes,
    )

"""Compile one pipeline into a plan: pure. All that it knows of the world comes through a ``StateReader``."""

from __future__ import annotations

from dataclasses import dataclass

from framework.errors import StateError
from framework.plan.options import IS_DELETED, index_record, writer_options
from framework.plan.stages import (
    Commit,
    Conform,
    Notice,
    Plan,
    ReadIncrement,
    ReadSnapshot,
    RunPython,
    RunSql,
    Stage,
    Window,
)
from framework.plan.target import compare_target
from framework.plan.window import completion_of, next_window
from framework.spec.model import PipelineSpec, TransformSpec
from framework.spec.types import Column
from framework.state.checkpoint import (
    FINGERPRINT_KEY,
    INDEX_KEY,
    ORIGIN_KEY,
    PIPELINE_KEY,
    Checkpoint,
    Position,
    encode,
)
from framework.state.table import StateReader, TableState


@dataclass(frozen=True)
class RunRequest:
    """What the caller wants of the plan.

    Args:
        look_at_tables: False compiles from the files alone, so that the result depends on nothing else.
    """

    look_at_tables: bool = True


def compile_plan(spec: PipelineSpec, state: StateReader, request: RunRequest) -> Plan:
    """Compile the next run of a pipeline.

    Args:
        spec: The validated pipeline.
        state: Read-only view of the tables; not asked where ``request.look_at_tables`` is False.
        request: What is wanted.

    Returns:
        The plan; its ``stages`` are empty where the run has nothing to do.

    Raises:
        StateError: The tables forbid the run; the code says why.
    """
    if not request.look_at_tables:
        window = Window("deferred", reason=f"at most {spec.source.max_commits} commits after the checkpoint")
        return _plan(spec, None, None, window, None)
    target = state.table(spec.target.ref)
    before = target.latest_checkpoint() if target else None
    source = state.table(spec.source.table)
    if source is None:
        raise StateError(
            "SOURCE_MISSING", f"{spec.name}: there is no Hudi table at {spec.source.table.path}.",
            "Nothing was read or written.",
            "Check hoodie.streamer.source.hoodieincr.path and the roots in configs/, or run the pipeline that makes it.",
            path=spec.source.table.path,
        )
    for other in spec.inputs:
        if state.table(other.table) is None:
            raise StateError(
                "INPUT_MISSING", f"{spec.name}: input {other.name}: there is no Hudi table at {other.table.path}.",
                "Nothing was read or written.", f"See {spec.file}:{other.line}.", path=other.table.path,
            )
    window = next_window(spec.name, source, spec.source, before.main if before else None)
    return _plan(spec, target, before, window, source)


def compile_override(spec: PipelineSpec, state: StateReader, instant: str | None) -> Plan:
    """Compile the commit that sets a checkpoint by hand, or resets it.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        instant: Completion time of the last commit to count as read; None resets.

    Returns:
        A plan with one commit without rows. The next run starts from it, once: its own commit moves on.

    Raises:
        StateError: The target was made otherwise than the pipeline declares it.
    """
    target = state.table(spec.target.ref)
    before: Checkpoint | None = None
    try:
        before = target.latest_checkpoint() if target else None
    except StateError as error:
        # This is the command that mends such a checkpoint.
        if error.code != "CHECKPOINT_UNREADABLE":
            raise
    position = Position(instant or "", spec.source.table.path)
    after = Checkpoint() if instant is None else (before or Checkpoint()).with_main(position)
    reason = "reset by hand" if instant is None else "set by hand"
    window = Window("override", end_inclusive=instant or "", reason=reason)
    return _plan(spec, target, before, window, None, after)


def _plan(
    spec: PipelineSpec, target: TableState | None, before: Checkpoint | None, window: Window,
    source: TableState | None, override: Checkpoint | None = None,
) -> Plan:
    changes = compare_target(spec, target) if target else ()
    after = override
    if override is None and window.kind not in ("idle", "deferred"):
        after = (before or Checkpoint()).with_main(Position(window.end_inclusive, spec.source.table.path))
    stages: tuple[Stage, ...] = ()
    notices: tuple[Notice, ...] = ()
    if window.kind in ("start_at_latest", "override"):
        stages = (_commit(spec, window, after, empty=True),)
    elif window.kind != "idle":
        read = _read(spec, window, source, before)
        notices = _notices(spec, window, source, read)
        stages = (
            read,
            *(ReadSnapshot(other.name, other.table) for other in spec.inputs),
            *(_transform(step) for step in spec.transform),
            conform_stage(spec),
            _commit(spec, window, after),
        )
    return Plan(
        pipeline=spec.name, fingerprint=spec.fingerprint, target=spec.target.ref,
        first_run=target is None and window.kind != "deferred",
        window=window, checkpoint_before=before, checkpoint_after=after, schema_changes=changes,
        notices=notices, stages=stages,
    )


def _read(spec: PipelineSpec, window: Window, source: TableState | None, before: Checkpoint | None) -> ReadIncrement:
    wanted = spec.source.incremental_format
    recorded = source.config.records_changes if source else wanted == "cdc"
    if wanted == "cdc" and not recorded:
        raise StateError(
            "CDC_NOT_RECORDED", f"{spec.name}: {spec.source.table.path} keeps no change data.",
            "Nothing was read or written.",
            "Remove hoodie.datasource.query.incremental.format: cdc, or make the source with hoodie.table.cdc.enabled=true.",
        )
    with_deletes = recorded and wanted != "latest_state"
    if with_deletes and spec.operation == "upsert" and IS_DELETED not in {c.name for c in spec.target.columns}:
        raise StateError(
            "DELETES_NOT_DECLARED",
            f"{spec.name}: the source {spec.source.table.path} records deletes, and {spec.target.file} has no place for them.",
            "Nothing was read or written.",
            f"Add `{IS_DELETED} BOOLEAN` to the DDL and select it from <SRC>, so that the target deletes too; or ignore "
            "deletes by hoodie.datasource.query.incremental.format: latest_state.",
        )
    previous = before.main if before else None
    partition_by = source.config.partition_by if source else ()
    if source is None or previous is None or not with_deletes:
        return ReadIncrement(
            spec.source.table, window, with_deletes, (), previous.instant if previous else "", partition_by,
        )
    read = [source.info(i) for i in source.data_commits if i.requested in window.requested]
    return ReadIncrement(
        spec.source.table, window, with_deletes, source.config.record_key,
        completion_of(spec.name, source, previous), partition_by,
        tuple(sorted({p for info in read for p in info.partitions})),
    )


def _notices(
    spec: PipelineSpec, window: Window, source: TableState | None, read: ReadIncrement,
) -> tuple[Notice, ...]:
    if source is not None and window.kind == "whole_table" and read.previous:
        return (Notice(
            "DELETES_NOT_SEEN",
            f"{spec.name}: the whole source is read again; rows that it deleted since the checkpoint stay in the target.",
        ),)
    if source is None or read.with_deletes or window.kind != "increment":
        return ()
    replaced = [i for i in source.data_commits if i.requested in window.requested and i.action == "replacecommit"]
    if not window.unseen_deletes and not replaced:
        return ()
    what = f"{window.unseen_deletes} deleted rows" if window.unseen_deletes else "replaced file groups"
    return (Notice(
        "DELETES_NOT_SEEN",
        f"{spec.name}: the source's commits hold {what}, which an increment without change data does not show: the target "
        "keeps those rows. Make the source with hoodie.table.cdc.enabled=true to pass deletes on.",
    ),)


def _transform(step: TransformSpec) -> Stage:
    return RunSql(step.file, step.statements) if step.kind == "sql" else RunPython(step.file)


def conform_stage(spec: PipelineSpec) -> Conform:
    """Return what the batch of this pipeline must look like: for a delete only keys, partition and ordering field."""
    target = spec.target
    located = (*target.record_key, *target.partition_by, target.ordering_field)
    columns: tuple[Column, ...] = target.columns
    if spec.operation == "delete":
        # Hudi finds the rows to delete by key and partition; the rest of the batch is never read.
        columns = tuple(c for c in columns if c.name in located)
    required = tuple(c.name for c in columns if not c.nullable or c.name in located)
    ignored = tuple(c.name for c in target.columns if c not in columns)
    return Conform(columns, required, target.record_key, ignored)


def _commit(spec: PipelineSpec, window: Window, after: Checkpoint | None, empty: bool = False) -> Commit:
    metadata = {
        PIPELINE_KEY: spec.name,
        FINGERPRINT_KEY: spec.fingerprint,
        INDEX_KEY: index_record(spec.index),
        ORIGIN_KEY: window.kind,
        **(encode(after) if after else {}),
    }
    return Commit(spec.target.ref, writer_options(spec), after, dict(sorted(metadata.items())), empty)

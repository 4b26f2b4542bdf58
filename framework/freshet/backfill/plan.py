"""Plan a backfill: which chunks are done by the table's own account, and what one chunk reads and writes. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from freshet.backfill.chunks import BackfillRequest, Chunk, cut, length_of, partition_values
from freshet.backfill.made_by import is_of, made_by
from freshet.backfill.record import ChunkCommit, ChunkRecord, chunk_commits, encode_chunk, touched_between
from freshet.errors import StateError
from freshet.hudi.checkpoint import BACKFILL_LOGIC_KEY, FINGERPRINT_KEY, MAIN
from freshet.hudi.options import LEFT_TO_THE_RUNS, concurrency_of
from freshet.hudi.table import StateReader, TableState
from freshet.plan.foreign import refuse_foreign
from freshet.plan.inputs import look_at_inputs
from freshet.plan.logic import with_logic
from freshet.plan.migrated import refuse_unmigrated
from freshet.plan.parts import checked_stages, commit_stage, transform_stage, with_deletes
from freshet.plan.positions import checkpoint_of
from freshet.plan.retention import hold_services
from freshet.plan.row_parts import merge_stages
from freshet.plan.schema import evolved
from freshet.plan.stages import Commit, Plan, Precondition, Stage
from freshet.plan.target import compare_target
from freshet.project.model.logic import Logic
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.project.model.steps import BackfillSpec
from freshet.sources.hudi.reads import ReadPartitions, ReadRange, ReadSnapshot, Window
from freshet.sources.protocol import InputTable
from freshet.sources.registry import source_of

ChunkStatus = Literal["todo", "done", "failed", "overwritten"]
_TIME = "%Y-%m-%dT%H:%M:%S"


@dataclass(frozen=True, kw_only=True)
class PlannedChunk:
    """A chunk, what the table says of it, and whether it is to be done now; ``error`` is the code of one that failed."""

    chunk: Chunk
    status: ChunkStatus
    wanted: bool
    error: str = ""

    @property
    def label(self) -> str:
        """Return the chunk as people read it."""
        return f"{self.chunk.start:%Y-%m-%dT%H:%M} to {self.chunk.end:%Y-%m-%dT%H:%M}".replace("T00:00", "")


@dataclass(frozen=True, kw_only=True)
class BackfillPlan:
    """What a backfill has done and will do.

    Args:
        pipeline: Its name.
        name: The backfill's own name, by which its commits are found: range and chunk length.
        fingerprint: Of the pipeline's files, rendered with the whole range.
        write: ``upsert`` or ``insert_overwrite``.
        concurrency: The target's concurrency mode.
        chunks: Every chunk of the range, in order.
        logic: What makes the rows, without the range; none where that is not known.
        made_by: What its chunks' commits say of that, see ``made_by``.
    """

    pipeline: str
    name: str
    fingerprint: str
    write: str
    concurrency: str
    chunks: tuple[PlannedChunk, ...]
    logic: Logic = ()
    made_by: str = ""

    def count(self, status: ChunkStatus) -> int:
        """Return how many chunks have a status."""
        return sum(one.status == status for one in self.chunks)


def plan_backfill(spec: PipelineSpec, state: StateReader, request: BackfillRequest, logic: Logic = ()) -> BackfillPlan:
    """Say which chunks of a range are done and which are to be done.

    Args:
        spec: The pipeline, rendered with the whole range as ``start`` and ``end``.
        state: Read-only view of the tables.
        request: What is wanted.
        logic: Of the pipeline as it is rendered for its runs.

    Raises:
        StateError: BACKFILL_NOT_DECLARED, TARGET_MISSING, MIGRATION_NOT_DONE, TARGET_OF_ANOTHER_PIPELINE, SINGLE_WRITER or
            BACKFILL_FINGERPRINT_CHANGED.
        BadRange: The range cannot be cut so.
    """
    how = _declared(spec)
    granularity = how.granularity if how.partition else None
    length = request.chunk or length_of(granularity or "day")
    chunks = cut(request.start, request.end, length, granularity)
    name = f"{request.start:{_TIME}}/{request.end:{_TIME}}/{length}"
    target = _target(spec, state)
    mode = concurrency_of(spec)
    if mode == "SINGLE_WRITER":
        raise StateError(
            "SINGLE_WRITER",
            f"{spec.name}: a backfill writes beside the pipeline's own runs, and its table has one writer.",
            "Nothing was read or written.",
            "Add hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL (or, for MERGE_ON_READ with a bucket index, "
            "NON_BLOCKING_CONCURRENCY_CONTROL) to hoodie: in configs/<env>.yml; every writer of the table must have it.",
        )
    known: dict[tuple[str, str], ChunkCommit] = {}
    for commit in chunk_commits(target, spec.name):
        if commit.record.backfill == name:
            known.setdefault((commit.record.start, commit.record.end), commit)
    planned, kept = [], []
    for chunk in chunks:
        tried = known.get((f"{chunk.start:{_TIME}}", f"{chunk.end:{_TIME}}"))
        status = _status(target, tried, _values(how, chunk))
        wanted = status in ("todo", "overwritten") or request.reprocess in ("all", status)
        planned.append(PlannedChunk(chunk=chunk, status=status, wanted=wanted, error=tried.record.error if tried else ""))
        if tried is not None and not wanted and not is_of(spec, tried, logic):
            kept.append(tried.fingerprint)
    # What is done again need not have been done by these files.
    if kept and not request.accept_changes:
        changed = sorted(set(kept))
        raise StateError(
            "BACKFILL_FINGERPRINT_CHANGED",
            f"{spec.name}: {len(kept)} of {len(chunks)} chunks were done by other files than these (fingerprint "
            f"{', '.join(changed)}, now {spec.fingerprint}): another logic, or another 'backfill:'.",
            "Nothing was read or written.",
            "To do all of them again: --reprocess all; to keep those and go on with the new files: --accept-changes",
            before=changed,
            now=spec.fingerprint,
        )
    return BackfillPlan(
        pipeline=spec.name,
        name=name,
        fingerprint=spec.fingerprint,
        write=how.write,
        concurrency=mode,
        chunks=tuple(planned),
        logic=logic,
        made_by=made_by(spec),
    )


def compile_chunk(spec: PipelineSpec, state: StateReader, plan: BackfillPlan, chunk: Chunk) -> Plan:
    """Compile one chunk.

    Args:
        spec: The pipeline, rendered with the chunk's range as ``start`` and ``end``.
        state: Read-only view of the tables.
        plan: The backfill that the chunk is of.
        chunk: The chunk.

    Returns:
        A plan whose commit carries the chunk's record and no checkpoint.
    """
    how, target, source = _declared(spec), _target(spec, state), source_of(spec, state)
    changes = compare_target(spec := evolved(spec, target), target)
    window = Window(kind="backfill", end_inclusive=source.end, reason=f"{chunk.start:{_TIME}} to {chunk.end:{_TIME}}")
    states = look_at_inputs(spec, state, None).states
    merge, guard = merge_stages(spec, target)
    commit = replace(_chunk_commit(spec, target, plan, chunk), guard=guard or _guard(how, plan, target, chunk))
    stages = (
        source.read_range(_range(MAIN, spec.source.table, "", how.event_time[MAIN], chunk, with_deletes(spec, source))),
        *(_input(spec, how, one, states[one.name], chunk) for one in spec.inputs),
        *(transform_stage(step) for step in spec.transform),
        *checked_stages(spec, target, window, merge, commit, _overwritten(how, plan, chunk)),
    )
    compiled = Plan(
        pipeline=spec.name,
        fingerprint=plan.fingerprint,
        target=spec.target.ref,
        source_kind=spec.source.kind,
        first_run=False,
        window=window,
        checkpoint_before=checkpoint_of(spec, target),
        checkpoint_after=None,
        schema_changes=changes,
        notices=(),
        stages=stages,
    )
    return hold_services(compiled, spec, state, target)


def compile_failure(spec: PipelineSpec, state: StateReader, plan: BackfillPlan, chunk: Chunk, code: str) -> Plan:
    """Compile the commit without rows that says a chunk failed."""
    window = Window(kind="backfill", reason=f"{chunk.start:{_TIME}} to {chunk.end:{_TIME}} failed: {code}")
    return Plan(
        pipeline=spec.name,
        fingerprint=plan.fingerprint,
        target=spec.target.ref,
        source_kind=spec.source.kind,
        window=window,
        stages=(replace(_chunk_commit(spec, _target(spec, state), plan, chunk, code), empty=True),),
    )


def _chunk_commit(spec: PipelineSpec, target: TableState, plan: BackfillPlan, chunk: Chunk, error: str = "") -> Commit:
    """Return the commit stage of a chunk: done, or failed without rows."""
    record = ChunkRecord(
        backfill=plan.name,
        start=f"{chunk.start:{_TIME}}",
        end=f"{chunk.end:{_TIME}}",
        chunks=len(plan.chunks),
        state="failed" if error else "done",
        base=target.commits[-1].completed if target.commits else "",
        write=plan.write,
        error=error,
    )
    overwritten = () if error else _overwritten(_declared(spec), plan, chunk)
    stage = commit_stage(spec, Window(kind="backfill"), None, overwrite=overwritten)
    metadata = {**stage.metadata, **encode_chunk(record), FINGERPRINT_KEY: plan.fingerprint, BACKFILL_LOGIC_KEY: plan.made_by}
    options = {**stage.options, **LEFT_TO_THE_RUNS}
    stage = replace(stage, metadata=dict(sorted(metadata.items())), options=dict(sorted(options.items())))
    values = _values(_declared(spec), chunk)
    return with_logic(stage, spec, target, plan.logic, computes=not error, renews=values, ranged=not values)


def _declared(spec: PipelineSpec) -> BackfillSpec:
    if spec.backfill is None:
        raise StateError(
            "BACKFILL_NOT_DECLARED",
            f"{spec.name}: {spec.file} does not say how a range of dates is computed again.",
            "Nothing was read or written.",
            "Add 'backfill: {event_time: <column of the main source>}' to it.",
        )
    return spec.backfill


def _target(spec: PipelineSpec, state: StateReader) -> TableState:
    target = state.table(spec.target.ref)
    refuse_unmigrated(spec, state, target)
    refuse_foreign(spec, target)
    if target is None:
        raise StateError(
            "TARGET_MISSING",
            f"{spec.name}: there is no table at {spec.target.ref.path} to repair yet.",
            "Nothing was read or written.",
            f"Make it first: freshet run {spec.name}",
        )
    return target


def _status(target: TableState, commit: ChunkCommit | None, values: tuple[str, ...]) -> ChunkStatus:
    if commit is None:
        return "todo"
    record = commit.record
    if record.state == "failed":
        return "failed"
    # A replaced partition lost what another writer committed to it between the chunk's plan and its commit.
    lost = record.write == "insert_overwrite" and touched_between(target, record.base, commit.instant.completed, values)
    return "overwritten" if lost else "done"


def _values(how: BackfillSpec, chunk: Chunk) -> tuple[str, ...]:
    return partition_values(chunk, how.granularity) if how.partition else ()


def _overwritten(how: BackfillSpec, plan: BackfillPlan, chunk: Chunk) -> tuple[str, ...]:
    return _values(how, chunk) if plan.write == "insert_overwrite" else ()


def _guard(how: BackfillSpec, plan: BackfillPlan, target: TableState, chunk: Chunk) -> Precondition | None:
    # By upsert, key and ordering field decide between two writers; what a partition is replaced by knows of no other.
    if not (values := _values(how, chunk)) or plan.concurrency == "NON_BLOCKING_CONCURRENCY_CONTROL":
        return None
    return Precondition(target.commits[-1].completed if target.commits else "", values, plan.write == "insert_overwrite")


def _range(view: str, table: TableRef, version: str, column: str, chunk: Chunk, deletes: bool = False) -> ReadRange:
    return ReadRange(
        view=view,
        table=table,
        as_of=version,
        column=column,
        start=f"{chunk.start:{_TIME}}",
        end=f"{chunk.end:{_TIME}}",
        with_deletes=deletes,
    )


def _input(spec: PipelineSpec, how: BackfillSpec, one: InputSpec, table: InputTable | None, chunk: Chunk) -> Stage:
    now = table.version_now() if table is not None else ""
    if one.name in how.event_time:
        return _range(one.name, one.table, now, how.event_time[one.name], chunk)
    if one.read == "affected_partitions" and one.as_of != "checkpoint":
        return ReadPartitions(view=one.name, table=one.table, on=one.on, as_of=now)
    empty = table is None or one.as_of == "checkpoint"
    return ReadSnapshot(
        view=one.name,
        table=one.table,
        as_of="" if empty else now,
        columns=spec.target.columns if table is None else (),
        empty=empty,
    )

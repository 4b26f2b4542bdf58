"""Compile one pipeline into a plan: pure. All that it knows of the world comes through a ``StateReader``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import MAIN, Checkpoint, seen_after
from freshet.hudi.options import REPLACES_ALL, bulk_insert_options
from freshet.hudi.table import StateReader, TableState
from freshet.plan.bootstrap import first_load, note_of, noted, refuse_other, refuse_refresh
from freshet.plan.foreign import of_another, refuse_foreign
from freshet.plan.inputs import InputTables, deferred_inputs, look_at_inputs, positions, read_inputs, with_drivers
from freshet.plan.logic import with_logic
from freshet.plan.migrated import refuse_unmigrated
from freshet.plan.notices import complete_plan, notices_of
from freshet.plan.parts import (
    commit_stage,
    nothing_to_do,
    publish_stages,
    transform_stage,
    with_deletes,
)
from freshet.plan.positions import checkpoint_of, of_own_tables
from freshet.plan.refresh import refuse_recompute, replacing
from freshet.plan.row_parts import event_stages
from freshet.plan.schema import evolved
from freshet.plan.stages import Commit, Notice, Plan, Stage
from freshet.plan.target import compare_target
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import ReadIncrement, Window
from freshet.sources.protocol import Source
from freshet.sources.registry import kind_of, position_by_hand, source_of


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What the caller wants of the plan.

    Args:
        look_at_tables: False compiles from the files alone, so that the result depends on nothing else.
        full_refresh: True computes the target anew from the whole source, and replaces what stands.
        upto: Of such a load: read the source as it stood then, by a commit's completion time; empty for now.
        migrates: True for the load of a table that takes the place of another.
    """

    look_at_tables: bool = True
    full_refresh: bool = False
    upto: str = ""
    migrates: bool = False


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
        window = Window(kind="deferred", reason=f"at most {kind_of(spec).most(spec)} after the checkpoint")
        return _plan(spec, None, None, window, None)
    target = state.table(spec.target.ref)
    before = checkpoint_of(spec, target) if target else None
    if not request.migrates:
        refuse_unmigrated(spec, state, target)
        refuse_foreign(spec, target)
    if spec.source.bootstrap is not None:
        if target is None or not target.commits:
            load = first_load(spec, state)
            plan = load.planned(_plan(load.spec, target, before, load.read.window, None, load.after))
            return complete_plan(plan, spec, state, target)
        refuse_other(spec, target)
    source = source_of(spec, state)
    if request.full_refresh:
        return complete_plan(_refresh(spec, state, target, before, source, request.upto), spec, state, target)
    tables = look_at_inputs(spec, state, before)
    main, seen = (before.main, before.furthest(spec.source.place)) if before else (None, None)
    window = with_drivers(source.look(main, seen), tables)
    return complete_plan(_plan(spec, target, before, window, (source, tables)), spec, state, target)


def _refresh(
    spec: PipelineSpec,
    state: StateReader,
    target: TableState | None,
    before: Checkpoint | None,
    source: Source,
    upto: str,
) -> Plan:
    refuse_recompute(spec)
    refuse_refresh(spec, target)
    # What the run after it would be refused for.
    with_deletes(spec, source)
    tables = look_at_inputs(spec, state, None)
    window = source.look_whole(upto)
    if target is None or not target.commits or window.kind == "idle":
        return _plan(spec, target, before, window, (source, tables))
    return replacing(_plan(replace(spec, operation=REPLACES_ALL), target, None, window, (source, tables)), spec, target, before)


def compile_override(spec: PipelineSpec, state: StateReader, instant: str | None) -> Plan:
    """Compile the commit that sets a checkpoint by hand, or resets it.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        instant: Completion time of the last commit to count as read; None resets.

    Returns:
        A plan with one commit without rows, from which the next run starts; without stages where there is no target to reset.

    Raises:
        StateError: The target was made otherwise than the pipeline declares it.
    """
    target = state.table(spec.target.ref)
    if target is None and instant is None:
        return nothing_to_do(spec, None, f"there is no table {spec.target.ref.path} yet, and so no checkpoint")
    refuse_unmigrated(spec, state, target)
    before: Checkpoint | None = None
    try:
        before = checkpoint_of(spec, target) if target else None
        if before is None and (other := of_another(spec, target)) is not None:
            # The pipeline has got another name: its inputs are where they were.
            before = of_own_tables(spec, other[1])
    except StateError as error:
        # This is the command that mends such a checkpoint.
        if error.code != "CHECKPOINT_UNREADABLE":
            raise
    position = position_by_hand(spec, state, instant or "")
    seen = seen_after(before, position)
    after = replace(
        Checkpoint() if instant is None else (before or Checkpoint()).with_main(position),
        seen=position_by_hand(spec, state, seen.text) if seen else None,
    )
    reason = "reset by hand" if instant is None else "set by hand"
    window = Window(kind="override", end_inclusive=instant or "", reason=reason)
    return _plan(spec, target, before, window, None, after)


def compile_bootstrap(spec: PipelineSpec, state: StateReader) -> Plan:
    """Compile the first load of a target as a bulk insert, which looks no key up.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.

    Returns:
        A plan like that of a first run. Of rows with one key the ordering field decides before they are written.

    Raises:
        StateError: NOT_AN_UPSERT, TARGET_NOT_EMPTY, or what a first run is refused for.
    """
    if spec.operation != "upsert":
        raise StateError(
            "NOT_AN_UPSERT",
            f"{spec.name}: its operation is {spec.operation}, and a bulk insert stands for a first upsert.",
            "Nothing was read or written.",
            f"Load it by an ordinary run: freshet run {spec.name}",
        )
    target = state.table(spec.target.ref)
    if target is not None and target.commits:
        how = "rebuild" if spec.index.hbase else f"migrate --to {spec.index.type.lower()}"
        raise StateError(
            "TARGET_NOT_EMPTY",
            f"{spec.name}: {spec.target.ref.path} has commits already; a bulk insert would double rows.",
            "Nothing was read or written.",
            f"Make the index from the rows that stand there: freshet index {how} {spec.name}",
        )
    plan = compile_plan(replace(spec, operation="bulk_insert"), state, RunRequest())
    commit = plan.stages[-1] if plan.stages else None
    if not isinstance(commit, Commit) or commit.empty:
        return plan
    return replace(plan, stages=(*plan.stages[:-1], replace(commit, options=bulk_insert_options(spec, commit.options))))


def _plan(
    spec: PipelineSpec,
    target: TableState | None,
    before: Checkpoint | None,
    window: Window,
    looked_at: tuple[Source, InputTables] | None,
    override: Checkpoint | None = None,
) -> Plan:
    spec = evolved(spec, target)
    changes = compare_target(spec, target) if target else ()
    after = override
    if looked_at and window.kind not in ("idle", "deferred"):
        others = positions(spec, looked_at[1], window, before)
        kept = before.positions if before else {}
        began = before.main if before and window.kind in ("increment", "driven") else None
        position = looked_at[0].position_after(window, began)
        after = Checkpoint({**kept, **others, MAIN: position}, seen_after(before, position))
    stages, notices = tuple[Stage, ...](), tuple[Notice, ...]()
    if window.kind in ("start_at_latest", "override"):
        stages = (commit_stage(spec, window, after, empty=True, creates=target is None),)
    elif window.kind != "idle":
        read = _read(spec, window, looked_at[0] if looked_at else None, before)
        notices = notices_of(spec, looked_at[0], looked_at[1], read, before) if looked_at else ()
        stages = (
            read,
            *(read_inputs(spec, looked_at[1], window, looked_at[0], before) if looked_at else deferred_inputs(spec)),
            *event_stages(spec),
            *(transform_stage(step) for step in spec.transform),
            *publish_stages(spec, target, window, after, bool(read.before)),
        )
    if window.kind != "deferred":
        note = note_of(target) if spec.source.bootstrap is not None else None
        overwrites = spec.operation == "insert_overwrite" and spec.write.strategy == "rows"
        stages = tuple(
            with_logic(noted(stage, note), spec, target, whole=overwrites or window.kind == "whole_table")
            if isinstance(stage, Commit)
            else stage
            for stage in stages
        )
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        source_kind=spec.source.kind,
        first_run=target is None and window.kind != "deferred",
        window=window,
        checkpoint_before=before,
        checkpoint_after=after,
        schema_changes=changes,
        notices=notices,
        stages=stages,
        source_zone=looked_at[0].zone if looked_at else "",
    )


def _read(spec: PipelineSpec, window: Window, source: Source | None, before: Checkpoint | None) -> ReadIncrement:
    deletes = with_deletes(spec, source)
    if source is None:
        return ReadIncrement(table=spec.source.table, window=window, with_deletes=deletes)
    return source.read(window, before, deletes)

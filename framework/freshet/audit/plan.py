"""Plan an audit: what is recomputed of which versions, by which stages, and how it is compared. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshet.audit.left_out import left_out
from freshet.audit.request import AuditRequest
from freshet.audit.sample import Sample, draw
from freshet.audit.versions import Chosen, as_of, present
from freshet.errors import StateError
from freshet.hudi.checkpoint import BACKFILL_KEY, MAIN, PIPELINE_KEY, Checkpoint
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader, TableState
from freshet.migration.differences import size_of
from freshet.plan.checks import check_stages, located_by
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.parts import transform_stage, with_deletes
from freshet.plan.positions import checkpoints_of, maker_of
from freshet.plan.refresh import refuse_recompute
from freshet.plan.row_parts import enforce_schema_stage, merge_stages
from freshet.plan.schema import evolved
from freshet.plan.stages import Plan, Stage
from freshet.project.model.paths import same_place
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.sources.hudi.input import HudiInput
from freshet.sources.hudi.look.versions import version_now
from freshet.sources.hudi.position import in_hudi
from freshet.sources.hudi.reads import ReadSnapshot, Version, Window
from freshet.sources.hudi.source import HudiSource
from freshet.sources.registry import find_input, source_of
from freshet.verdict.result import Scope

_UNTOUCHED = "Nothing was read or written."
_REMEDY = "What an audit compares are whole rows that the pipeline alone writes; look at this one with: freshet preview {name}"


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What an audit does.

    Args:
        spec: The pipeline, with the target's columns as they stand.
        plan: What is recomputed, without a commit.
        target: The version of the target that it is compared with.
        base: Completion time of that version's last commit.
        commit: Completion time of the commit whose checkpoint is recomputed.
        position: The main source's position in it, as a completion time.
        tables: By the table's name in the SQL: the version that is read.
        states: Those tables as they were looked at.
        identity: Columns that tell the target's rows apart.
        compared: Columns that are compared.
        left_out: Columns that are not.
        sample: What is drawn.
        since: See ``AuditRequest``.
        deletes: True where the SQL expects the mark of deleted rows, of which a version has none.
    """

    spec: PipelineSpec
    plan: Plan
    target: Version
    base: str
    commit: str
    position: str
    tables: Mapping[str, Chosen]
    states: Mapping[str, TableState]
    identity: tuple[str, ...]
    compared: tuple[str, ...]
    left_out: tuple[str, ...]
    sample: Sample
    since: str
    deletes: bool

    @property
    def cleaned(self) -> tuple[str, ...]:
        """Return the tables, by their names in the SQL, of which the present version stands for one that is cleaned."""
        return tuple(name for name, chosen in self.tables.items() if chosen.cleaned)


def plan_audit(spec: PipelineSpec, state: StateReader, request: AuditRequest, scope: Scope, root: str) -> AuditPlan:
    """Plan an audit of a pipeline's target.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        request: What is wanted.
        scope: The pieces into which the result of its SQL falls.
        root: The project's folder.

    Raises:
        StateError: TARGET_MISSING, NO_CHECKPOINT, SOURCE_NOT_RECOMPUTABLE, TARGET_AHEAD, NO_SCOPE, VERSION_CLEANED,
            COMMIT_IN_THE_PAST, COLUMNS_NOT_OWNED, NOT_RECOMPUTABLE, READS_ITS_TARGET, or what the next run is refused for.
        RetryableError: SOURCE_COMMIT_PENDING.
    """
    state = OneLook(state)
    target = state.table(spec.target.ref)
    if target is None or not target.commits:
        raise StateError(
            "TARGET_MISSING",
            f"{spec.name}: there is no table at {spec.target.ref.path} yet.",
            _UNTOUCHED,
            f"Make it first: freshet run {spec.name}",
        )
    refuse_recompute(spec, _REMEDY.format(name=spec.name))
    if spec.source.changelog is not None:
        raise StateError(
            "NOT_RECOMPUTABLE",
            f"{spec.name}: its rows are made of all events that ever came, and an audit recomputes rows of a version.",
            _UNTOUCHED,
            f"Read all events again, where the source still has them: freshet run {spec.name} --full-refresh",
        )
    if spec.write.strategy == "partial_update":
        raise StateError(
            "NOT_RECOMPUTABLE",
            f"{spec.name}: its rows are made of parts that came one after the other, of which the source has the last alone.",
            _UNTOUCHED,
            f"Look at a single run with: freshet preview {spec.name}",
        )
    # What the next run is refused for, an audit of what the last one left cannot rely on either.
    coming = compile_plan(spec, state, RunRequest())
    spec = evolved(spec, target)
    commit, before = _checkpoint(spec, target)
    source = source_of(spec, state)
    main = before.main
    if not isinstance(source, HudiSource) or main is None:
        raise StateError(
            "SOURCE_NOT_RECOMPUTABLE",
            f"{spec.name}: a source of kind {spec.source.kind!r} shows no earlier version of itself.",
            _UNTOUCHED,
            f"Compare by a table that it is landed in; see {spec.file}.",
        )
    idle = coming.window.kind == "idle"
    position = in_hudi(spec.name, main)
    assert position is not None
    tables = {MAIN: as_of("main source", spec.name, source.table, position, idle)}
    states = {MAIN: source.table}
    for one in spec.inputs:
        found = find_input(spec, one, state)
        if isinstance(found, HudiInput) and not found.is_empty:
            states[one.name] = found.table
            tables[one.name] = _of_input(spec, one, found, before, tables[MAIN], idle)
    _refuse_ahead(spec, target, before, tables)
    deletes = with_deletes(spec, source)
    left = left_out(spec, root)
    identity = tuple(dict.fromkeys(located_by(spec)))
    return AuditPlan(
        spec=spec,
        plan=_recompute(spec, target, source.zone, before, tables),
        target=Version(version_now(target)),
        base=target.commits[-1].completed,
        commit=commit,
        position=tables[MAIN].upto,
        tables=tables,
        states=states,
        identity=identity,
        compared=tuple(c.name for c in spec.target.columns if c.name not in (*identity, *left)),
        left_out=left,
        sample=draw(spec, request, scope, size_of(target)[0] if request.keys else 0),
        since=request.since,
        deletes=deletes,
    )


def _checkpoint(spec: PipelineSpec, target: TableState) -> tuple[str, Checkpoint]:
    for instant, info, checkpoint in checkpoints_of(spec, target):
        if maker_of(spec, info) == spec.name:
            if checkpoint.main is not None:
                return instant.completed, checkpoint
            break
    raise StateError(
        "NO_CHECKPOINT",
        f"{spec.name}: no commit of {target.ref.path} says how far the source has been read, so that nobody can tell what its "
        "rows should be.",
        _UNTOUCHED,
        f"Let a run say it: freshet run {spec.name}",
    )


def _of_input(spec: PipelineSpec, one: InputSpec, found: HudiInput, before: Checkpoint, main: Chosen, idle: bool) -> Chosen:
    position = in_hudi(f"{spec.name}: input {one.name}", before.positions.get(one.name))
    if one.read != "incremental" or position is None or position.table != one.table.path:
        # Of the main source's own table the runs have read as much by one name as by the other.
        return main if same_place(one.table.path) == same_place(spec.source.table.path) else present(found.table)
    return as_of(f"input {one.name}", spec.name, found.table, position, idle)


def _refuse_ahead(spec: PipelineSpec, target: TableState, before: Checkpoint, tables: Mapping[str, Chosen]) -> None:
    """Refuse where the target holds rows of commits that its checkpoint does not name yet."""
    begun = min((chosen.waiting[0] for chosen in tables.values() if chosen.waiting), default="")
    chunks = [
        instant.completed
        for instant in target.commits
        if begun
        and instant.completed >= begun
        and BACKFILL_KEY in target.info(instant).extra
        and target.info(instant).extra.get(PIPELINE_KEY) == spec.name
    ]
    furthest = before.furthest(spec.source.place)
    set_back = furthest is not None and before.main is not None and furthest.is_beyond(before.main)
    if chunks or set_back:
        why = (
            f"{len(chunks)} chunks of a backfill have read commits that no run has read yet"
            if chunks
            else "its checkpoint was set back by hand, and its rows are of later commits"
        )
        raise StateError(
            "TARGET_AHEAD",
            f"{spec.name}: {target.ref.path} is ahead of its checkpoint: {why}.",
            _UNTOUCHED,
            f"Let the runs come up with it: freshet run {spec.name} --drain; then: freshet audit {spec.name}",
            commits=chunks,
        )


def _recompute(spec: PipelineSpec, target: TableState, zone: str, before: Checkpoint, tables: Mapping[str, Chosen]) -> Plan:
    main = tables[MAIN]
    window = Window(kind="whole_table", end_inclusive=main.upto, reason="audit: the whole source as of the checkpoint")
    stages: list[Stage] = [_read(MAIN, spec.source.table, main)]
    for one in spec.inputs:
        chosen = tables.get(one.name)
        # Before the first run there was no version that the checkpoint named: what a recompute reads then is nothing.
        stages.append(
            ReadSnapshot(view=one.name, table=one.table, empty=True)
            if chosen is None or one.as_of == "checkpoint"
            else _read(one.name, one.table, chosen)
        )
    stages += [transform_stage(step) for step in spec.transform]
    stages.append(enforce_schema_stage(spec))
    of_batch, _ = check_stages(spec, target, window, spec.operation)
    # What the others find keeps a batch from being published; of the rows that were published it says nothing.
    drops = tuple(
        replace(c, most_rows=None, most_share=None) for c in (of_batch.checks if of_batch else ()) if c.severity == "drop"
    )
    if of_batch is not None and drops:
        stages.append(replace(of_batch, checks=drops))
    stages += merge_stages(spec, None)[0]
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        window=window,
        checkpoint_before=before,
        stages=tuple(stages),
        source_zone=zone,
    )


def _read(view: str, table: TableRef, chosen: Chosen) -> ReadSnapshot:
    return ReadSnapshot(view=view, table=table, as_of=chosen.version.as_of, overtakers=chosen.version.overtakers)

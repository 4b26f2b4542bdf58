"""Plan the commit that publishes rows of the quarantine. Pure."""

from __future__ import annotations

from dataclasses import replace

from freshet.errors import StateError
from freshet.hudi.table import StateReader
from freshet.plan.checks import REPLAYED
from freshet.plan.logic import with_logic
from freshet.plan.migrated import refuse_unmigrated
from freshet.plan.parts import checked_stages, commit_stage, nothing_to_do
from freshet.plan.positions import checkpoint_of
from freshet.plan.row_parts import enforce_schema_stage, event_stages, merge_stages
from freshet.plan.row_stages import AdaptEvents
from freshet.plan.schema import evolved
from freshet.plan.stages import Plan
from freshet.plan.target import compare_target
from freshet.project.model.kafka import MESSAGE
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.identity import refuse_occupied
from freshet.quarantine.table import ID, hidden_runs, quarantine_of
from freshet.sources.hudi.reads import ReadQuarantine, Window


def compile_replay(spec: PipelineSpec, state: StateReader, where: str, repairs: tuple[tuple[str, str], ...]) -> Plan:
    """Compile the commit that publishes rows of the quarantine.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        where: SQL condition over the quarantine's columns; empty for all rows.
        repairs: Columns that are set, each to a SQL expression over the quarantine's row.

    Returns:
        A plan whose commit carries no checkpoint; without stages where no row was ever quarantined.

    Raises:
        StateError: EVENTS_NOT_REPLAYED, UNKNOWN_COLUMN, MIGRATION_NOT_DONE, QUARANTINE_LOST, QUARANTINE_OCCUPIED, or the target
            was made otherwise than declared.
    """
    _refuse_events(spec, repairs)
    target = state.table(spec.target.ref)
    refuse_unmigrated(spec, state, target)
    known = {c.name.lower() for c in spec.target.columns}
    unknown = [column for column, _ in repairs if column.lower() not in known]
    if unknown:
        raise StateError(
            "UNKNOWN_COLUMN",
            f"{spec.name}: {spec.target.file} has no column {', '.join(unknown)} to repair.",
            "Nothing was read or written.",
            f"Columns: {', '.join(c.name for c in spec.target.columns)}.",
        )
    before = checkpoint_of(spec, target) if target else None
    window = Window(kind="replay", reason=f"rows of {spec.quarantine.name}")
    quarantine = quarantine_of(spec, state, target) if target is not None else None
    refuse_occupied(spec, quarantine)
    if target is None or quarantine is None:
        return nothing_to_do(spec, before, f"no row was ever quarantined in {spec.quarantine.path}")
    spec = evolved(spec, target)
    changes = compare_target(spec, target)
    read = ReadQuarantine(
        table=spec.quarantine,
        columns=enforce_schema_stage(spec).columns if spec.source.changelog is None else MESSAGE,
        where=where,
        repairs=repairs,
        hidden_runs=hidden_runs(spec, state),
    )
    merge, guard = merge_stages(spec, target)
    # Its rows were made when they were quarantined, by whatever the logic was then.
    commit = with_logic(replace(commit_stage(spec, window, None), guard=guard), spec, target, computes=False)
    if spec.write.strategy == "rows" and commit.operation in ("insert", "insert_overwrite"):
        # Of rows that were published by a replay that was killed, an insert would make a second one.
        commit = replace(commit, operation="upsert")
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        source_kind=spec.source.kind,
        window=window,
        checkpoint_before=before,
        schema_changes=changes,
        stages=(read, *_events_again(spec), *checked_stages(spec, target, window, merge, commit)),
    )


def _events_again(spec: PipelineSpec) -> tuple[AdaptEvents, ...]:
    # By its id a message is taken out once it is published.
    return tuple(replace(stage, rule=stage.rule or REPLAYED.name, also=(ID,)) for stage in event_stages(spec))


def _refuse_events(spec: PipelineSpec, repairs: tuple[tuple[str, str], ...]) -> None:
    log = spec.source.changelog
    if log is None or not (log.is_typed or repairs):
        return
    why = "a message is read again as it came, and no column of it can be set"
    again = f"the rows of {spec.source.table.name} are there still, to be read again"
    raise StateError(
        "EVENTS_NOT_REPLAYED",
        f"{spec.name}: {again if log.is_typed else why}.",
        "Nothing was read or written.",
        f"Mend what they broke, and read them again, which does no harm: freshet checkpoint set {spec.name} with the position "
        f"before them; then take them away: freshet quarantine drop {spec.name}"
        if log.is_typed
        else f"Mend what the YAML says of them, and replay them as they are: freshet quarantine replay {spec.name}",
    )

"""The stages that every plan is made of: what the files alone say of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY, FINGERPRINT_KEY, INDEX_KEY, ORIGIN_KEY, PIPELINE_KEY, Checkpoint, encode
from freshet.hudi.options import IS_DELETED, columns_record, operation_of, writer_options
from freshet.hudi.table import TableState
from freshet.plan.checks import REPLAYED, check_stages, located_by
from freshet.plan.index_record import index_record
from freshet.plan.positions import kept
from freshet.plan.row_parts import enforce_schema_stage, merge_stages
from freshet.plan.row_stages import EnforceSchema, MergeColumns, MergeEvents
from freshet.plan.stages import Commit, Plan, RunPython, RunSql, Stage
from freshet.plan.validators import validator_options
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.steps import TransformSpec
from freshet.sources.hudi.reads import Window
from freshet.sources.protocol import Source


def with_deletes(spec: PipelineSpec, source: Source | None) -> bool:
    """Say whether the source's deletes are passed on.

    Raises:
        StateError: CDC_NOT_RECORDED or DELETES_NOT_DECLARED.
    """
    if spec.source.changelog is not None:
        # An event that deletes is a row like others; a row that is deleted from a table of events says nothing of the target's.
        return False
    wanted = spec.source.incremental_format
    recorded = source.passes_deletes if source else wanted == "cdc"
    if wanted == "cdc" and not recorded:
        raise StateError(
            "CDC_NOT_RECORDED",
            f"{spec.name}: {spec.source.table.path} keeps no change data.",
            "Nothing was read or written.",
            "Remove hoodie.datasource.query.incremental.format: cdc, or make the source with hoodie.table.cdc.enabled=true.",
        )
    passed_on = recorded and wanted != "latest_state"
    whole_rows = spec.operation in ("upsert", "bulk_insert") and spec.write.strategy == "rows"
    if passed_on and whole_rows and IS_DELETED not in {c.name for c in spec.target.columns}:
        raise StateError(
            "DELETES_NOT_DECLARED",
            f"{spec.name}: the source {spec.source.table.path} records deletes, and {spec.target.file} has no place for them.",
            "Nothing was read or written.",
            f"Add `{IS_DELETED} BOOLEAN` to the DDL and select it from <SRC>, so that the target deletes too; or ignore "
            "deletes by hoodie.datasource.query.incremental.format: latest_state.",
        )
    if passed_on and wanted == "auto" and spec.write.strategy != "rows" and IS_DELETED not in spec.write.columns:
        raise StateError(
            "DELETES_NOT_DECLARED",
            f"{spec.name}: the source {spec.source.table.path} records deletes, and the strategy {spec.write.strategy} is not "
            "told what they mean.",
            "Nothing was read or written.",
            f"Write hoodie.datasource.query.incremental.format: cdc and select {IS_DELETED} from <SRC>, so that a deleted "
            f"row's columns become null; or own {IS_DELETED} in write.columns, so that the whole row is deleted; or ignore "
            "deletes by latest_state.",
        )
    return passed_on


def nothing_to_do(spec: PipelineSpec, before: Checkpoint | None, reason: str) -> Plan:
    """Return a plan without stages.

    Args:
        spec: The pipeline.
        before: The checkpoint that the target carries.
        reason: Why there is nothing to do, in words.
    """
    return Plan(
        pipeline=spec.name,
        fingerprint=spec.fingerprint,
        target=spec.target.ref,
        source_kind=spec.source.kind,
        window=Window(kind="idle", reason=reason),
        checkpoint_before=before,
    )


def transform_stage(step: TransformSpec) -> Stage:
    """Return the stage that runs one file of the chain."""
    return RunSql(step.file, step.statements) if step.kind == "sql" else RunPython(step.file)


def publish_stages(
    spec: PipelineSpec,
    target: TableState | None,
    window: Window,
    after: Checkpoint | None,
    moves: bool = False,
) -> tuple[Stage, ...]:
    """Return the stages from the transformation's result to the commit.

    Args:
        spec: The pipeline.
        target: The target's state; None before its first run, or where nobody looked.
        window: What was read.
        after: The checkpoint that the commit carries.
        moves: True where the batch may hold rows that were deleted where they stood, and stand elsewhere now.
    """
    merge, guard = merge_stages(spec, target)
    commit = replace(commit_stage(spec, window, after, creates=target is None), guard=guard)
    stages = checked_stages(spec, target, window, merge, commit)
    return tuple(replace(s, alive_by=located_by(spec)) if moves and isinstance(s, EnforceSchema) else s for s in stages)


def checked_stages(
    spec: PipelineSpec,
    target: TableState | None,
    window: Window,
    merge: tuple[MergeColumns | MergeEvents, ...],
    commit: Commit,
    overwritten: Sequence[str] = (),
) -> tuple[Stage, ...]:
    """Return the stages from the transformation's result to a commit, with the pipeline's checks among them.

    Args:
        spec: The pipeline.
        target: The target's state.
        window: What was read.
        merge: What makes whole rows.
        commit: The commit.
        overwritten: Values of the partitions that it replaces; a row of any other is refused.
    """
    of_batch, of_table = check_stages(spec, target, window, commit.operation, overwritten)
    if of_table is not None:
        commit = replace(commit, validators=validator_options(of_table.checks))
    enforce_schema = replace(enforce_schema_stage(spec), only=tuple(overwritten))
    if window.kind == "replay":
        # What does not fit yet stays where it is; nothing of it is needed twice.
        enforce_schema = replace(enforce_schema, rule=enforce_schema.rule or REPLAYED.name, marks=True, keeps_original=False)
    return tuple(stage for stage in (enforce_schema, of_batch, *merge, of_table, commit) if stage is not None)


def commit_stage(
    spec: PipelineSpec,
    window: Window,
    after: Checkpoint | None,
    empty: bool = False,
    overwrite: Sequence[str] = (),
    creates: bool = False,
) -> Commit:
    """Return the stage that publishes.

    Args:
        spec: The pipeline.
        window: What was read.
        after: The checkpoint that the commit carries; None for none.
        empty: True where it carries no rows.
        overwrite: Values of the partitions that the batch replaces, whatever it holds; empty for the pipeline's own operation.
        creates: True where the commit makes the table.
    """
    metadata = {
        PIPELINE_KEY: spec.name,
        FINGERPRINT_KEY: spec.fingerprint,
        INDEX_KEY: index_record(spec),
        COLUMNS_KEY: columns_record(spec.target.columns),
        ORIGIN_KEY: window.kind,
        **(encode(kept(spec, after)) if after else {}),
    }
    whole_table = spec.write.strategy == "full_outer_join" and not empty
    return Commit(
        table=spec.target.ref,
        operation=operation_of(spec, overwrite, whole_table),
        options=writer_options(spec, overwrite, whole_table, creates),
        checkpoint=after,
        metadata=dict(sorted(metadata.items())),
        empty=empty,
    )

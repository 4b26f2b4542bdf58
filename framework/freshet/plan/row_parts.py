"""The stages that make rows of the target: what an event is, what a row has to be, and what makes it whole. Pure."""

from __future__ import annotations

from freshet.changelog.fields import EVENT, event_type
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.plan.row_stages import AdaptEvents, EnforceSchema, MergeColumns, MergeEvents, Paths
from freshet.plan.stages import Precondition
from freshet.project.model.checks import MalformedRule
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import Array, Atomic, Column


def event_stages(spec: PipelineSpec) -> tuple[AdaptEvents, ...]:
    """Return the stage that makes events of what was read; nothing where the source is no changelog."""
    if spec.source.changelog is None:
        return ()
    malformed = next((one for one in spec.checks if isinstance(one.rule, MalformedRule)), None)
    drops = malformed is not None and malformed.severity == "drop"
    return (
        AdaptEvents(
            changelog=spec.source.changelog,
            rule=malformed.name if malformed is not None and drops else "",
            window_seconds=spec.event_times.window_seconds if spec.event_times is not None else 0,
        ),
    )


def enforce_schema_stage(spec: PipelineSpec) -> EnforceSchema:
    """Return what the batch of this pipeline must look like: keys, partition, ordering field, and what it writes."""
    target = spec.target
    located = (*target.record_key, *target.partition_by, target.ordering_field)
    columns: tuple[Column, ...] = target.columns
    if spec.operation == "delete":
        # Hudi finds the rows to delete by key and partition; the rest of the batch is never read.
        columns = tuple(c for c in columns if c.name in located)
    carried: tuple[Column, ...] = ()
    if spec.write.strategy != "rows":
        columns = tuple(c for c in columns if c.name in (*located, *spec.write.columns))
        if spec.write.changed_columns:
            carried = (Column(name=spec.write.changed_columns, type=Array(Atomic("string"))),)
        if spec.source.incremental_format == "cdc" and IS_DELETED not in spec.write.columns:
            carried = (*carried, Column(name=IS_DELETED, type=Atomic("boolean")))
    keys = target.record_key
    # The copy of a migration has rows of the table, whatever its source is.
    if spec.write.strategy != "rows" and spec.source.changelog is not None:
        layout = spec.source.changelog.layout
        columns, carried = layout.columns, (Column(name=EVENT, type=event_type()),)
        keys = located = layout.key
    partial = spec.write.strategy == "partial_update"
    required = tuple(c.name for c in columns if c.name in located or not (c.nullable or partial))
    ignored = tuple(c.name for c in target.columns if c not in columns and spec.operation == "delete")
    malformed = next((check for check in spec.checks if isinstance(check.rule, MalformedRule)), None)
    return EnforceSchema(
        columns=(*columns, *carried),
        required=required,
        keys=keys,
        ignored=ignored,
        rule=malformed.name if malformed else "",
        marks=malformed is not None and malformed.severity == "drop",
        keeps_original=any(check.severity == "drop" for check in spec.checks),
        evolution=spec.evolution,
        optional=_optional(spec),
        paths=_paths(spec),
    )


def _paths(spec: PipelineSpec) -> Paths:
    def is_set(key: str) -> bool:
        return spec.write_options.get(f"hoodie.datasource.write.{key}", "").lower() == "true"

    return Paths(spec.target.partition_by, is_set("hive_style_partitioning"), is_set("partitionpath.urlencode"))


def _optional(spec: PipelineSpec) -> tuple[str, ...]:
    target = spec.target
    return () if spec.evolution == "nothing" else tuple(c.name for c in target.columns if c.name not in target.column_lines)


def merge_stages(
    spec: PipelineSpec, target: TableState | None
) -> tuple[tuple[MergeColumns | MergeEvents, ...], Precondition | None]:
    """Return the stage that makes whole rows and what guards it; nothing where the batch's rows are whole."""
    if spec.write.strategy == "rows":
        return (), None
    # Whole rows are joined with the target as it stands, so that nothing may come between.
    guard = Precondition(target.commits[-1].completed if target is not None and target.commits else "", (), False)
    return (_merge_stage(spec, target is not None),), guard


def _merge_stage(spec: PipelineSpec, target_exists: bool) -> MergeColumns | MergeEvents:
    write, table = spec.write, spec.target
    if spec.source.changelog is not None:
        return MergeEvents(
            table=table.ref,
            columns=table.columns,
            changelog=spec.source.changelog,
            partition_by=table.partition_by,
            target_exists=target_exists,
        )
    return MergeColumns(
        table=table.ref,
        columns=table.columns,
        owned=write.columns,
        record_key=table.record_key,
        partition_by=table.partition_by,
        ordering=write.ordering or table.ordering_field,
        table_ordering=table.ordering_field,
        global_index=spec.index.is_global,
        insert_missing=write.insert_missing,
        keep_others=write.strategy == "full_outer_join",
        null_is_unchanged=write.strategy == "partial_update" and not write.changed_columns,
        changed_columns=write.changed_columns,
        target_exists=target_exists,
    )

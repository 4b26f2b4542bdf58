"""Merge the events of a batch into what the target keeps of them: its rows, their versions, or the events themselves."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from typing_extensions import assert_never

from freshet.changelog.counts import Merged
from freshet.changelog.frames import counted_merge
from freshet.changelog.history import counted_events, counted_history
from freshet.changelog.merge_sql import CHANGED, EVENTS, PUBLISHED
from freshet.changelog.sql import name, struct
from freshet.plan.row_stages import MergeEvents
from freshet.quality.kept import by_few_tasks, keep_rows
from freshet.sinks.commit import empty_batch
from freshet.sinks.merge import in_partitions_of
from freshet.sources.hudi.read.reader import load_table
from freshet.types.columns import DataType, Struct
from freshet.types.from_json import type_from_spark


def merge_batch(spark: SparkSession, stage: MergeEvents, events: DataFrame) -> tuple[DataFrame, Merged]:
    """Merge events by their reference keys.

    The merged rows are kept and counted before they are written, as what became of each event goes into the same commit.

    Args:
        spark: The session.
        stage: The target, and how it is merged into.
        events: The table's own columns and ``_event``, read of what is kept.

    Returns:
        Whole rows of the target that differ from what stands, and the numbers.
    """
    merged = keep_rows(_merged(spark, stage, events))
    totals = merged.agg(
        F.coalesce(F.sum(EVENTS), F.lit(0)).alias("events"),
        F.coalesce(F.sum(PUBLISHED), F.lit(0)).alias("published"),
        F.count_if(CHANGED).alias("rows"),
    ).collect()[0]
    changed = by_few_tasks(merged).where(CHANGED).select(*(F.col(f"`{c.name}`") for c in stage.columns))
    return changed, Merged(int(totals["events"]), int(totals["published"]), int(totals["rows"]))


def _merged(spark: SparkSession, stage: MergeEvents, events: DataFrame) -> DataFrame:
    layout = stage.changelog.layout
    match layout.keeps:
        case "newest":
            return counted_merge(layout, events, _stands(spark, stage, events))
        case "history":
            return counted_history(layout, events, _stands(spark, stage, events))
        case "events":
            return counted_events(layout, events)
        case _:
            assert_never(layout.keeps)


def _stands(spark: SparkSession, stage: MergeEvents, events: DataFrame) -> DataFrame:
    if not stage.target_exists:
        return empty_batch(spark, stage.columns)
    stands = load_table(spark, stage.table.path)
    if stage.partition_by:
        stands = stands.where(in_partitions_of(events, stage.partition_by))
    return _as_declared(stands, stage)


def _as_declared(stands: DataFrame, stage: MergeEvents) -> DataFrame:
    """Return the table with the columns that it has after the commit: the DDL may have got one, which its state has, too."""
    found = {f.name.lower(): (f.name, type_from_spark(f.dataType.jsonValue())) for f in stands.schema.fields}
    columns = []
    for column in stage.columns:
        there = found.get(column.name.lower())
        value = _fitted(name(there[0]), there[1], column.type) if there else f"CAST(NULL AS {column.type})"
        columns.append(F.expr(value).alias(column.name))
    return stands.select(*columns)


def _fitted(value: str, found: DataType, wanted: DataType) -> str:
    # Of a SMALLINT a table gives an INT, and structs of the two do not compare.
    if found == wanted:
        return value
    if not (isinstance(found, Struct) and isinstance(wanted, Struct)):
        return f"CAST({value} AS {wanted})"
    there = dict(found.fields)
    parts = [
        (field, _fitted(f"{value}.{name(field)}", there[field], kind) if field in there else f"CAST(NULL AS {kind})")
        for field, kind in wanted.fields
    ]
    return f"CASE WHEN {value} IS NOT NULL THEN {struct(parts)} END"

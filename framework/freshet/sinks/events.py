"""Merge the events of a batch into the rows of the target that they change."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.changelog.counts import Merged
from freshet.changelog.frames import counted_merge
from freshet.changelog.merge_sql import EVENTS, PUBLISHED
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
    if stage.target_exists:
        stands = load_table(spark, stage.table.path)
        if stage.partition_by:
            stands = stands.where(in_partitions_of(events, stage.partition_by))
        stands = _as_declared(stands, stage)
    else:
        stands = empty_batch(spark, stage.columns)
    merged = keep_rows(counted_merge(stage.changelog.layout, events, stands))
    totals = merged.agg(
        F.coalesce(F.sum(EVENTS), F.lit(0)).alias("events"),
        F.coalesce(F.sum(PUBLISHED), F.lit(0)).alias("published"),
        F.count_if(F.col(PUBLISHED) > 0).alias("rows"),
    ).collect()[0]
    changed = by_few_tasks(merged).where(F.col(PUBLISHED) > 0).select(*(F.col(f"`{c.name}`") for c in stage.columns))
    return changed, Merged(int(totals["events"]), int(totals["published"]), int(totals["rows"]))


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

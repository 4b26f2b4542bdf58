"""What a commit would do to each row of the target: tell its batch from the table as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Literal

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from freshet.hudi.options import IS_DELETED
from freshet.plan.checks import CheckTable
from freshet.quality.preview import before, touched_partitions

#: ``unchanged`` is written again as it stands, ``older`` loses against the row that stands, ``nothing`` deletes a row that is
#: not there, ``unsure`` is of a row that stands without its ordering value.
Kind = Literal["inserted", "updated", "moved", "deleted", "unchanged", "older", "nothing", "unsure"]
KIND, CHANGED, WAS, ROWS, TIED = (f"__freshet_{name}" for name in ("kind", "changed", "was", "rows", "tied"))
_NESTED = (ArrayType, MapType, StructType)
_IN_BATCH, _IN_TABLE, _GONE, _PLACE, _RANK, _TEXT = (
    f"__freshet_{name}" for name in ("in_batch", "in_table", "gone", "place", "rank", "text")
)


def changes_of(stage: CheckTable, rows: DataFrame, stands: DataFrame) -> DataFrame:
    """Return a row for each row of the target that a commit touches, and for each of the batch that it ignores.

    Args:
        stage: The target and how the commit writes it.
        rows: The rows that the commit writes.
        stands: The table as it stands; without rows before the first commit.

    Returns:
        The columns of the row, as it would stand, or as it stood where it goes; ``KIND``; ``CHANGED``: names of the columns
        that differ; ``WAS``: the row as it stands; ``ROWS``: how many rows of the batch it is of; ``TIED``: whether several of
        these, which differ, are equally new, so that Hudi alone knows which one it takes.
    """
    overwrites = stage.operation == "insert_overwrite"
    partitions = None
    if stage.partition_by and (overwrites or not stage.global_index):
        # What is replaced stands in the partition that it is replaced in, whatever the index.
        partitions = touched_partitions(replace(stage, global_index=False), rows, stands)
    held = before(stage, stands, partitions)
    by = [*stage.record_key, *(() if stage.global_index and not overwrites else stage.partition_by)]
    table = [name for name in held.columns if name != IS_DELETED]
    names = [*table, *(name for name in rows.columns if name not in (*table, IS_DELETED))]
    batch = _one_for_each_key(stage, rows, by).withColumn(_IN_BATCH, F.lit(True)).alias("b")
    theirs = held.withColumn(_IN_TABLE, F.lit(True)).alias("t")
    same = reduce(lambda one, other: one & other, (F.col(f"b.`{name}`") == F.col(f"t.`{name}`") for name in by))
    joined = batch.join(theirs, same, "full_outer" if overwrites else "left")
    there, gone = F.col(f"t.{_IN_TABLE}").isNotNull(), F.col(f"b.{_GONE}")
    kind = _kind(stage, there, gone)
    carried = [name for name in names if name in rows.columns]
    differ = [name for name in carried if name in table and name not in by]
    # A delete by key carries no more than the key.
    changed = F.array_compact(
        F.array(
            F.lit(None).cast("string"), *(F.when(~_equal(name, rows.schema[name].dataType), F.lit(name)) for name in differ)
        )
    )
    found = joined.select(
        *(_shown(name, rows, held, kind == "deleted").alias(name) for name in names),
        kind.alias(KIND),
        changed.alias(CHANGED),
        F.struct(*(F.col(f"t.`{name}`") for name in table)).alias(WAS),
        F.coalesce(F.col(f"b.{ROWS}"), F.lit(0)).alias(ROWS),
        F.coalesce(F.col(f"b.{TIED}"), F.lit(False)).alias(TIED),
    )
    moves = F.lit(False)
    for name in stage.partition_by:
        moves = moves | F.array_contains(CHANGED, name)
    return found.withColumn(
        KIND,
        F.when((F.col(KIND) == "updated") & (F.size(CHANGED) == 0), "unchanged")
        .when((F.col(KIND) == "updated") & moves, "moved")
        .otherwise(F.col(KIND)),
    )


def _kind(stage: CheckTable, there: Column, gone: Column) -> Column:
    wins = F.lit(True)
    if stage.ordering and stage.operation == "upsert":
        wins = F.col(f"b.`{stage.ordering}`") >= F.col(f"t.`{stage.ordering}`")
    new = F.when(gone, "nothing").otherwise("inserted")
    if stage.operation == "insert":
        # An insert looks nothing up; of a key that stands already the check of its keys knows.
        return new
    if stage.operation == "delete":
        return F.when(there, "deleted").otherwise("nothing")
    return (
        F.when(F.col(f"b.{_IN_BATCH}").isNull(), "deleted")
        .when(~there, new)
        .when(wins.isNull(), "unsure")
        .when(~wins, "older")
        .when(gone, "deleted")
        .otherwise("updated")
    )


def _one_for_each_key(stage: CheckTable, rows: DataFrame, by: Sequence[str]) -> DataFrame:
    """Return of the rows of one key the one that Hudi takes, the newest; an insert takes all."""
    rows = rows.withColumn(_GONE, F.coalesce(F.col(IS_DELETED), F.lit(False)) if IS_DELETED in rows.columns else F.lit(False))
    if stage.operation == "insert":
        return rows.withColumns({ROWS: F.lit(1), TIED: F.lit(False)})
    key = Window.partitionBy(*(F.col(f"`{name}`") for name in by))
    order = key.orderBy(F.col(f"`{stage.ordering}`").desc() if stage.ordering else F.lit(1))
    text = F.to_json(F.struct(*(F.col(f"`{name}`") for name in rows.columns)))
    many = F.count(F.lit(1)).over(key)
    rows = rows.withColumns({_PLACE: F.row_number().over(order), _RANK: F.rank().over(order), ROWS: many})
    # Of nearly all keys there is one row, of which no text is made.
    rows = rows.withColumn(_TEXT, F.when((F.col(ROWS) > 1) & (F.col(_RANK) == 1), text))
    tied = F.coalesce(F.min(_TEXT).over(key) != F.max(_TEXT).over(key), F.lit(False))
    rows = rows.withColumn(TIED, tied if stage.operation != "delete" else F.lit(False))
    return rows.where(F.col(_PLACE) == 1).drop(_PLACE, _RANK, _TEXT)


def _shown(name: str, rows: DataFrame, held: DataFrame, as_it_stood: Column) -> Column:
    if name not in rows.columns:
        return F.col(f"t.`{name}`")
    ours, kind = F.col(f"b.`{name}`"), rows.schema[name].dataType
    if name not in held.columns:
        return ours
    theirs = F.col(f"t.`{name}`")
    if isinstance(kind, _NESTED) and held.schema[name].dataType != kind:
        # A struct has gained a field, by which Spark does not take the two for one type.
        theirs = F.from_json(F.to_json(theirs), kind.simpleString())
    return F.when(as_it_stood, theirs).otherwise(ours)


def _equal(name: str, kind: DataType) -> Column:
    ours, theirs = F.col(f"b.`{name}`"), F.col(f"t.`{name}`")
    if isinstance(kind, _NESTED):
        # A map is not comparable, and a struct may have gained a field.
        ours, theirs = F.to_json(F.struct(ours.alias("v"))), F.to_json(F.struct(theirs.alias("v")))
    return ours.eqNullSafe(theirs)

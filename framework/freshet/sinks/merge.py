"""Make whole rows of a batch that carries only some columns: the others come from the target as it stands.

Hudi's own ways were tried and lose rows on 1.0.2: MERGE INTO writes unreadable or foreign values into MERGE_ON_READ
tables, and PartialUpdateAvroPayload gives increments half rows until a compaction. Whole rows by an ordinary upsert are
right on every table type, and one writer at a time (the target's lease, and the plan's guard) keeps what is joined true.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.plan.row_stages import MergeColumns
from freshet.quality.kept import by_few_tasks, keep_rows
from freshet.sources.hudi.read.reader import load_table

_BATCH, _TARGET = "b", "t"
_PRESENT, _ORDER, _GONE = "__freshet_in_batch", "__freshet_order", "__freshet_gone"
_CARRIED = "__freshet_carried_"


def merge_columns(spark: SparkSession, stage: MergeColumns, batch: DataFrame, is_kept: bool) -> DataFrame:
    """Join the batch with the rows that it changes.

    Args:
        spark: The session.
        stage: The target, and which columns the batch owns.
        batch: Key, partition and ordering columns, and the owned ones. True in ``_hoodie_is_deleted`` says that the source's
            row is gone, however new the target's is: where the column is owned, the target's row goes too, otherwise the
            owned columns become null.
        is_kept: Whether the batch's rows are kept already.

    Returns:
        Whole rows of the target: those that the batch changes or adds, or for a full outer join all of them.
    """
    if stage.target_exists:
        stands = load_table(spark, stage.table.path)
        if stage.partition_by and not stage.global_index:
            # Read twice: for its partitions now, for its rows in the join. What is kept must not end with the fold: its 200
            # tasks, and those of all that follows, took 4 to 5 of 23 s (48,000 rows into 4 million, two cores).
            kept = batch if is_kept else keep_rows(batch)
            stands = stands.where(in_partitions_of(kept, stage.partition_by))
            batch = batch if is_kept else by_few_tasks(kept)
    else:
        stands = spark.range(0).select(*(F.lit(None).cast(str(c.type)).alias(c.name) for c in stage.columns))
    folded = _one_row_per_key(stage, batch).withColumn(_PRESENT, F.lit(True))
    by = [*stage.record_key, *(() if stage.global_index else stage.partition_by)]
    found = reduce(lambda one, other: one & other, (_b(name) == _t(name) for name in by))
    how = "full_outer" if stage.keep_others else "left" if stage.insert_missing else "inner"
    joined = folded.alias(_BATCH).join(stands.alias(_TARGET), found, how)
    # Nothing is inserted for a row that is gone.
    joined = joined.where(~(F.coalesce(_b(_GONE), F.lit(False)) & _t(stage.record_key[0]).isNull()))
    rows = joined.select(*(_value(stage, c.name).alias(c.name) for c in stage.columns))
    if stage.keep_others and IS_DELETED in rows.columns:
        # The table is overwritten by the rows that stay, so that a deleted one is simply not among them.
        rows = rows.where(~F.coalesce(F.col(IS_DELETED), F.lit(False)))
    return rows


def _one_row_per_key(stage: MergeColumns, batch: DataFrame) -> DataFrame:
    """Fold the batch to a row per key, each owned column as the newest row that carries it has it."""
    gone = F.coalesce(F.col(IS_DELETED), F.lit(False)) if IS_DELETED in batch.columns else F.lit(False)
    order = F.col(f"`{stage.ordering}`")
    # Of two that are equally new, the row that is there wins over the one that is gone.
    rank = F.struct(order, ~gone)
    located = [*stage.record_key, *stage.partition_by]
    folded = [F.max(order).alias(_ORDER), F.max_by(gone, rank).alias(_GONE)]
    if stage.table_ordering not in stage.owned:
        folded.append(F.max(f"`{stage.table_ordering}`").alias(stage.table_ordering))
    for name in stage.owned:
        carried = gone | _carried_by(stage, name)
        value = F.col(f"`{name}`") if IS_DELETED in stage.owned else F.when(~gone, F.col(f"`{name}`"))
        # A struct keeps a null that is a value apart from a row that does not carry the column.
        newest = F.max_by(F.when(carried, F.struct(value.alias("v"))), F.when(carried, rank))
        folded += [newest["v"].alias(name), newest.isNotNull().alias(_CARRIED + name)]
    return batch.groupBy(*(F.col(f"`{name}`") for name in located)).agg(*folded)


def _carried_by(stage: MergeColumns, name: str) -> Column:
    if stage.changed_columns:
        return F.coalesce(F.array_contains(f"`{stage.changed_columns}`", name), F.lit(False))
    return F.col(f"`{name}`").isNotNull() if stage.null_is_unchanged else F.lit(True)


def in_partitions_of(batch: DataFrame, partition_by: Sequence[str]) -> Column:
    """Return the condition that a row lies in a partition of which the batch has rows.

    Args:
        batch: Rows that are kept: they are read for it.
        partition_by: The partition columns.
    """
    values = [tuple(row) for row in batch.select(*(F.col(f"`{p}`").cast("string") for p in partition_by)).distinct().collect()]
    found = F.lit(True)
    for position, name in enumerate(partition_by):
        found = found & F.col(f"`{name}`").cast("string").isin(sorted({value[position] for value in values}))
    return found


def _value(stage: MergeColumns, name: str) -> Column:
    ours, theirs = _b(name), _t(name)
    if name in (*stage.record_key, *stage.partition_by):
        return F.coalesce(ours, theirs)
    newer = _b(_GONE) | _t(stage.ordering).isNull() | (_b(_ORDER) >= _t(stage.ordering))
    if name in stage.owned:
        set_here = F.col(f"{_BATCH}.{_PRESENT}").isNotNull() & F.col(f"{_BATCH}.`{_CARRIED}{name}`") & newer
        value = F.when(set_here, ours).otherwise(theirs)
    elif name == stage.table_ordering:
        value = theirs
    else:
        return theirs
    # The row as a whole is as new as the newest of its parts; its ordering never goes back, or Hudi would drop it.
    return F.greatest(ours, theirs) if name == stage.table_ordering else value


def _b(name: str) -> Column:
    return F.col(f"{_BATCH}.`{name}`")


def _t(name: str) -> Column:
    return F.col(f"{_TARGET}.`{name}`")

"""The table as it would stand after a commit: what Hudi's validators see, for the paths on which they see nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED, REPLACES_ALL
from freshet.plan.checks import CheckTable

_IN_BATCH, _IN_TABLE, _NEWEST = "__freshet_in_batch", "__freshet_in_table", "__freshet_newest"
Partitions = Sequence[tuple[str, ...]]


def touched_partitions(stage: CheckTable, rows: DataFrame, stands: DataFrame) -> list[tuple[str, ...]]:
    """Return the values of the partitions that the commit writes.

    Args:
        stage: The table and how the commit writes it.
        rows: The rows that the commit writes.
        stands: The table as it stands.
    """
    names = [F.col(f"`{name}`").cast("string") for name in stage.partition_by]
    found = rows.select(*names).distinct()
    if stage.global_index and stage.exists:
        # A key that moves is deleted where it was.
        held = stands.join(rows.select(*_named(stage.record_key)).distinct(), list(stage.record_key), "left_semi")
        found = found.union(held.select(*names)).distinct()
    values = {tuple(str(value) for value in row) for row in found.collect()}
    return sorted(values | {(value,) for value in stage.overwritten})


def before(stage: CheckTable, stands: DataFrame, partitions: Partitions | None) -> DataFrame:
    """Return the table as it stands: all of it, or some partitions."""
    there = {name.lower() for name in stands.columns}
    # A column that the DDL has gained is null in the rows that stand.
    found = stands.select(
        *(
            (F.col(f"`{c.name}`") if c.name.lower() in there else F.lit(None).cast(str(c.type))).alias(c.name)
            for c in stage.columns
        )
    )
    return found if partitions is None else found.where(_among(stage, partitions))


def after(stage: CheckTable, rows: DataFrame, stands: DataFrame, partitions: Partitions | None) -> DataFrame:
    """Return the table as it would stand: all of it, or some partitions.

    Args:
        stage: The table and how the commit writes it.
        rows: The rows that the commit writes.
        stands: The table as it stands.
        partitions: Values of the partitions; None for all.
    """
    names = tuple(c.name for c in stage.columns)
    # A row of a global index may come from a partition that is looked at to one that is not, and the other way round.
    held = before(stage, stands, None if stage.global_index else partitions)
    if stage.operation == "delete":
        return held.join(rows.select(*_named(stage.record_key)).distinct(), list(stage.record_key), "left_anti")
    batch = rows.select(*_named(names))
    if stage.operation == "insert":
        return _live(held.unionByName(batch), names)
    batch = _newest(stage, batch, names)
    if stage.operation == REPLACES_ALL:
        return _live(batch, names)
    if stage.operation == "insert_overwrite":
        kept = held.where(F.lit(False)) if partitions is not None or not stage.partition_by else _untouched(stage, rows, held)
        return _live(kept.unionByName(batch), names)
    merged = _live(_merged(stage, batch, held, names), names)
    return merged if partitions is None else merged.where(_among(stage, partitions))


def _newest(stage: CheckTable, batch: DataFrame, names: Sequence[str]) -> DataFrame:
    """Keep of a key's rows in the batch the newest, as Hudi combines them."""
    by = [*stage.record_key, *(() if stage.global_index else stage.partition_by)]
    others = [name for name in names if name not in by]
    if not stage.ordering or not others:
        return batch.dropDuplicates(by)
    newest = F.max_by(F.struct(*_named(others)), F.col(f"`{stage.ordering}`")).alias(_NEWEST)
    found = batch.groupBy(*_named(by)).agg(newest)
    return found.select(*(F.col(f"`{name}`") if name in by else F.col(f"{_NEWEST}.`{name}`").alias(name) for name in names))


def _merged(stage: CheckTable, batch: DataFrame, held: DataFrame, names: Sequence[str]) -> DataFrame:
    by = [*stage.record_key, *(() if stage.global_index else stage.partition_by)]
    ours = batch.withColumn(_IN_BATCH, F.lit(True)).alias("b")
    theirs = held.withColumn(_IN_TABLE, F.lit(True)).alias("t")
    same = reduce(lambda one, other: one & other, (F.col(f"b.`{name}`") == F.col(f"t.`{name}`") for name in by))
    wins = F.lit(True)
    if stage.ordering:
        wins = F.col(f"t.{_IN_TABLE}").isNull() | (F.col(f"b.`{stage.ordering}`") >= F.col(f"t.`{stage.ordering}`"))
    taken = F.col(f"b.{_IN_BATCH}").isNotNull() & wins
    joined = ours.join(theirs, same, "full_outer")
    return joined.select(*(F.when(taken, F.col(f"b.`{name}`")).otherwise(F.col(f"t.`{name}`")).alias(name) for name in names))


def _untouched(stage: CheckTable, rows: DataFrame, held: DataFrame) -> DataFrame:
    overwritten = rows.select(*_named(stage.partition_by)).distinct()
    kept = held.join(overwritten, list(stage.partition_by), "left_anti").select(*held.columns)
    return kept.where(~_among(stage, [(value,) for value in stage.overwritten])) if stage.overwritten else kept


def _live(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    return rows.where(~F.coalesce(F.col(IS_DELETED), F.lit(False))) if IS_DELETED in names else rows


def _among(stage: CheckTable, partitions: Partitions) -> Column:
    columns = [F.col(f"`{name}`").cast("string") for name in stage.partition_by]
    # The first of these prunes by itself; the second keeps apart what several partition columns name together.
    each = reduce(
        lambda one, other: one & other,
        (column.isin(sorted({values[number] for values in partitions})) for number, column in enumerate(columns)),
    )
    if len(columns) == 1:
        return each
    return each & F.concat_ws("\x1f", *columns).isin(sorted("\x1f".join(values) for values in partitions))


def _named(names: Sequence[str]) -> list[Column]:
    return [F.col(f"`{name}`") for name in names]

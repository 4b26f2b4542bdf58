"""Tell what a batch changes about a table, so that nothing else is written: a row that stands already is no news for a reader.

One join with the table as it stands. Of several rows with one key the newest counts, wherever the partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import Array, DataType, Map, Struct

#: What becomes of a key, and what is wrong with it.
KIND = "__freshet_kind"
WRITTEN = ("inserted", "updated", "replaced", "deleted", "missing")
WRONG = ("no_key", "no_ordering", "no_partition", "tied")
_READ, _UNORDERED, _MOVED, _PRESENT = (f"__freshet_{name}" for name in ("read", "unordered", "moved", "present"))
_RANK, _NUMBER, _TIED, _CONTENT = (f"__freshet_{name}" for name in ("rank", "number", "tied", "content"))
_BATCH, _TABLE = "b", "t"
_EXACT = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


@dataclass(frozen=True)
class Found:
    """What becomes of the keys of one kind.

    Args:
        keys: How many there are.
        rows: Rows of the batch with such a key.
        unordered: Those of them without an ordering value.
        moved: Keys whose row goes to another partition.
        example: One of the keys, in words.
        file: The file that it is from, as a URL.
    """

    keys: int
    rows: int
    unordered: int
    moved: int
    example: str
    file: str


def compare(
    batch: DataFrame,
    stands: DataFrame | None,
    spec: PipelineSpec,
    file: str,
    generated: bool,
    whole: bool,
) -> DataFrame:
    """Join a batch with the table, and say of each key what becomes of it.

    Args:
        batch: Rows with the table's columns, and which file each is from.
        stands: The table's rows; None where there is no table.
        spec: The table.
        file: The column that says which file a row is from.
        generated: True where the ordering value is made here and says nothing about what is newer.
        whole: True where the batch is all that the table shall hold.

    Returns:
        A row for each key, for ``counts`` and ``written``.
    """
    target = spec.target
    order = F.col(f"`{target.ordering_field}`")
    gone = F.coalesce(F.col(IS_DELETED), F.lit(False))
    compared = [c.name for c in target.columns if c.name != IS_DELETED and not (generated and c.name == target.ordering_field)]
    kinds = {c.name: c.type for c in target.columns}
    content = F.struct(gone, F.when(~gone, F.struct(*(_comparable(F.col(f"`{n}`"), kinds[n]).alias(n) for n in compared))))
    one = Window.partitionBy(*(F.col(f"`{name}`") for name in target.record_key))
    rows = batch.select(
        "*",
        content.alias(_CONTENT),
        F.rank().over(one.orderBy(order.desc_nulls_last())).alias(_RANK),
        F.count(F.lit(1)).over(one).alias(_READ),
        F.count(F.when(order.isNull(), 1)).over(one).alias(_UNORDERED),
    ).where(F.col(_RANK) == 1)
    rows = (
        rows.select(
            "*",
            F.row_number().over(one.orderBy(_CONTENT, file)).alias(_NUMBER),
            (F.min(_CONTENT).over(one) != F.max(_CONTENT).over(one)).alias(_TIED),
        )
        .where(F.col(_NUMBER) == 1)
        .drop(_CONTENT, _RANK, _NUMBER)
        .withColumn(_PRESENT, F.lit(True))
    )
    if stands is None:
        stands, whole = batch.where(F.lit(False)), False
    names = [c.name for c in target.columns]
    there = stands.select(*(F.col(f"`{name}`") for name in names))
    same_key = reduce(lambda a, b: a & b, (_b(name) == _t(name) for name in target.record_key))
    joined = rows.alias(_BATCH).join(there.alias(_TABLE), same_key, "full_outer" if whole else "left")
    moved = reduce(lambda a, b: a | b, (~_b(p).eqNullSafe(_t(p)) for p in target.partition_by), F.lit(False))
    return joined.select(
        *(_b(name).alias(f"{_BATCH}_{name}") for name in names),
        *(_t(name).alias(f"{_TABLE}_{name}") for name in names),
        _b(file).alias(file),
        F.col(_READ),
        F.col(_UNORDERED),
        _kind(spec, compared, generated).alias(KIND),
        (_t(target.record_key[0]).isNotNull() & moved).alias(_MOVED),
    )


def counts(compared: DataFrame, spec: PipelineSpec, file: str) -> dict[str, Found]:
    """Return how many keys there are of each kind, each with an example."""
    key = F.concat_ws(
        ", ",
        *(
            F.concat(F.lit(f"{name}="), F.coalesce(F.col(f"`{_BATCH}_{name}`").cast("string"), F.lit("null")))
            for name in spec.target.record_key
        ),
    )
    example = F.min(F.struct(F.substring(key, 1, 200), F.col(file)))
    found = (
        compared.groupBy(KIND)
        .agg(
            F.count(F.lit(1)),
            F.coalesce(F.sum(_READ), F.lit(0)),
            F.coalesce(F.sum(_UNORDERED), F.lit(0)),
            F.count(F.when(F.col(_MOVED), 1)),
            example,
        )
        .collect()
    )
    return {
        str(kind): Found(keys, rows, unordered, moved, one[0] or "", one[1] or "")
        for kind, keys, rows, unordered, moved, one in found
    }


def absent_of(compared: DataFrame, stands: DataFrame, spec: PipelineSpec) -> int:
    """Return of how many keys that were to be inserted the table as it stands now holds no row."""
    keys = spec.target.record_key
    new = compared.where(F.col(KIND) == "inserted").select(*(F.col(f"`{_BATCH}_{name}`").alias(name) for name in keys))
    return new.join(stands.select(*(F.col(f"`{name}`") for name in keys)), list(keys), "left_anti").count()


def written(compared: DataFrame, spec: PipelineSpec, generated: bool) -> DataFrame:
    """Return the rows to upsert: the new and the changed ones, and with ``_hoodie_is_deleted`` those that go.

    A deleted row is named as it stands, and so is one that moves where nothing else finds it in its old partition.
    """
    target = spec.target
    marked = F.col(KIND).isin("deleted", "missing")
    rows = compared.where(F.col(KIND).isin(*WRITTEN))

    def row(where_it_stood: Column, deleted: Column) -> list[Column]:
        values = []
        for column in target.columns:
            ours, theirs = F.col(f"`{_BATCH}_{column.name}`"), F.col(f"`{_TABLE}_{column.name}`")
            value = F.when(where_it_stood, theirs).otherwise(ours)
            if column.name == IS_DELETED:
                value = deleted
            elif column.name == target.ordering_field:
                # Never older than what stands there, whatever the clock says.
                value = F.greatest(ours, theirs + F.expr("interval 1 microsecond")) if generated else F.coalesce(ours, theirs)
            values.append(value.alias(column.name))
        return values

    changed = rows.select(*row(marked, marked))
    if spec.index.is_global or not target.partition_by:
        return changed
    left = rows.where(F.col(KIND).isin("updated", "replaced") & F.col(_MOVED)).select(*row(F.lit(True), F.lit(True)))
    return changed.unionByName(left)


def _kind(spec: PipelineSpec, compared: Sequence[str], generated: bool) -> Column:
    target = spec.target
    types = {c.name: c.type for c in target.columns}
    no_key = reduce(lambda a, b: a | b, (_b(name).isNull() | (_b(name).cast("string") == "") for name in target.record_key))
    no_partition = reduce(lambda a, b: a | b, (_b(name).isNull() for name in target.partition_by), F.lit(False))
    there = _t(target.record_key[0]).isNotNull()
    ours, theirs = _b(target.ordering_field), _t(target.ordering_field)
    gone = F.coalesce(_b(IS_DELETED), F.lit(False))
    same = reduce(lambda a, b: a & b, (_comparable(_b(n), types[n]).eqNullSafe(_comparable(_t(n), types[n])) for n in compared))
    older = F.lit(False) if generated else ours < theirs
    tied = F.lit(False) if generated else ours == theirs
    return (
        F.when(_b(_PRESENT).isNull(), "missing")
        .when(no_key, "no_key")
        .when(_b(_UNORDERED) > 0, "no_ordering")
        .when(_b(_TIED), "tied")
        .when(no_partition & ~gone, "no_partition")
        .when(~there & gone, "absent")
        .when(~there, "inserted")
        .when(older, "older")
        .when(gone, "deleted")
        .when(same, "unchanged")
        .when(tied, "replaced")
        .otherwise("updated")
    )


def _comparable(value: Column, kind: DataType) -> Column:
    # Spark compares no maps.
    return F.to_json(value, _EXACT) if _holds_map(kind) else value


def _holds_map(kind: DataType) -> bool:
    match kind:
        case Map():
            return True
        case Array(element):
            return _holds_map(element)
        case Struct(fields):
            return any(_holds_map(inner) for _, inner in fields)
    return False


def _b(name: str) -> Column:
    return F.col(f"{_BATCH}.`{name}`")


def _t(name: str) -> Column:
    return F.col(f"{_TABLE}.`{name}`")

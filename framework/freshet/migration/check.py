"""Compare a migrated table with the one whose place it takes: by the number of rows, and row by row where keys are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

_OLD, _NEW, _THERE = "o", "n", "__freshet_there"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What a comparison found.

    Args:
        old_rows, new_rows: Rows of both tables.
        by_key: True where rows were compared one by one.
        only_old, only_new: Rows of which the other table has no key.
        differing: Rows that have another value in a column that both tables have.
        columns: How many rows differ in each column.
        keys: Some keys of rows that differ, as JSON.
    """

    old_rows: int
    new_rows: int
    by_key: bool
    only_old: int = 0
    only_new: int = 0
    differing: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Return True where nothing differs."""
        return self.old_rows == self.new_rows and not (self.only_old or self.only_new or self.differing)

    def in_words(self) -> str:
        """Return what was found as one line."""
        words = f"{self.old_rows:,} rows before, {self.new_rows:,} after"
        if not self.by_key:
            return f"{words}; not compared one by one, because the key is another"
        if self.agrees:
            return f"{words}, equal in the columns that both have"
        parts = [f"{self.only_old:,} are missing", f"{self.only_new:,} are new", f"{self.differing:,} differ"]
        if self.columns:
            parts[-1] += " (" + ", ".join(f"{name}: {count:,}" for name, count in self.columns.items()) + ")"
        return f"{words}: {', '.join(parts)}" + (f"; such as {', '.join(self.keys)}" if self.keys else "")


def compare_rows(
    old: DataFrame,
    new: DataFrame,
    key: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
) -> Compared:
    """Compare two tables.

    Args:
        old: The rows of one.
        new: Those of the other.
        key: Its key columns, each by its name there and here; none where their keys are not the same.
        columns: The other columns that both have, by both names.
    """
    if not key:
        return Compared(old_rows=old.count(), new_rows=new.count(), by_key=False)
    joined = _side(old, _OLD).join(_side(new, _NEW), _same_key(old, new, key), "full_outer")
    there, here = F.col(f"{_OLD}.{_THERE}").isNotNull(), F.col(f"{_NEW}.{_THERE}").isNotNull()
    apart = {name: there & here & ~_equal(old, new, before, name) for before, name in columns}
    differs = reduce(lambda one, other: one | other, apart.values(), F.lit(False))
    texts = [(f"{_NEW}.`{name}`", f"{_OLD}.`{before}`", name) for before, name in key]
    named = F.to_json(
        F.struct(
            *(F.coalesce(F.col(ours).cast("string"), F.col(theirs).cast("string")).alias(name) for ours, theirs, name in texts)
        )
    )
    kinds = {"only_old": there & ~here, "only_new": here & ~there, "differing": differs}
    counts = [
        F.sum(F.when(condition, 1).otherwise(0)).alias(name)
        for name, condition in (("old_rows", there), ("new_rows", here), *kinds.items())
    ]
    each = [F.sum(F.when(condition, 1).otherwise(0)).alias(f"c{number}") for number, condition in enumerate(apart.values())]
    # Any of them: an aggregate of the same pass, so that neither table is read twice.
    keys = [F.min(F.when(condition, named)).alias(f"k_{name}") for name, condition in kinds.items()]
    row = joined.agg(*counts, *each, *keys).collect()[0].asDict()
    return Compared(
        old_rows=row["old_rows"] or 0,
        new_rows=row["new_rows"] or 0,
        by_key=True,
        only_old=row["only_old"] or 0,
        only_new=row["only_new"] or 0,
        differing=row["differing"] or 0,
        columns={name: row[f"c{number}"] for number, name in enumerate(apart) if row[f"c{number}"]},
        keys=tuple(row[f"k_{name}"] for name in kinds if row[f"k_{name}"]),
    )


def _side(rows: DataFrame, name: str) -> DataFrame:
    return rows.withColumn(_THERE, F.lit(1)).alias(name)


def _same_key(old: DataFrame, new: DataFrame, key: Sequence[tuple[str, str]]) -> Column:
    return reduce(
        lambda one, other: one & other,
        (F.col(f"{_OLD}.`{before}`").cast(new.schema[name].dataType) == F.col(f"{_NEW}.`{name}`") for before, name in key),
    )


def _equal(old: DataFrame, new: DataFrame, before: str, name: str) -> Column:
    ours, theirs = F.col(f"{_NEW}.`{name}`"), F.col(f"{_OLD}.`{before}`")
    kind = new.schema[name].dataType
    if isinstance(kind, ArrayType | MapType | StructType):
        # Of maps Spark has no equality; as JSON their entries stand in the order in which they were written.
        return F.to_json(F.struct(ours.alias("v"))).eqNullSafe(F.to_json(F.struct(theirs.alias("v"))))
    return ours.eqNullSafe(theirs.cast(kind))

"""The older row that stands in the target under a dropped row's key: delete it with the same commit, or count that it stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.plan.checks import CheckBatch
from freshet.quality.contract import NOWHERE
from freshet.quality.rows import live

#: True in a dropped row whose older row is deleted.
DELETES = "__freshet_deletes"
_AT, _LIVES, _OURS = "__freshet_at", "__freshet_lives", "__freshet_ours"


@dataclass(frozen=True)
class Older:
    """What becomes of the rows that are older than dropped ones.

    Args:
        kept: Keys of dropped rows under which an older row stays published.
        at_least: True where an older row may stand elsewhere, too: nobody looked into the other partitions.
        undeletable: Dropped rows whose older row should be deleted, and that name none.
    """

    kept: int = 0
    at_least: bool = False
    undeletable: int = 0


def wants_delete(stage: CheckBatch, bad: Sequence[str], carried: Sequence[str]) -> tuple[Column, Column]:
    """Return the conditions that the older row of a row is to be deleted, and that it can be.

    A row without a key, or in no place that the table can have, names no row that could be deleted; one without its ordering
    value cannot say which rows are older.

    Args:
        stage: The checks.
        bad: Columns that are true for a row that breaks a rule which deletes.
        carried: Columns that go along with the batch.
    """
    wanted = reduce(lambda one, other: one | other, (F.col(name) for name in bad), F.lit(False))
    possible = F.col(f"`{stage.ordering}`").isNotNull() if bad else F.lit(False)
    return wanted, possible & ~F.col(NOWHERE) if bad and NOWHERE in carried else possible


def delete_rows(stage: CheckBatch, dropped: DataFrame, kept: DataFrame) -> DataFrame:
    """Return the rows by which an upsert deletes the older rows of dropped ones.

    They are as new as the dropped rows, so that Hudi leaves a newer row alone; of two rows of one batch that are equally
    new, the row that is there wins over the one that deletes.

    Args:
        stage: The checks.
        dropped: The dropped rows, with ``DELETES``.
        kept: The rows of the batch that are published, without deleted ones.
    """
    rows = dropped.where(DELETES).select(
        *(F.lit(True).alias(name) if name == IS_DELETED else F.col(f"`{name}`") for name in kept.columns)
    )
    by = [*stage.located, stage.ordering]
    return rows.join(kept.select(*(F.col(f"`{name}`") for name in by)), by, "left_anti").coalesce(1)


def count_older(stage: CheckBatch, dropped: DataFrame, kept: DataFrame, stands: DataFrame, *, few: bool) -> int:
    """Return under how many keys of dropped rows an older row is published once the commit stands.

    Args:
        stage: The checks.
        dropped: The dropped rows; those that delete their older row do not count.
        kept: The rows of the batch that are published.
        stands: The table as it stands.
        few: Whether the dropped rows are so few that each task can have all of their keys.
    """
    names, order = [F.col(f"`{name}`") for name in stage.located], F.col(f"`{stage.ordering}`")
    bad = dropped.where(~F.col(DELETES)).groupBy(*names).agg(F.max(order).alias(_AT))
    alive = live() if IS_DELETED in kept.columns else F.lit(True)
    there = kept.select(*names, order, alive.alias(_LIVES), F.lit(True).alias(_OURS)).unionByName(
        stands.select(*names, order, F.lit(True).alias(_LIVES), F.lit(False).alias(_OURS))
    )
    keys = bad.select(*names)
    # Only what is of a dropped row's key is grouped, and not the table.
    newest = (
        there.join(F.broadcast(keys) if few else keys, list(stage.located), "left_semi")
        .groupBy(*names)
        .agg(F.max(order).alias("newest"), F.max_by(F.col(_LIVES), F.struct(order, _OURS, _LIVES)).alias(_LIVES))
    )
    older = F.col("newest").isNull() | F.col(_AT).isNull() | (F.col("newest") <= F.col(_AT))
    return newest.join(bad, list(stage.located)).where(F.col(_LIVES) & older).count()

"""A few rows of a table, as they stand, as they stood, or as they changed, for somebody who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError, StateError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.sinks.failures import in_words
from freshet.sources.hudi.history import changes_since, version_to_show
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.read.pruning import in_partitions
from freshet.sources.hudi.read.reader import IDENTITY, load_table, load_version, read_identified
from freshet.sources.hudi.reads import Version

#: The column that says what became of a row: it is new, it was there before, or it is gone.
CHANGE = "_change"
NEW, CHANGED, DELETED = "new", "changed", "deleted"
# Where the version before is not kept.
_UNTOLD = f"{NEW} or {CHANGED}"
# More takes longer to be read whole than somebody who looks at a few rows waits gladly.
_SORTED_BYTES = 256_000_000
_STOOD = "_freshet_stood"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to show of a table.

    Args:
        where: SQL condition; empty for all rows.
        columns: Columns, in this order; empty for all.
        limit: How many rows at most.
        at: Show the rows as they stood at this time; empty for now.
        since: Show the rows that changed after this time; empty for all.
    """

    where: str = ""
    columns: tuple[str, ...] = ()
    limit: int = 20
    at: str = ""
    since: str = ""


@dataclass(frozen=True)
class Shown:
    """Rows of a table.

    Args:
        columns: Their columns.
        rows: Their values, as Python has them.
        more: Whether there are more than were asked for.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool

    def without(self, column: str) -> Shown:
        """Return the same rows without one of their columns."""
        left = [number for number, name in enumerate(self.columns) if name != column]
        rows = tuple(tuple(row[number] for number in left) for row in self.rows)
        return Shown(tuple(self.columns[number] for number in left), rows, self.more)


def show_rows(spark: SparkSession, state: TableState, wanted: Wanted) -> Shown:
    """Return some rows of a table, in the order of the record key where the table is small; else whichever are found first.

    Args:
        spark: The session.
        state: The table's timeline.
        wanted: Which rows.

    Raises:
        DataError: BAD_CONDITION: the condition or a column is wrong.
        StateError: VERSION_CLEANED, BEFORE_FIRST_COMMIT, FILE_MISSING, FILE_CORRUPT, or what keeps a pipeline from reading the
            changes.
        FreshetError: The table could not be read.
    """
    ref = state.ref
    try:
        rows = _rows(spark, state, wanted)
        rows = rows.where(wanted.where) if wanted.where else rows
        order = _order(state, rows, wanted)
        if order and not wanted.since and _bytes_of(rows) > _SORTED_BYTES:
            # Which they are is left to Spark, and they are sorted among themselves.
            rows = rows.limit(wanted.limit + 1)
        rows = rows.orderBy(*order) if order else rows
        rows = rows.select(*wanted.columns) if wanted.columns else rows
    except PySparkException as error:
        raise DataError(
            "BAD_CONDITION",
            f"{ref.name}: {foreign_text(error)}",
            "Nothing is shown.",
            "Mend --where or --columns.",
        ) from error
    try:
        found = rows.limit(wanted.limit + 1).collect()
    except (Py4JJavaError, PySparkException) as error:
        raise in_words(ref, str(error), (ref,), reading=True) from error
    return Shown(tuple(rows.columns), tuple(tuple(row) for row in found[: wanted.limit]), len(found) > wanted.limit)


def _rows(spark: SparkSession, state: TableState, wanted: Wanted) -> DataFrame:
    ref = state.ref
    if wanted.since:
        return _changes(spark, state, wanted.since)
    version = version_to_show(state, wanted.at) if wanted.at else Version("")
    hold_version(state, version, "Nothing is shown.")
    return load_table(spark, ref.path, version.as_of, overtakers=version.overtakers)


def _changes(spark: SparkSession, state: TableState, since: str) -> DataFrame:
    """Return what an increment holds: the rows as they are that have changed, and those as they were that are gone."""
    try:
        changes = changes_since(state, since)
    except StateError as error:
        # What a pipeline would be told to do is not to be done by somebody who looks.
        raise StateError(error.code, error.message, "Nothing is shown.", "Name a later time.", **error.details) from error
    if changes is None:
        rows = load_table(spark, state.ref.path).where("false")
        return rows.withColumn(IS_DELETED, F.lit(False)).select(
            F.lit(NEW).alias(CHANGE), IS_DELETED, *_without(rows, IS_DELETED)
        )
    rows = read_identified(spark, changes.read)
    names = _without(rows, *IDENTITY, IS_DELETED)
    written = F.lit(_UNTOLD)
    if changes.was is not None:
        before = load_version(spark, state.ref.path, changes.was)
        before = before.where(in_partitions(changes.read.partitions, before.schema))
        rows = rows.join(before.select(*IDENTITY, F.lit(True).alias(_STOOD)), list(IDENTITY), "left")
        written = F.when(F.col(_STOOD), CHANGED).otherwise(NEW)
    return rows.select(F.when(F.col(IS_DELETED), DELETED).otherwise(written).alias(CHANGE), IS_DELETED, *names)


def _without(rows: DataFrame, *columns: str) -> list[str]:
    return [name for name in rows.columns if name not in columns]


def _order(state: TableState, rows: DataFrame, wanted: Wanted) -> list[str]:
    keys = [*state.config.record_key, *(column for column in state.config.partition_by if column in rows.columns)]
    if not state.config.record_key or any(key.partition(".")[0] not in rows.columns for key in keys):
        return []
    return [*dict.fromkeys(keys), *([CHANGE] if wanted.since else [])]


def _bytes_of(rows: DataFrame) -> int:
    # By the files' sizes; none is opened.
    return int(str(rows._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))

"""A few rows of a table, as they stand, as they stood, or as they changed, for somebody who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError, StateError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.sinks.failures import in_words
from freshet.sources.hudi.history import changes_since, version_to_show
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.read.reader import load_table, read_increment
from freshet.sources.hudi.reads import Version


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


def show_rows(spark: SparkSession, state: TableState, wanted: Wanted) -> Shown:
    """Return some rows of a table.

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
        stage = changes_since(state, since)
    except StateError as error:
        # What a pipeline would be told to do is not to be done by somebody who looks.
        raise StateError(error.code, error.message, "Nothing is shown.", "Name a later time.", **error.details) from error
    if stage is None:
        return load_table(spark, state.ref.path).where("false")
    rows = read_increment(spark, stage)
    return rows.select(IS_DELETED, *(name for name in rows.columns if name != IS_DELETED))

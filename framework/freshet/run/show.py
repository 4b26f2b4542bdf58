"""A few rows of a table, as they stand, as they stood, or as they changed, for somebody who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError, StateError, foreign_text
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.instants import readable
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.project.model.paths import place_before
from freshet.project.model.pipeline import SourceSpec, TableRef
from freshet.sinks.failures import in_words
from freshet.sources.hudi.look.partitions import touched_partitions
from freshet.sources.hudi.look.versions import is_kept, version_at, version_at_end, versions_held
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.read.reader import load_table, read_increment
from freshet.sources.hudi.reads import ReadIncrement

_EVERY_COMMIT = 1_000_000


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
        StateError: VERSION_CLEANED, BEFORE_FIRST_COMMIT, or what keeps a pipeline from reading the changes.
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
    if not wanted.at:
        return load_table(spark, ref.path)
    _hold_begun(state, wanted.at)
    version = version_at(state, wanted.at)
    if not is_kept(state, version):
        raise StateError(
            "VERSION_CLEANED",
            f"{ref.name}: its cleaner has kept no version as of {wanted.at}.",
            "Nothing is shown.",
            f"Name a time after {state.retained_from}.",
            retained_from=state.retained_from,
        )
    return load_table(spark, ref.path, version.as_of, overtakers=version.overtakers)


def _hold_begun(state: TableState, at: str) -> None:
    """Refuse a time before the table's first commit: that a table had no row is another answer than that there was none."""
    times = [i.completed for i in state.commits]
    if any(one <= at for one in times) or state.retained_from:
        return
    times += [i.completed for i, _ in state.load_archived("")]
    if not any(one <= at for one in times):
        before = place_before(state.ref.path)
        table = f"; before its migration the table was {before}" if before else ""
        raise StateError(
            "BEFORE_FIRST_COMMIT",
            f"{state.ref.name} begins at {readable(min(times)) if times else 'its first commit, which has not come'}{table}.",
            "Nothing is shown.",
            "Name a later time." if times else "Run its pipeline first.",
            at=at,
        )


def _changes(spark: SparkSession, state: TableState, since: str) -> DataFrame:
    """Return what an increment holds: the rows as they are that have changed, and those as they were that are gone."""
    ref = TableRef(state.ref.name, state.ref.path)
    # A checkpoint is the time of a commit: that of the last one before.
    begin = max((i.completed for i in state.commits if i.completed <= since), default="")
    position = HudiPosition(instant=begin or since, table=ref.path)
    source = SourceSpec(
        table=ref,
        max_commits=_EVERY_COMMIT,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
    )
    try:
        window = next_window(ref.name, state, source, position)
        if window.kind == "idle":
            return load_table(spark, ref.path).where("false")
        held = versions_held(ref.name, state, window, Checkpoint({MAIN: position}))
    except StateError as error:
        # What a pipeline would be told to do is not to be done by somebody who looks.
        raise StateError(error.code, error.message, "Nothing is shown.", "Name a later time.", **error.details) from error
    end = version_at_end(state, window.end_inclusive)
    rows = read_increment(
        spark,
        ReadIncrement(
            table=ref, window=window, with_deletes=True, before=held, as_of=end, partitions=touched_partitions(state, window)
        ),
    )
    return rows.select(IS_DELETED, *(name for name in rows.columns if name != IS_DELETED))

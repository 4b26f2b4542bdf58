"""Rows whose event time lies in a range."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, StringType, StructType, TimestampNTZType, TimestampType

from freshet.errors import DataError
from freshet.sources.hudi.reads import ReadRange


def rows_within(rows: DataFrame, stage: ReadRange) -> DataFrame:
    """Return the rows whose event time lies in ``[start, end)``.

    Args:
        rows: Rows, in a session whose time zone is UTC.
        stage: The column, a field of a struct with ``.`` before it, and the range.

    Raises:
        DataError: BAD_EVENT_TIME: there is no such column, or its type tells no time.
    """
    found: DataType | None = rows.schema
    for part in stage.column.split("."):
        fields = found.fields if isinstance(found, StructType) else ()
        found = {field.name.lower(): field.dataType for field in fields}.get(part.lower())
    if found is None:
        raise _bad(stage, "there is no such column")
    column = ".".join(f"`{part}`" for part in stage.column.split("."))
    return rows.where(_within(F.col(column), found, stage))


def _within(column: Column, kind: DataType, stage: ReadRange) -> Column:
    begin, end = datetime.fromisoformat(stage.start), datetime.fromisoformat(stage.end)
    of_days = begin.time() == end.time() == time.min
    match kind:
        case TimestampType() | TimestampNTZType():
            return (column >= _literal(begin, "%Y-%m-%d %H:%M:%S", kind)) & (column < _literal(end, "%Y-%m-%d %H:%M:%S", kind))
        case DateType() if of_days:
            return (column >= _literal(begin, "%Y-%m-%d", kind)) & (column < _literal(end, "%Y-%m-%d", kind))
        case StringType():
            # Text is compared as text: a day sorts before every hour of it, however the hour is written.
            days = (column >= f"{begin:%Y-%m-%d}") & (column < f"{end if of_days else end + timedelta(days=1):%Y-%m-%d}")
            return days if of_days else days & (_hour(column) >= _as_text(begin)) & (_hour(column) < _as_text(end))
        case DateType():
            raise _bad(stage, "a date does not tell the hour")
        case _:
            raise _bad(stage, f"its type {kind.simpleString()} tells no time")


def _literal(moment: datetime, form: str, kind: DataType) -> Column:
    return F.lit(moment.strftime(form)).cast(kind)


def _hour(column: Column) -> Column:
    # 2026-01-05T13:30, 2026-01-05 13:30:00 and the partition 2026-01-05-13 differ in what divides day and hour.
    return F.overlay(column, F.lit(" "), 11, 1)


def _as_text(moment: datetime) -> str:
    # As short as it can be, so that it sorts before whatever begins with it.
    return f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00").removesuffix(":00").removesuffix(":00")


def _bad(stage: ReadRange, why: str) -> DataError:
    return DataError(
        "BAD_EVENT_TIME",
        f"{stage.view}: the event time {stage.column} of {stage.table.name} cannot be compared: {why}.",
        "Nothing was written.",
        "Name a column of type timestamp, date, or text as yyyy-MM-dd, in 'backfill:'.",
        column=stage.column,
    )

"""Tables that keep more than the newest rows, as DataFrames: each version of a row with its interval, or each event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.changelog.fields import EVENT
from freshet.changelog.history_sql import begun, ended, made, one_of_each, ordered, rows, stood
from freshet.changelog.layout import DAY, ENTRY, ORDER, VERSION, Layout
from freshet.changelog.merge_sql import CHANGED, EVENTS, PUBLISHED
from freshet.changelog.sql import name

#: An event as a text: of two that differ in anything, the texts differ.
_AS_TEXT = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
#: A day of UTC, whatever the zone of the session is.
_DAYS = f"CAST(({EVENT}.timestamp - pmod({EVENT}.timestamp, 86400000)) DIV 86400000 AS INT)"
_OF_DAY = f"CAST(date_add(DATE'1970-01-01', {_DAYS}) AS STRING)"


def counted_history(layout: Layout, events: DataFrame, stands: DataFrame) -> DataFrame:
    """Put the versions that events make among those of the same rows that stand.

    Args:
        layout: The table, which keeps histories.
        events: The table's own columns and ``_event``; rows that go aside are not among them.
        stands: The table as it stands, reserved columns included.

    Returns:
        Rows of the table, reserved columns included: each version that the events name, and each whose interval is another one
        now. Of each ``EVENTS``, the events that made it; ``PUBLISHED``, 1 where one of them is its change now and 0 otherwise;
        and ``CHANGED``, whether it differs from what stands.
    """
    key = [F.col(name(one)) for one in layout.key]
    named = events.select(*key).distinct()
    affected = stands.join(named, list(layout.key), "left_semi")
    both = events.select(*key, *_columns(made(layout))).unionByName(affected.select(*key, *_columns(stood(layout))))
    one = both.select("*", *_columns(ordered(layout))).groupBy(*key, VERSION).agg(*_columns(one_of_each()))
    placed = one.select("*", *_columns(begun(layout)))
    placed = placed.select("*", *_columns(ended(layout)))
    return placed.select(*_columns(rows(layout))).where(f"{CHANGED} OR {EVENTS} > 0")


def counted_events(layout: Layout, events: DataFrame) -> DataFrame:
    """Make rows of events, one of each: of those that are alike in all that they say there is one.

    Args:
        layout: The table, which keeps events.
        events: As for ``counted_history``.

    Returns:
        Rows of the table, with numbers as those of ``counted_history``.
    """
    own = [F.col(name(c.name)) for c in layout.columns]
    # A DDL may name its columns in another order later.
    by_name = [F.col(name(one)) for one in sorted(c.name for c in layout.columns)]
    entry = F.sha2(F.to_json(F.struct(*by_name, F.col(EVENT)), _AS_TEXT), 256)
    told = F.struct(*own, F.col(EVENT)).alias(EVENT)
    by = [F.col(name(one)) for one in layout.key]
    each = events.select(*by, F.expr(_OF_DAY).alias(DAY), entry.alias(ENTRY), told).groupBy(*by, DAY, ENTRY)
    alike = each.agg(F.first(EVENT).alias(EVENT), F.count(F.lit(1)).alias(EVENTS))
    return alike.select(
        *(F.col(f"{EVENT}.{name(c.name)}").alias(c.name) for c in layout.columns),
        F.col(f"{EVENT}.{EVENT}").alias(EVENT),
        DAY,
        ENTRY,
        F.col(f"{EVENT}.{EVENT}.timestamp").alias(ORDER),
        EVENTS,
        F.lit(1).alias(PUBLISHED),
        F.lit(True).alias(CHANGED),
    )


def _columns(expressions: Mapping[str, str]) -> Sequence[SparkColumn]:
    return [F.expr(sql).alias(as_name) for as_name, sql in expressions.items()]

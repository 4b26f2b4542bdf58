"""Changelogs as DataFrames: messages become events and rows that go aside, and events become rows of the table.

What is done is said by the texts of the other modules; here they are only put on frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.changelog.adapter import CHANGE, FROM, ORIGIN, PARTS, SKIPPED, Adapter
from freshet.changelog.conform import REASON, event_reason
from freshet.changelog.fields import EVENT
from freshet.changelog.layout import Layout
from freshet.changelog.merge_sql import BATCH, CHANGED, EVENT_ID, EVENTS, PUBLISHED, STANDS, fold, registers, shown
from freshet.changelog.merge_sql import rows as rows_of
from freshet.changelog.plain import typed_event
from freshet.changelog.reference import Given
from freshet.changelog.sql import name

_REFUSED = "__freshet_refused"


def adapt(adapter: Adapter, layout: Layout, messages: DataFrame, also: Sequence[str] = ()) -> DataFrame:
    """Read messages as changes of a table.

    Args:
        adapter: How they are read.
        layout: The table.
        messages: The columns of Spark's Kafka source; of a file ``value``, and the others null.
        also: Columns of the messages that go along, in ``FROM``.

    Returns:
        A row for each change, and one for each message that holds none: the table's columns, ``_event``, ``REASON`` and
        ``FROM``. The reason is null for what can be merged, and the word ``skipped`` for what is meant to hold no change; all
        others go aside. Every message has a row at least, so that what comes in can be counted against what goes out.
    """
    of_message = F.struct(*(F.col(one) for one in (*ORIGIN, *also))).alias(FROM)
    read = messages.select(of_message).select("*", *_columns(adapter.reads))
    told = read.select("*", F.expr(adapter.refused).alias(_REFUSED))
    each = told.select("*", F.expr(f"explode_outer(CASE WHEN {_REFUSED} IS NULL THEN {adapter.changes} END)").alias(CHANGE))
    # The columns first: what a value is made of is then computed once, though it is looked at several times.
    valued = each.select(*_columns(adapter.columns), F.expr(adapter.parts).alias(PARTS), *adapter.reads, CHANGE, _REFUSED, FROM)
    changes = valued.select(
        *(F.col(name(c.name)) for c in layout.columns),
        F.expr(adapter.event).alias(EVENT),
        F.expr(f"coalesce({_REFUSED}, {adapter.reason})").alias(_REFUSED),
        FROM,
    )
    reason = F.expr(f"coalesce({_REFUSED}, {event_reason(layout)})").alias(REASON)
    return changes.select(*(F.col(name(c.name)) for c in layout.columns), EVENT, reason, FROM)


def mark_typed(reference: Given, layout: Layout, rows: DataFrame) -> DataFrame:
    """Read rows of the format itself, whose columns and ``_event`` have their types already, as files and Avro give them.

    Args:
        reference: How their reference keys are written.
        layout: The table.
        rows: The table's columns, ``_event``, and ``FROM``.

    Returns:
        As ``adapt``.
    """
    columns = [F.col(name(c.name)) for c in layout.columns]
    told = rows.select(*columns, F.expr(typed_event(reference)).alias(EVENT), FROM)
    return told.select(*columns, EVENT, F.expr(event_reason(layout)).alias(REASON), FROM)


def aside(marked: DataFrame) -> DataFrame:
    """Return what goes aside: where it comes from, its bytes, and the reason.

    Args:
        marked: What ``adapt`` returned.
    """
    out = marked.where(f"{REASON} IS NOT NULL AND {REASON} <> '{SKIPPED}'")
    return out.select(*(F.col(f"{FROM}.{one}").alias(one) for one in ORIGIN), F.col(REASON).alias("reason"))


def mergeable(marked: DataFrame, also: Sequence[str] = ()) -> DataFrame:
    """Return what ``merge_events`` takes.

    Args:
        marked: What ``adapt`` returned.
        also: Of the columns that went along, those that go on.
    """
    good = marked.where(f"{REASON} IS NULL")
    return good.select("*", *(F.col(f"{FROM}.{name(one)}").alias(one) for one in also)).drop(REASON, FROM)


def merge_events(layout: Layout, events: DataFrame, stands: DataFrame) -> DataFrame:
    """Merge events into the rows of a table that they change.

    Args:
        layout: The table.
        events: The table's columns and ``_event``; rows that go aside are not among them.
        stands: The table as it stands, reserved columns included.

    Returns:
        The whole rows of every key that the events name, reserved columns included. A row that is deleted stays, marked and
        without values: it is what a late change is held against.
    """
    return counted_merge(layout, events, stands).drop(EVENTS, PUBLISHED, CHANGED)


def counted_merge(layout: Layout, events: DataFrame, stands: DataFrame) -> DataFrame:
    """Merge events as ``merge_events`` does, and say of each row how many events it is made of.

    Args:
        layout, events, stands: As for ``merge_events``.

    Returns:
        As ``merge_events``, with ``EVENTS``, the events of the key, and ``PUBLISHED``, those that are the newest change of a
        column group; the others are older, or came before. A row of which none is published is as it stands, but for its order,
        and false in ``CHANGED``.
    """
    key = [F.col(name(one)) for one in layout.key]
    folded = events.withColumn(EVENT_ID, F.monotonically_increasing_id()).groupBy(*key).agg(*_columns(fold(layout)))
    found = [F.col(f"{BATCH}.{name(one)}") == F.col(f"{STANDS}.{name(one)}") for one in layout.key]
    joined = folded.alias(BATCH).join(stands.alias(STANDS), found, "left")
    own = [F.col(f"{BATCH}.{name(one)}") for one in layout.key]
    merged = joined.select(*own, *_columns(registers(layout)))
    rows = merged.select("*", *_columns(shown(layout)))
    return rows.select(*_columns(rows_of(layout)), EVENTS, PUBLISHED, F.expr(f"{PUBLISHED} > 0").alias(CHANGED))


def _columns(expressions: Mapping[str, str]) -> Sequence[SparkColumn]:
    return [F.expr(sql).alias(as_name) for as_name, sql in expressions.items()]

"""Tables that keep the history of a changelog, on frames and on tables of Hudi: what the model says of any order and cut.

The model itself is held by tests/unit/changelog/test_any_history.py.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from freshet.changelog.conform import REASON
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import mark_typed
from freshet.changelog.history import counted_events, counted_history
from freshet.changelog.layout import DAY, ENTRY, ORDER, Equal, Layout, reserved_columns
from freshet.changelog.merge_sql import CHANGED, EVENTS, PUBLISHED
from freshet.changelog.reference import Given
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.changelogs import Event
from tests.kit.frames import frame
from tests.kit.histories import History, meaning


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


TABLE = tuple(Column(name=name, type=parse_type(kind)) for name, kind in (("id", "int"), ("a", "int"), ("b", "string")))
_SCHEMA = ", ".join(f"{c.name} {c.type}" for c in TABLE)
LAYOUT = Layout(key=("id",), columns=TABLE, keeps="history")
WHOLE = f"{_SCHEMA}, " + ", ".join(f"`{c.name}` {c.type}" for c in reserved_columns(LAYOUT))
TIMES = (
    "cast(unix_millis(valid_from) as bigint) since",
    "cast(unix_millis(valid_to) as bigint) until",
    "id",
    "a",
    "b",
    "current",
    "_event_deleted",
    "_event_state",
)


def _drawn(drawn: random.Random, keys: int) -> list[Event]:
    found = []
    for key in range(keys):
        for _ in range(drawn.randrange(1, 7)):
            is_deleted = drawn.random() < 0.25
            values = (drawn.choice([None, 1, 2]), drawn.choice([None, "x", "y"]))
            found.append(
                Event(
                    key=key,
                    ref_key=drawn.choice("abc,"),
                    timestamp=drawn.randrange(6),
                    is_deleted=is_deleted,
                    force_update=drawn.random() < 0.2,
                    values={} if is_deleted else {"row": values},
                )
            )
    return found


def _events(spark: SparkSession, events: Sequence[Event]) -> DataFrame:
    rows = []
    for event in events:
        told = (str(event.key), event.ref_key, None, None, event.timestamp, event.is_deleted or None, None, None)
        a, b = event.values.get("row", (9, "left out"))
        rows.append((event.key, a, b, (*told, event.force_update, None)))
    return frame(spark, rows, f"{_SCHEMA}, {EVENT} {event_type()}")


def _told(histories: dict[int, History]) -> set[tuple[Any, ...]]:
    return {
        (
            one.since,
            one.until,
            key,
            *one.change.values,
            one.is_current,
            one.change.is_deleted,
            (one.change.ref_key, one.change.timestamp, one.is_forced),
        )
        for key, history in histories.items()
        for one in history
    }


def _shown(table: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(tuple(v) if isinstance(v, tuple) else v for v in row) for row in table.selectExpr(*TIMES).collect()]


def _empty(spark: SparkSession) -> DataFrame:
    return spark.range(0).selectExpr(*(f"cast(null as {c.type}) as `{c.name}`" for c in (*TABLE, *reserved_columns(LAYOUT))))


@pytest.mark.parametrize("equal", ["deleted", "row"])
def test_the_history_is_what_its_model_says_whatever_the_order_and_the_cuts(spark: SparkSession, equal: Equal) -> None:
    drawn = random.Random(f"history {equal}")
    layout = Layout(key=("id",), columns=TABLE, equal=equal, keeps="history")
    history = _drawn(drawn, 120)
    arrived = [*history, *drawn.sample(history, len(history) // 3)]
    drawn.shuffle(arrived)
    table = _empty(spark)
    size = len(arrived) // 3 + 1
    for start in range(0, len(arrived), size):
        batch = arrived[start : start + size]
        counted = counted_history(layout, _events(spark, batch), table).localCheckpoint()
        assert counted.selectExpr(f"sum({EVENTS})").first()[0] == len(batch)  # type: ignore[index]
        changed = counted.where(CHANGED).drop(EVENTS, PUBLISHED, CHANGED)
        others = table.join(changed.select("id", "_event_version"), ["id", "_event_version"], "left_anti")
        table = changed.unionByName(others).localCheckpoint()
    shown = _shown(table)
    assert (len(shown), set(shown)) == (len(set(shown)), _told(meaning(2, equal, history)))
    # Each change is there: of none that comes again a row is written.
    again = counted_history(layout, _events(spark, arrived), table)
    assert again.where(f"{CHANGED} OR {PUBLISHED} > 0").count() == 0


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_history_in_a_table_of_hudi(spark: SparkSession, tmp_path: Path, table_type: str) -> None:
    drawn = random.Random(f"history {table_type}")
    history = _drawn(drawn, 60)
    arrived = drawn.sample(history, len(history))
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.datasource.write.recordkey.field": "id,_event_version",
        "hoodie.datasource.write.precombine.field": ORDER,
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.bucket.index.hash.field": "id",
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
    }
    path, size = str(tmp_path / "trips"), len(arrived) // 3 + 1
    for batch, start in enumerate(range(0, len(arrived), size)):
        stands = spark.read.format("hudi").load(path) if batch else _empty(spark)
        counted = counted_history(LAYOUT, _events(spark, arrived[start : start + size]), stands)
        changed = counted.where(CHANGED).drop(EVENTS, PUBLISHED, CHANGED).localCheckpoint()
        changed.coalesce(1).write.format("hudi").options(**options).mode("append").save(path)
    shown = _shown(spark.read.format("hudi").load(path))
    assert (len(shown), set(shown)) == (len(set(shown)), _told(meaning(2, "deleted", history)))


def test_events_that_differ_in_anything_are_two_and_others_are_one(spark: SparkSession) -> None:
    columns = (*TABLE, Column(name="at", type=parse_type("timestamp")))
    layout = Layout(key=("id",), columns=columns, keeps="events")
    told = ("1", "k", None, None, 7, False, None, None, False, None)
    rows = [
        (1, 1, None, "2026-01-05 10:00:00.000001", told),
        (1, 1, None, "2026-01-05 10:00:00.000001", told),
        # A millionth of a second, and a text that is not null.
        (1, 1, None, "2026-01-05 10:00:00.000002", told),
        (1, 1, "", "2026-01-05 10:00:00.000001", told),
        (2, 1, None, "2026-01-05 10:00:00.000001", told),
    ]
    batch = frame(spark, rows, f"{_SCHEMA}, at string, {EVENT} {event_type()}")
    batch = batch.withColumn("at", batch["at"].cast("timestamp"))
    found = counted_events(layout, batch).localCheckpoint()
    assert sorted(row[EVENTS] for row in found.collect()) == [1, 1, 1, 2]
    assert found.select(ENTRY).distinct().count() == 4
    other = Layout(key=("id",), columns=columns[::-1], keeps="events")
    assert {row[ENTRY] for row in counted_events(other, batch).collect()} == {row[ENTRY] for row in found.collect()}
    names = [c.name for c in (*columns, *reserved_columns(layout))]
    assert found.drop(EVENTS, PUBLISHED, CHANGED).columns == names
    assert {(row[ORDER], row[DAY], row[EVENT]["ref_key"]) for row in found.collect()} == {(7, "1970-01-01", "k")}


def test_a_time_that_no_calendar_has_is_no_place_in_a_history(spark: SparkSession) -> None:
    events = [Event(key=1, ref_key="1", timestamp=time, values={"row": (1, "x")}) for time in (0, 2**62, -(2**62))]
    rows = _events(spark, events).selectExpr("*", "struct(id) as __freshet_from")
    newest = Layout(key=("id",), columns=TABLE)
    for layout, expected in ((LAYOUT, [None, "no_timestamp", "no_timestamp"]), (newest, [None] * 3)):
        marked = mark_typed(Given(), layout, rows)
        assert [row[0] for row in marked.select(REASON).collect()] == expected


def test_the_day_of_an_event_is_that_of_utc_before_1970_too(spark: SparkSession) -> None:
    layout = Layout(key=("id",), columns=TABLE, keeps="events")
    times = {0: "1970-01-01", 86_400_000 - 1: "1970-01-01", -1: "1969-12-31", -86_400_001: "1969-12-30"}
    events = [Event(key=1, ref_key="1", timestamp=time, values={"row": (1, "x")}) for time in times]
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    try:
        found = {row[ORDER]: row[DAY] for row in counted_events(layout, _events(spark, events)).collect()}
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    assert found == times

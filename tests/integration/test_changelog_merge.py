"""The merge by reference key on frames: what its model says, whatever the order and the cuts.

The model itself is held by tests/unit/changelog/test_any_order.py.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import counted_merge, merge_events
from freshet.changelog.layout import ORDER, STATE, Equal, Layout, reserved_columns
from freshet.changelog.merge_sql import EVENTS, PUBLISHED
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.changelogs import Change, Event, Register, Row, meaning
from tests.kit.frames import frame


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


SIZES = {"row": 2, "tips": 1}
TABLE = tuple(
    Column(name=name, type=parse_type(kind)) for name, kind in (("id", "int"), ("a", "int"), ("b", "string"), ("tip", "int"))
)
_TABLE_SCHEMA = ", ".join(f"{c.name} {c.type}" for c in TABLE)
_COLUMNS = {"row": ("a", "b"), "tips": ("tip",)}


def _histories(drawn: random.Random, count: int) -> list[Event]:
    found = []
    for key in range(count):
        for _ in range(drawn.randrange(1, 7)):
            is_deleted = drawn.random() < 0.25
            touched = [] if is_deleted else drawn.choice([["row", "tips"], ["row"], ["tips"]])
            values = {
                "row": (drawn.choice([None, 1, 2]), drawn.choice([None, "x", "y"])),
                "tips": (drawn.choice([None, 1, 2]),),
            }
            found.append(
                Event(
                    key=key,
                    ref_key=drawn.choice("abcd"),
                    timestamp=drawn.randrange(4),
                    is_deleted=is_deleted,
                    force_update=drawn.random() < 0.2,
                    values={group: values[group] for group in touched},
                    references={group: drawn.choice("abcd") for group in (touched or SIZES) if drawn.random() < 0.3},
                )
            )
    return found


def _event_frame(spark: SparkSession, events: Sequence[Event]) -> DataFrame:
    rows = []
    for event in events:
        named = event.references if event.is_deleted else event.values
        changed = [(group, event.references.get(group), list(_COLUMNS[group])) for group in named]
        whole = not event.references and (event.is_deleted or set(event.values) == set(SIZES))
        told = (str(event.key), event.ref_key, None if whole else changed, None, event.timestamp, event.is_deleted or None)
        a, b = event.values.get("row", (9, "left out"))
        (tip,) = event.values.get("tips", (9,))
        rows.append((event.key, a, b, tip, (*told, None, None, event.force_update, None)))
    return frame(spark, rows, f"{_TABLE_SCHEMA}, {EVENT} {event_type()}")


def _table(rows: Sequence[Any]) -> dict[int, Row]:
    found: dict[int, Row] = {}
    for row in rows:
        made = {}
        for group, columns in _COLUMNS.items():
            told, forced = row[STATE]["groups"][group], row[STATE]["forced"][group]
            shown = tuple(row[name] for name in columns)
            ordinary = None if told["ref_key"] is None else (told["ref_key"], told["timestamp"], told["is_deleted"])
            change = None
            if forced is not None:
                change = Change(forced["ref_key"], forced["timestamp"], forced["is_deleted"], tuple(forced["values"]))
            is_deleted = ordinary[2] if ordinary else True
            if change and (ordinary is None or change.timestamp >= ordinary[1]):
                is_deleted = change.is_deleted
            made[group] = Register(ordinary, change, shown, is_deleted)
        assert row["_event_deleted"] == all(register.is_deleted for register in made.values())
        found[row["id"]] = made
    return found


@pytest.mark.parametrize("equal", ["deleted", "row"])
def test_the_merge_is_what_its_model_says_whatever_the_order_and_the_cuts(spark: SparkSession, equal: Equal) -> None:
    drawn = random.Random(f"changelog {equal}")
    layout = Layout(key=("id",), columns=TABLE, groups={"tips": ("tip",)}, equal=equal)
    history = _histories(drawn, 150)
    arrived = [*history, *drawn.sample(history, len(history) // 3)]
    drawn.shuffle(arrived)
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    table = frame(spark, [], f"{_TABLE_SCHEMA}, {reserved}")
    size = len(arrived) // 3 + 1
    for start in range(0, len(arrived), size):
        events = _event_frame(spark, arrived[start : start + size])
        merged = merge_events(layout, events, table)
        others = table.join(events.select("id").distinct(), "id", "left_anti").select(*merged.columns)
        table = merged.unionByName(others).localCheckpoint()
    assert _table(table.collect()) == meaning(SIZES, equal, history)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_merge_over_a_table_of_hudi(spark: SparkSession, tmp_path: Path, table_type: str) -> None:
    drawn = random.Random(f"changelog {table_type}")
    layout = Layout(key=("id",), columns=TABLE, groups={"tips": ("tip",)})
    history = _histories(drawn, 60)
    arrived = drawn.sample(history, len(history))
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    empty = frame(spark, [], f"{_TABLE_SCHEMA}, {reserved}")
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": ORDER,
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
    }
    path, size = str(tmp_path / "trips"), len(arrived) // 3 + 1
    for batch, start in enumerate(range(0, len(arrived), size)):
        stands = spark.read.format("hudi").load(path) if batch else empty
        merged = merge_events(layout, _event_frame(spark, arrived[start : start + size]), stands)
        whole = merged.localCheckpoint()
        whole.coalesce(1).write.format("hudi").options(**options).mode("append").save(path)
    assert _table(spark.read.format("hudi").load(path).collect()) == meaning(SIZES, "deleted", history)


def test_a_column_of_maps_is_compared_too(spark: SparkSession) -> None:
    columns = (TABLE[0], Column(name="m", type=parse_type("map<string,int>")))
    layout = Layout(key=("id",), columns=columns)
    schema = f"id int, m map<string,int>, {EVENT} {event_type()}"
    told = ("1", "a", None, None, 1, False, None, None, False, None)
    batch = frame(spark, [(1, {"x": 1}, told), (1, {"x": 2}, told)], schema)
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    empty = frame(spark, [], f"id int, m map<string,int>, {reserved}")
    assert [row.m for row in merge_events(layout, batch, empty).collect()] == [{"x": 2}]


def test_an_event_counts_once_however_many_groups_it_changes_and_not_again(spark: SparkSession) -> None:
    layout = Layout(key=("id",), columns=TABLE, groups={"tips": ("tip",)})
    reserved = ", ".join(f"{c.name} {c.type}" for c in reserved_columns(layout))
    empty = frame(spark, [], f"{_TABLE_SCHEMA}, {reserved}")

    def an_event(key: int, ref_key: str, *groups: str, forced: bool = False) -> Event:
        values = {"row": (1, "x"), "tips": (1,)}
        return Event(key=key, ref_key=ref_key, timestamp=1, force_update=forced, values={g: values[g] for g in groups or SIZES})

    def counted(events: Sequence[Event], stands: DataFrame) -> tuple[DataFrame, list[tuple[int, int, int]]]:
        merged = counted_merge(layout, _event_frame(spark, events), stands).localCheckpoint()
        found = merged.select("id", EVENTS, PUBLISHED).orderBy("id").collect()
        return merged.drop(EVENTS, PUBLISHED), [(row[0], row[1], row[2]) for row in found]

    # The same one twice; one for each group; an older one, and one that is forced.
    first = [an_event(1, "b"), an_event(1, "b"), an_event(2, "b", "row"), an_event(2, "c", "tips"), an_event(3, "b")]
    first += [an_event(3, "a"), an_event(3, "a", forced=True)]
    table, found = counted(first, empty)
    assert found == [(1, 2, 1), (2, 2, 2), (3, 3, 2)]
    table, found = counted([*first, an_event(2, "d", "tips")], table)
    assert found == [(1, 2, 0), (2, 3, 1), (3, 3, 0)]
    assert sorted(row[ORDER] for row in table.collect()) == [2, 2, 2]
    # What a forced change hides counts no more when it comes again, though its values are not kept.
    hidden = [replace(an_event(4, "b"), values={"row": (2, "y"), "tips": (2,)}), an_event(4, "a", forced=True)]
    table, found = counted(hidden, empty)
    assert (found, counted(hidden, table)[1]) == ([(4, 2, 2)], [(4, 2, 0)])

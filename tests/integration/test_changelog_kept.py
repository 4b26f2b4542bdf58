"""Runs of pipelines that keep the history of a changelog, or each of its events.

What an interval is is tested on frames (test_changelog_history.py). Here: that a run reaches it, and that what it publishes
says what became of each event.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.kit.commands import freshet, refused
from tests.kit.event_lake import KEYED, MESSAGES, TYPED, a_message, an_event, counted, pipeline
from tests.kit.lake import Lake

SHOWN = ("id", "amount", "unix_millis(valid_from) as since", "unix_millis(valid_to) as until", "current")


def intervals(lake: Lake) -> list[tuple[Any, ...]]:
    """Return the versions of the table, without the marks of deleted rows."""
    table = lake.spark.read.format("hudi").load(lake.path("derived.trips"))
    rows = table.where("not _event_deleted").selectExpr(*SHOWN).collect()
    return sorted((tuple(row) for row in rows), key=lambda row: (row[0], row[2]))


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_each_version_of_a_row_stands_with_its_interval_whenever_it_came(lake: Lake, kind: str) -> None:
    pipeline(lake, "adapter: freshet", kind=kind, keeps="history")
    one, two, nine = Decimal("1.00"), Decimal("2.00"), Decimal("9.00")
    first = [
        an_event(1, "a", 1, "1.00", 1),
        an_event(5, "a", 5, "9.00", 1),
        an_event(4, "b", 4, deleted=True),
        an_event(6, None, 1),
    ]
    lake.land(first, table="raw.log", schema=TYPED, **KEYED)
    assert lake.run_ok("trips").quarantined == 1
    assert intervals(lake) == [("a", one, 1001, 1005, False), ("a", nine, 1005, None, True)]
    found = counted(lake)
    assert (found["in"], found["published"], found["older"], found["aside"], found["rows"]) == (4, 3, 0, 1, 3)
    # One that lies between two, one that ends with a delete, a row that comes back, and one that came before.
    again = ("e9", 9, *an_event(1, "a", 1, "1.00", 1)[2:])
    late = [an_event(3, "a", 3, "2.00"), an_event(2, "b", 2, "1.00"), an_event(7, "b", 7, "2.00"), again]
    lake.land(late, table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    expected = [
        ("a", one, 1001, 1003, False),
        ("a", two, 1003, 1005, False),
        ("a", nine, 1005, None, True),
        ("b", one, 1002, 1004, False),
        ("b", two, 1007, None, True),
    ]
    assert intervals(lake) == expected
    found = counted(lake)
    # The version before the late one ends otherwise, and the others stay as they are.
    assert (found["in"], found["published"], found["older"], found["rows"]) == (4, 3, 1, 4)


def test_versions_that_are_read_again_or_anew_are_the_same(lake: Lake) -> None:
    pipeline(lake, "adapter: freshet", keeps="history")
    events = [an_event(1, "a", 1, "1.00"), an_event(5, "a", 5, "9.00"), an_event(3, "a", 3, deleted=True)]
    lake.land(events, table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    expected = [("a", Decimal("1.00"), 1001, 1003, False), ("a", Decimal("9.00"), 1005, None, True)]
    assert intervals(lake) == expected
    lake.set_checkpoint(None, "trips")
    lake.run_ok("trips")
    assert (counted(lake)["published"], counted(lake)["older"], counted(lake)["rows"]) == (0, 3, 0)
    freshet(lake, "run", "trips", "--full-refresh")
    assert intervals(lake) == expected
    # The newest rows lie in another table: by their key alone a row of versions is not found.
    pipeline(lake, "adapter: freshet")
    lake.land([an_event(8, "a", 8)], table="raw.log", schema=TYPED, **KEYED)
    assert refused(lake, "run", "trips")["code"] == "KEY_CHANGED"


def test_each_event_stands_once_and_a_table_of_them_is_a_source(lake: Lake) -> None:
    changelog = "adapter: plain, reference_key: {kind: offset}"
    pipeline(lake, changelog, keeps="append")
    ddl = (lake.project_root / "ddl/trips.sql").read_text("utf-8")
    lake.write_file("ddl/trips.sql", ddl.replace("USING hudi", "USING hudi PARTITIONED BY (_event_day)"))
    key = {"id": "a"}
    events = [a_message(1, {**key, "amount": "1.00"}, key), a_message(2, None, key), a_message(3, b"{")]
    lake.land(events, table="raw.log", schema=MESSAGES, **KEYED)
    assert lake.run_ok("trips").quarantined == 1
    assert (counted(lake)["in"], counted(lake)["published"], counted(lake)["aside"]) == (3, 2, 1)
    # The same record comes once more, in another row.
    repeated = ("m9", 9, *events[0][2:])
    lake.land([repeated, a_message(4, {**key, "amount": "2.00"}, key)], table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    shown = lake.rows("derived.trips", "amount", "_event.is_deleted")
    assert shown == [(Decimal("1.00"), False), (Decimal("2.00"), False), (None, True)]
    assert lake.rows("derived.trips", "_event_day") == [("2026-01-05",)] * 3
    text = (lake.project_root / "pipelines/trips.yml").read_text("utf-8")
    own = "adapter: freshet, reference_key: {kind: given, form: text}"
    lake.write_file("ddl/newest.sql", ddl.replace("derived.trips", "derived.newest"))
    newest = text.replace(changelog, own).replace("write: {strategy: append}\n", "").replace("ddl/trips", "ddl/newest")
    lake.write_file("pipelines/newest.yml", newest.replace(lake.path("raw.log"), lake.path("derived.trips")))
    lake.run_ok("newest")
    assert lake.rows("derived.newest", "id", "amount", "_event_deleted") == [("a", Decimal("2.00"), False)]


@pytest.mark.parametrize("keeps", ["", "history"], ids=["newest", "history"])
def test_a_table_of_events_gets_a_successor_that_goes_on_where_it_stood(lake: Lake, keeps: str) -> None:
    pipeline(lake, "adapter: freshet", kind="cow", keeps=keeps)
    first = [an_event(1, "a", 1, "1.00"), an_event(5, "a", 5, "9.00"), an_event(4, "b", 4, deleted=True)]
    lake.land(first, table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    before = lake.rows("derived.trips")
    text = (lake.project_root / "pipelines/trips.yml").read_text("utf-8")
    lake.write_file("pipelines/trips.yml", text.replace("hoodie:\n", "hoodie:\n  hoodie.bucket.index.num.buckets: 3\n"))
    assert refused(lake, "run", "trips")["code"] == "INDEX_CHANGED"
    assert refused(lake, "migrate", "trips")["code"] == "EVENTS_NOT_MIGRATED"
    done = freshet(lake, "migrate", "trips", "--copy")
    assert (done["switched"], done["differs"]) == (True, False)
    assert lake.rows("derived.trips__m2") == before
    late = [an_event(3, "a", 3, "2.00"), an_event(2, "b", 2, "1.00"), an_event(1, "a", 1, "1.00")]
    lake.land([("e8", *late[0][1:]), *late[1:]], table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    assert [row[0] for row in lake.rows("derived.trips__m2", "id")] == (["a"] * 3 + ["b"] * 2 if keeps else ["a", "b"])

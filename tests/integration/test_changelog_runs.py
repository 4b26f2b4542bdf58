"""Runs of pipelines over changelogs: events become rows once, in whatever order they come, and each of them is counted.

What the merge and the adapters mean is tested on frames (test_changelog*.py). Here: that a run reaches them, that what it
publishes says what became of each event, and that what is refused leaves the table as it was.
"""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from freshet.event_times.counted import counted_in
from freshet.hudi.checkpoint import TIMES_KEY
from tests.kit.commands import freshet, refused
from tests.kit.event_lake import (
    DDL,
    DEBEZIUM,
    KEYED,
    MESSAGES,
    SHOWN,
    TYPED,
    a_change,
    a_message,
    an_event,
    counted,
    pipeline,
)
from tests.kit.lake import RECORD_INDEX, Lake


@pytest.mark.parametrize("kind", ["mor", "cow"])
def test_a_table_of_events_is_merged_run_by_run_and_each_event_is_counted(lake: Lake, kind: str) -> None:
    pipeline(lake, "adapter: freshet, groups: {tips: tip}", kind=kind, checks="[]")
    first = [
        an_event(1, "a", 2, "1.00", 1),
        an_event(2, "a", 1, "9.00", 9),
        an_event(3, "b", 1, "3.00", 3),
        an_event(4, "b", 2, deleted=True),
    ]
    lake.land(first, table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    assert lake.rows("derived.trips", *SHOWN) == [("a", Decimal("1.00"), 1, False), ("b", None, None, True)]
    found = counted(lake)
    assert (found["in"], found["published"], found["older"], found["rows"]) == (4, 2, 2, 2)
    times = counted_in(lake.state("derived.trips").latest_extra(TIMES_KEY))
    assert times is not None, "the events say when they were made"
    assert (times.events, times.at_ms - times.lags_ms["min"], times.windows) == (4, 1004, {})
    # A partial change sets its group alone, one that is older than the delete changes nothing, and one that came before either.
    again = ("e8", 8, *an_event(1, "a", 2, "1.00", 1)[2:])
    second = [an_event(6, "a", 3, "7.00", 7, groups=["tips"]), an_event(7, "b", 1, "2.00")]
    lake.land([*second, again], table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    assert lake.rows("derived.trips", *SHOWN)[0] == ("a", Decimal("1.00"), 7, False)
    found = counted(lake)
    assert (found["in"], found["published"], found["older"], found["rows"]) == (3, 1, 2, 1)


def test_events_that_are_read_once_more_change_nothing(lake: Lake) -> None:
    pipeline(lake, "adapter: freshet, groups: {tips: tip}")
    lake.land([an_event(6, None, 1, "5.00")], table="raw.log", schema=TYPED, **KEYED)
    events = [an_event(1, "a", 2, "1.00", 1), an_event(2, "a", 1, "9.00"), an_event(3, "a", 3, tip=7, groups=["tips"])]
    lake.land(
        [*events, an_event(4, "b", 1, deleted=True), an_event(5, "a", 1, "5.00", forced=True)],
        table="raw.log",
        schema=TYPED,
        **KEYED,
    )
    assert lake.run_ok("trips").quarantined == 1
    assert (counted(lake)["aside"], counted(lake)["reasons"]) == (1, {"null_key": 1})
    assert lake.rows("derived.trips", *SHOWN) == [("a", Decimal("5.00"), None, False), ("b", None, None, True)]
    # No row is written, and the checkpoint is there again.
    before = lake.rows("derived.trips")
    lake.set_checkpoint(None, "trips")
    lake.run_ok("trips")
    assert (counted(lake)["in"], counted(lake)["published"], counted(lake)["rows"]) == (6, 0, 0)
    assert lake.rows("derived.trips") == before
    assert lake.run("trips").outcome == "idle"


def test_messages_of_debezium_in_a_table_in_any_order_and_a_load_anew(lake: Lake) -> None:
    pipeline(lake, DEBEZIUM, checks="[]")
    a, b = {"id": "a"}, {"id": "b"}
    created = a_message(1, a_change("c", 10, after={**a, "amount": "1.50", "tip": 1}), a)
    changed = a_message(2, a_change("u", 20, after={**a, "amount": "2.50", "tip": 2}), a)
    gone = [a_message(3, a_change("d", 30, before=b), b), a_message(4, None, b)]
    late = a_message(5, a_change("c", 5, after={**b, "amount": "9.00", "tip": 9}), b)
    lake.land([changed, *gone], table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    assert (counted(lake)["in"], counted(lake)["skipped"], counted(lake)["published"]) == (3, 1, 2)
    lake.land([created, late], table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    expected = [("a", Decimal("2.50"), 2, False), ("b", None, None, True)]
    assert lake.rows("derived.trips", *SHOWN) == expected
    assert (counted(lake)["older"], counted(lake)["rows"]) == (2, 0)
    freshet(lake, "run", "trips", "--full-refresh")
    assert lake.rows("derived.trips", *SHOWN) == expected
    assert freshet(lake, "validate", "--deep", "trips")["pipelines"] is not None


def test_what_does_not_conform_fails_a_run_or_goes_to_the_quarantine_with_its_bytes(lake: Lake) -> None:
    pipeline(lake, f"{DEBEZIUM}, strict: true", checks="[]")
    good = a_message(1, a_change("c", 10, after={"id": "a", "amount": "1.50", "tip": 1}), {"id": "a"})
    bad = [a_message(2, b"\xff{"), a_message(3, a_change("c", 11, after={"id": "b", "amount": "2.50"}), {"id": "b"})]
    lake.land([good, *bad], table="raw.log", schema=MESSAGES, **KEYED)
    error = refused(lake, "run", "trips", code=6)
    assert (error["code"], error["details"]["reasons"]) == ("EVENTS_UNFIT", {"malformed": 1, "missing": 1})
    assert "trips/0/2" in error["message"]
    pipeline(lake, f"{DEBEZIUM}, strict: true")
    assert lake.run_ok("trips").quarantined == 2
    assert lake.rows("derived.trips", *SHOWN) == [("a", Decimal("1.50"), 1, False)]
    kept = lake.rows("derived.trips_quarantine", "_quarantine_reason", "_quarantine_row")
    assert [one[0].partition(":")[0] for one in kept] == ["malformed", "missing"]
    assert json.loads(kept[0][1])["value_base64"] == "/3s="
    # The message that the YAML now takes is published, and the other one waits.
    pipeline(lake, DEBEZIUM)
    freshet(lake, "quarantine", "replay", "trips")
    assert lake.rows("derived.trips", *SHOWN)[1:] == [("b", Decimal("2.50"), None, False)]
    found = counted(lake)
    assert (found["in"], found["published"], found["reasons"]) == (2, 1, {"malformed": 1})
    assert [one[0] for one in lake.rows("derived.trips_quarantine", "_quarantine_rule")] == ["conforms"]
    # A limit of the check holds for events, too.
    pipeline(lake, DEBEZIUM, checks="- {name: conforms, severity: drop, malformed: true, limit: 1}")
    lake.land([a_message(4, b"{"), a_message(5, b"[")], table="raw.log", schema=MESSAGES, **KEYED)
    before = lake.files("derived.trips")
    assert refused(lake, "run", "trips", code=7)["code"] == "CHECK_FAILED"
    assert lake.files("derived.trips") == before


def test_a_source_that_was_emptied_or_holds_no_events_ends_the_run(lake: Lake) -> None:
    pipeline(lake, DEBEZIUM)
    lake.land([a_message(1, a_change("t", 10))], table="raw.log", schema=MESSAGES, **KEYED)
    error = refused(lake, "run", "trips", code=6)
    assert (error["code"], "trips/0/1" in error["message"]) == ("SOURCE_TRUNCATED", True)
    pipeline(lake, "adapter: freshet")
    assert refused(lake, "run", "trips", code=6)["code"] == "EVENTS_NOT_THERE"
    lake.land([an_event(1, "a", 1)], table="raw.other", schema=TYPED, **KEYED)
    pipeline(lake, DEBEZIUM, source="raw.other")
    assert refused(lake, "run", "trips", code=6)["code"] == "EVENTS_NOT_THERE"


def test_a_preview_shows_what_the_merge_would_change(lake: Lake) -> None:
    pipeline(lake, "adapter: freshet")
    lake.land([an_event(1, "a", 1, "1.00", 1), an_event(2, "b", 1, "1.00", 1)], table="raw.log", schema=TYPED, **KEYED)
    lake.run_ok("trips")
    lake.land([an_event(3, "a", 2, "2.00", 1), an_event(4, "b", 0, "9.00")], table="raw.log", schema=TYPED, **KEYED)
    found = freshet(lake, "preview", "trips")
    assert found["counts"]["updated"] == 1, found
    assert lake.rows("derived.trips", *SHOWN)[0] == ("a", Decimal("1.00"), 1, False)


def test_a_column_that_the_ddl_gets_later_is_there_for_the_changes_that_follow(lake: Lake) -> None:
    pipeline(lake, "adapter: plain, reference_key: {kind: offset}", checks="[]")
    key = {"id": "a"}
    lake.land([a_message(1, {**key, "amount": "1.00", "tip": 1}, key)], table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    wider = DDL.format(type="mor").replace("tip INT", "tip INT, note STRING, small SMALLINT")
    lake.write_file("ddl/trips.sql", wider)
    later = [a_message(0, {**key, "amount": "9.00"}, key), a_message(2, {**key, "note": "x", "small": 7}, key)]
    lake.land(later, table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    assert lake.rows("derived.trips", "amount", "tip", "note", "small") == [(None, None, "x", 7)]
    lake.land([a_message(3, {**key, "small": 8}, key)], table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    assert lake.rows("derived.trips", "note", "small", "_event_order") == [(None, 8, 3)]
    # Another group moves columns from one register to another, which no table can become.
    pipeline(lake, "adapter: plain, reference_key: {kind: offset}, groups: {tips: tip}", checks="[]")
    lake.write_file("ddl/trips.sql", wider)
    lake.land([a_message(4, {**key, "small": 9}, key)], table="raw.log", schema=MESSAGES, **KEYED)
    error = refused(lake, "run", "trips")
    assert (error["code"], "_event_state" in error["message"]) == ("SCHEMA_CHANGED", True)


@pytest.mark.parametrize("index", [{}, RECORD_INDEX], ids=["bucket", "record index"])
def test_a_table_whose_partition_is_of_the_key_is_read_where_events_are(lake: Lake, index: dict[str, str]) -> None:
    pipeline(lake, "adapter: plain, reference_key: {kind: offset}", checks="[]")
    ddl = (
        DDL.format(type="cow").replace("primaryKey = 'id'", "primaryKey = 'id,day'").replace("tip INT)", "tip INT, day STRING)")
    )
    lake.write_file("ddl/trips.sql", ddl.replace("USING hudi", "USING hudi PARTITIONED BY (day)"))
    more = "".join(
        f"  {key}: {value}\n" for key, value in ({**index, "hoodie.metadata.enable": "true"} if index else {}).items()
    )
    text = (lake.project_root / "pipelines/trips.yml").read_text("utf-8")
    lake.write_file("pipelines/trips.yml", text.replace("hoodie:\n", f"hoodie:\n{more}"))
    keys = [{"id": one, "day": day} for one, day in (("a", "2026-01-05"), ("b", "2026-01-05"), ("a", "2026-01-06"))]
    first = [a_message(number, {**key, "amount": f"{number}.00"}, key) for number, key in enumerate(keys, 1)]
    lake.land(first, table="raw.log", schema=MESSAGES, **KEYED)
    lake.run_ok("trips")
    lake.land(
        [a_message(4, {**keys[0], "amount": "4.00"}, keys[0]), a_message(5, None, keys[1])],
        table="raw.log",
        schema=MESSAGES,
        **KEYED,
    )
    lake.run_ok("trips")
    assert lake.rows("derived.trips", "id", "day", "amount", "_event_deleted", "_event_order") == [
        ("a", "2026-01-05", Decimal("4.00"), False, 2),
        ("a", "2026-01-06", Decimal("3.00"), False, 1),
        ("b", "2026-01-05", None, True, 2),
    ]

"""Instants as people read them."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from freshet.hudi.instants import instant_of, readable, zone_of
from tests.kit.memory import a_table_state

NOW = datetime(2026, 11, 25, 23, 57, 37, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(0), "0 s ago"),
        (timedelta(seconds=89), "89 s ago"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(days=400), "400 days ago"),
        (timedelta(minutes=-118), "in 2 h"),
        (timedelta(milliseconds=-400), "0 s ago"),
    ],
    ids=str,
)
def test_the_zone_and_the_age_are_said(age: timedelta, words: str) -> None:
    moment = NOW - age
    text = f"{moment:%Y-%m-%d %H:%M:%S}Z ({words})"
    assert readable(f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}", now=NOW) == text


@pytest.mark.parametrize(
    ("instant", "zone", "words"),
    [
        ("20261125235437123", "UTC", "2026-11-25 23:54:37.123Z"),
        ("20261125235437", "UTC", "2026-11-25 23:54:37Z"),
        ("20261125235437123", "LOCAL", "2026-11-25 23:54:37.123 LOCAL"),
        ("20261125235437123", "", "2026-11-25 23:54:37.123"),
        ("000", "UTC", "000"),
        ("", "UTC", ""),
        ("00000000000000", "UTC", "00000000000000"),
        ("202611252354371", "UTC", "202611252354371"),
    ],
)
def test_what_is_no_time_stays_as_it_is_and_an_unknown_zone_has_no_age(instant: str, zone: str, words: str) -> None:
    assert readable(instant, zone, to_the_millisecond=True) == words


@pytest.mark.parametrize(
    ("machine", "table", "zone"),
    [
        ("UTC", "LOCAL", "UTC"),
        ("Europe/London", "LOCAL", "LOCAL"),
        ("Asia/Tokyo", "LOCAL", "LOCAL"),
        ("Asia/Tokyo", "UTC", "UTC"),
        ("Asia/Tokyo", None, "LOCAL"),
    ],
)
def test_a_local_timeline_is_utc_where_the_machine_is(
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    table: str | None,
    zone: str,
) -> None:
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        assert zone_of(a_table_state(properties={"hoodie.table.timeline.timezone": table} if table else {})) == zone
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("20261125235437123", "20261125235437123"),
        ("2026-11-25 23:54:37", "20261125235437000"),
        ("2026-11-25T23:54:37.123Z", "20261125235437123"),
        (" 2026-11-25 23:54 ", "20261125235400000"),
        ("2026-11-25 23", "20261125230000000"),
        ("20261125", "20261125000000000"),
        ("2024-02-29", "20240229000000000"),
    ],
)
def test_a_time_is_named_as_people_write_it(text: str, instant: str) -> None:
    assert instant_of(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30",
        "2025-02-29",
        "20261301",
        "2026-00-10",
        "0000-01-01",
        "2026-11-25 24:00",
        "2026-11-25 23:60:00",
        "2026-11-25 23:54:61",
        "20261125123",
        "2026-1-1 12:10",
        "2026-11-2 5:00",
        "26-11-2026",
        "2026:11:25",
        "",
        "yesterday",
        "\u00b2\u2070\u00b2\u2076",
        "\u0662\u0660\u0662\u0666\u0661\u0661\u0662\u0665",
        "2026-11-25 23:54:37.1234567",
        "20261",
    ],
)
def test_a_time_that_does_not_exist_is_none(text: str) -> None:
    """A day that no calendar has, and what another time could be read from: 2026-1-1 12:10 is not the 11th of December."""
    assert instant_of(text) == ""

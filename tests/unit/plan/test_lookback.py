"""How far a look-back reaches where two tables name their commits in different time zones.

Times of the main source's commits are held against those of the input. Kind: UTC against a writer's own zone, either way round;
two writers' own zones, which nothing tells; one table read as both; the hour that a writer's zone skips in spring. That a table
names its commits in UTC is told by its properties, or by the commits where freshet wrote them all; the zone of the machine
that plans tells nothing.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.hudi.checkpoint import RUN_ID_KEY
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.look.lookback import look_back
from freshet.sources.hudi.reads import Window
from tests.kit.memory import SOURCE, a_table_state
from tests.unit.plan.test_inputs import LOOKBACK, TIPS

NOON = datetime(2026, 8, 1, 12, tzinfo=timezone.utc)
SPRING = datetime(2026, 3, 8, 12, tzinfo=timezone.utc)
ANGELES, KIRITIMATI, PAGO = "America/Los_Angeles", "Pacific/Kiritimati", "Pacific/Pago_Pago"
NAMED_IN_UTC = {"hoodie.table.timeline.timezone": "UTC"}
LOCAL = {"hoodie.table.timeline.timezone": "LOCAL"}


def named(moment: datetime, zone: str) -> str:
    return f"{moment.astimezone(ZoneInfo(zone)):%Y%m%d%H%M%S}000"


def table(
    zone: str,
    *moments: datetime,
    ref: TableRef = TIPS,
    properties: dict[str, str] | None = None,
    by_freshet: bool = False,
) -> TableState:
    """Return a table whose writer lives in a zone, with a commit at each moment."""
    found = {}
    for moment in moments:
        extra = {RUN_ID_KEY: f"{moment - timedelta(seconds=20):%Y%m%dT%H%M%S}-0123abcd"} if by_freshet else {}
        found[Instant(named(moment, zone), named(moment - timedelta(seconds=1), zone), "commit")] = CommitInfo(extra=extra)
    return a_table_state(list(found.items()), ref=ref, properties=LOCAL if properties is None else properties)


def looked(source: TableState, tips: TableState, upto: str, hours: int = 24, **more: Any) -> Window:
    one = replace(LOOKBACK, lookback_seconds=hours * 3600)
    window = more.pop("window", Window(kind="increment", begin_inclusive=upto, end_inclusive=upto, requested=("1",)))
    return look_back(one, tips, source, window, more.pop("news", None), upto)


def reaches(source_zone: str, tips_zone: str, ago: timedelta, at: datetime = NOON, same: bool = False, **more: Any) -> bool:
    """Say whether a look-back of 24 hours before a commit of the main source holds the tip of so long ago."""
    utc = {zone: NAMED_IN_UTC if zone == "UTC" else LOCAL for zone in (source_zone, tips_zone)}
    source = table(source_zone, at, ref=TIPS if same else SOURCE, properties=utc[source_zone])
    tips = table(tips_zone, at - ago, at, properties=utc[tips_zone])
    return len(looked(source, tips, named(at, source_zone), **more).requested) == 2


HOURS_23 = timedelta(hours=23, minutes=59)


@pytest.mark.parametrize(
    ("source", "tips"),
    [
        ("UTC", ANGELES),
        (ANGELES, "UTC"),
        ("UTC", KIRITIMATI),
        (KIRITIMATI, "UTC"),
        ("UTC", PAGO),
        (PAGO, "UTC"),
        (KIRITIMATI, PAGO),
        (PAGO, KIRITIMATI),
        ("UTC", "UTC"),
        (ANGELES, ANGELES),
    ],
)
@pytest.mark.parametrize("at", [NOON, SPRING], ids=["summer", "the day when an hour is skipped"])
def test_a_row_within_it_is_never_left_out(source: str, tips: str, at: datetime) -> None:
    assert reaches(source, tips, HOURS_23, at)


def test_where_both_are_named_in_utc_it_is_exact() -> None:
    assert reaches("UTC", "UTC", HOURS_23)
    assert not reaches("UTC", "UTC", timedelta(hours=24, minutes=1))


@pytest.mark.parametrize("machine", ["UTC", ANGELES])
def test_the_machines_zone_tells_nothing_of_who_wrote_a_table(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        assert reaches("UTC", ANGELES, timedelta(hours=19))
        assert not reaches("UTC", "UTC", timedelta(hours=25))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_of_one_table_there_is_one_zone_and_one_hour_that_comes_twice() -> None:
    assert reaches(ANGELES, ANGELES, HOURS_23, SPRING, same=True)
    assert not reaches(ANGELES, ANGELES, timedelta(hours=26), same=True)


class TestWrittenByFreshet:
    """In UTC, unless it was told otherwise: its commits hold the time of their run, too."""

    def of(self, source: TableState, tips: TableState) -> int:
        return len(looked(source, tips, named(NOON, "UTC")).requested)

    def test_it_is_exact(self) -> None:
        moments = (NOON - timedelta(hours=25), NOON)
        source = table("UTC", NOON, ref=SOURCE, by_freshet=True)
        assert self.of(source, table("UTC", *moments, by_freshet=True)) == 1
        assert self.of(source, table("UTC", *moments)) == 2
        assert self.of(table("UTC", NOON, ref=SOURCE), table("UTC", *moments, by_freshet=True)) == 2

    def test_in_another_zone_it_is_not(self) -> None:
        moments = (NOON - timedelta(hours=19), NOON)
        source = table("UTC", NOON, ref=SOURCE, by_freshet=True)
        assert self.of(source, table(ANGELES, *moments, by_freshet=True)) == 2


def test_the_plan_says_that_it_reaches_further() -> None:
    words = looked(table("UTC", NOON, ref=SOURCE), table(ANGELES, NOON), named(NOON, "UTC")).reason
    assert "26 h" in words
    assert "time zone" in words
    exact = looked(
        table("UTC", NOON, ref=SOURCE, properties=NAMED_IN_UTC), table("UTC", NOON, properties=NAMED_IN_UTC), named(NOON, "UTC")
    )
    assert "time zone" not in exact.reason


def test_what_drives_is_of_the_input_itself_and_needs_no_more() -> None:
    source = table("UTC", NOON, ref=SOURCE, properties=NAMED_IN_UTC)
    tips = table("UTC", *(NOON - timedelta(hours=hours) for hours in (73, 71, 48, 1)), properties=NAMED_IN_UTC)
    begin = named(NOON - timedelta(hours=48), "UTC")
    news = Window(kind="increment", begin_inclusive=begin, end_inclusive=begin, requested=("1",))
    assert len(looked(source, tips, named(NOON, "UTC"), news=news).requested) == 3


def test_it_counts_from_a_commit_that_is_named_before_the_checkpoint() -> None:
    early = named(NOON - timedelta(hours=30), "UTC")
    source = table("UTC", NOON, ref=SOURCE, properties=NAMED_IN_UTC)
    tips = table("UTC", NOON - timedelta(hours=50), NOON, properties=NAMED_IN_UTC)
    late = Window(kind="increment", begin_inclusive=early, end_inclusive=named(NOON, "UTC"), requested=("1",), late=("1",))
    assert len(looked(source, tips, named(NOON, "UTC"), window=late).requested) == 2


@given(
    st.sampled_from(["UTC", ANGELES, KIRITIMATI, PAGO, "Asia/Kolkata", "Europe/London", "Australia/Lord_Howe"]),
    st.sampled_from(["UTC", ANGELES, KIRITIMATI, PAGO, "Asia/Kathmandu", "Pacific/Chatham", "America/St_Johns"]),
    st.integers(1, 72 * 60),
    st.integers(0, 365 * 24),
    st.integers(0, 48),
)
def test_whatever_the_zones_are(source: str, tips: str, minutes: int, hour: int, hours: int) -> None:
    at, ago = NOON + timedelta(hours=hour), timedelta(minutes=minutes)
    # A difference of two times on a clock that is set back is less than what went by.
    if ago < timedelta(hours=hours):
        assert reaches(source, tips, ago, at, hours=hours)
    elif source == tips == "UTC" and ago > timedelta(hours=hours):
        assert not reaches(source, tips, ago, at, hours=hours)

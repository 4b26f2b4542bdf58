"""What a commit keeps of event times, and the latency that whoever reads it derives."""

from __future__ import annotations

import json

import pytest

from freshet.event_times.counted import Counted, Latency, counted_in
from freshet.event_times.latency import latency_of
from freshet.hudi.checkpoint import TIMES_KEY
from tests.kit.memory import a_commit

BEGIN = 1_785_579_300  # 2026-08-01 10:15:00 UTC, the minute of the tests' commits
COUNTED = Counted(
    at_ms=BEGIN * 1000,
    events=4,
    lags_ms={"min": 1000, "p50": 2000, "p95": 9000, "p99": 9000, "max": 9000},
    untimed=1,
    future=2,
    ahead_ms=5000,
    window_seconds=3600,
    windows={BEGIN - BEGIN % 3600: 6},
    earlier=7,
    first=3600,
    beyond=8,
)


def test_what_a_commit_keeps_is_read_as_it_was() -> None:
    assert counted_in(COUNTED.metadata()) == COUNTED
    assert counted_in(Counted(at_ms=1).metadata()) == Counted(at_ms=1)


@pytest.mark.parametrize("text", [None, "", "{", "[]", "7", '{"version": 1}', json.dumps({"version": 2}), "[" * 100_000])
def test_what_is_no_count_tells_nothing(text: str | None) -> None:
    assert counted_in(text) is None


def test_the_latency_reaches_to_the_commits_completion() -> None:
    instant, info = a_commit(500, extra={TIMES_KEY: COUNTED.metadata()})
    seconds = {"min": 1.5, "p50": 2.5, "p95": 9.5, "p99": 9.5, "max": 9.5}
    assert latency_of(instant, info, "UTC") == Latency(events=4, seconds=seconds, future=2, ahead_seconds=5.0, untimed=1)
    assert latency_of(instant, info, "LOCAL") is None, "nobody knows when it completed"
    assert latency_of(*a_commit(500), "UTC") is None


def test_a_clock_that_was_set_back_makes_no_event_early() -> None:
    assert COUNTED.latency(BEGIN - 60.0).seconds["min"] == 1.0

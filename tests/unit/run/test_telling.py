"""What a run tells of its plan, without Spark: the window, how far each input is ahead, and how long stages took."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from freshet.events.event import Event
from freshet.events.kinds import LagObserved, StageFinished, WindowPlanned
from freshet.hudi.table import MemoryState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.run.telling import stage_teller, tell_plan
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_source_spec, a_spec, a_table_state, a_target
from tests.unit.plan.test_inputs import DRIVING, TIPS, a_lake, stood

UTC_NAMED = {"hoodie.table.timeline.timezone": "UTC"}
# A minute after the tests' commits.
NOW = datetime(2026, 8, 1, 10, 16, 0, tzinfo=timezone.utc).timestamp()
COMMITS = [a_commit(n, rows=n) for n in (10, 20, 30, 40, 50)]


def _state(at: int | None, zone: dict[str, str] = UTC_NAMED) -> MemoryState:
    spec = a_spec()
    tables = {SOURCE.path: a_table_state(COMMITS, properties=zone)}
    if at is not None:
        tables[spec.target.ref.path] = replace(a_target((500, a_checkpoint(at))), ref=spec.target.ref)
    return MemoryState(tables)


def _told(at: int | None, zone: dict[str, str] = UTC_NAMED, max_commits: int = 5) -> list[Event]:
    spec, state, events = a_spec(inputs=(), source=a_source_spec(max_commits=max_commits)), _state(at, zone), list[Event]()
    tell_plan(events.append, spec, compile_plan(spec, state, RunRequest()), state, NOW)
    return events


def test_the_oldest_commit_that_waits_has_an_age() -> None:
    """By its completion time; what the window takes waits as what it leaves does."""
    window, lag = _told(10, max_commits=2)
    assert isinstance(window, WindowPlanned)
    assert (window.kind, window.commits, window.rows, window.waiting_commits, window.waiting_rows) == (
        "increment",
        2,
        50,
        2,
        90,
    )
    assert (window.begin[-3:], window.end[-3:]) == ("020", "030")
    assert isinstance(lag, LagObserved)
    assert (lag.input, lag.seconds, lag.commits, lag.rows) == (SOURCE.name, 59.98, 4, 140)


def test_where_nothing_waits_there_is_no_lag() -> None:
    window, lag = _told(50)
    assert isinstance(window, WindowPlanned)
    assert isinstance(lag, LagObserved)
    assert (window.kind, lag.seconds, lag.commits, lag.rows) == ("idle", 0.0, 0, 0)


def test_a_zone_that_nobody_knows_gives_no_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.timezone", 3600)
    _, lag = _told(10, {"hoodie.table.timeline.timezone": "LOCAL"})
    assert isinstance(lag, LagObserved)
    assert (lag.seconds, lag.commits) == (None, 4)


def test_a_clock_that_is_ahead_gives_no_lag_below_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.run.test_telling.NOW", NOW - 3600)
    _, lag = _told(10)
    assert isinstance(lag, LagObserved)
    assert lag.seconds == 0.0


def test_no_lag_is_told_of_what_is_no_window_of_the_source() -> None:
    """Of a first run, which reads all; a checkpoint set by hand; and so of a replay, a backfill and work on an index."""
    (whole,) = _told(None)
    assert isinstance(whole, WindowPlanned)
    assert (whole.kind, whole.commits, whole.rows) == ("whole_table", None, None), "nobody has counted them yet"
    events, spec, state = list[Event](), a_spec(inputs=()), _state(50)
    tell_plan(events.append, spec, compile_override(spec, state, None), state, NOW)
    assert [(event.name, event.fields["kind"]) for event in events] == [("window_planned", "override")]


def test_each_input_with_a_position_has_its_own_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the plan's window leaves is that of all inputs together; here each has what waits of it alone."""
    monkeypatch.setattr("time.timezone", 0)
    monkeypatch.setattr("time.daylight", 0)
    spec = a_spec(inputs=(DRIVING,), source=a_source_spec(max_commits=1))
    state, events = a_lake(None, None, stood(10, 5)), list[Event]()
    plan = compile_plan(spec, state, RunRequest())
    tell_plan(events.append, spec, plan, state, NOW)
    found = [(one.input, one.commits, one.seconds) for one in events if isinstance(one, LagObserved)]
    assert found == [(SOURCE.name, 1, 59.5), (TIPS.name, 2, 59.7)]
    assert plan.window.waiting_commits == 1
    events.clear()
    state = a_lake(None, None, stood(500, 600))
    tell_plan(events.append, spec, compile_plan(spec, state, RunRequest()), state, NOW)
    found = [(one.input, one.commits, one.seconds) for one in events if isinstance(one, LagObserved)]
    assert found == [(SOURCE.name, 0, 0.0), (TIPS.name, 0, 0.0)]


def test_a_stage_says_whether_its_rows_were_computed() -> None:
    events: list[Event] = []
    finished = stage_teller(events.append, "a")
    finished("session", 3.25, None)
    finished("transform", 0.5, None)
    finished("transform", 2.5, 40)
    finished("write", 1.0, 40)
    found = [(one.stage, one.rows, one.lazy) for one in events if isinstance(one, StageFinished)]
    assert found == [("session", None, False), ("transform", None, True), ("transform", 40, False), ("write", 40, False)]
    assert "while it writes them" in events[1].message

"""Runs over a changelog that die before their commit and behind it: no event is lost, none counts twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from freshet.hudi.checkpoint import EVENTS_KEY
from freshet.hudi.timeline import TimelineState
from freshet.quarantine.table import hidden_runs
from freshet.run import executor
from freshet.sinks.commit import write_commit
from tests.kit.commands import ended, kill_when, start
from tests.kit.event_lake import KEYED, TYPED, an_event, counted, pipeline
from tests.kit.lake import Lake


class Died(BaseException):
    """Stands for kill -9: nothing is caught, nothing is tidied up."""


def dies_before(*args: Any, **more: Any) -> None:
    raise Died


def dies_behind(*args: Any, **more: Any) -> None:
    write_commit(*args, **more)
    raise Died


def all_in(lake: Lake) -> int:
    """Return of how many events all commits together tell."""
    state = lake.state("derived.trips")
    return sum(json.loads(state.info(one).extra.get(EVENTS_KEY) or '{"in": 0}')["in"] for one in state.commits)


def apart(lake: Lake) -> list[Any]:
    return lake.rows("derived.trips_quarantine", "_quarantine_rule")


def land(lake: Lake, *events: tuple[Any, ...]) -> None:
    lake.land(events, table="raw.log", schema=TYPED, **KEYED)


@pytest.mark.parametrize("keeps", ["", "history"], ids=["newest", "history"])
def test_a_run_that_dies_around_its_commit_leaves_each_event_in_one_place(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, keeps: str
) -> None:
    pipeline(lake, "adapter: freshet", keeps=keeps)
    land(lake, an_event(1, "a", 1, "1.00"), an_event(2, "a", 2, "2.00"), an_event(3, None, 1))

    def dying(how: Callable[..., None]) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(executor, "write_commit", how)
            with pytest.raises(Died):
                lake.run("trips")

    dying(dies_before)
    assert len(hidden_runs(lake.spec("trips"), TimelineState())) == 1
    # The window that is read again holds what came meanwhile, too.
    land(lake, an_event(4, "b", 1, "4.00"), an_event(5, None, 2))
    dying(dies_behind)
    told = counted(lake)
    assert (told["in"], told["published"] + told["older"], told["aside"]) == (5, 3, 2)
    assert lake.run_ok("trips").outcome == "idle"
    # What came before comes once more, beside what is new.
    again = ("e6", 6, *an_event(2, "a", 2, "2.00")[2:])
    land(lake, again, an_event(7, "b", 2, deleted=True))
    lake.run_ok("trips")
    assert (all_in(lake), len(apart(lake))) == (7, 2)
    assert hidden_runs(lake.spec("trips"), TimelineState()) == ()
    rows = lake.rows("derived.trips", "id", "tip", "_event_deleted", "_event_order")
    if keeps:
        assert [row[0] for row in rows] == ["a", "a", "b", "b"]
    else:
        assert rows == [("a", None, False, 1), ("b", None, True, 2)]


@pytest.mark.waits
@pytest.mark.parametrize("keeps", ["", "history", "append"], ids=["newest", "history", "events"])
def test_a_process_over_a_changelog_that_is_killed_as_it_writes(lake: Lake, keeps: str) -> None:
    pipeline(lake, "adapter: freshet", keeps=keeps)
    land(lake, *(an_event(number, f"k{number % 7}", number, f"{number}.00") for number in range(1, 50)))
    timeline = lake.root / "derived/trips/.hoodie/timeline"
    kill_when(lambda: any(timeline.glob("*.inflight")), start(lake, "run", "trips"))
    again = start(lake, "run", "trips")
    ended(again)
    assert all_in(lake) == 49
    rows = lake.rows("derived.trips", "id")
    assert len(rows) == (49 if keeps else 7)
    assert lake.run_ok("trips").outcome == "idle"

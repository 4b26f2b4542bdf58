"""What is looked at and what runs next, by a made clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.serve.agenda import LOOKS
from freshet.serve.entry import Ended
from tests.unit.serve.kit import (
    COMMITTED,
    FAILED,
    IDLE,
    LOST,
    Made,
    continuous,
    follows,
    on_call,
    scheduled,
)

MINUTE = 60.0


def test_a_schedule_is_looked_at_at_its_times_and_runs_where_something_is_new() -> None:
    made = Made(scheduled("a"))
    waited, begun = made.next_start()
    assert (round(waited), begun) == (600, ["look a"])
    made.looked("a", IDLE)
    assert made.phase("a") == "resting"
    waited, begun = made.next_start()
    assert (round(waited), begun) == (600, ["look a"])
    made.looked("a")
    assert made.starts() == ["run a"]
    assert made.starts() == []
    made.ran("a")
    assert round(made.next_start()[0]) == 600


def test_a_schedule_goes_by_its_own_time_zone() -> None:
    """Six in Berlin is four, UTC, in summer."""
    made = Made(scheduled("a", "0 6 * * *", zone="Europe/Berlin"))
    assert round(made.next_start(most=86_400)[0]) == 18 * 3600


def test_a_time_that_comes_during_a_run_is_one_look_afterwards() -> None:
    made = Made(scheduled("a"), due=["a"])
    assert made.starts() == ["look a"]
    made.looked("a")
    assert made.starts() == ["run a"]
    made.passes(35 * MINUTE)
    assert made.starts() == []
    made.ran("a")
    assert made.starts() == ["look a"]
    made.looked("a", IDLE)
    assert made.starts() == []


def test_a_continuous_pipeline_keeps_its_interval_from_begin_to_begin() -> None:
    made = Made(continuous("a", 30))
    assert made.starts() == ["look a"]
    made.passes(10)
    made.looked("a", IDLE)
    assert made.next_start() == (pytest.approx(20, abs=0.1), ["look a"])
    made.looked("a")
    assert made.starts() == ["run a"]
    made.passes(45)
    made.ran("a")
    assert made.starts() == ["look a"]


def test_a_commit_makes_those_due_that_follow_it_and_no_others() -> None:
    made = Made(on_call("a"), follows("b", "a"), follows("c", "b"), scheduled("d", "0 * * * *", "a"), on_call("e"), due=["a"])
    made.through("a")
    assert made.starts() == ["look b"]
    made.looked("b", IDLE)
    assert made.starts() == [], "c follows commits, and b made none"
    made.agenda.upstream_committed("b", made.now)
    assert made.starts() == ["look c"]


def test_a_commit_during_a_followers_run_is_read_by_the_next_one() -> None:
    made = Made(on_call("a"), follows("b", "a"), due=["b"])
    assert made.starts() == ["look b"]
    made.looked("b")
    assert made.starts() == ["run b"]
    made.agenda.upstream_committed("a", made.now)
    assert made.starts() == []
    made.ran("b", IDLE)
    assert made.starts() == ["look b"]


def test_of_one_moment_the_upstream_goes_first_whatever_becomes_of_it() -> None:
    for ended in (COMMITTED, FAILED, LOST, Ended(outcome="busy")):
        made = Made(scheduled("a"), scheduled("b", "*/10 * * * *", "a"))
        assert made.next_start()[1] == ["look a"]
        assert made.agenda.shown(made.now)["b"]["after"] == ["a"]
        made.looked("a")
        assert made.starts() == ["run a"]
        made.ran("a", ended)
        assert made.starts() == ["look b"]


def test_an_upstream_that_rests_or_is_due_later_is_not_waited_for() -> None:
    made = Made(scheduled("a", "*/1 * * * *"), scheduled("b", "*/1 * * * *", "a"), due=["a"])
    made.through("a", FAILED)
    made.passes(MINUTE)
    assert made.starts() == ["look b"], "a is due, and rests after its failure"
    made.looked("b", IDLE)
    paused = Made(scheduled("a"), scheduled("b", "*/10 * * * *", "a"))
    paused.agenda.pause("a", True, paused.now)
    assert paused.next_start()[1] == ["look b"]
    busy = Made(continuous("a", 1), follows("b", "a"), parallel=1, due=["b"])
    busy.through("a")
    busy.passes(1)
    assert busy.starts() == ["look b", "look a"], "b was due before a was again"


def test_the_one_that_is_due_for_longest_runs_first() -> None:
    """Two that always have news leave their turn to one that comes once."""
    made = Made(continuous("a", 1), continuous("b", 1), on_call("c"), parallel=1)
    order = []
    for round_ in range(30):
        made.passes(1)
        if round_ == 5:
            made.agenda.call("c", made.now)
        for start in made.starts():
            what, name = start.split()
            if what == "look":
                made.looked(name)
            else:
                order.append(name)
        if made.agenda.running:
            made.ran(made.agenda.running[0])
    asked = order.index("c")
    assert order.count("a") > 5
    assert abs(order.count("a") - order.count("b")) <= 1
    assert asked < 9
    assert order[asked + 1 :] == [name for name in order[asked + 1 :] if name != "c"]


def test_no_more_run_at_a_time_than_may_and_none_beside_what_it_must_not_meet() -> None:
    one = [replace(on_call(name), apart=frozenset({"the cluster", name})) for name in ("a", "b")]
    made = Made(*one, on_call("c"), on_call("d"), parallel=2, due=["a", "b", "c", "d"])
    while looks := [start.split()[1] for start in made.starts() if start.startswith("look")]:
        for name in looks:
            made.looked(name)
    assert sorted(made.agenda.running) == ["a", "c"], "b waits for a, and d goes on instead of it"
    made.ran("a")
    assert made.starts() == ["run b"]
    assert len(made.agenda.running) == 2


def test_looks_go_on_beside_runs_that_take_long() -> None:
    made = Made(*(on_call(f"p{n}") for n in range(6)), parallel=1, due=[f"p{n}" for n in range(6)])
    assert made.starts() == [f"look p{n}" for n in range(LOOKS)]
    for n in range(LOOKS):
        made.looked(f"p{n}")
    begun = made.starts()
    assert begun[0] == "run p0"
    assert [one for one in begun if one.startswith("look")] == [f"look p{LOOKS + n}" for n in range(LOOKS)]


@pytest.mark.parametrize(("ended", "first"), [(LOST, 30), (FAILED, 300)])
def test_after_failures_it_rests_twice_as_long_each_time_up_to_an_hour(ended: Ended, first: float) -> None:
    made = Made(continuous("a", 1))
    rests = []
    for _ in range(9):
        waited, begun = made.next_start()
        assert begun == ["look a"]
        rests.append(round(waited))
        made.looked("a")
        assert made.starts() == ["run a"]
        made.ran("a", ended)
        assert made.phase("a") == "backoff"
    assert rests[1:4] == [first, 2 * first, 4 * first]
    assert rests[-1] == 3600
    made.passes(3600)
    made.through("a")
    made.passes(1)
    assert made.starts() == ["look a"], "after a success it rests no longer"


def test_what_failed_by_its_data_waits_for_its_schedule_and_what_can_be_repeated_does_not() -> None:
    made = Made(scheduled("a", "0 6 * * *"), due=["a"])
    made.through("a", FAILED)
    assert round(made.next_start(most=86_400)[0]) == 20 * 3600
    made = Made(scheduled("a", "0 6 * * *"), due=["a"])
    made.through("a", LOST)
    assert round(made.next_start()[0]) == 30


def test_a_target_that_another_writer_holds_is_tried_again_and_counts_as_no_failure() -> None:
    made = Made(on_call("a"), due=["a"])
    made.through("a", Ended(outcome="busy"))
    assert made.agenda.shown(made.now)["a"]["failures"] == 0
    assert made.next_start() == (pytest.approx(30, abs=0.1), ["look a"])


def test_what_is_left_is_read_at_once_behind_the_others() -> None:
    made = Made(on_call("a"), on_call("b"), parallel=1, due=["a"])
    assert made.starts() == ["look a"]
    made.looked("a")
    assert made.starts() == ["run a"]
    made.passes(1)
    made.agenda.call("b", made.now)
    assert made.starts() == ["look b"]
    made.looked("b")
    made.passes(1)
    made.ran("a", Ended(outcome="committed", more_waits=True))
    assert made.starts() == ["run b", "look a"]


def test_a_call_goes_before_a_rest() -> None:
    made = Made(on_call("a"), due=["a"])
    made.through("a", FAILED)
    assert made.next_start(most=7200)[1] == [], "nobody called it"
    made.agenda.call("a", made.now)
    made.through("a", FAILED)
    made.agenda.call("a", made.now)
    assert made.starts() == ["look a"]


def test_a_paused_pipeline_does_nothing_until_it_is_resumed() -> None:
    made = Made(scheduled("a"), follows("b", "a"), due=["a", "b"])
    assert made.starts() == ["look a"]
    made.agenda.pause("a", True, made.now)
    made.agenda.pause("b", True, made.now)
    made.looked("a")
    assert (made.phase("a"), made.phase("b")) == ("paused", "paused")
    made.agenda.upstream_committed("a", made.now)
    assert made.next_start(most=7200)[1] == []
    assert made.agenda.shown(made.now)["b"]["waiting_seconds"] == 0, "it waits for nobody's turn"
    made.agenda.pause("b", False, made.now)
    assert made.starts() == ["look b"]


def test_a_run_that_goes_on_while_its_pipeline_is_paused_ends_by_itself() -> None:
    made = Made(continuous("a", 1))
    assert made.starts() == ["look a"]
    made.looked("a")
    assert made.starts() == ["run a"]
    made.agenda.pause("a", True, made.now)
    assert made.phase("a") == "running"
    made.ran("a")
    assert made.next_start(most=60)[1] == []


def test_what_ends_begins_nothing_any_longer() -> None:
    made = Made(continuous("a", 1), continuous("b", 1))
    made.starts()
    made.agenda.is_open = False
    made.looked("a")
    assert made.starts() == []
    assert made.agenda.at_work == ("b",)


def test_looks_go_on_while_spark_is_started_anew() -> None:
    made = Made(on_call("a"), on_call("b"), due=["a"])
    made.starts()
    made.agenda.runs_allowed = False
    made.looked("a")
    assert made.starts() == []
    made.agenda.call("b", made.now)
    assert made.starts() == ["look b"]
    made.agenda.runs_allowed = True
    assert made.starts() == ["run a"]


def test_two_hundred_pipelines_all_have_their_turn() -> None:
    made = Made(*(continuous(f"p{n:03}", 60) for n in range(200)), parallel=2)
    seen: set[str] = set()
    for _ in range(400):
        for start in made.starts():
            name = start.split()[1]
            seen.add(name)
            made.looked(name, IDLE)
        made.passes(0.1)
    assert len(seen) == 200

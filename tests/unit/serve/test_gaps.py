"""What is done in gaps, and that no tick waits for more of it than it must; by a made clock."""

from __future__ import annotations

import pytest

from freshet.serve.gaps import PATIENCE_SECONDS, Chore, Gaps
from tests.unit.serve.kit import IDLE, Made, continuous, follows, on_call, scheduled


class Bench:
    """An agenda with gaps.

    Args:
        made: The agenda.
        chores: What is to be done.
    """

    def __init__(self, made: Made, *chores: Chore) -> None:
        self.made, self.gaps = made, Gaps()
        for chore in chores:
            chore.since = made.steady
            self.gaps.add(chore)

    def start(self) -> str:
        """Begin a step as the loop does; returns of what."""
        found = self.gaps.start(self.made.agenda, self.made.now)
        self.made.agenda.held = self.gaps.working.apart if self.gaps.working else frozenset()
        return found.pipeline if found else ""

    def end(self) -> None:
        """Let the step end that goes on, and the next one wait."""
        assert self.gaps.working is not None
        self.gaps.wait(self.gaps.working, self.made.now)
        self.made.agenda.held = frozenset()


def chore(name: str, alone: bool = True) -> Chore:
    return Chore(pipeline=name, what="backfill", words="a range", apart=frozenset({name}) if alone else frozenset())


def test_a_step_begins_in_a_gap_and_its_target_is_looked_at_meanwhile() -> None:
    found = Bench(Made(scheduled("a")), chore("a"))
    assert found.start() == "a"
    assert found.start() == "", "one at a time"
    found.made.passes(600)
    assert found.made.starts() == ["look a"]
    found.made.looked("a")
    assert found.made.starts() == [], "the run waits for the end of the step that it must not meet"
    found.end()
    assert found.made.starts() == ["run a"]
    assert found.start() == "", "no gap while it runs"
    found.made.ran("a")
    assert found.start() == "a"


def test_a_run_goes_beside_a_step_that_it_may_meet() -> None:
    found = Bench(Made(scheduled("a")), chore("a", alone=False))
    assert found.start() == "a"
    found.made.passes(600)
    found.made.through("a")


def test_no_run_of_others_waits_for_a_step() -> None:
    """Nor has it a place of theirs."""
    found = Bench(Made(scheduled("a"), scheduled("b"), parallel=1), chore("a"))
    assert found.start() == "a"
    found.made.passes(600)
    assert set(found.made.starts()) == {"look a", "look b"}
    found.made.looked("a")
    found.made.looked("b")
    assert found.made.starts() == ["run b"]


@pytest.mark.parametrize("phase", ["due", "looking", "ready", "running"])
def test_a_tick_goes_first(phase: str) -> None:
    found = Bench(Made(scheduled("a"), due=["a"]), chore("a"))
    if phase != "due":
        assert found.made.starts() == ["look a"]
    if phase in ("ready", "running"):
        found.made.looked("a")
    if phase == "running":
        assert found.made.starts() == ["run a"]
    assert found.start() == ""


def test_where_runs_wait_for_a_place_nothing_else_begins() -> None:
    found = Bench(Made(on_call("a"), on_call("b"), on_call("c"), parallel=1, due=["a", "b"]), chore("c"))
    found.made.starts()
    found.made.looked("a")
    found.made.looked("b")
    assert found.made.starts() == ["run a"]
    assert found.start() == ""
    found.made.ran("a")
    assert found.made.starts() == ["run b"]
    assert found.start() == "c", "one that runs leaves a gap"


def test_what_has_waited_long_goes_before_the_next_tick_and_never_beside_a_run() -> None:
    """Of a pipeline that always has something to do no gap ever comes."""
    found = Bench(Made(continuous("a", 1)), chore("a"))
    for _ in range(int(PATIENCE_SECONDS) // 10 + 1):
        assert found.made.next_start()[1] == ["look a"]
        found.made.looked("a")
        assert found.made.starts() == ["run a"]
        found.made.passes(10)
        assert found.start() == ""
        found.made.ran("a")
        if found.start():
            break
    assert found.gaps.working is not None
    found.made.passes(2)
    found.made.starts()
    found.made.looked("a")
    assert found.made.starts() == []
    found.end()
    assert found.made.starts() == ["run a"], "one step, and then the tick"


def test_the_chore_that_has_waited_longest_is_next() -> None:
    found = Bench(Made(on_call("a"), on_call("b")), chore("a"), chore("b"))
    assert found.start() == "a"
    found.made.passes(1)
    found.end()
    assert found.start() == "b"
    found.end()
    assert found.start() == "a"


def test_what_is_paused_rests_stopped_or_not_served_has_no_gap() -> None:
    made = Made(on_call("a"), follows("b", "a"), on_call("c"))
    rests, stops = chore("b"), chore("c")
    found = Bench(made, chore("a"), rests, stops, chore("gone"))
    made.agenda.pause("a", True, made.now)
    rests.not_before, stops.stopping = made.steady + 60, True
    assert found.start() == ""
    made.agenda.pause("a", False, made.now)
    assert made.starts() == ["look a"]
    made.looked("a", IDLE)
    assert found.start() == "a"
    made.passes(61)
    found.end()
    assert found.start() == "b"


@pytest.mark.parametrize("what", ["is_open", "runs_allowed"])
def test_nothing_begins_while_the_process_ends_or_starts_spark_anew(what: str) -> None:
    found = Bench(Made(on_call("a")), chore("a"))
    setattr(found.made.agenda, what, False)
    assert found.start() == ""

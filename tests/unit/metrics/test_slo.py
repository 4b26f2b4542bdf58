"""Promises: kept, at risk, broken, and the reason; where nobody can tell what waits, the last success decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.hudi.table import CommitInfo, Instant
from freshet.metrics.measured import Measured
from freshet.metrics.slo import in_words, objectives_of
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_table_state, a_target, at
from tests.unit.metrics.kit import BEGIN, a_run, looked_at, promising, standing, unknown_lag, values, with_runs, working
from tests.unit.plan.test_inputs import DRIVING, TIPS, stood

HALF_AN_HOUR = 1800


def waiting(minutes: float) -> Measured:
    """Return a pipeline of whose source two commits wait, the older one for so many minutes."""
    source = a_table_state([a_commit(n) for n in (10, 20, 30)])
    return looked_at(source, a_target((15, a_checkpoint(10))), now=BEGIN + 60 * minutes + 0.02)


def told(found: Measured, freshness: int | None = HALF_AN_HOUR, max_runtime: int | None = None) -> list[tuple[str, str]]:
    return [(one.result, one.reason) for one in objectives_of(promising(found, freshness, max_runtime))]


@pytest.mark.parametrize(("minutes", "result"), [(1, "kept"), (22, "kept"), (23, "at_risk"), (30, "at_risk"), (31, "broken")])
def test_freshness_is_the_age_of_what_waits(minutes: float, result: str) -> None:
    ((found, reason),) = told(waiting(minutes))
    assert found == result
    assert (
        reason == f"the oldest of 2 commits that wait in {SOURCE.name} completed {minutes} min ago, and 30 min are allowed"
        or (minutes == 1 and "completed 60 s ago" in reason)
    )


def test_where_nothing_waits_it_is_kept_however_old_the_last_run_is() -> None:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))), now=BEGIN + 1e6)
    assert told(found) == [("kept", "nothing waits")]


def test_what_can_still_be_told_of_a_refused_pipeline_counts() -> None:
    """Broken by what waits; at risk while that is young, because the next run will not take it."""
    source = a_table_state([a_commit(n) for n in (10, 20, 30)], retained_from=at(29))
    target = a_target((12, a_checkpoint(10)))
    assert told(looked_at(source, target, now=BEGIN + 7200))[0][0] == "broken"
    result, reason = told(looked_at(source, target, now=BEGIN + 60))[0]
    assert (result, reason.split(";")[0]) == ("at_risk", "CHECKPOINT_EXPIRED forbids the next run")


def test_runs_that_fail_put_what_waits_at_risk() -> None:
    found = with_runs(waiting(1), a_run(40, "failed"), failures=2)
    assert told(found)[0][0] == "at_risk"
    assert told(found)[0][1].endswith("and the last 2 runs failed")


def test_a_pipeline_that_never_ran() -> None:
    """By the oldest commit of its source; behind another one that has not run, nobody can say more."""
    found = looked_at(a_table_state([a_commit(10)]), now=BEGIN + 7200)
    assert told(found)[0][0] == "broken"
    behind = standing(replace(found, waiting=()), state="waiting", waits_for=("trips",))
    assert told(behind) == [("at_risk", "it waits for the first run of trips")]


def test_where_nobody_can_tell_what_waits_the_last_success_decides() -> None:
    found = unknown_lag(waiting(1), "SOURCE_MISSING")
    assert told(found) == [("broken", "SOURCE_MISSING: what waits cannot be told, and no run has succeeded")]
    young = with_runs(replace(found, now=BEGIN + 600), a_run(1), success=at(0))
    assert told(young) == [("at_risk", "SOURCE_MISSING: what waits cannot be told, and the last success is 10 min ago")]
    assert told(replace(young, now=BEGIN + 7200))[0][0] == "broken"


def test_in_a_zone_that_nobody_knows_the_last_success_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.timezone", -3600)
    local = {"hoodie.table.timeline.timezone": "LOCAL"}
    source = a_table_state([a_commit(10), a_commit(20)], properties=local)
    found = looked_at(source, a_target((15, a_checkpoint(10))), now=BEGIN + 60)
    assert told(found)[0][0] == "at_risk"


def test_every_input_that_drives_counts() -> None:
    """The main source has nothing new, and a driving input has."""
    tips = a_table_state([a_commit(5), a_commit(40)], ref=TIPS)
    found = looked_at(a_table_state([a_commit(10)]), tips, stood(10, 5), inputs=(DRIVING,), now=BEGIN + 7200)
    result, reason = told(found)[0]
    assert (result, TIPS.name in reason) == ("broken", True)
    assert told(replace(found, waiting=found.waiting[:1]))[0][0] == "broken", "not known is not fresh"


@pytest.mark.parametrize(("seconds", "result"), [(5.0, "kept"), (50.0, "at_risk"), (61.0, "broken")])
def test_the_last_run_that_worked(seconds: float, result: str) -> None:
    found = with_runs(waiting(1), a_run(50, "idle", 0.1), a_run(40, "committed", seconds))
    assert told(found, None, 60)[0][0] == result


def test_the_run_at_work() -> None:
    found = with_runs(waiting(2), a_run(40, "committed", 5.0))
    assert told(working(found, found.now - 61), None, 60)[0][0] == "broken"
    assert told(working(found, found.now - 50), None, 60)[0][0] == "at_risk"
    assert told(working(found, found.now - 61, "table services"), None, 60)[0][0] == "kept"


def test_no_run_and_no_promise() -> None:
    assert told(waiting(1), None, 60) == [("kept", "no run that had work to do is recorded")]
    assert objectives_of(waiting(1)) == ()


def test_they_are_metrics() -> None:
    found = promising(waiting(31), HALF_AN_HOUR, 60)
    assert values(found, "freshet_slo_objective_seconds") == {("freshness",): 1800, ("max_runtime",): 60}
    true = {labels for labels, value in values(found, "freshet_slo_result").items() if value}
    assert true == {("freshness", "broken"), ("max_runtime", "kept")}
    assert len(values(found, "freshet_slo_result")) == 6


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0 s"), (42, "42 s"), (119.96, "120 s"), (150, "2.5 min"), (10_000, "2.8 h"), (864_000, "10 days")],
)
def test_lengths_of_time(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_a_commit_of_the_past_counts_from_when_it_completed() -> None:
    """A commit that was requested early, and completed late, has waited since then."""
    source = a_table_state([a_commit(10), (Instant(at(900), at(11), "commit"), CommitInfo(inserts=1))])
    found = looked_at(source, a_target((15, a_checkpoint(10))), now=BEGIN + 10)
    assert values(found, "freshet_source_lag_seconds") == {(SOURCE.name,): 9.1}

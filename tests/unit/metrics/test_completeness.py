"""The promise of completeness and the metrics of event times, from what commits say of themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshet.account.windows import Completeness, Fill, WindowFill
from freshet.event_times.counted import Counted
from freshet.hudi.checkpoint import TIMES_KEY
from freshet.metrics.alerts import rules_of
from freshet.metrics.complete import judge_completeness, share_words
from freshet.metrics.measured import Measured
from freshet.metrics.slo import objectives_of
from freshet.project.model.pipeline import Project
from freshet.project.model.promises import EventTimes, Slo
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_spec, a_table_state, a_target
from tests.unit.metrics.kit import BEGIN, looked_at, values

HOUR = 3600
NOW = 10 * HOUR


def a_window(begin: int, at_source: int | None, missing: int, fill: Fill, why: str = "", doubt: bool = False) -> WindowFill:
    due = begin + 2 * HOUR
    return WindowFill(begin=begin, due=due, at_source=at_source, missing=missing, fill=fill, why=why, in_doubt=doubt)


def judged(*windows: WindowFill, error: str = "") -> tuple[str, str]:
    found = Completeness(pipeline="p", source="raw.t", windows=windows, window_seconds=HOUR, error=error)
    return judge_completeness(found, 0.99, NOW)


@pytest.mark.parametrize(
    ("windows", "result", "said"),
    [
        ((), "kept", "no window with events is due"),
        ((a_window(0, 1000, 0, "complete"), a_window(HOUR, 1000, 10, "short")), "kept", "2 windows with events are due"),
        ((a_window(0, 1000, 11, "short", "11 rows wait"),), "broken", "lacks 11 of 1,000 rows (11 rows wait), and 99% is"),
        ((a_window(0, 10, 1, "short"), a_window(HOUR, 10, 2, "short")), "broken", "lacks 2 of 10 rows"),
        ((a_window(0, None, 0, "unknown", "7 rows that wait", doubt=True),), "at_risk", "7 rows that wait"),
        ((a_window(0, 1000, 1, "short", "1 row waits; 90 rows may", doubt=True),), "at_risk", "90 rows may"),
        ((a_window(8 * HOUR + 600, 10, 1, "open"),), "at_risk", "which is due at 1970-01-01T10:10:00Z"),
        ((a_window(9 * HOUR, 10, 1, "open"),), "kept", "no window"),
    ],
    ids=["nothing", "enough", "too few", "the worst", "in doubt", "enough, but in doubt", "soon due", "not yet over"],
)
def test_a_promise_is_of_the_windows_that_are_due(windows: tuple[WindowFill, ...], result: str, said: str) -> None:
    found, reason = judged(*windows)
    assert (found, said in reason) == (result, True), reason


def test_what_cannot_be_told_is_at_risk() -> None:
    assert judged(error="KAFKA_UNREACHABLE: no")[0] == "at_risk"
    assert judge_completeness(None, 0.99, NOW)[0] == "at_risk"


def test_a_share_does_not_round_up_to_all() -> None:
    assert [share_words(one) for one in (1.0, 0.999, 0.5, 0.9999999)] == ["100%", "99.9%", "50%", "99.999%"]


def measured_with(missing_commit: bool) -> Measured:
    counted = Counted(
        at_ms=int(BEGIN) * 1000,
        events=3,
        lags_ms={"min": 0, "p50": 10, "p95": 20, "p99": 20, "max": 20},
        future=1,
        window_seconds=HOUR,
        windows={int(BEGIN) // HOUR * HOUR - HOUR: 4},
    )
    told = {TIMES_KEY: counted.metadata()}
    source = a_table_state([a_commit(10, rows=4, extra=told), a_commit(20, rows=4, extra=told)])
    target = a_target((30, a_checkpoint(10 if missing_commit else 20)), extra=told)
    spec = a_spec(
        inputs=(),
        event_times=EventTimes(column="updated_at", window_seconds=HOUR, lateness_seconds=60),
        slo=Slo(completeness=0.9),
    )
    return looked_at(source, target, spec=spec)


def test_the_metrics_of_a_last_commit_and_of_its_windows() -> None:
    found = measured_with(missing_commit=True)
    main = (SOURCE.name,)
    late = values(found, "freshet_last_commit_event_latency_seconds")
    assert late == {("min",): 0.03, ("p50",): 0.04, ("p95",): 0.05, ("p99",): 0.05, ("max",): 0.05}
    assert values(found, "freshet_last_commit_event_times") == {("past",): 3, ("future",): 1, ("none",): 0}
    assert values(found, "freshet_source_completeness_ratio") == {main: 0.5}
    assert values(found, "freshet_source_missing_rows") == {main: 4}
    assert values(found, "freshet_source_windows")[(SOURCE.name, "short")] == 1
    assert values(found, "freshet_slo_objective_ratio") == {("completeness",): 0.9}
    (objective,) = objectives_of(found)
    assert (objective.objective, objective.result, objective.seconds) == ("completeness", "broken", 60)
    whole = measured_with(missing_commit=False)
    assert [one.result for one in objectives_of(whole)] == ["kept"]
    assert values(whole, "freshet_source_completeness_ratio") == {main: 1.0}


def test_who_promises_completeness_is_alerted() -> None:
    spec = replace(measured_with(missing_commit=False).spec, owner="money")
    project = Project(root="/p", env="prod", pipelines=(spec,), upstream={})
    rules = {one["alert"]: one for group in rules_of(project, 600)["groups"] for one in group["rules"]}
    assert rules["FreshetCompletenessBroken"]["annotations"]["next"] == f"freshet status {spec.name} --env prod --completeness"
    assert 'kind="completeness",result="at_risk"' in rules["FreshetCompletenessAtRisk"]["expr"]

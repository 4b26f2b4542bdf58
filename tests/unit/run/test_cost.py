"""What the next run will cost is read from records and commits; a budget warns, or refuses the run before it reads anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import ORIGIN_KEY
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.model.promises import BudgetSpec
from freshet.run.cost import estimate_of, estimate_words, hold_budget, shown_estimate
from freshet.run.records import write_record
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target, at

# Completion of each run's commit, and the rows that it read.
RUNS = {100: 1000, 110: 2000, 120: 3000, 130: 4000, 140: 6000}


def pipeline(root: Path, **budget: Any) -> PipelineSpec:
    target = a_table_spec(ref=TableRef("derived.earnings", str(root / "lake" / "earnings")))
    return a_spec(inputs=(), target=target, budget=BudgetSpec(**budget))


def a_lake(spec: PipelineSpec, runs: dict[int, int] = RUNS, waits: int = 5000, origin: str = "increment") -> MemoryState:
    """Return tables in which so many rows wait, and records of runs that took 3 s and 1 s for each 1,000 rows."""
    source = a_table_state([a_commit(10), a_commit(20, rows=waits)])
    made = a_target((99, a_checkpoint(10)))
    first = made.commits[0]
    template = made.info(first)
    commits = []
    for moment, rows in runs.items():
        groups = tuple(f"day=1/{n}" for n in range(8))
        files = tuple((f"day=1/{n}.parquet", 10 * rows) for n in range(8))
        info = replace(template, extra={**template.extra, ORIGIN_KEY: origin}, file_ids=groups, files=files)
        commits.append((a_commit(moment)[0], info))
        record = {
            "what": "run",
            "outcome": "committed",
            "begun": at(moment),
            "ended": at(moment),
            "commits": [at(moment)],
            "seconds": {"session": 4.0, "write": 1.0, "total": 7.0 + rows / 1000},
            "rows": {"read": rows},
        }
        write_record(spec.target.ref, spec.name, record)
    target = a_table_state([(first, template), *commits], ref=spec.target.ref)
    return MemoryState({SOURCE.path: source, spec.target.ref.path: target})


def planned(spec: PipelineSpec, state: MemoryState) -> Plan:
    return compile_plan(spec, state, RunRequest())


def test_an_increment_is_estimated_by_the_runs_before(tmp_path: Path) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec)
    plan = planned(spec, state)
    found = estimate_of(spec, plan, state)
    assert found is not None
    assert (found.rows, found.runs) == (5000, 5)
    assert found.seconds.value == pytest.approx(8.0), "without the start of Spark"
    assert found.written_bytes.value == pytest.approx(400_000)
    assert found.file_groups.value == 8
    assert estimate_words(found, plan) == (
        "8 s without Spark's start (±0%), 400 kB written (±0%), 8 file groups (±0%); by 5 runs, with their median error",
    )


@pytest.mark.parametrize(
    "change",
    [
        {"what": "replay"},
        {"outcome": "failed"},
        {"commits": [at(100), at(110)]},
        {"commits": [at(999)]},
        {"rows": {}},
        {"rows": {"read": 0}},
        {"seconds": {"write": 1.0}},
    ],
)
def test_what_does_not_tell_what_a_run_took_is_left_out(tmp_path: Path, change: dict[str, Any]) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec)
    record = {"what": "run", "outcome": "committed", "begun": at(200), "ended": at(200), "commits": [at(100)]}
    write_record(spec.target.ref, spec.name, {**record, "seconds": {"total": 900.0}, "rows": {"read": 5}, **change})
    found = estimate_of(spec, planned(spec, state), state)
    assert found is not None
    assert found.runs == 5


def test_only_increments_tell_of_increments(tmp_path: Path) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec, origin="whole_table")
    plan = planned(spec, state)
    assert estimate_of(spec, plan, state) is None
    assert estimate_words(None, plan) == ("none yet: it takes 4 runs of this pipeline that committed an increment",)


def test_what_reads_no_increment_is_not_estimated(tmp_path: Path) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec)
    first = MemoryState({SOURCE.path: state.table(SOURCE)})  # type: ignore[dict-item]
    plan = planned(spec, first)
    assert plan.window.kind == "whole_table"
    assert estimate_of(spec, plan, first) is None
    assert estimate_words(None, plan) == ()


def test_a_table_that_breaks_meanwhile_hides_no_plan(tmp_path: Path) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec)
    plan = planned(spec, state)

    class Broken(MemoryState):
        def table(self, ref: TableRef) -> TableState | None:
            raise StateError("TIMELINE_UNREADABLE", "no", "", "")

    assert shown_estimate(spec, plan, Broken({})) is None


def test_a_far_store_is_asked_only_where_a_budget_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = pipeline(tmp_path)
    plan = planned(spec, a_lake(spec))
    monkeypatch.setattr("freshet.run.cost.is_local", lambda path: False)
    monkeypatch.setattr("freshet.run.cost.read_records", pytest.fail)
    assert shown_estimate(spec, plan, MemoryState({})) is None


def test_a_budget_warns_or_refuses(tmp_path: Path) -> None:
    limits = {"seconds": 7, "written_bytes": 300_000, "file_groups": 8}
    spec = pipeline(tmp_path, **limits)
    state = a_lake(spec)
    plan = planned(spec, state)
    (notice,) = hold_budget(spec, plan, state)
    assert notice.code == "OVER_BUDGET"
    assert (
        notice.message == "earnings: the next run reads 5,000 rows and will take 8 s of 7 s allowed, 400 kB of 300 kB allowed."
    )
    strict = replace(spec, budget=BudgetSpec(**limits, over="refuse"))
    with pytest.raises(StateError) as refused:
        hold_budget(strict, plan, state)
    assert refused.value.code == "BUDGET_EXCEEDED"
    assert "--set budget.over=warn" in refused.value.next_step
    assert refused.value.details["estimate"]["rows"] == 5000


def test_a_run_within_its_budget_and_one_that_nobody_can_estimate_pass(tmp_path: Path) -> None:
    spec = pipeline(tmp_path, seconds=60, written_bytes=10**9, file_groups=8, over="refuse")
    state = a_lake(spec)
    assert hold_budget(spec, planned(spec, state), state) == ()
    young = pipeline(tmp_path / "young", seconds=1, over="refuse")
    state = a_lake(young, {100: 1000})
    assert hold_budget(young, planned(young, state), state) == ()


def test_without_a_budget_no_run_pays_for_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = pipeline(tmp_path)
    state = a_lake(spec)
    plan = planned(spec, state)
    monkeypatch.setattr("freshet.run.cost.read_records", pytest.fail)
    assert hold_budget(spec, plan, state) == ()

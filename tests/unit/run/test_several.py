"""Which pipelines of a project run at a time, and in what order; a run is a stand-in that says when it begins and ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any

import pytest

from freshet.errors import DataError
from freshet.events.event import Event
from freshet.hudi.table import MemoryState
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, PipelineSpec, Project, TableRef
from freshet.run.result import RunResult
from freshet.run.several import run_project
from tests.kit.memory import a_spec, a_table_spec

# Runs that can meet do so at once; those that must not are waited for in vain.
_MEETING_SECONDS = 0.2


class Runs:
    """Stand-ins for runs, each of which stays until another one runs beside it, or for a moment.

    Args:
        fails: What a pipeline's run ends with, by its name.
    """

    def __init__(self) -> None:
        self.fails: dict[str, BaseException] = {}
        self.order: list[str] = []
        self.met: set[frozenset[str]] = set()
        self.most = 0
        self._now: set[str] = set()
        self._lock, self._meeting = Lock(), Barrier(2)

    def run(self, project: Project, spec: PipelineSpec, *_: object) -> RunResult:
        with self._lock:
            self.order.append(spec.name)
            self._now.add(spec.name)
            self.most = max(self.most, len(self._now))
            self.met |= {frozenset((spec.name, other)) for other in self._now - {spec.name}}
        try:
            self._meeting.wait(_MEETING_SECONDS)
        except BrokenBarrierError:
            self._meeting.reset()
        with self._lock:
            self._now.remove(spec.name)
        stopped = self.fails.get(spec.name)
        if isinstance(stopped, DataError):
            return RunResult(pipeline=spec.name, outcome="failed", error=stopped)
        if stopped is not None:
            raise stopped
        return RunResult(pipeline=spec.name, outcome="committed")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs()
    monkeypatch.setattr("freshet.run.several.run_pipeline", runs.run)
    return runs


def a_pipeline(name: str, table: str = "", **changes: Any) -> PipelineSpec:
    ref = TableRef(f"derived.{table or name}", f"/data/{table or name}")
    return a_spec(**{"name": name, "target": a_table_spec(ref=ref), "inputs": (), **changes})


def run(
    tmp_path: Path,
    *specs: PipelineSpec,
    parallel: int,
    upstream: dict[str, tuple[str, ...]] | None = None,
    events: list[Event] | None = None,
) -> dict[str, str]:
    project = Project(str(tmp_path), "local", specs, upstream or {})
    listen = (lambda event: None) if events is None else events.append
    results = run_project(project, MemoryState({}), listen, parallel=parallel)
    return {result.pipeline: result.outcome for result in results}


def test_pipelines_run_at_a_time_and_no_more_than_asked_for(tmp_path: Path, runs: Runs) -> None:
    found = run(tmp_path, *map(a_pipeline, "abcde"), parallel=2)
    assert list(found.items()) == [(name, "committed") for name in "abcde"]
    assert runs.most == 2


def test_one_at_a_time_in_the_projects_order(tmp_path: Path, runs: Runs) -> None:
    run(tmp_path, *map(a_pipeline, "abcd"), parallel=1, upstream={"d": ("a",)})
    assert (runs.order, runs.most) == (list("abcd"), 1)


def test_nobody_begins_before_its_upstream_ended_and_others_go_on(tmp_path: Path, runs: Runs) -> None:
    run(tmp_path, *map(a_pipeline, "abcd"), parallel=4, upstream={"b": ("a",), "c": ("b",)})
    assert not runs.met & {frozenset(pair) for pair in ("ab", "bc", "ac")}
    assert runs.order.index("a") < runs.order.index("b") < runs.order.index("c")
    assert frozenset("ad") in runs.met, "d waits for nobody"


def test_those_below_a_failed_one_are_skipped_and_the_others_run(tmp_path: Path, runs: Runs) -> None:
    runs.fails["a"] = DataError("SQL_ERROR", "no")
    events: list[Event] = []
    found = run(tmp_path, *map(a_pipeline, "abcd"), parallel=3, upstream={"b": ("a",), "c": ("b",)}, events=events)
    assert found == {"a": "failed", "b": "skipped", "c": "skipped", "d": "committed"}
    assert sorted(runs.order) == ["a", "d"]
    assert [(event.name, event.pipeline) for event in events] == [("skipped", "b"), ("skipped", "c")]


def test_two_that_write_one_table_take_turns(tmp_path: Path, runs: Runs) -> None:
    run(tmp_path, a_pipeline("a", "t"), a_pipeline("b", "t"), a_pipeline("c"), parallel=3)
    assert frozenset("ab") not in runs.met
    assert sorted(runs.order) == list("abc")


def test_two_with_an_hbase_index_take_turns_and_others_run_beside_them(tmp_path: Path, runs: Runs) -> None:
    index = IndexSpec(
        "HBASE", {}, HBaseSpec(quorum="127.0.0.1", port=2181, znode="/hbase", table="t", server_rate=1, shares={}, client={})
    )
    run(tmp_path, a_pipeline("a", index=index), a_pipeline("b", index=index), a_pipeline("c"), parallel=3)
    assert frozenset("ab") not in runs.met
    assert frozenset("ac") in runs.met


@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.parametrize("stopped", [KeyboardInterrupt(), SystemExit(3)])
def test_what_stops_the_process_stops_all(tmp_path: Path, runs: Runs, parallel: int, stopped: BaseException) -> None:
    runs.fails["a"] = stopped
    with pytest.raises(type(stopped)):
        run(tmp_path, *map(a_pipeline, "abcdef"), parallel=parallel)
    assert "f" not in runs.order


def test_threads_are_not_waited_for_at_the_end(tmp_path: Path) -> None:
    code = f"""
import time
from freshet.run import several
from freshet.project.model.pipeline import Project
from freshet.hudi.table import MemoryState
from tests.unit.run.test_several import a_pipeline
def run(project, spec, *_):
    if spec.name == "a":
        raise KeyboardInterrupt
    time.sleep(60)
several.run_pipeline = run
several.run_project(Project({str(tmp_path)!r}, "local", (a_pipeline("b"), a_pipeline("a")), {{}}), MemoryState({{}}), print,
                    parallel=2)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False, timeout=30
    )
    assert "KeyboardInterrupt" in done.stderr

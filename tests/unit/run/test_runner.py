"""What becomes of each pipeline of a run; the executor is a stand-in that moves a table held in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from freshet.errors import DataError, RetryableError, StateError
from freshet.events.bus import Bus
from freshet.events.event import Event
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import CommitInfo, MemoryState, TableConfig, TableState
from freshet.plan.stages import Commit, Plan
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef, TableType
from freshet.run.records import read_records
from freshet.run.result import RunResult, in_words, summed
from freshet.run.runner import run_pipeline, set_checkpoint
from freshet.run.several import run_project
from freshet.run.telling import Finished
from tests.kit.memory import (
    SOURCE,
    a_checkpoint,
    a_commit,
    a_source_spec,
    a_spec,
    a_table_spec,
    a_table_state,
    a_target,
    an_instant,
    at,
)


class World:
    """Tables in memory, and an executor that publishes to them what the plan says."""

    def __init__(self, root: Path, source: TableState) -> None:
        self.root, self.tables = root, {SOURCE.path: source}
        self.executed: list[tuple[str, str]] = []
        self.short: list[bool] = []
        self.fails: dict[str, Exception] = {}
        self.events: list[Event] = []

    def pipeline(self, name: str, **changes: Any) -> PipelineSpec:
        target = a_table_spec(ref=TableRef(f"derived.{name}", str(self.root / name)))
        return a_spec(**{"name": name, "target": target, "inputs": (), **changes})

    def project(self, *specs: PipelineSpec, upstream: dict[str, tuple[str, ...]] | None = None) -> Project:
        return Project(str(self.root), "local", specs, upstream or {})

    @property
    def state(self) -> MemoryState:
        return MemoryState(self.tables)

    def stands_at(self, spec: PipelineSpec, checkpoint: Checkpoint) -> None:
        self.tables[spec.target.ref.path] = replace(a_target((500, checkpoint)), ref=spec.target.ref)

    def execute(
        self,
        plan: Plan,
        spec: PipelineSpec,
        root: str,
        env: str,
        state: object,
        session: object,
        run_id: str,
        phase: Callable[[str], None],
        short: bool,
        finished: Finished,
    ) -> SimpleNamespace:
        phase("working")
        finished("session", 0.5, None)
        self.short.append(short)
        self.executed.append((spec.name, plan.window.kind))
        if spec.name in self.fails:
            raise self.fails[spec.name]
        commit = plan.stages[-1]
        assert isinstance(commit, Commit)
        done = an_instant(500 + len(self.executed))
        self.stands_at(spec, commit.checkpoint or Checkpoint())
        info = CommitInfo(inserts=plan.window.rows, updates=1)
        return SimpleNamespace(
            instant=done,
            info=info,
            seconds={"write": 0.1},
            service_error=None,
            outcomes=(),
            quarantined=0,
            sync_error=None,
            quarantine_error=None,
            older=SimpleNamespace(kept=0, at_least=False, undeletable=0),
        )

    def names(self) -> list[str]:
        """Return what people are shown."""
        return [event.name for event in self.events if not event.for_machines]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path, a_table_state([a_commit(n, rows=n) for n in (10, 20, 30, 40, 50)]))
    executor = ModuleType("freshet.run.executor")
    executor.execute = world.execute  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "freshet.run.executor", executor)
    return world


def run(
    world: World,
    *specs: PipelineSpec,
    upstream: dict[str, tuple[str, ...]] | None = None,
    **how: Any,
) -> dict[str, RunResult]:
    results = run_project(world.project(*specs, upstream=upstream), world.state, world.events.append, **how)
    return {result.pipeline: result for result in results}


def test_a_run_that_commits(world: World) -> None:
    spec = world.pipeline("a")
    world.stands_at(spec, a_checkpoint(30))
    found = run(world, spec)["a"]
    assert (found.outcome, found.commits, found.inserts, found.updates) == ("committed", (at(501),), 90, 1)
    assert (found.checkpoint, found.waiting_commits, found.error) == (at(50), 0, None)
    assert found.run_id
    assert found.seconds is not None
    assert set(found.seconds) == {"write", "total"}
    assert world.names() == ["phase", "committed"]
    assert json.loads(json.dumps(found.as_json()))["commits"] == [at(501)]


def test_an_idle_run_executes_nothing_and_keeps_its_place(world: World) -> None:
    spec = world.pipeline("a")
    world.stands_at(spec, a_checkpoint(50))
    found = run(world, spec)["a"]
    assert (found.outcome, found.checkpoint, found.commits, found.run_id) == ("idle", at(50), (), "")
    assert "no commit since" in found.reason
    assert (world.executed, world.names()) == ([], ["idle"])


@pytest.mark.parametrize(
    ("rows", "table_type", "others", "short"),
    [
        (100, "MERGE_ON_READ", 0, True),
        (300_000, "MERGE_ON_READ", 0, False),
        (100, "COPY_ON_WRITE", 0, False),
        (100, "MERGE_ON_READ", 1, False),
    ],
)
def test_a_process_with_one_small_increment_is_a_short_one(
    tmp_path: Path,
    world: World,
    rows: int,
    table_type: TableType,
    others: int,
    short: bool,
) -> None:
    """One that goes on with other pipelines, or writes whole files again, pays for an optimising compiler."""
    world.tables |= World(tmp_path, a_table_state([a_commit(n, rows=rows if n == 40 else 0) for n in (10, 20, 30, 40)])).tables
    specs = [world.pipeline(name) for name in "abc"[: others + 1]]
    specs = [replace(spec, target=replace(spec.target, table_type=table_type)) for spec in specs]
    config = TableConfig(
        table_type=table_type,
        record_key=specs[0].target.record_key,
        partition_by=specs[0].target.partition_by,
        ordering_field=specs[0].target.ordering_field,
    )
    for spec in specs:
        world.stands_at(spec, a_checkpoint(30))
        stands = world.tables[spec.target.ref.path]
        world.tables[spec.target.ref.path] = replace(stands, config=config)
    found = run(world, *specs)
    assert [r.error for r in found.values()] == [None] * len(specs)
    assert set(world.short) == {short}


class TestSeveral:
    def test_a_failure_skips_descendants_and_leaves_the_others_running(self, world: World) -> None:
        world.fails["a"] = DataError("NULL_VALUE", "a null")
        found = run(world, *map(world.pipeline, "abcd"), upstream={"b": ("a",), "c": ("b",), "d": ()})
        assert {name: r.outcome for name, r in found.items()} == {
            "a": "failed",
            "b": "skipped",
            "c": "skipped",
            "d": "committed",
        }
        assert found["a"].error is world.fails["a"]
        assert "upstream a " in found["b"].reason
        assert "upstream b " in found["c"].reason
        assert [name for name, _ in world.executed] == ["a", "d"]
        assert world.names() == ["phase", "failed", "skipped", "skipped", "phase", "committed"]

    def test_an_idle_upstream_blocks_nobody(self, world: World) -> None:
        first = world.pipeline("a")
        world.stands_at(first, a_checkpoint(50))
        found = run(world, first, world.pipeline("b"), upstream={"b": ("a",)})
        assert [r.outcome for r in found.values()] == ["idle", "committed"]

    def test_an_upstream_that_was_not_asked_for_blocks_nobody(self, world: World) -> None:
        assert run(world, world.pipeline("b"), upstream={"b": ("a",)})["b"].outcome == "committed"

    def test_a_plan_that_is_refused_is_a_failure_of_its_pipeline_alone(self, world: World) -> None:
        refused = world.pipeline("a", source=a_source_spec(missing_checkpoint="ERROR"))
        found = run(world, refused, world.pipeline("b"))
        assert isinstance(found["a"].error, StateError)
        assert found["a"].error.code == "NO_CHECKPOINT"
        assert found["b"].outcome == "committed"
        assert found["a"].as_json()["error"]["code"] == "NO_CHECKPOINT"  # type: ignore[index]


class TestDrain:
    def start(self, world: World) -> PipelineSpec:
        spec = world.pipeline("a", source=a_source_spec(max_commits=2))
        world.stands_at(spec, a_checkpoint(10))
        return spec

    def test_without_it_the_rest_is_left_for_the_next_run(self, world: World) -> None:
        found = run(world, self.start(world))["a"]
        assert (len(found.commits), found.checkpoint, found.waiting_commits) == (1, at(30), 2)

    def test_with_it_the_run_repeats_until_nothing_waits_and_sums_what_it_did(self, world: World) -> None:
        found = run(world, self.start(world), drain=True)["a"]
        assert (found.outcome, found.commits) == ("committed", (at(501), at(502)))
        assert (found.inserts, found.updates, found.checkpoint, found.waiting_commits) == (140, 2, at(50), 0)

    def test_a_failure_on_the_way_keeps_what_was_committed(self, world: World) -> None:
        spec, execute = self.start(world), world.execute

        def second_fails(*args: Any, **how: Any) -> SimpleNamespace:
            if world.executed:
                raise DataError("NULL_VALUE", "a null")
            return execute(*args, **how)

        sys.modules["freshet.run.executor"].execute = second_fails  # type: ignore[attr-defined]
        found = run(world, spec, drain=True)["a"]
        assert (found.outcome, found.commits, found.checkpoint) == ("failed", (at(501),), at(30))
        assert found.error is not None

    def test_what_was_read_is_summed(self, world: World) -> None:
        """And kept beside the run; of a whole table no commits tell how much that is, nor is a part of it all."""
        spec = self.start(world)
        found = run(world, spec, drain=True)["a"]
        assert (found.read_commits, found.read_rows) == (4, 140)
        ((record,), _) = read_records(spec.target.ref, "a", 1)
        assert (record["source_commits"], record["rows"]["read"]) == (4, 140)
        whole = run(world, world.pipeline("b"))["b"]
        assert (whole.outcome, whole.read_commits, whole.read_rows) == ("committed", None, None)
        assert summed(whole, found).read_rows is None
        assert summed(found, RunResult(pipeline="a", outcome="idle")).read_rows == 140

    def test_an_idle_drain_is_idle(self, world: World) -> None:
        spec = world.pipeline("a")
        world.stands_at(spec, a_checkpoint(50))
        assert run(world, spec, drain=True)["a"].outcome == "idle"


class TestConflicts:
    def test_they_are_counted_and_kept_beside_the_run(self, world: World) -> None:
        spec, execute = world.pipeline("a"), world.execute
        lost = [RetryableError("COMMIT_CONFLICT", "another was faster"), RetryableError("PARTITION_CHANGED", "it moved")]

        def loses_twice(*args: Any, **how: Any) -> SimpleNamespace:
            if lost:
                raise lost.pop()
            return execute(*args, **how)

        sys.modules["freshet.run.executor"].execute = loses_twice  # type: ignore[attr-defined]
        found = run(world, spec)["a"]
        assert (found.outcome, found.conflicts) == ("committed", 2)
        ((record,), _) = read_records(spec.target.ref, "a", 1)
        assert record["conflicts"] == 2


class TestLease:
    def test_how_long_a_run_waited_is_kept_beside_it(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        spec = world.pipeline("a")
        world.stands_at(spec, a_checkpoint(50))
        seconds = iter((100.0, 112.34))
        clock = SimpleNamespace(monotonic=lambda: next(seconds, 120.0))
        monkeypatch.setattr("freshet.run.runner.time", clock)
        found = run(world, spec)["a"]
        assert (found.waited_seconds, found.seconds) == (12, {"total": 20.0})
        ((record,), _) = read_records(spec.target.ref, "a", 1)
        assert record["waited_seconds"] == 12

    def test_a_run_that_finds_its_target_taken_fails_and_executes_nothing(self, world: World) -> None:
        from freshet.lease.local import hold_lease

        spec = world.pipeline("a")
        with hold_lease(spec.target.ref, "run-1", 0.0, pytest.fail):
            found = run(world, spec, world.pipeline("b"))
        assert found["a"].error is not None
        assert found["a"].error.code == "ALREADY_RUNNING"
        assert [name for name, _ in world.executed] == ["b"]

    def test_the_caller_s_wait_wins_over_the_pipeline_s(self, world: World) -> None:
        from freshet.lease.local import hold_lease

        spec = world.pipeline("a", lease_wait_seconds=60.0)
        with hold_lease(spec.target.ref, "run-1", 0.0, pytest.fail):
            found = run_pipeline(world.project(spec), spec, world.state, world.events.append, wait_seconds=0.0)
        assert found.outcome == "failed"

    def test_the_plan_is_made_under_the_lease(self, world: World) -> None:
        from freshet.errors import RetryableError
        from freshet.lease.local import hold_lease

        spec = world.pipeline("a")
        state = world.state

        class Watched:
            def table(self, ref: TableRef) -> TableState | None:
                with pytest.raises(RetryableError), hold_lease(spec.target.ref, "run-2", 0.0, pytest.fail):
                    pass
                return state.table(ref)

        assert run_pipeline(world.project(spec), spec, Watched(), world.events.append).outcome == "committed"


class TestCheckpointByHand:
    def test_set(self, world: World) -> None:
        spec = world.pipeline("a")
        world.stands_at(spec, a_checkpoint(50))
        found = set_checkpoint(world.project(spec), spec, world.state, world.events.append, at(20))
        assert (found.outcome, found.checkpoint, world.executed) == ("committed", at(20), [("a", "override")])
        assert run(world, spec)["a"].inserts == 120

    def test_reset(self, world: World) -> None:
        spec = world.pipeline("a")
        world.stands_at(spec, a_checkpoint(50))
        found = set_checkpoint(world.project(spec), spec, world.state, world.events.append, None)
        assert (found.outcome, found.checkpoint) == ("committed", "")
        assert "checkpoint none" in in_words(found)


def test_notices_are_told_before_the_run(world: World) -> None:
    spec = world.pipeline("a")
    world.tables[SOURCE.path] = a_table_state([a_commit(10), a_commit(20, deletes=2)])
    world.stands_at(spec, a_checkpoint(10))
    run(world, spec)
    assert world.names() == ["notice", "phase", "committed"]
    assert [event.code for event in world.events if event.name == "notice"] == ["DELETES_NOT_SEEN"]


def _told(world: World) -> list[tuple[str, str]]:
    return [(event.name, event.run_id) for event in world.events]


def test_each_commit_of_a_drain_is_a_run_of_its_own(world: World) -> None:
    """All that is told between the beginning of a run and its end has the id that stands in its commit.

    Of the same kind: a run that is repeated after a conflict, and a chunk of a backfill.
    """
    spec = world.pipeline("a", source=a_source_spec(max_commits=2))
    world.stands_at(spec, a_checkpoint(10))
    bus, ids = Bus("command"), []
    bus.subscribe("the test", world.events.append)
    run_project(world.project(spec), world.state, bus.tell, drain=True)
    one = ["run_started", "window_planned", "lag_observed", "phase", "stage_finished", "committed"]
    assert [name for name, _ in _told(world)] == one * 2
    for part in (_told(world)[:6], _told(world)[6:]):
        assert len({run_id for _, run_id in part}) == 1
        ids.append(part[0][1])
    assert ids[0] != ids[1]
    assert [event.fields["run_id"] for event in world.events if event.name == "committed"] == ids
    assert all(event.time > 1_700_000_000 for event in world.events)
    planned = [event.fields for event in world.events if event.name == "window_planned"]
    found = [(one["kind"], one["commits"], one["waiting_commits"]) for one in planned]
    assert found == [("increment", 2, 2), ("increment", 2, 0)]


def test_a_run_that_fails_says_so_under_its_id(world: World) -> None:
    world.fails["a"] = DataError("NULL_VALUE", "a null")
    bus = Bus("command")
    bus.subscribe("the test", world.events.append)
    run_project(world.project(world.pipeline("a"), world.pipeline("b"), upstream={"b": ("a",)}), world.state, bus.tell)
    failed, skipped = world.events[-2:]
    assert (failed.name, failed.level, failed.code, failed.run_id) == ("failed", "error", "NULL_VALUE", world.events[0].run_id)
    assert (skipped.name, skipped.run_id) == ("skipped", "command"), "no run of it has begun"


def test_in_words() -> None:
    done = RunResult(
        pipeline="a",
        outcome="committed",
        run_id="r",
        commits=(at(1), at(2)),
        inserts=1000,
        updates=2,
        deletes=0,
        checkpoint=at(9),
        waiting_commits=3,
        zone="LOCAL",
    )
    assert in_words(done) == (
        "committed 2026-08-01 10:15:00Z, 2026-08-01 10:15:00Z: 1,000 inserted, 2 updated, 0 deleted; checkpoint "
        "2026-08-01 10:15:00 LOCAL, 3 source commits left"
    )
    assert (
        in_words(RunResult(pipeline="a", outcome="failed", error=DataError("NULL_VALUE", "a null.")))
        == "failed: NULL_VALUE: a null."
    )
    assert (
        in_words(RunResult(pipeline="a", outcome="skipped", reason="upstream b did not finish"))
        == "skipped: upstream b did not finish"
    )


def test_an_idle_tick_imports_no_pyspark_no_pyarrow_and_no_sqlglot(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from freshet.run.several import run_project
from tests.kit.memory import SOURCE, a_checkpoint, a_commit, a_spec, a_table_spec, a_table_state, a_target
from freshet.project.model.pipeline import Project, TableRef
from freshet.hudi.table import MemoryState
import freshet.hudi.timeline
ref = TableRef("derived.a", {str(tmp_path / "a")!r})
spec = a_spec(target=a_table_spec(ref=ref), inputs=())
state = MemoryState({{SOURCE.path: a_table_state([a_commit(10)]), ref.path: a_target((20, a_checkpoint(10)))}})
(result,) = run_project(Project({str(tmp_path)!r}, "local", (spec,), {{}}), state, lambda event: None)
heavy = sorted({{"pyspark", "py4j", "pyarrow", "sqlglot", "great_expectations", "rich"}} & set(sys.modules))
print(result.outcome, heavy)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "idle []\n"

"""Looks and runs of one pipeline, pauses, targets of others, and the session: each with a stand-in for what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import CheckError, FreshetError, RetryableError, SyncError
from freshet.events.event import Event
from freshet.hudi.table import MemoryState
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import Project
from freshet.run.records import read_records
from freshet.run.result import RunResult
from freshet.serve.aside import Aside
from freshet.serve.entry import Ended
from freshet.serve.loading import Loaded, Wanted
from freshet.serve.memory import memory_limit, memory_of
from freshet.serve.pauses import is_paused, keep_pause, paused_among
from freshet.serve.targets import Targets
from freshet.serve.warm import Memory, Warm, most_memory
from freshet.serve.work import Work, due_at_start, ended_of, last_begun, last_begun_of
from tests.kit.memory import SOURCE, TARGET, a_checkpoint, a_commit, a_spec, a_table_state, a_target
from tests.kit.project import PIPELINE, a_project
from tests.kit.trend import growth


@pytest.mark.parametrize(
    ("result", "ended"),
    [
        ({"outcome": "committed"}, Ended(outcome="committed")),
        ({"outcome": "committed", "waiting_commits": 3}, Ended(outcome="committed", more_waits=True)),
        ({"outcome": "committed", "waiting_rows": 3}, Ended(outcome="committed", more_waits=True)),
        ({"outcome": "committed", "error": SyncError("X", "x")}, Ended(outcome="committed", more_waits=True)),
        ({"outcome": "idle"}, Ended(outcome="idle")),
        ({"outcome": "idle", "error": SyncError("X", "x")}, Ended(outcome="failed", retryable=True)),
        ({"outcome": "failed", "error": CheckError("X", "x")}, Ended(outcome="failed")),
        ({"outcome": "failed", "error": RetryableError("X", "x")}, Ended(outcome="failed", retryable=True)),
        ({"outcome": "failed", "error": RetryableError("ALREADY_RUNNING", "x")}, Ended(outcome="busy")),
        ({"outcome": "failed"}, Ended(outcome="failed")),
        ({"outcome": "failed", "error": FreshetError("X", "[JAVA_GATEWAY_EXITED]")}, Ended(outcome="failed", retryable=True)),
    ],
)
def test_how_a_run_ended_for_the_agenda(result: dict[str, Any], ended: Ended) -> None:
    assert ended_of(RunResult(pipeline="a", **result)) == ended


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return load_project(a_project(tmp_path), environ={})


def a_work(project: Project, events: list[Event] | None = None) -> Work:
    wanted = Wanted(root=Path(project.root))
    return Work(project, wanted.load, (lambda event: None) if events is None else events.append)


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Note what is recorded, instead of writing it beside tables that are in memory alone."""
    found: list[dict[str, Any]] = []

    @contextmanager
    def noted(*_: object) -> Iterator[dict[str, Any]]:
        found.append({})
        yield found[-1]

    monkeypatch.setattr("freshet.serve.work.remembered", noted)
    return found


@pytest.mark.parametrize(("read", "is_told", "ended"), [(20, True, Ended(outcome="idle")), (10, True, None), (20, False, None)])
def test_a_look_finds_what_the_plan_finds_and_records_that_it_was_idle(
    read: int, is_told: bool, ended: Ended | None, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freshet.serve.work.sync_is_due", lambda spec: not is_told)
    spec = a_spec(inputs=())
    state = MemoryState(
        {SOURCE.path: a_table_state([a_commit(10), a_commit(20)]), TARGET.path: a_target((25, a_checkpoint(read)))}
    )
    monkeypatch.setattr("freshet.serve.work.TimelineState", lambda: state)
    looked = a_work(Project("/p", "local", (spec,), {})).look(spec)
    assert looked.ended == ended
    assert [record["outcome"] for record in records] == (["idle"] if ended else [])


def test_a_look_without_a_source_leaves_it_to_the_run(project: Project) -> None:
    assert a_work(project).look(project.pipelines[0]).ended is None


def test_a_look_that_fails_unforeseen_leaves_it_to_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("of a kind that nobody knows")

    monkeypatch.setattr("freshet.serve.work.compile_run", fails)
    assert a_work(project).look(project.pipelines[0]).ended is None


def test_a_pipeline_whose_upstream_has_not_run_waits(tmp_path: Path) -> None:
    a_project(tmp_path, "first")
    a_project(tmp_path, "second", files={"pipelines/second.yml": PIPELINE.format(name="second", source="../derived/first")})
    found = load_project(tmp_path, environ={})
    looked = a_work(found).look(found.pipelines[1])
    assert looked.ended == Ended(outcome="waiting")
    assert "first" in looked.words


def test_a_run_that_a_step_ends_by_sys_exit_is_a_failed_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaves(*_: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr("freshet.serve.work.run_pipeline", leaves)
    events: list[Event] = []
    found = a_work(project, events).run(project.pipelines[0])
    assert found.ended == Ended(outcome="failed")
    assert found.error is not None
    assert [event.name for event in events] == ["failed"]


def test_a_pause_is_kept_beside_the_target_and_looked_at(project: Project) -> None:
    spec = project.pipelines[0]
    assert not is_paused(spec)
    assert paused_among([spec]) == frozenset()
    keep_pause(spec, True)
    assert is_paused(spec)
    assert paused_among([spec]) == {spec.name}
    looked = a_work(project).look(spec)
    assert (looked.ended, looked.is_paused) == (Ended(outcome="idle"), True)
    assert read_records(spec.target.ref, spec.name, 10) == ([], []), "the mark is no record"
    keep_pause(spec, False)
    keep_pause(spec, False)
    assert not is_paused(spec)


def test_a_pause_that_cannot_be_kept_is_refused(project: Project) -> None:
    spec = project.pipelines[0]
    place = Path(spec.target.ref.path).parent
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file where a folder should be")
    with pytest.raises(RetryableError) as found:
        keep_pause(spec, True)
    assert found.value.code == "PAUSE_NOT_KEPT"


def test_who_is_due_at_the_start() -> None:
    hourly = {"schedule": "0 * * * *", "inputs": ()}
    specs = (
        a_spec(**{**hourly, "name": "missed"}),
        a_spec(**{**hourly, "name": "in time"}),
        a_spec(**{**hourly, "name": "never ran"}),
        a_spec(name="continuous", schedule="", interval_seconds=30, inputs=()),
        a_spec(name="follows", schedule="", inputs=()),
        a_spec(name="on call", schedule="", inputs=()),
    )
    found = Project("/p", "local", specs, {"follows": ("missed",)})
    begun = {"missed": 7200.0, "in time": 36_000.0, "never ran": None}
    assert due_at_start(found, 36_600.0, begun) == {"missed", "continuous", "follows"}


def test_a_pipeline_without_records_began_at_no_time(project: Project) -> None:
    assert last_begun(project.pipelines[0]) is None
    assert last_begun_of(project) == {}


def until_made(targets: Targets) -> None:
    thread = targets._aside._thread
    assert thread is not None
    thread.join()


def test_a_commit_of_anybody_is_seen_once_and_a_target_that_is_seen_first() -> None:
    up, down = a_spec(name="up", schedule="", inputs=()), a_spec(name="down", schedule="", inputs=())
    project = Loaded(project=Project("/p", "local", (up, down), {"down": ("up",)}))
    tables: dict[str, Any] = {}
    targets = Targets(30, lambda: MemoryState(tables))
    assert targets.look(project, 0) == ()
    until_made(targets)
    assert targets.look(project, 1) == (), "there is no table yet"
    tables[up.target.ref.path] = a_target((15, a_checkpoint(10)))
    assert targets.look(project, 29) == ()
    targets.look(project, 30)
    until_made(targets)
    assert targets.look(project, 31) == ("up",)
    targets.look(project, 60)
    until_made(targets)
    assert targets.look(project, 61) == ()


def test_a_target_with_a_commit_is_news_at_first() -> None:
    """It may have come between a follower's look at the start and this one."""
    up, down = a_spec(name="up", schedule="", inputs=()), a_spec(name="down", schedule="", inputs=())
    project = Project("/p", "local", (up, down), {"down": ("up",)})
    targets = Targets(30, lambda: MemoryState({up.target.ref.path: a_target((15, a_checkpoint(10)))}))
    targets.look(Loaded(project=project), 0)
    until_made(targets)
    assert targets.look(Loaded(project=project), 1) == ("up",)


def test_the_target_of_one_that_is_not_served_is_looked_at_too() -> None:
    up, down = a_spec(name="up", schedule="", inputs=()), a_spec(name="down", schedule="", inputs=())
    loaded = Loaded(project=Project("/p", "local", (down,), {"down": ("up",)}), others=(up,))
    targets = Targets(30, lambda: MemoryState({up.target.ref.path: a_target((15, a_checkpoint(10)))}))
    targets.look(loaded, 0)
    until_made(targets)
    assert targets.look(loaded, 1) == ("up",)


def test_a_project_without_followers_asks_for_no_target() -> None:
    def nobody() -> MemoryState:
        raise AssertionError("it was asked")

    targets = Targets(30, nobody)
    assert targets.look(Loaded(project=Project("/p", "local", (a_spec(inputs=()),), {})), 0) == ()
    assert targets._aside._thread is None


def test_what_is_done_aside_is_done_one_at_a_time_and_what_it_raises_is_lost() -> None:
    aside: Aside[int] = Aside(10)
    assert aside.is_due(0)
    aside.do(lambda: 1, 0)
    assert aside._thread is not None
    aside._thread.join()
    assert not aside.is_due(20), "nobody has taken what was made"
    assert aside.take() == 1
    assert aside.take() is None
    assert not aside.is_due(9)
    assert aside.is_due(10)


class Session:
    """A session whose memory is made up."""

    def __init__(self, most: int | None) -> None:
        self.used = Memory(python=100, jvm=200)
        self.ended, self.is_gone = 0, False
        self.warm = Warm(most, lambda: self.used, self.end, lambda: self.is_gone)

    def end(self) -> None:
        self.ended, self.is_gone = self.ended + 1, False
        self.used = Memory(python=100, jvm=None)


def test_a_session_is_ended_when_it_uses_too_much() -> None:
    session = Session(400 * 1024**2)
    session.warm.ran(None)
    assert not session.warm.is_ending
    session.used = Memory(python=100 * 1024**2, jvm=301 * 1024**2)
    session.warm.ran(None)
    assert session.warm.is_ending
    assert session.warm.end() == "it uses 301 MiB, with Python 401 MiB, and may use 400 MiB"
    assert (session.ended, session.warm.is_ending) == (1, False)
    shown = session.warm.shown()
    assert (shown["up"], shown["recycled"], shown["runs"]) == (False, 1, 0)


def test_a_jvm_that_has_ended_is_forgotten_and_no_other_error_ends_it() -> None:
    session = Session(None)
    session.warm.ran(FreshetError("CHECK_FAILED", "no"))
    assert not session.warm.is_ending
    session.warm.ran(RetryableError("JAVA_ENDED", "gone"))
    assert session.warm.is_ending


def test_a_jvm_that_ends_between_two_runs_is_forgotten_before_the_next() -> None:
    session = Session(None)
    assert not session.warm.is_ending
    session.is_gone = True
    assert session.warm.is_ending
    assert session.warm.end() == "its JVM has ended"
    assert not session.warm.is_ending


def test_without_a_jvm_there_is_nothing_to_end() -> None:
    session = Session(50)
    session.used = Memory(python=100, jvm=None)
    session.warm.ran(None)
    assert not session.warm.is_ending


def test_how_much_memory_there_is() -> None:
    assert most_memory(5) == 5
    own, limit = memory_of(None), memory_limit()
    if own is not None and limit is not None:
        assert 0 < own < limit
    assert memory_of(2**22 + 1) is None


def test_a_soak_tells_a_leak_from_a_heap_that_is_full() -> None:
    full = [100, 300, 500, *(600 + 20 * (number % 4) for number in range(60))]
    assert abs(growth(full)) < 0.05
    assert growth([*full[:40], 5000, *full[40:]]) < 0.05, "a peak"
    assert growth([600 + 6 * number for number in range(60)]) > 0.15, "one per cent a round"

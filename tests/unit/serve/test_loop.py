"""The resident process with stand-ins for what looks and runs: threads, files, answers; no Spark, and no moment timed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from freshet.errors import CheckError, RetryableError
from freshet.events.event import Event
from freshet.project.model.pipeline import PipelineSpec
from freshet.serve.access import Refused
from freshet.serve.desk import ServersDesk
from freshet.serve.entry import Ended
from freshet.serve.limits import Limits
from freshet.serve.loading import Wanted, load_valid
from freshet.serve.loop import Server
from freshet.serve.moment import Moment, now
from freshet.serve.pauses import is_paused
from freshet.serve.reloading import Reloading
from freshet.serve.warm import Memory, Warm
from freshet.serve.work import Found
from tests.kit.project import PIPELINE, a_project

COMMITTED = Found(ended=Ended(outcome="committed"), words="done", commits=("20260801101500000",))
SECONDS = 60


class Bench:
    """A server whose looks and runs are made up.

    Args:
        root: The project's folder.
        news: The pipelines whose next look finds something; a run takes it.
    """

    def __init__(self, root: Path, *news: str, parallel: int = 2, grace: float = 30.0, most: int | None = None) -> None:
        self.news = set(news)
        self.done: list[str] = []
        self.running: set[str] = set()
        self.most_running = 0
        self.results: dict[str, Found] = {}
        self.holds: dict[str, threading.Event] = {}
        self.events: list[Event] = []
        self.used = Memory(python=10, jvm=10)
        self.ended_sessions = 0
        self.jump = 0.0
        self._turn = threading.Lock()
        wanted = Wanted(root=root)
        self.server = Server(
            wanted,
            load_valid(wanted),
            Limits(parallel=parallel, grace_seconds=grace),
            self.events.append,
            Warm(most, lambda: self.used, self._end, lambda: False),
            self._clock,
            lambda project, load, listen: self,
        )
        self.server.reloading = Reloading(wanted, every_seconds=0.01)
        self.desk = ServersDesk(self.server)
        self.over: list[bool] = []
        self.thread = threading.Thread(target=lambda: self.over.append(self.server.serve()), daemon=True)

    def _clock(self) -> Moment:
        found = now()
        return Moment(found.wall + self.jump, found.steady)

    def _end(self) -> None:
        self.ended_sessions += 1
        self.used = Memory(python=10, jvm=None)

    def look(self, spec: PipelineSpec) -> Found:
        with self._turn:
            self.done.append(f"look {spec.name}")
            if spec.name in self.news:
                return Found(ended=None)
        return Found(ended=Ended(outcome="idle"), words="nothing to do")

    def run(self, spec: PipelineSpec) -> Found:
        with self._turn:
            self.done.append(f"run {spec.name}")
            self.news.discard(spec.name)
            self.running.add(spec.name)
            self.most_running = max(self.most_running, len(self.running))
        if spec.name in self.holds:
            assert self.holds[spec.name].wait(SECONDS)
        with self._turn:
            self.running.discard(spec.name)
        return self.results.get(spec.name, COMMITTED)

    def until(self, happened: Callable[[], object]) -> None:
        """Wait until something has happened."""
        waited = threading.Event()
        for _ in range(SECONDS * 100):
            if happened():
                return
            assert self.thread.is_alive(), "the loop has ended"
            waited.wait(0.01)
        raise AssertionError(f"it never happened: {self.done}, {[event.message for event in self.events]}")

    def codes(self) -> list[str]:
        return [event.code for event in self.events]

    def shown(self, name: str) -> dict[str, Any]:
        return next(one for one in self.desk.status()["pipelines"] if one["pipeline"] == name)

    def stop(self) -> bool:
        """Stop it as a signal does; returns whether everything has ended."""
        self.server.stop("SIGTERM")
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()
        return self.over[0]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    """Return what writes a project of pipelines with these lines each, and serves it."""
    made: list[Bench] = []
    monkeypatch.setattr("freshet.serve.loop._BEAT_SECONDS", 0.02)

    def serve(pipelines: dict[str, str], *news: str, results: dict[str, Found] | None = None, **options: Any) -> Bench:
        for name, top in pipelines.items():
            source = "events"
            if top.startswith("reads "):
                source, top = f"../derived/{top.removeprefix('reads ')}", ""
            a_project(tmp_path, name, files={f"pipelines/{name}.yml": PIPELINE.format(name=name, source=source) + top})
        found = Bench(tmp_path, *news, **options)
        made.append(found)
        found.results |= results or {}
        found.thread.start()
        found.until(lambda: found.server.is_ready)
        return found

    yield serve
    for one in made:
        for held in one.holds.values():
            held.set()
        one.server.stop("the test's end")
        one.thread.join(SECONDS)


@pytest.mark.waits
def test_what_is_continuous_runs_what_follows_it_runs_and_the_rest_is_called(bench: Callable[..., Bench]) -> None:
    found = bench({"a": "continuous: {min_interval: 1w}\n", "b": "reads a", "c": ""}, "a", "b", "c")
    found.until(lambda: {"run a", "run b"} <= set(found.done))
    found.until(lambda: found.shown("b")["phase"] == "resting")
    assert "look c" not in found.done
    assert found.shown("a")["last"]["commits"] == list(COMMITTED.commits)
    with pytest.raises(Refused) as refused:
        found.desk.ask("trigger", "c", {"env": "prod"})
    assert (refused.value.status, refused.value.code) == (409, "SERVE_OTHER_ENV")
    found.desk.ask("trigger", "c", {"env": "base"})
    found.until(lambda: "run c" in found.done)
    assert found.stop()
    assert found.codes()[-1] == "SERVE_STOPPING"
    with pytest.raises(Refused) as refused:
        found.desk.ask("trigger", "c", {})
    assert (refused.value.status, refused.value.code) == (503, "SERVE_STOPPING")


@pytest.mark.waits
def test_a_broken_pipeline_keeps_no_other_from_running(bench: Callable[..., Bench]) -> None:
    failed = Found(ended=Ended(outcome="failed"), words="failed", error=CheckError("CHECK_FAILED", "no"))
    often = "continuous: {min_interval: 1s}\n"
    found = bench({"a": "continuous: {}\n", "b": often}, "a", "b", results={"a": failed})
    found.until(lambda: found.shown("a")["phase"] == "backoff")
    assert found.shown("a")["last"]["error"]["code"] == "CHECK_FAILED"
    assert found.shown("a")["failures"] == 1
    for _ in range(2):
        ran = found.done.count("run b")
        found.news.add("b")
        found.until(lambda ran=ran: found.done.count("run b") > ran)
    assert found.done.count("run a") == 1


@pytest.mark.waits
def test_what_nobody_foresaw_ends_one_run_alone(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    found = bench({"a": "", "b": ""}, "a", "b")
    run = found.run

    def leaves(spec: PipelineSpec) -> Found:
        if spec.name == "a":
            raise SystemExit(3)
        return run(spec)

    monkeypatch.setattr(found, "run", leaves)
    for name in ("a", "b"):
        found.desk.ask("trigger", name, {})
    found.until(lambda: found.shown("a")["failures"] == 1 and "run b" in found.done)
    assert "UNEXPECTED_ERROR" in found.codes()


@pytest.mark.waits
def test_no_more_run_at_a_time_than_may(bench: Callable[..., Bench]) -> None:
    names = [f"p{n}" for n in range(6)]
    found = bench(dict.fromkeys(names, "continuous: {min_interval: 1w}\n"), *names, parallel=2)
    found.until(lambda: all(f"run {name}" in found.done for name in names))
    assert found.most_running <= 2


@pytest.mark.waits
def test_a_run_may_end_when_the_process_is_stopped(bench: Callable[..., Bench]) -> None:
    found = bench({"a": ""}, "a")
    found.holds["a"] = threading.Event()
    found.desk.ask("trigger", "a", {})
    found.until(lambda: "a" in found.running)
    found.server.stop("SIGTERM")
    found.until(lambda: "SERVE_STOPPING" in found.codes())
    assert found.desk.readiness()[0] is False
    assert found.desk.health()[0] is True
    found.holds["a"].set()
    found.thread.join(SECONDS)
    assert found.over == [True]


@pytest.mark.waits
@pytest.mark.parametrize("how", ["the grace is over", "a second signal"])
def test_a_run_that_does_not_end_is_not_waited_for_for_ever(bench: Callable[..., Bench], how: str) -> None:
    found = bench({"a": ""}, "a", grace=0.0 if how == "the grace is over" else 3600.0)
    found.holds["a"] = threading.Event()
    found.desk.ask("trigger", "a", {})
    found.until(lambda: "a" in found.running)
    found.server.stop("SIGTERM")
    if how == "a second signal":
        found.server.stop("SIGTERM")
    found.thread.join(SECONDS)
    assert found.over == [False]


@pytest.mark.waits
def test_a_pause_outlives_the_process(bench: Callable[..., Bench], tmp_path: Path) -> None:
    found = bench({"a": "continuous: {min_interval: 1s}\n"})
    found.until(lambda: "look a" in found.done)
    found.desk.ask("pause", "a", {})
    assert found.shown("a")["phase"] in ("paused", "looking")
    with pytest.raises(Refused) as refused:
        found.desk.ask("trigger", "a", {})
    assert (refused.value.status, refused.value.code) == (409, "PIPELINE_PAUSED")
    assert is_paused(found.server.loaded.project.pipelines[0])
    assert found.stop()
    again = bench({"a": "continuous: {min_interval: 1s}\n"})
    assert again.shown("a")["paused"] is True
    assert again.done == []
    again.desk.ask("resume", "a", {})
    again.until(lambda: "look a" in again.done)


@pytest.mark.waits
def test_an_invalid_pipeline_is_told_and_the_others_are_served(bench: Callable[..., Bench]) -> None:
    found = bench({"a": "continuous: {}\n", "b": "nonsense: 1\n"}, "a")
    found.until(lambda: "run a" in found.done)
    assert found.codes()[0] == "PIPELINE_NOT_SERVED"
    (invalid,) = found.desk.status()["invalid"]
    assert invalid["pipeline"] == "b"
    assert "nonsense" in invalid["problems"][0]
    for name, expected in (("b", (409, "PIPELINE_NOT_SERVED")), ("nobody", (404, "UNKNOWN_PIPELINE"))):
        with pytest.raises(Refused) as refused:
            found.desk.ask("trigger", name, {})
        assert (refused.value.status, refused.value.code) == expected
        with pytest.raises(Refused):
            found.desk.plan(name)


@pytest.mark.waits
def test_files_are_taken_over_once_they_are_valid(bench: Callable[..., Bench], tmp_path: Path) -> None:
    found = bench({"a": ""})
    yml = tmp_path / "pipelines/a.yml"
    good = yml.read_text()
    yml.write_text("ddl: [\n")
    found.until(lambda: "RELOAD_REFUSED" in found.codes())
    assert found.desk.status()["files_refused"]["code"] == "INVALID_PROJECT"
    assert found.desk.readiness() == (True, {"ready": True, "files_refused": True})
    assert found.shown("a")["kind"] == "on_call"
    yml.write_text(good + "continuous: {}\n")
    found.until(lambda: "RELOADED" in found.codes())
    assert found.shown("a")["kind"] == "continuous"
    found.until(lambda: "look a" in found.done)
    assert found.desk.status()["files_refused"] is None
    a_project(tmp_path, "b")
    found.until(lambda: len(found.desk.status()["pipelines"]) == 2)


@pytest.mark.waits
def test_two_hundred_pipelines_are_served_and_one_of_a_broken_cron_hides_none(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    names = [f"p{n:03}" for n in range(199)]
    a_project(tmp_path, "broken", files={"pipelines/broken.yml": 'schedule: "H * * * *"\n'})
    found = bench(dict.fromkeys(names, ""), "p123", parallel=2)
    shown = found.desk.status()
    assert [one["pipeline"] for one in shown["pipelines"]] == names
    assert [one["pipeline"] for one in shown["invalid"]] == ["broken"]
    found.desk.ask("trigger", "p123", {})
    found.until(lambda: found.done == ["look p123", "run p123"])
    text = found.desk.metrics()
    assert [name for name in names if f'pipeline="{name}"' not in text] == []
    found.desk.page("index.html")
    found.until(lambda: found.server.pages.kept is not None)
    page = found.desk.page("index.html") or ""
    assert [name for name in (*names, "broken") if f"pipelines/{name}.html" not in page] == []


@pytest.mark.waits
def test_a_python_step_that_is_not_as_it_was_loaded_is_not_run(bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Its commit would say that other text made the rows."""
    step = tmp_path / "transformers/step.py"
    step.parent.mkdir(parents=True)
    step.write_text("def transform(inputs, context):\n    return inputs['SRC']\n")
    a_project(tmp_path, "b")
    with_step = PIPELINE.format(name="b", source="events").replace(
        "transform: transformers/b.sql", "transform: [transformers/b.sql, transformers/step.py]"
    )
    (tmp_path / "pipelines/b.yml").write_text(with_step)
    found = bench({"a": ""}, "b")
    # Nobody looks at the files meanwhile, as between two looks.
    found.server.reloading = Reloading(found.server.wanted, every_seconds=1e9)
    step.write_text("def transform(inputs, context):\n    return inputs['SRC'].limit(1)\n")
    found.desk.ask("trigger", "b", {})
    found.until(lambda: (found.shown("b")["last"] or {}).get("outcome") == "held")
    assert "run b" not in found.done
    found.server.reloading = Reloading(found.server.wanted, every_seconds=0.01)
    found.until(lambda: "RELOADED" in found.codes())
    found.desk.ask("trigger", "b", {})
    found.until(lambda: "run b" in found.done)


@pytest.mark.waits
def test_a_clock_that_is_set_is_told(bench: Callable[..., Bench]) -> None:
    found = bench({"a": 'schedule: "0 0 1 1 *"\n'}, "a")
    found.jump = 400 * 86_400.0
    found.until(lambda: "CLOCK_JUMPED" in found.codes())
    found.until(lambda: "run a" in found.done)


@pytest.mark.waits
@pytest.mark.parametrize("why", ["memory", "its jvm has ended"])
def test_spark_is_ended_between_runs_and_never_beside_one(bench: Callable[..., Bench], why: str) -> None:
    found = bench({"a": "", "b": "", "c": ""}, "a", "b", "c", most=1000)
    found.holds["b"] = threading.Event()
    found.desk.ask("trigger", "b", {})
    found.until(lambda: "b" in found.running)
    if why == "memory":
        found.used = Memory(python=500, jvm=501)
    else:
        gone = RetryableError("JAVA_ENDED", "gone")
        found.results["a"] = Found(ended=Ended(outcome="failed", retryable=True), error=gone)
    found.desk.ask("trigger", "a", {})
    found.until(lambda: found.server.warm.is_ending)
    found.desk.ask("trigger", "c", {})
    found.until(lambda: found.shown("c")["phase"] == "ready")
    assert found.ended_sessions == 0
    found.holds["b"].set()
    found.until(lambda: "run c" in found.done)
    assert found.ended_sessions == 1
    assert "SPARK_RECYCLED" in found.codes()
    assert found.desk.status()["spark"]["recycled"] == 1


@pytest.mark.waits
def test_what_is_asked_for_is_answered_from_tables_that_are_not_there_yet(bench: Callable[..., Bench]) -> None:
    found = bench({"a": 'schedule: "0 0 1 1 *"\n'})
    status = found.desk.status()
    assert json.loads(json.dumps(status)) == status
    assert status["pipelines"][0]["next"].endswith("-01-01T00:00:00+00:00")
    assert found.desk.runs("a", 5, False) == {"runs": [], "unreadable": []}
    assert found.desk.runs("", 5, True) == {"runs": [], "unreadable": []}
    assert found.desk.plan("a")["error"]["code"] == "SOURCE_MISSING"
    text = found.desk.metrics()
    assert 'freshet_serve_paused{env="base",pipeline="a"} 0\n' in text
    assert 'freshet_pipeline_state{env="base",pipeline="a",kind="SOURCE_MISSING"} 1\n' in text
    assert text.endswith("# EOF\n")


@pytest.mark.waits
def test_a_loop_that_hangs_is_not_healthy(bench: Callable[..., Bench]) -> None:
    found = bench({"a": ""})
    assert found.desk.health() == (True, {"alive": True})
    found.stop()
    beat = found.server._beat
    found.server._beat = Moment(beat.wall, beat.steady - 61)
    assert found.desk.health() == (False, {"alive": False})


@pytest.mark.waits
def test_a_page_shows_what_is_done_with_a_pipeline_now(bench: Callable[..., Bench]) -> None:
    found = bench({"a": "", "b": "nonsense: 1\n"}, "a")
    assert "for the first time" in str(found.desk.page("pipelines/a.html"))
    found.until(lambda: "when it is called" in str(found.desk.page("pipelines/a.html")))
    assert "nonsense" in str(found.desk.page("pipelines/b.html"))
    assert found.desk.page("pipelines/c.html") is None
    found.holds["a"] = threading.Event()
    found.desk.ask("trigger", "a", {})
    found.until(lambda: "a" in found.running)
    assert "> running</span>" in str(found.desk.page("index.html"))
    found.holds["a"].set()
    found.until(lambda: "> running</span>" not in str(found.desk.page("index.html")))
    found.stop()
    assert "is being stopped" in str(found.desk.page("runs.html"))


@pytest.mark.waits
def test_a_backfill_that_cannot_begin_is_refused_at_once(bench: Callable[..., Bench]) -> None:
    found = bench({"a": "", "b": "backfill: {event_time: updated_at}\n"})
    asked = {"start": "2026-01-01", "end": "2026-01-02"}
    for name, query, expected in (
        ("a", asked, (409, "BACKFILL_NOT_DECLARED")),
        ("b", asked, (409, "TARGET_MISSING")),
        ("b", {**asked, "end": "2025-01-01"}, (400, "BAD_RANGE")),
        ("b", {"start": "2026-01-01"}, (400, "SERVE_QUERY")),
        ("c", asked, (404, "UNKNOWN_PIPELINE")),
    ):
        with pytest.raises(Refused) as refused:
            found.desk.ask("backfill", name, query)
        assert (refused.value.status, refused.value.code) == expected
    with pytest.raises(Refused) as refused:
        found.desk.ask("stop-backfill", "b", {})
    assert refused.value.code == "BACKFILL_NOT_ASKED"
    assert found.desk.status()["gaps"] == []


@pytest.mark.waits
def test_a_backfill_is_begun_told_and_waited_for(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    found = bench({"a": "backfill: {event_time: updated_at}\n"})
    gate, chunks = threading.Event(), list[bool]()

    def backfill(name: str, request: object, may_go_on: Callable[[object], bool]) -> None:
        while len(chunks) < 9 and may_go_on(None):
            assert gate.wait(SECONDS)
            chunks.append(True)

    plan = SimpleNamespace(chunks=[SimpleNamespace(wanted=True)] * 9, name="a range")
    monkeypatch.setattr(found.server.chores, "work", SimpleNamespace(plan=lambda name, request: plan, backfill=backfill))
    asked = {"start": "2026-01-01", "end": "2026-01-10"}
    assert found.desk.ask("backfill", "a", asked)["steps"] == 9
    with pytest.raises(Refused) as refused:
        found.desk.ask("backfill", "a", asked)
    assert refused.value.code == "BACKFILL_GOES_ON"
    found.until(lambda: found.desk.status()["gaps"][0]["phase"] == "working")
    found.server.stop("SIGTERM")
    found.until(lambda: "SERVE_STOPPING" in found.codes())
    assert "backfill of a" in found.events[-1].message
    gate.set()
    found.thread.join(SECONDS)
    assert (found.over, len(chunks)) == ([True], 1), "the chunk ends, and no other begins"

"""Services and backfills of a process that serves, with stand-ins for what does them: threads, and no Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from freshet.backfill.chunks import BackfillRequest
from freshet.errors import CheckError, FreshetError, RetryableError
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.serve.access import Refused
from freshet.serve.agenda import Agenda
from freshet.serve.chores import Chores
from freshet.serve.loading import Wanted, load_valid
from freshet.serve.moment import Moment
from freshet.serve.requests import backfill_asked
from freshet.serve.served import served_of
from tests.kit.memory import a_commit, a_table_state
from tests.kit.project import a_project

SECONDS = 60
REQUEST = BackfillRequest(start=datetime(2026, 1, 1), end=datetime(2026, 1, 4))


class Bench:
    """What is served, with chores whose work is made up.

    Args:
        root: The project's folder.
    """

    def __init__(self, root: Path) -> None:
        a_project(root, files={"configs/base.yml": CONFIG})
        self.loaded = load_valid(Wanted(root=root))
        self.now = Moment(1e9, 1000.0)
        self.turn = threading.Condition()
        self.agenda = Agenda(2, self.now)
        self.agenda.load(served_of(self.loaded.project), (), (), self.now)
        self.target: TableState | None = None
        self.done: list[str] = []
        self.errors: list[FreshetError | None] = []
        self.chunks: list[str] = []
        self.ended: list[FreshetError | None] = []
        self.steps = threading.Semaphore(0)
        self.chores = Chores(
            self.turn,
            self.agenda,
            lambda: self.now,
            self,
            self.ended.append,
            0.0,
            lambda: SimpleNamespace(table=lambda ref: self.target),
        )

    @property
    def spec(self) -> PipelineSpec:
        return self.loaded.project.pipelines[0]

    def service(self, spec: PipelineSpec, service: str) -> FreshetError | None:
        self.done.append(service)
        return self.errors.pop(0) if self.errors else None

    def backfill(self, name: str, request: BackfillRequest, may_go_on: Callable[[Any], bool]) -> None:
        for chunk in ("1", "2", "3"):
            if not may_go_on(chunk):
                self.chunks.append("stopped")
                return
            assert self.steps.acquire(timeout=SECONDS)
            self.chunks.append(chunk)

    def passes(self, seconds: float) -> None:
        self.now = Moment(self.now.wall + seconds, self.now.steady + seconds)

    def beat(self) -> None:
        """Do what the loop does in a beat."""
        with self.turn:
            self.chores.start(self.loaded, self.now)
        self.chores.look(self.loaded, self.now)
        thread = self.chores._aside._thread
        if thread is not None:
            thread.join(SECONDS)

    def until(self, happened: Callable[[], object]) -> None:
        """Beat until something has happened."""
        waited = threading.Event()
        for _ in range(SECONDS * 100):
            if happened():
                return
            self.beat()
            waited.wait(0.01)
        raise AssertionError(f"it never happened: {self.done}, {self.chunks}, {self.chores.shown(self.now)}")


CONFIG = """\
vars: {raw_root: data/raw, derived_root: data/derived}
warehouse: {raw: "{{ var.raw_root }}", derived: "{{ var.derived_root }}"}
hoodie: {hoodie.clean.automatic: "false", hoodie.archive.automatic: "false"}
"""


def commits(count: int) -> TableState:
    return a_table_state([a_commit(number) for number in range(1, count + 1)])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    found = Bench(tmp_path)
    yield found
    with found.turn:
        found.chores.finish()
    for _ in range(10):
        found.steps.release()
    for thread in list(found.chores._threads.values()):
        thread.join(SECONDS)


@pytest.mark.waits
def test_services_that_are_due_are_done_one_after_the_other_and_once(bench: Bench) -> None:
    bench.target = commits(40)
    bench.until(lambda: bench.done == ["clean", "archive"])
    bench.until(lambda: not bench.chores.shown(bench.now))
    for _ in range(5):
        bench.passes(60)
        bench.beat()
    assert bench.done == ["clean", "archive"], "until there are more commits"
    bench.target = commits(46)
    bench.until(lambda: len(bench.done) == 4)


@pytest.mark.waits
@pytest.mark.parametrize(
    ("error", "rests"), [(CheckError("SERVICE_FAILED", "no"), 300), (RetryableError("ALREADY_RUNNING", "no"), 30)]
)
def test_a_service_that_fails_rests_and_those_behind_it_wait(bench: Bench, error: FreshetError, rests: float) -> None:
    bench.errors = [error]
    bench.target = commits(40)
    bench.until(lambda: bench.done == ["clean"])
    bench.until(lambda: not bench.chores.at_work)
    bench.passes(rests - 1)
    bench.beat()
    assert bench.done == ["clean"]
    bench.passes(2)
    bench.until(lambda: bench.done == ["clean", "clean", "archive"])


@pytest.mark.waits
def test_a_backfill_waits_for_a_gap_before_each_chunk(bench: Bench) -> None:
    with bench.turn:
        chore = bench.chores.ask(bench.spec, REQUEST, 3, bench.now)
    bench.until(lambda: chore.phase == "working")
    with bench.turn:
        bench.agenda.pause("payments", True, bench.now)
    bench.steps.release()
    bench.until(lambda: chore.phase == "waiting")
    assert (bench.chunks, chore.step) == (["1"], 1)
    bench.steps.release()
    for _ in range(5):
        bench.beat()
    assert bench.chunks == ["1"], "a pause holds the next chunk"
    with bench.turn:
        bench.agenda.pause("payments", False, bench.now)
        bench.agenda._entries["payments"].due = None
    bench.until(lambda: len(bench.chunks) == 2)
    bench.steps.release()
    bench.until(lambda: not bench.chores.shown(bench.now))
    assert bench.chunks == ["1", "2", "3"]
    assert bench.agenda.held == frozenset()
    assert bench.ended == [None] * 3, "after each chunk memory is looked at"


@pytest.mark.waits
def test_a_backfill_is_stopped_between_chunks(bench: Bench) -> None:
    with bench.turn:
        chore = bench.chores.ask(bench.spec, REQUEST, 3, bench.now)
    bench.until(lambda: chore.phase == "working")
    with bench.turn:
        bench.chores.stop(chore)
    assert bench.chores.at_work == ("backfill of payments",)
    bench.steps.release()
    bench.until(lambda: not bench.chores.at_work)
    assert bench.chunks == ["1", "stopped"]
    with bench.turn:
        waiting = bench.chores.ask(bench.spec, REQUEST, 3, bench.now)
        bench.chores.stop(waiting)
    assert bench.chores.shown(bench.now) == [], "one that has not begun is gone at once"


def test_what_a_query_asks_for() -> None:
    found = backfill_asked({"start": "2026-01-01", "end": "2026-01-02T06:00", "chunk": "6h", "accept_changes": ""})
    assert found == BackfillRequest(
        start=datetime(2026, 1, 1), end=datetime(2026, 1, 2, 6), chunk="6h", reprocess="none", accept_changes=True
    )


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"start": "2026-01-01"},
        {"start": "yesterday", "end": "2026-01-02"},
        {"start": "2026-01-01", "end": "2026-01-02", "reprocess": "some"},
        {"start": "2026-01-01", "end": "2026-01-02", "accept_changes": "perhaps"},
        {"start": "2026-01-01", "end": "2026-01-02", "max_conflicts": "3"},
    ],
)
def test_a_query_that_is_not_understood_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        backfill_asked(query)
    assert (refused.value.status, refused.value.code) == (400, "SERVE_QUERY")

"""Which events of a run become which of OpenLineage's, in which order, and that whatever is wrong with them harms no run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from freshet.events.bus import Bus
from freshet.events.event import Event
from freshet.events.kinds import (
    CheckPassed,
    ChunkDone,
    CommandFailed,
    Committed,
    Conflict,
    Failed,
    Idle,
    Notice,
    RunStarted,
    StageFinished,
    WindowPlanned,
)
from freshet.lineage.listener import Lineage
from freshet.lineage.sending import Sending
from freshet.lineage.ways import Way
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.project.model.promises import LineageOut
from tests.kit.memory import a_spec, at
from tests.kit.openlineage import check

ERROR = {"code": "OVERFLOW", "message": "no", "details": {}}


class Heard:
    """A bus that lineage follows, with what was sent, and what else was told."""

    def __init__(self, *ways: Way, **out: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        self.told: list[Event] = []
        spec = a_spec(inputs=(), lineage=LineageOut(**{"file": "/x", **out}))
        self.lineage = Lineage(lambda spec: ways or (self.take,))
        self.bus = Bus()
        self.bus.subscribe("test", self.told.append)
        self.lineage.know(Project("/p", "prod", (spec,), {}))
        self.lineage.follow(self.bus)

    def take(self, event: Mapping[str, Any]) -> None:
        check(json.loads(json.dumps(event)))
        self.sent.append(dict(event))

    @property
    def kinds(self) -> list[str]:
        return [one["eventType"] for one in self.sent]

    @property
    def notices(self) -> list[str]:
        return [one.message for one in self.told if one.code == "LINEAGE_NOT_SENT"]

    def tell(self, *events: Event) -> Heard:
        for event in events:
            self.bus.tell(event)
        return self


def begins(run_id: str = "r1", what: str = "run") -> RunStarted:
    return RunStarted(pipeline="earnings", message="", run_id=run_id, what=what)


def window(kind: str = "increment") -> WindowPlanned:
    return WindowPlanned(pipeline="earnings", message="", kind=kind, commits=1, rows=20, begin=at(10), end=at(10))


def committed(**result: Any) -> Committed:
    return Committed(pipeline="earnings", message="", result={"commits": [at(50)], "quarantined": 0, **result})


def failed(error: Mapping[str, object] = ERROR) -> Failed:
    return Failed(pipeline="earnings", message="", error=error)


def test_a_run_has_a_beginning_and_an_end() -> None:
    outcome = {"name": "ids", "kind": "unique", "severity": "fail", "status": "passed", "expected": "", "seen": ""}
    heard = Heard().tell(
        begins(),
        window(),
        CheckPassed(pipeline="earnings", message="", outcome=outcome),
        StageFinished(pipeline="earnings", message="", stage="write", seconds=1.0, rows=7),
        committed(quarantined=2),
    )
    assert heard.kinds == ["START", "COMPLETE"]
    start, end = heard.sent
    assert start["run"]["runId"] == end["run"]["runId"]
    assert "dataQualityAssertions" not in start["outputs"][0]["facets"], "what came later is no part of the beginning"
    assert end["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 7
    assert len(end["outputs"][0]["facets"]["dataQualityAssertions"]["assertions"]) == 1
    assert len(end["outputs"]) == 2
    assert heard.notices == []


def test_what_comes_later_is_no_part_of_a_beginning_that_is_sent_late(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Callable[[], None]] = []

    class Late(Sending):
        def send(self, pipeline: str, job: Callable[[], None]) -> threading.Event:
            jobs.append(job)
            return threading.Event()

        def wait(self, pipeline: str, over: threading.Event, seconds: float) -> None:
            while jobs:
                jobs.pop(0)()

    monkeypatch.setattr("freshet.lineage.listener.Sending", Late)
    outcome = {"name": "ids", "kind": "unique", "severity": "fail", "status": "passed", "expected": "", "seen": ""}
    check_passed = CheckPassed(pipeline="earnings", message="", outcome=outcome)
    start, end = Heard().tell(begins(), window(), check_passed, committed()).sent
    found = ["dataQualityAssertions" in one["outputs"][0]["facets"] for one in (start, end)]
    assert found == [False, True]


def test_one_that_has_nothing_to_do_moves_no_rows() -> None:
    assert Heard().tell(begins(), window("idle"), Idle(pipeline="earnings", message="")).kinds == []
    assert Heard().tell(begins(what="checkpoint"), window(), committed()).kinds == []


def test_a_commit_without_a_window_has_both_ends() -> None:
    """Of an idle window that publishes something all the same."""
    assert Heard().tell(begins(), window("idle"), committed()).kinds == ["START", "COMPLETE"]


def test_what_failed_says_why() -> None:
    heard = Heard().tell(begins(), window(), failed())
    assert heard.kinds == ["START", "FAIL"]
    assert heard.sent[1]["run"]["facets"]["errorMessage"]["message"] == "OVERFLOW: no"
    assert Heard().tell(begins(), failed()).kinds == ["START", "FAIL"], "before its plan, too"


def test_checks_that_failed_the_run_are_told() -> None:
    checks = [{"name": "ids", "kind": "unique", "severity": "fail", "status": "failed", "expected": "no two", "seen": "3"}]
    error = {"code": "CHECK_FAILED", "message": "no", "details": {"checks": checks}}
    end = Heard().tell(begins(), window(), failed(error)).sent[1]
    assert end["outputs"][0]["facets"]["dataQualityAssertions"]["assertions"][0]["success"] is False


def test_one_that_found_another_at_work_has_not_begun() -> None:
    assert Heard().tell(begins(), failed({"code": "ALREADY_RUNNING", "message": "no"})).kinds == []


def test_one_that_lost_a_conflict_is_aborted_and_its_repetition_is_a_run_of_its_own() -> None:
    lost = Conflict(pipeline="earnings", message="", error={"code": "COMMIT_CONFLICT", "message": "no"})
    heard = Heard().tell(begins("r1"), window(), lost, begins("r2"), window(), committed())
    assert heard.kinds == ["START", "ABORT", "START", "COMPLETE"]
    ids = [one["run"]["runId"] for one in heard.sent]
    assert ids[0] == ids[1] != ids[2] == ids[3]


def test_a_drain_is_several_runs() -> None:
    runs = [one for name in ("r1", "r2") for one in (begins(name), window(), committed())]
    idle = (begins("r3"), window("idle"), Idle(pipeline="earnings", message=""))
    assert Heard().tell(*runs, *idle).kinds == ["START", "COMPLETE"] * 2


def test_each_chunk_of_a_backfill_is_a_run() -> None:
    def done(number: int, *commits: str) -> ChunkDone:
        return ChunkDone(pipeline="earnings", message="", number=number, of=2, commits=commits)

    heard = Heard().tell(
        begins("b", "backfill"), begins("c1", "chunk"), window("backfill"), done(1, at(50)),
        begins("c2", "chunk"), window("backfill"), done(2, at(60)),
    )  # fmt: skip
    assert heard.kinds == ["START", "COMPLETE"] * 2
    assert heard.sent[0]["job"]["facets"]["jobType"]["jobType"] == "BACKFILL"
    assert heard.sent[3]["outputs"][0]["facets"]["version"]["datasetVersion"] == at(60)


def test_a_chunk_whose_data_are_wrong_failed_and_the_record_of_that_is_no_run() -> None:
    wrong = Notice(pipeline="earnings", message="chunk failed", error=ERROR)
    empty = ChunkDone(pipeline="earnings", message="", number=1, of=1)
    heard = Heard().tell(
        begins("b", "backfill"), begins("c1", "chunk"), window("backfill"), wrong,
        begins("c2", "chunk"), window("backfill"), empty,
    )  # fmt: skip
    assert heard.kinds == ["START", "FAIL"]


def test_what_ends_the_command_ends_its_runs() -> None:
    error = {"code": "UNEXPECTED", "message": "no"}
    heard = Heard().tell(begins(), window(), CommandFailed(pipeline="", message="", error=error), committed())
    assert heard.kinds == ["START", "FAIL"]


def test_an_environment_without_a_way_out_hears_nothing() -> None:
    heard = Heard(file="")
    assert heard.tell(begins(), window(), committed()).kinds == []


def test_files_that_change_while_it_listens_count_from_the_next_run() -> None:
    heard = Heard(file="")
    heard.lineage.follow(heard.bus, lambda: Project("/p", "prod", (spec,), {}))
    spec = a_spec(inputs=(), lineage=LineageOut(file=""))
    assert heard.tell(begins(), window(), committed()).kinds == []
    spec = a_spec(inputs=(), lineage=LineageOut(file="/x"))
    assert heard.tell(begins("r2"), window(), committed()).kinds == ["START", "COMPLETE"]


def test_what_cannot_be_sent_is_said_once_and_the_other_way_is_taken() -> None:
    sent: list[Mapping[str, Any]] = []

    def broken(event: Mapping[str, Any]) -> None:
        raise OSError("no route to https://u:secret@host/x")

    heard = Heard(broken, sent.append).tell(begins(), window(), committed(), begins("r2"), window(), committed())
    assert [one["eventType"] for one in sent] == ["START", "COMPLETE"] * 2
    (notice,) = heard.notices
    assert notice.startswith("LINEAGE_NOT_SENT: earnings: lineage was not sent: no route to ")
    assert "secret" not in notice


def test_one_that_does_not_answer_holds_up_one_run_and_no_other() -> None:
    waited: list[float | None] = []
    told: list[str] = []

    class Never(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            return self.is_set()

    sending, late = Sending(lambda pipeline, why: told.append(why)), Never()
    sending.wait("earnings", late, 4.99)
    sending.wait("other", Never(), 4.99)
    assert (waited, told) == ([4.99], ["nothing was heard for 5 s"])
    late.set()
    sending.wait("earnings", late, 4.99)
    sending.wait("other", Never(), 4.99)
    assert len(waited) == 3, "once it has answered it is waited for again"


def test_one_that_took_long_to_fail_is_left_alone_for_a_while() -> None:
    now, tried, told = [0.0], [], []

    def slow() -> None:
        tried.append(now[0])
        now[0] += 5
        raise OSError("timed out")

    sending = Sending(lambda pipeline, why: told.append(why), clock=lambda: now[0])
    for at_second in (0.0, 20.0, 66.0):
        now[0] = at_second
        sending.send("earnings", slow).wait(60)
    assert (tried, told) == ([0.0, 66.0], ["timed out"])


def test_without_the_package_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'openlineage'", name="openlineage")

    monkeypatch.setattr("freshet.lineage.listener._made_and_sent", gone)
    heard = Heard().tell(begins(), window(), committed())
    assert heard.notices == [
        "LINEAGE_NOT_SENT: earnings: lineage was not sent: openlineage-python is not there: pip install 'freshet[lineage]'"
    ]


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, str, Any]], list[int]]]:
    """Give a server's address, what it was asked, and with what it answers."""
    asked: list[tuple[str, str, Any]] = []
    answers = [201]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers.get("Authorization", ""), body))
            self.send_response(answers[0])
            self.end_headers()
            self.wfile.write(b"no such namespace" if answers[0] >= 400 else b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}", asked, answers
    found.shutdown()
    found.server_close()


def declared(**out: Any) -> Heard:
    heard = Heard()
    heard.lineage._ways = Lineage()._ways
    spec: PipelineSpec = replace(a_spec(inputs=()), lineage=LineageOut(**out))
    heard.lineage.know(Project("/p", "prod", (spec,), {}))
    return heard


def test_a_server_is_posted_to(server: tuple[str, list[Any], list[int]]) -> None:
    url, asked, answers = server
    heard = declared(url=f"{url}/base/", api_key="key").tell(begins(), window(), committed())
    assert [(path, key, body["eventType"]) for path, key, body in asked] == [
        ("/base/api/v1/lineage", "Bearer key", "START"),
        ("/base/api/v1/lineage", "Bearer key", "COMPLETE"),
    ]
    for _, _, body in asked:
        check(body)
    answers[0] = 400
    heard.tell(begins("r2"), window(), committed())
    host = url.removeprefix("http://")
    assert heard.notices == [
        f"LINEAGE_NOT_SENT: earnings: lineage was not sent: the server at {host} did not take them: "
        "it answered 400: no such namespace"
    ]


def test_a_server_that_is_not_there_harms_no_run_and_the_file_has_its_lines(tmp_path: Path) -> None:
    """Port 1 of this machine is nobody's."""
    file = tmp_path / "lineage.jsonl"
    heard = declared(url="http://127.0.0.1:1", file=str(file)).tell(begins(), window(), committed())
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["eventType"] for line in lines] == ["START", "COMPLETE"]
    (notice,) = heard.notices
    assert "the server at 127.0.0.1:1 did not take them: " in notice


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    heard = declared(file=str(tmp_path / "none" / "x")).tell(begins(), window(), committed())
    (notice,) = heard.notices
    assert "cannot be written: No such file or directory" in notice

"""``freshet serve`` as it is typed: what it refuses before it begins, and a process that begins, answers and is stopped."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from freshet.cli.serve import _ended
from freshet.cli.serve_token import TOKEN
from tests.kit.project import PIPELINE, a_project
from tests.unit.cli.conftest import Freshet, parsed

_SECONDS = 60


@pytest.fixture(autouse=True)
def _without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)


def refusal(freshet: Freshet, *words: str) -> tuple[int, str]:
    result = freshet("serve", *words, "--output", "json")
    return result.exit_code, parsed(result)["error"]["code"]


def test_it_is_told_what_to_serve(freshet: Freshet) -> None:
    assert refusal(freshet) == (2, "USAGE")
    assert refusal(freshet, "--all", "payments") == (2, "USAGE")
    assert refusal(freshet, "nobody") == (2, "UNKNOWN_PIPELINE")


def test_one_run_has_ended_and_two_have() -> None:
    assert _ended("SIGTERM", 1) == "stopped by SIGTERM; 1 run has ended"
    assert _ended("SIGTERM", 2) == "stopped by SIGTERM; 2 runs have ended"


@pytest.mark.parametrize(
    "words",
    [
        ("--port", "65536"),
        ("--port", "http"),
        ("--grace", "soon"),
        ("--max-memory", "4"),
        ("--max-memory", "GB"),
        ("--max-memory", "0MB"),
        ("--max-memory", "-1GB"),
        ("--parallel", "0"),
        ("--allow-host", "http://lake.example.com"),
        ("--allow-host", "lake.example.com:443"),
    ],
)
def test_a_word_that_is_none_is_refused(freshet: Freshet, words: tuple[str, ...]) -> None:
    assert refusal(freshet, "--all", *words) == (2, "USAGE")


def test_an_invalid_project_is_refused_with_every_problem(freshet: Freshet, root: Path) -> None:
    (root / "pipelines/payments.yml").write_text("ddl: [\n")
    assert refusal(freshet, "--all") == (3, "INVALID_PROJECT")


def test_a_port_in_use_is_refused(freshet: Freshet) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert refusal(freshet, "--all", "--port", str(taken.getsockname()[1])) == (1, "PORT_IN_USE")


def test_an_address_of_another_machine_is_refused(freshet: Freshet) -> None:
    assert refusal(freshet, "--all", "--host", "192.0.2.1") == (1, "ADDRESS_NOT_USABLE")


@pytest.mark.parametrize("text", [None, "", "  \n", "two words", "größe", b"\xff\xfe"])
def test_a_token_that_is_none_is_refused(freshet: Freshet, tmp_path: Path, text: str | bytes | None) -> None:
    file = tmp_path / "token"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert refusal(freshet, "--all", "--token-file", str(file)) == (1, "SERVE_TOKEN_UNREADABLE")


def test_a_token_of_the_environment_that_is_none_is_refused(freshet: Freshet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "two words")
    assert refusal(freshet, "--all") == (1, "SERVE_TOKEN_UNREADABLE")


class Served:
    """A process that serves a project, and what it says.

    Args:
        root: The project's folder.
        environment: Added to the process's.
        words: Further words of the command.
    """

    def __init__(self, root: Path, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "freshet", "serve", "--all", "--port", "0", "-C", str(root), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.log: list[str] = []
        self.port = int(self.said(r"SERVE_LISTENING: .*:(\d+)$")[1])

    def said(self, pattern: str) -> re.Match[str]:
        """Wait for a line that holds a pattern."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip())
            found = re.search(pattern, line.rstrip())
            if found:
                return found
        raise AssertionError(f"it never said {pattern}: {self.log}")

    def until(self, happened: Callable[[], object]) -> None:
        """Wait until something has happened."""
        for _ in range(_SECONDS * 20):
            if happened():
                return
            assert self.process.poll() is None
            time.sleep(0.05)
        raise AssertionError(f"it never happened: {self.log}")

    def ask(self, path: str, method: str = "GET", token: str = "", **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        connection.request(method, path, headers={**headers, **({"Authorization": f"Bearer {token}"} if token else {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if "json" in answer.headers["Content-Type"] else text

    def stop(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=_SECONDS)
        self.log += err.splitlines()
        return self.process.returncode, out


@pytest.fixture
def processes() -> Iterator[list[Served]]:
    found: list[Served] = []
    yield found
    for one in found:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.mark.waits
def test_a_process_that_begins_answers_and_is_stopped(root: Path, tmp_path: Path, processes: list[Served]) -> None:
    a_project(root, "broken", files={"pipelines/broken.yml": 'schedule: "H * * * *"\n'})
    files = {"pipelines/payments.yml": PIPELINE.format(name="payments", source="events") + "continuous: {min_interval: 1h}\n"}
    a_project(root, files=files)
    events = tmp_path / "events.jsonl"
    served = Served(root, "--events", str(events), "--output", "json", FRESHET_SERVE_TOKEN="a-token-of-some-length")
    processes.append(served)
    # Its source is not there: the run that says so needs no Spark.
    served.said("payments: .*SOURCE_MISSING")
    assert served.ask("/healthz") == (200, {"alive": True})
    assert served.ask("/readyz")[0] == 200
    # What the log says is recorded a moment later.
    served.until(lambda: served.ask("/api/status")[1]["pipelines"][0]["last"])
    status, shown = served.ask("/api/status")
    assert (status, [one["pipeline"] for one in shown["invalid"]]) == (200, ["broken"])
    assert shown["spark"]["up"] is False
    assert 'freshet_last_run_result{env="base",pipeline="payments",result="failed"} 1' in served.ask("/metrics")[1]
    assert served.ask("/api/runs")[1]["runs"][0]["error"]["code"] == "SOURCE_MISSING"
    assert served.ask("/api/pause/payments", "POST")[0] == 401
    assert served.ask("/api/pause/payments", "POST", "a-token-of-some-length")[0] == 202
    assert served.ask("/api/status")[1]["pipelines"][0]["phase"] == "paused"
    code, out = served.stop(signal.SIGTERM)
    assert code == 0
    assert json.loads(out) == {"stopped_by": "SIGTERM", "runs": 1}
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert {"SERVE_LISTENING", "PIPELINE_NOT_SERVED", "SOURCE_MISSING", "SERVE_STOPPING"} <= {one["code"] for one in told}
    assert "a-token-of-some-length" not in "\n".join([*served.log, out, events.read_text()])


@pytest.mark.waits
def test_without_spark_the_keyboard_stops_it_too(root: Path, processes: list[Served]) -> None:
    served = Served(root, "--allow-host", "lake.example.com")
    processes.append(served)
    assert served.ask("/api/status", Host="lake.example.com")[0] == 200
    assert served.ask("/api/status", Host="evil.example")[1]["error"]["code"] == "SERVE_HOST_UNKNOWN"
    assert served.ask("/api/trigger/payments", "POST", "any")[1]["error"]["code"] == "SERVE_TOKEN_NOT_SET"
    code, out = served.stop(signal.SIGINT)
    assert (code, out) == (0, "stopped by the keyboard; 0 runs have ended\n")

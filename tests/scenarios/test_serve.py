"""``freshet serve`` over real tables: kills of the process and of its JVM, and a broken pipeline; nothing is lost."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import ROOT
from tests.kit.lake import Lake, Row, rows

pytestmark = pytest.mark.waits
_SECONDS = 300
TOKEN = "a-token-of-some-length"


class Served:
    """A process that serves the lake's project.

    Args:
        lake: The lake.
        words: Further words of the command.
    """

    def __init__(self, lake: Lake, *words: str) -> None:
        self.lake, self.log = lake, lake.root / "serve.log"
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "freshet", "serve", "--all", "--port", "0", "-C", str(lake.project_root), *words],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "FRESHET_SERVE_TOKEN": TOKEN},
            )
        self.until(lambda: re.search(r"SERVE_LISTENING: .*:(\d+)\n", self.log.read_text()[before:]))
        found = re.search(r"SERVE_LISTENING: .*:(\d+)\n", self.log.read_text()[before:])
        assert found is not None
        self.port = int(found[1])

    def until(self, happened: Callable[[], object]) -> None:
        """Wait until something has happened."""
        deadline = time.monotonic() + _SECONDS
        while not happened():
            assert self.process.poll() is None, self.log.read_text()[-5000:]
            assert time.monotonic() < deadline, f"it never happened: {self.log.read_text()[-5000:]}"
            time.sleep(0.05)

    def ask(self, path: str, method: str = "GET") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers={"Authorization": f"Bearer {TOKEN}"})
        text = connection.getresponse().read().decode()
        connection.close()
        return json.loads(text)

    def status(self, pipeline: str) -> dict[str, Any]:
        found: dict[str, Any] = next(one for one in self.ask("/api/status")["pipelines"] if one["pipeline"] == pipeline)
        return found

    def is_running(self) -> bool:
        """Say whether a pipeline runs."""
        return any(one["phase"] == "running" for one in self.ask("/api/status")["pipelines"])

    def is_warm(self) -> bool:
        """Say whether two runs have ended in its session."""
        return bool(self.ask("/api/status")["spark"]["runs"] > 1)

    def has_recycled(self) -> bool:
        """Say whether it has ended its session."""
        return "SPARK_RECYCLED" in self.log.read_text()

    def jvm(self) -> int:
        """Return the process of its JVM."""
        found = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return next(int(line.split()[0]) for line in found.stdout.splitlines() if line.split()[1] == "java")

    def kill(self) -> None:
        """Kill it and its JVM."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def serve(lake: Lake) -> Iterator[Callable[..., Served]]:
    made: list[Served] = []

    def start(*words: str) -> Served:
        made.append(Served(lake, *words))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.kill()


def holds(lake: Lake, table: str, expected: list[Row]) -> bool:
    """Say whether a target holds these rows; False where it is not there yet."""
    place = Path(lake.path(table), ".hoodie")
    return place.exists() and bool(lake.state(table).commits) and lake.rows(table) == sorted(expected, key=str)


def test_ten_pipelines_lose_nothing_whatever_is_killed(lake: Lake, serve: Callable[..., Served]) -> None:
    often = "continuous: {min_interval: 1s}\nrun: {timeout: 10m}\n"
    names = [f"p{n}" for n in range(8)]
    for name in names:
        lake.pipeline(name, top=often)
    lake.pipeline("follower", source="derived.p0")
    lake.pipeline("broken", "SELECT id, ts, nothing AS amount, day FROM <SRC>", top=often)
    landed: dict[str, Row] = {}

    def land(number: int) -> None:
        batch = rows(*((f"k{key}", number, f"{number}.50") for key in range(number, number + 5)))
        landed.update({str(row[0]): row for row in batch})
        lake.land(batch)

    land(1)
    served = serve()
    for number, end in enumerate(("", "process", "", "jvm", "", "process"), start=2):
        land(number)
        if end:
            served.until(served.is_warm)
            served.until(served.is_running)
        if end == "jvm":
            os.kill(served.jvm(), signal.SIGKILL)
            served.until(served.has_recycled)
        elif end:
            served.kill()
            served = serve()
    land(9)
    expected = list(landed.values())
    for name in (*names, "follower"):
        served.until(lambda name=name: holds(lake, f"derived.{name}", expected))
    broken = served.status("broken")
    assert broken["failures"] >= 1
    assert broken["last"]["error"]["code"] == "SQL_ERROR"
    assert not Path(lake.path("derived.broken"), ".hoodie").exists()
    ended = {run["outcome"] for run in served.ask("/api/runs?limit=1000")["runs"]}
    assert {"committed", "failed", "killed"} <= ended
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(timeout=_SECONDS) == 0

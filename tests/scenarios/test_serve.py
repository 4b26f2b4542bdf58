"""``freshet serve`` over real tables: kills of the process and of its JVM, and a broken pipeline; nothing is lost.

``FRESHET_SOAK=30`` lets the soak take 30 minutes more, in which nothing is killed and memory is watched.
"""

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

from freshet.backfill.record import chunk_commits
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from tests.kit.backfills import BY_DAY, DAYS, OCC
from tests.kit.commands import ROOT
from tests.kit.lake import Lake, Row, rows
from tests.kit.trend import growth

pytestmark = pytest.mark.waits
_SECONDS = 300
# Minutes of the soak after its kills, and rounds at least.
_SOAK = float(os.environ.get("FRESHET_SOAK", "0"))
_ROUNDS = 1
# A shorter one tells little of memory: a JVM fills its heap before it collects.
_ENOUGH_SAMPLES = 30
# By a third of the time; a session that is never recycled grows by less than this, and a leak of a run by more.
_MOST_GROWTH = 0.15
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

    def memory(self) -> tuple[float, float]:
        """Return the bytes that Python and its JVM use."""
        spark = self.ask("/api/status")["spark"]
        return float(spark["python_bytes"]), float(spark["jvm_bytes"] or 0)

    def promises(self) -> dict[str, str]:
        """Return what has become of the promise of freshness of each pipeline that makes one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        found = re.findall(r"^freshet_slo_result\{(.*)\} 1$", text, re.MULTILINE)
        labels = [dict(re.findall(r'(\w+)="(.*?)"', one)) for one in found]
        return {one["pipeline"]: one["result"] for one in labels if one["kind"] == "freshness"}

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
    # The folder is there before it is a table.
    state = TimelineState().table(TableRef(table, lake.path(table)))
    return state is not None and bool(state.commits) and lake.rows(table) == sorted(expected, key=str)


@pytest.mark.timeout(900 + 60 * (_SOAK + 30))
def test_ten_pipelines_lose_nothing_whatever_is_killed(lake: Lake, serve: Callable[..., Served]) -> None:
    # What any of them owes while another is broken, and everything is killed now and then.
    often = "continuous: {min_interval: 1s}\nrun: {timeout: 10m}\nslo: {freshness: 15m}\n"
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
    used: list[tuple[float, float]] = []
    until, number = time.monotonic() + 60 * _SOAK, 8
    while number < 8 + _ROUNDS or time.monotonic() < until:
        number += 1
        land(number)
        expected = list(landed.values())
        for name in (*names, "follower"):
            served.until(lambda name=name, expected=expected: holds(lake, f"derived.{name}", expected))
        kept = served.promises()
        assert {kept[name] for name in names} == {"kept"}, kept
        used.append(served.memory())
    if len(used) >= _ENOUGH_SAMPLES:
        for what, samples in zip(("Python", "the JVM"), zip(*used, strict=True), strict=True):
            assert growth(samples) < _MOST_GROWTH, (what, samples)
    broken = served.status("broken")
    assert broken["failures"] >= 1
    assert broken["last"]["error"]["code"] == "SQL_ERROR"
    assert not Path(lake.path("derived.broken"), ".hoodie").exists()
    ended = {run["outcome"] for run in served.ask("/api/runs?limit=1000")["runs"]}
    assert {"committed", "failed", "killed"} <= ended
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(timeout=_SECONDS) == 0


def test_services_and_a_backfill_are_done_between_runs(lake: Lake, serve: Callable[..., Served]) -> None:
    """A table that its runs leave to others is compacted and cleaned; a backfill waits while the pipeline is paused."""
    left = {**OCC, "hoodie.compact.inline": "false", "hoodie.compact.inline.max.delta.commits": "2"}
    top = f"continuous: {{min_interval: 1s}}\n{BY_DAY % 'upsert'}"
    lake.pipeline("merged", table_type="mor", top=top, hoodie=left)
    landed: dict[str, Row] = {}

    def land(number: int) -> None:
        batch = [row for day in DAYS for row in rows((f"k{day[-1]}", number, f"{number}.00"), day=day)]
        landed.update({str(row[0]): row for row in batch})
        lake.land(batch)

    def has_compacted() -> bool:
        state = lake.state("derived.merged")
        return any(state.info(one).operation == "COMPACT" for one in state.commits if one.action == "commit")

    served = None
    for number in (1, 2, 3):
        land(number)
        served = served or serve()
        served.until(lambda: holds(lake, "derived.merged", list(landed.values())))
    assert served is not None
    served.until(has_compacted)
    assert served.ask("/api/pause/merged", "POST")["paused"] is True
    range_asked = f"/api/backfill/merged?start={DAYS[0]}&end=2026-01-08"
    assert served.ask(range_asked, "POST")["steps"] == 3
    assert served.ask(range_asked, "POST")["error"]["code"] == "BACKFILL_GOES_ON"
    assert [one["phase"] for one in served.ask("/api/status")["gaps"] if one["what"] == "backfill"] == ["waiting"]
    assert not chunk_commits(lake.state("derived.merged"), "merged")
    served.ask("/api/resume/merged", "POST")
    land(4)
    served.until(lambda: "BACKFILL_ENDED: 3 of 3 chunks done" in served.log.read_text())
    assert {one.record.state for one in chunk_commits(lake.state("derived.merged"), "merged")} == {"done"}
    served.until(lambda: holds(lake, "derived.merged", list(landed.values())))
    assert served.ask("/api/backfill/merged?start=2026-01-08&end=2026-01-05", "POST")["error"]["code"] == "BAD_RANGE"
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(timeout=_SECONDS) == 0

"""``freshet dev hbase`` on a real HBase, by the command, as a user would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from freshet.dev.hbase import settings
from freshet.dev.hbase.look import HBase, look
from freshet.dev.hbase.server import start, stop
from tests.hbase.conftest import Client

pytestmark = pytest.mark.waits
ROOT = Path(__file__).resolve().parents[2]
ROWS = [f"trip-{number}" for number in range(20)]


def freshet(directory: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "freshet", "dev", "hbase", *words, "--dir", str(directory), "--output", "json"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str], code: int = 0) -> Any:
    out, err = process.communicate(timeout=150)
    assert process.returncode == code, err
    return json.loads(out)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Return a directory with a name that needs care; what runs there in the end is stopped."""
    found = tmp_path / "my hbase & more"
    yield found
    stop(found)


def listening(pid: int) -> set[str]:
    # The columns of /proc/<pid>/net/tcp{,6}: local address, remote address, state; 0A is listening.
    inodes = {os.readlink(link).strip("socket:[]") for link in Path(f"/proc/{pid}/fd").iterdir()}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]]
    return {fields[1].partition(":")[0] for fields in lines if fields[3] == "0A" and fields[9] in inodes}


def test_a_day_of_an_hbase(directory: Path, client: Client) -> None:
    # Two at once: one starts it, the other waits, and both say the same.
    words = ("up", "--region-servers", "2", "--wait", "120")
    both = [freshet(directory, *words), freshet(directory, *words)]
    first, second = (result(one) for one in both)
    assert first == second == result(freshet(directory, "status"))
    assert (first["state"], first["region_servers"]) == ("up", 2)
    if sys.platform == "linux":
        assert listening(first["pid"]) == {"0100007F"}, "127.0.0.1 and nothing else"
    with closing(client.connection(first["port"])) as connection:
        metrics = connection.getAdmin().getClusterMetrics()
        assert metrics.getLiveServerMetrics().size() == 2
        client.create_table(connection, "trips", "_s")
        for row in ROWS:
            client.put(connection, "trips", row, "_s", f"value of {row}")

    os.kill(first["pid"], signal.SIGKILL)
    down = result(freshet(directory, "status"), code=1)
    assert (down["state"], down["pid"], down["port"]) == ("down", 0, first["port"])

    again = result(freshet(directory, "up", "--wait", "120"))
    assert {**again, "pid": first["pid"]} == first
    assert again["pid"] != first["pid"]
    with closing(client.connection(again["port"])) as connection:
        assert [client.get(connection, "trips", row, "_s") for row in ROWS] == [f"value of {row}" for row in ROWS]

    assert result(freshet(directory, "down"))["ended"] == "terminated"
    assert (directory / "data" / "hbase").is_dir()
    assert result(freshet(directory, "down", "--purge")) == {
        "ended": "gone",
        "pid": 0,
        "purged": True,
        "directory": str(directory),
    }
    assert not directory.exists()


def test_the_hbase_of_these_tests_serves(hbase: HBase, client: Client) -> None:
    assert (hbase.state, hbase.region_servers) == ("up", 1)
    with closing(client.connection(hbase.port)) as connection:
        client.create_table(connection, "served", "_s")
        client.put(connection, "served", "a", "_s", "1")
        assert [client.get(connection, "served", row, "_s") for row in ("a", "b")] == ["1", None]


def test_its_log_cannot_fill_the_disk(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without its files it repeats one complaint for ever. What it says when it starts is enough to see the limit at work.
    monkeypatch.setattr(settings, "_LOG4J", settings._LOG4J.replace("16MB", "8KB"))
    start(directory, wait_seconds=120)
    kept = {file.name: file.stat().st_size for file in directory.glob("*log*")}
    assert set(kept) == {"hbase.log", "hbase.log.1"}
    assert sum(kept.values()) < 40_000
    # That it is ready stays known when the log has long forgotten it.
    for file in directory.glob("*log*"):
        file.write_text("")
    assert look(directory).state == "up"
    stop(directory, purge=True)
    assert not directory.exists()

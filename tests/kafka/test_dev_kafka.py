"""``freshet dev kafka`` on a real broker, by the command, as a user would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from freshet.dev.kafka.server import stop
from freshet.sources.kafka.client.open import open_broker
from freshet.sources.kafka.look.facts import Extent
from tests.kit.kafka import Topics
from tests.kit.topics import a_topic_spec

pytestmark = pytest.mark.waits
ROOT = Path(__file__).resolve().parents[2]


def freshet(directory: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "freshet", "dev", "kafka", *words, "--dir", str(directory), "--output", "json"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str], code: int = 0) -> Any:
    out, err = process.communicate(timeout=150)
    assert process.returncode == code, err
    return json.loads(out)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Return a directory with a name that needs care; what runs there in the end is stopped."""
    found = tmp_path / "my kafka & möre"
    yield found
    stop(found)


def test_a_day_of_a_broker(directory: Path) -> None:
    # Two at once: one starts it, the other waits, and both say the same.
    both = [freshet(directory, "up", "--wait", "120") for _ in range(2)]
    first, second = (result(one) for one in both)
    assert first == second == result(freshet(directory, "status"))
    assert first["state"] == "up"
    servers = first["hoodie"]["bootstrap.servers"]
    topics = Topics(servers)
    name = topics.create("orders")
    topics.send(name, [b"a", b"b"])

    os.kill(first["pid"], signal.SIGKILL)
    down = result(freshet(directory, "status"), code=1)
    assert (down["state"], down["pid"], down["port"]) == ("down", 0, first["port"])

    again = result(freshet(directory, "up", "--wait", "120"))
    assert {**again, "pid": first["pid"]} == first
    facts = open_broker(a_topic_spec(name, client={"bootstrap.servers": servers})).facts()
    assert (facts.parts, facts.ids) == ({(name, 0): Extent(0, 2)}, {name: topics.id_of(name)})

    assert result(freshet(directory, "down"))["ended"] == "terminated"
    assert (directory / "data" / "meta.properties").is_file()
    assert result(freshet(directory, "down", "--purge"))["purged"]
    assert not directory.exists()

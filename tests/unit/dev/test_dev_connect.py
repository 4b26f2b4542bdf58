"""Starting and stopping a development Kafka Connect, with a shell script in the worker's place: no JVM.

What it has in common with the other servers is tested of these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.connect.rest import Connect, Running
from freshet.dev import life, process
from freshet.dev.connect import server
from freshet.dev.connect.files import Place, State, place_of
from freshet.dev.connect.look import Worker, look
from freshet.dev.connect.server import start, stop
from freshet.dev.connect.settings import worker_properties, write_settings
from freshet.dev.kafka.look import Kafka
from freshet.errors import FreshetError
from freshet.jvm.jars import CONNECT_JARS, DEBEZIUM_MARIADB_JARS, DEBEZIUM_POSTGRES_JARS, JarSet

KAFKA = "127.0.0.1:9092"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return a worker's files; whatever was started there is ended."""
    found = Place(tmp_path / "connect")
    yield found
    if found.state.exists():
        stop(found.directory)


@pytest.fixture(autouse=True)
def kafkas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Run a script instead of Connect, and return the addresses at which a Kafka answers."""
    answering = [KAFKA]
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(server, "_command", lambda tell, heap_mib: ["sh", "-c", 'echo "$0 $*"; exec sleep 60'])
    monkeypatch.setattr(server, "_connectors", lambda tell: {"debezium-x": [tmp_path / "x.jar"]})
    monkeypatch.setattr(server, "_answers", lambda address: address in answering)
    monkeypatch.setattr(Connect, "serves", lambda self: True)
    monkeypatch.setattr(life, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(process, "_POLL_SECONDS", 0.02)
    return answering


def refused(code: str, call: Callable[[], object]) -> FreshetError:
    with pytest.raises(FreshetError) as error:
        call()
    assert error.value.code == code
    assert error.value.effect
    assert error.value.next_step
    return error.value


def test_settings_keep_it_on_this_machine_and_its_connectors_apart(tmp_path: Path) -> None:
    place, state = Place(tmp_path / "é"), State(port=20123, servers=KAFKA, group="g")
    found = worker_properties(place, state)
    assert (found["listeners"], found["rest.advertised.host.name"]) == ("http://127.0.0.1:20123", "127.0.0.1")
    assert [found[f"{what}.storage.topic"] for what in ("config", "offset", "status")] == ["g-config", "g-offset", "g-status"]
    # The topic of configs has one partition whatever is said.
    assert "config.storage.partitions" not in found
    place.directory.mkdir()
    jars = [tmp_path / "a-1.jar", tmp_path / "b-2.jar"]
    for jar in jars:
        jar.touch()
    write_settings(place, state, {"one": jars, "gone": jars})
    write_settings(place, state, {"one": jars[:1], "two": jars})
    assert "\nplugin.path=" in place.properties.read_text("ascii")
    there = {path.relative_to(place.plugins).as_posix(): path.resolve() for path in place.plugins.glob("*/*")}
    assert there == {"one/a-1.jar": jars[0], "two/a-1.jar": jars[0], "two/b-2.jar": jars[1]}


def test_the_command_has_jars_of_its_own_and_none_of_a_connector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asked: list[JarSet] = []

    def resolve(wanted: JarSet) -> tuple[Path, ...]:
        asked.append(wanted)
        return (Path("/jars/one.jar"), Path("/jars/log.jar"))

    told: list[str] = []
    monkeypatch.setattr(server, "missing_jars", lambda wanted: ("one", "log"))
    monkeypatch.setattr(server, "resolve_jars", resolve)
    command = server._command(told.append, 300)
    assert "-Xmx300m" in command
    assert command[command.index("-cp") + 1] == "/jars/one.jar:/jars/log.jar"
    assert (asked, told) == ([CONNECT_JARS], ["fetching Kafka Connect's jars (2), once"])
    assert list(server._connectors(told.append)) == ["debezium-postgres", "debezium-mariadb"]
    assert asked[1:] == [DEBEZIUM_POSTGRES_JARS, DEBEZIUM_MARIADB_JARS]


def test_it_is_started_once_and_keeps_its_port_its_kafka_and_its_group(place: Place) -> None:
    assert place_of(None).directory.name == "connect"
    told: list[str] = []
    first = start(place.directory, servers=KAFKA)
    assert first.state == "up"
    assert place.log.read_text() == f"org.apache.kafka.connect.cli.ConnectDistributed {place.properties}\n"
    assert start(place.directory, tell=told.append) == first == look(place.directory)
    assert told == ["it was up already"]
    assert stop(place.directory) == (first, "terminated")
    again = start(place.directory)
    assert (again.port, again.servers, again.group) == (first.port, KAFKA, first.group)
    # What began anew has nothing of it.
    stop(place.directory, purge=True)
    assert not place.directory.exists()
    assert start(place.directory, servers=KAFKA).group != first.group


def test_one_that_runs_otherwise_is_refused(place: Place, kafkas: list[str]) -> None:
    kafkas.append("other:9092")
    first = start(place.directory, servers=KAFKA)
    refused("DEV_CONNECT_RUNNING", lambda: start(place.directory, servers="other:9092"))
    refused("DEV_CONNECT_RUNNING", lambda: start(place.directory, port=first.port + 1))
    stop(place.directory)
    second = start(place.directory, servers="other:9092")
    assert (second.servers, second.port) == ("other:9092", first.port)
    assert second.group != first.group


def test_without_a_kafka_it_is_not_started(
    place: Place, kafkas: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "none was started here" in refused("DEV_CONNECT_NO_KAFKA", lambda: start(place.directory)).message
    own = Kafka("up", tmp_path, 9093, "c", 1, tmp_path / "log")
    monkeypatch.setattr("freshet.dev.kafka.look.look", lambda: own)
    assert "127.0.0.1:9093" in refused("DEV_CONNECT_NO_KAFKA", lambda: start(place.directory)).message
    kafkas.append("127.0.0.1:9093")
    assert start(place.directory).servers == "127.0.0.1:9093"


def test_one_that_does_not_serve_is_ended(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connect, "serves", lambda self: False)
    error = refused("DEV_CONNECT_NOT_STARTED", lambda: start(place.directory, servers=KAFKA, wait_seconds=0.2))
    assert "ConnectDistributed" in error.message
    assert look(place.directory).state == "down"


def freshet(*words: str) -> Result:
    return CliRunner().invoke(main, ["dev", "connect", *words])


def test_the_commands_say_where_it_is_and_how_its_connectors_are(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    where = ("--dir", str(place.directory))
    made = freshet("up", *where, "--kafka", KAFKA, "--output", "json")
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert (found["url"], found["kafka"]) == (f"http://127.0.0.1:{found['port']}", KAFKA)
    monkeypatch.setattr(Connect, "connectors", lambda self: ())
    assert freshet("status", *where).exit_code == 0
    failed = Running(name="shop", state="RUNNING", tasks=("FAILED",), error="no slot")
    monkeypatch.setattr(Connect, "connectors", lambda self: (failed,))
    status = freshet("status", *where)
    assert status.exit_code == 1
    assert "connector shop: RUNNING, tasks FAILED: no slot" in status.stdout
    stopped = freshet("down", *where)
    assert "its connectors stay" in stopped.stdout
    down = freshet("status", *where, "--output", "json")
    assert down.exit_code == 1
    assert (json.loads(down.stdout)["state"], json.loads(down.stdout)["connectors"]) == ("down", [])


def test_a_worker_that_was_never_started(place: Place) -> None:
    found = look(place.directory)
    assert found == Worker(
        state="down", directory=place.directory, port=0, servers="", group="", pid=0, log=place.directory / "connect.log"
    )
    assert found.as_json()["url"] is None

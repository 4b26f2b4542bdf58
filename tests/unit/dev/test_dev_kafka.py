"""Starting and stopping a development Kafka, with a shell script in the broker's place: no JVM."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.dev import life, ports, process
from freshet.dev.kafka import look as look_module
from freshet.dev.kafka import server
from freshet.dev.kafka.files import Place, State, place_of
from freshet.dev.kafka.look import answers, look
from freshet.dev.kafka.server import start, stop
from freshet.dev.kafka.settings import server_properties, write_settings
from freshet.dev.kept import write_state
from freshet.dev.life import read_state
from freshet.errors import FreshetError
from freshet.jvm.jars import KAFKA_SERVER_JARS, JarSet

FORMAT = 'if [ "$0" = kafka.tools.StorageTool ]; then mkdir -p data; echo "$*" > data/meta.properties; exit; fi; '
READY = "echo 'INFO kafka.server.KafkaRaftServer - Kafka Server started'; exec sleep 60"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return a broker's files; whatever was started there is ended."""
    found = Place(tmp_path / "kafka")
    yield found
    if found.state.exists():
        stop(found.directory)


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that says what is run instead of Kafka; by default what says that it serves."""

    def run(text: str) -> None:
        monkeypatch.setattr(server, "_command", lambda tell, heap_mib: ["sh", "-c", text])

    run(FORMAT + READY)
    monkeypatch.setattr(look_module, "answers", lambda port: True)
    monkeypatch.setattr(life, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(process, "_POLL_SECONDS", 0.02)
    return run


def refused(code: str, call: Callable[[], object]) -> FreshetError:
    with pytest.raises(FreshetError) as error:
        call()
    assert error.value.code == code
    assert error.value.effect
    assert error.value.next_step
    return error.value


def test_the_default_directory_lies_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    assert place_of(None).directory == tmp_path / "kafka"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1}', '{"version": 1, "host": "x"}', "null"])
def test_a_state_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    place = Place(tmp_path)
    place.state.write_text(text)
    for call in (lambda: start(tmp_path), lambda: stop(tmp_path, purge=True), lambda: look(tmp_path)):
        refused("KAFKA_STATE_UNREADABLE", call)
    assert place.state.exists()


def test_settings_keep_it_on_this_machine(tmp_path: Path) -> None:
    place = Place(tmp_path / "a b\\c é")
    found = server_properties(place, State(port=20123, controller_port=20124, cluster="c"))
    assert found["listeners"] == "PLAINTEXT://127.0.0.1:20123,CONTROLLER://127.0.0.1:20124"
    assert found["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20123"
    assert found["auto.create.topics.enable"] == "false"
    place.directory.mkdir()
    write_settings(place, State(port=20123, controller_port=20124, cluster="c"))
    assert f"log.dirs={tmp_path}/a b\\\\c \\u00e9/data\n" in place.properties.read_text("ascii")


def test_the_command_has_jars_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    asked: list[JarSet] = []
    told: list[str] = []

    def resolve(wanted: JarSet) -> tuple[Path, ...]:
        asked.append(wanted)
        return (Path("/jars/kafka.jar"), Path("/jars/log.jar"))

    monkeypatch.setattr(server, "resolve_jars", resolve)
    command = server._command(told.append, 300)
    assert "-Xmx300m" in command
    assert command[command.index("-cp") + 1] == "/jars/kafka.jar:/jars/log.jar"
    assert asked == [KAFKA_SERVER_JARS]
    assert len(told) == 1


def test_it_is_prepared_and_started_once_and_goes_on(place: Place) -> None:
    told: list[str] = []
    first = start(place.directory, tell=told.append)
    assert (first.state, told) == ("up", [])
    assert place.marked.read_text() == f"format -t {first.cluster} -c {place.properties} --ignore-formatted\n"
    assert len(first.cluster) == 22
    assert start(place.directory, tell=told.append) == first == look(place.directory)
    assert told == ["it was up already"]
    assert os.getsid(first.pid) == first.pid


def test_it_stops_and_keeps_its_port_and_its_topics(place: Place) -> None:
    first = start(place.directory)
    place.marked.write_text("prepared")
    assert stop(place.directory) == (first, "terminated")
    assert (look(place.directory).state, look(place.directory).port) == ("down", first.port)
    assert stop(place.directory)[1] == "gone"
    second = start(place.directory)
    assert (second.port, second.cluster) == (first.port, first.cluster)
    assert second.pid != first.pid
    assert place.marked.read_text() == "prepared"


def test_after_a_kill_it_starts_again(place: Place) -> None:
    first = start(place.directory)
    os.kill(first.pid, signal.SIGKILL)
    assert start(place.directory).state == "up"


def test_a_port_may_be_named_and_changed_while_it_is_down(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused("KAFKA_PORT_TAKEN", lambda: start_at(place, port))
    first = start(place.directory, port)
    assert first.port == port
    refused("KAFKA_RUNNING", lambda: start(place.directory, port + 1))
    assert look(place.directory).pid == first.pid


def start_at(place: Place, port: int) -> object:
    ports._PORT_SECONDS, kept = 0.0, ports._PORT_SECONDS
    try:
        return start(place.directory, port)
    finally:
        ports._PORT_SECONDS = kept


def test_a_controllers_port_that_is_taken_is_another_one(place: Place) -> None:
    place.directory.mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        write_state(place, State(port=ports.free_port(place), controller_port=port, cluster="c"))
        start(place.directory)
    kept = read_state(place, State)
    assert kept is not None
    assert kept.controller_port != port


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'no room'; exit 1", "could not be prepared"),
        (FORMAT + "echo 'no room'; exit 1", "it ended"),
        (FORMAT + "echo 'no room'; exec sleep 60", "within 0.2 s"),
    ],
)
def test_one_that_does_not_start_is_ended_and_its_log_is_shown(
    place: Place, script: Callable[[str], None], text: str, says: str
) -> None:
    script(text)
    error = refused("KAFKA_NOT_STARTED", lambda: start(place.directory, wait_seconds=0.2))
    assert says in error.message
    assert "no room" in error.message
    assert look(place.directory).state == "down"


def test_a_purge_deletes_all_and_keeps_what_is_not_freshets(place: Place) -> None:
    start(place.directory)
    (place.directory / "notes.txt").touch()
    assert stop(place.directory, purge=True)[1] == "terminated"
    assert [path.name for path in place.directory.iterdir()] == ["notes.txt"]
    refused("KAFKA_DIRECTORY", lambda: start(place.directory))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (struct.pack(">iihi", 10, 1, 0, 0), True),
        (struct.pack(">iihi", 10, 1, 35, 0), False),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"", False),
    ],
)
def test_only_a_kafka_answers(answer: bytes, expected: bool) -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with listening.accept()[0] as client:
                asked.append(client.recv(100))
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        assert answers(listening.getsockname()[1]) is expected
        thread.join()
    assert asked == [struct.pack(">ihhih", 10, 18, 0, 1, -1)]


def test_where_nobody_listens_no_kafka_answers(place: Place) -> None:
    assert not answers(ports.free_port(place))


def freshet(*words: str) -> Result:
    return CliRunner().invoke(main, ["dev", "kafka", *words])


def test_the_command_says_what_to_write_under_hoodie(place: Place) -> None:
    result = freshet("up", "--dir", str(place.directory), "--output", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["state"], found["hoodie"]) == ("up", {"bootstrap.servers": f"127.0.0.1:{found['port']}"})
    assert "ready after" in result.stderr
    text = freshet("status", "--dir", str(place.directory))
    assert text.exit_code == 0
    assert f"\nhoodie:\n  bootstrap.servers: 127.0.0.1:{found['port']}\n" in text.stdout
    stopped = freshet("down", "--dir", str(place.directory))
    assert "was stopped" in stopped.stdout
    assert "its topics stay" in stopped.stdout
    assert "are deleted" in freshet("down", "--purge", "--dir", str(place.directory)).stdout


def test_status_and_down_where_nothing_runs(place: Place) -> None:
    status = freshet("status", "--dir", str(place.directory))
    assert status.exit_code == 1
    assert "Kafka is down" in status.stdout
    down = freshet("down", "--purge", "--dir", str(place.directory), "--output", "json")
    assert json.loads(down.stdout) == {"ended": "gone", "pid": 0, "purged": False, "directory": str(place.directory)}
    assert not place.directory.exists()

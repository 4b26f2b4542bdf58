"""Starting and stopping a development HBase, with a shell script in HBase's place: no JVM, no ZooKeeper."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.dev import life, ports, process
from freshet.dev.hbase import look as look_module
from freshet.dev.hbase import server
from freshet.dev.hbase.files import Place, State, place_of
from freshet.dev.hbase.look import HBase, look
from freshet.dev.hbase.server import start, stop
from freshet.dev.hbase.settings import hbase_site
from freshet.dev.kept import delete_files, hold_directory, write_state
from freshet.dev.life import read_state
from freshet.dev.process import end_process, start_mark
from freshet.errors import FreshetError
from freshet.hudi.keys.hudi_keys import check_key
from freshet.jvm.jars import HBASE_JARS, JarSet

READY = "echo 'INFO HMaster: Master has completed initialization 4.2sec'; exec sleep 60"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return an HBase's files; whatever was started there is ended."""
    found = Place(tmp_path / "hbase")
    yield found
    if found.state.exists():
        stop(found.directory)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that says what is run instead of HBase; by default what says that it is ready."""

    def run(text: str) -> None:
        monkeypatch.setattr(server, "_command", lambda tell, heap_gib: ["sh", "-c", text])

    run(READY)
    monkeypatch.setattr(look_module, "_registered", lambda state: state.region_servers)
    monkeypatch.setattr(server, "forget_the_dead", lambda state: True)
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
    assert place_of(None).directory == tmp_path / "hbase"


def test_a_state_is_read_as_it_was_written(place: Place) -> None:
    place.directory.mkdir()
    assert read_state(place, State) is None
    state = State(port=20123, region_servers=2, pid=0, mark="boot 17", launched_ms=1_700_000_000_000)
    write_state(place, state)
    assert read_state(place, State) == state
    assert [path.name for path in place.directory.iterdir()] == ["hbase.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1}', '{"version": 1, "host": "x"}', "null"])
def test_a_state_that_is_none_is_refused(tmp_path: Path, script: Callable[[str], None], text: str) -> None:
    place = Place(tmp_path)
    place.state.write_text(text)
    for call in (lambda: start(tmp_path), lambda: stop(tmp_path, purge=True), lambda: look(tmp_path)):
        refused("HBASE_STATE_UNREADABLE", call)
    assert place.state.exists()


def test_settings_keep_hbase_on_this_machine(tmp_path: Path) -> None:
    place = Place(tmp_path / "a <b> & c")
    root = ElementTree.fromstring(hbase_site(place, State(port=20123, region_servers=3)))
    settings = {entry.findtext("name"): entry.findtext("value") for entry in root}
    assert settings["hbase.rootdir"] == f"file://{tmp_path}/a <b> & c/data/hbase"
    assert settings["hbase.zookeeper.property.clientPort"] == "20123"
    assert settings["hbase.master.ipc.address"] == settings["hbase.regionserver.ipc.address"] == "127.0.0.1"
    assert settings["hbase.master.info.port"] == settings["hbase.regionserver.info.port"] == "-1"
    assert settings["hbase.localcluster.assign.random.ports"] == "true"
    assert settings["hbase.master.wait.on.regionservers.mintostart"] == "3"
    assert all(settings.values()), "Hadoop drops a setting whose value is empty"


def test_the_command_has_hbase_before_pysparks_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    asked: list[JarSet] = []
    told: list[str] = []

    def resolve(wanted: JarSet) -> tuple[Path, ...]:
        asked.append(wanted)
        return (Path("/jars/hbase.jar"),)

    monkeypatch.setattr(server, "resolve_jars", resolve)
    command = server._command(told.append, heap_gib=3)
    assert "-Xmx3g" in command
    path = command[command.index("-cp") + 1].split(":")
    assert path[:2] == ["conf", "/jars/hbase.jar"]
    assert path[2].endswith("pyspark/jars/*")
    assert command[-1] == "org.apache.hadoop.hbase.master.HMaster"
    assert asked == [HBASE_JARS]
    assert len(told) == 1


def test_after_a_kill_it_is_up_when_the_dead_servers_regions_are_open(place: Place, script: Callable[[str], None]) -> None:
    """Kind: up is said, and whoever asks is refused."""
    script(
        "echo 'Scheduled ServerCrashProcedure pid=1053 for localhost,44073,1795766703155 (carryingMeta=true)';"
        "echo 'Master has completed initialization 16.899sec'; while [ ! -e go ]; do sleep 0.05; done;"
        "echo 'Finished pid=1053, state=SUCCESS; ServerCrashProcedure localhost,44073,1795766703155, meta=true in 16 sec';"
        "exec sleep 60"
    )
    seen: list[str] = []

    def waits() -> None:
        while look(place.directory).state == "down" or "initialization" not in place.log.read_text():
            time.sleep(0.02)
        seen.append(look(place.directory).state)
        (place.directory / "go").touch()

    other = threading.Thread(target=waits)
    other.start()
    assert start(place.directory).state == "up"
    other.join()
    assert seen == ["starting"]


def test_it_starts_once_and_goes_on(place: Place, script: Callable[[str], None]) -> None:
    told: list[str] = []
    first = start(place.directory, tell=told.append)
    assert (first.state, first.region_servers, told) == ("up", 1, [])
    assert start(place.directory, tell=told.append) == first == look(place.directory)
    assert told == ["it was up already"]
    # A session of its own: neither the keyboard nor the terminal's end reaches it.
    assert os.getsid(first.pid) == first.pid


def test_two_at_once_start_one(place: Place, script: Callable[[str], None]) -> None:
    script(f"sleep 0.3; {READY}")
    found: list[HBase] = []
    told: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(start(place.directory, tell=told.append))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1
    assert told.count("it was up already") == 2


def test_it_stops_and_keeps_its_port_and_its_number_of_servers(place: Place, script: Callable[[str], None]) -> None:
    script(f"echo $0 $1; {READY}")
    first = start(place.directory, region_servers=2)
    assert stop(place.directory) == (first, "terminated")
    assert place.log.read_text().startswith("--localRegionServers=2 start\n")
    down = look(place.directory)
    assert (down.state, down.pid, down.port, down.region_servers) == ("down", 0, first.port, 0)
    assert stop(place.directory)[1] == "gone"
    second = start(place.directory)
    assert (second.port, second.region_servers) == (first.port, 2)
    assert second.pid != first.pid


def test_after_a_kill_it_starts_again(place: Place, script: Callable[[str], None]) -> None:
    first = start(place.directory)
    os.kill(first.pid, signal.SIGKILL)
    second = start(place.directory)
    assert (second.state, second.port) == ("up", first.port)


def test_one_that_dies_while_it_is_waited_for_is_started_again(place: Place, script: Callable[[str], None]) -> None:
    place.directory.mkdir()
    place.log.touch()
    with subprocess.Popen(["sleep", "0.3"]) as first:
        write_state(place, State(port=20123, region_servers=1, pid=first.pid, mark=start_mark(first.pid) or "", launched_ms=1))
        assert look(place.directory).state == "starting"
        second = start(place.directory)
    assert (second.state, second.pid == first.pid) == ("up", False)


def test_one_that_does_not_end_is_killed(place: Place, script: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, "end_process", lambda pid, mark, by: end_process(pid, mark, term_seconds=0.1))
    script("trap '' TERM; echo Master has completed initialization; while true; do sleep 0.05; done")
    start(place.directory)
    assert stop(place.directory)[1] == "killed"
    assert look(place.directory).state == "down"


def test_a_process_that_has_its_id_by_now_is_left_alone(place: Place, script: Callable[[str], None]) -> None:
    with subprocess.Popen(["sleep", "60"]) as foreign:
        try:
            place.directory.mkdir()
            write_state(place, State(port=20123, region_servers=1, pid=foreign.pid, mark="another boot 17", launched_ms=1))
            assert look(place.directory).state == "down"
            assert stop(place.directory)[1] == "gone"
            assert foreign.poll() is None
            mark = start_mark(foreign.pid)
            assert mark is not None
            assert end_process(foreign.pid, mark + "0") == "gone"
            assert foreign.poll() is None
            assert end_process(foreign.pid, mark) == "terminated"
        finally:
            foreign.kill()


def test_a_state_without_a_process_ends_none(place: Place) -> None:
    place.directory.mkdir()
    write_state(place, State(port=20123, region_servers=1))
    assert stop(place.directory)[1] == "gone"
    assert [start_mark(pid) for pid in (0, -1)] == [None, None]


def test_marks_differ_and_a_zombie_has_none() -> None:
    with subprocess.Popen(["sleep", "0.05"]) as first, subprocess.Popen(["sleep", "60"]) as second:
        assert start_mark(first.pid) == start_mark(first.pid)
        assert process._mark_by_ps(second.pid)
        while start_mark(first.pid) is not None:
            time.sleep(0.01)
        assert first.returncode is None, "nobody asked for its exit code yet"
        assert process._mark_by_ps(first.pid) is None
        second.kill()


def test_one_that_ends_at_once_is_an_error_with_what_it_said(place: Place, script: Callable[[str], None]) -> None:
    script("for i in $(seq 30); do echo line $i; done; echo Address already in use; exit 1")
    error = refused("HBASE_NOT_STARTED", lambda: start(place.directory))
    assert "Address already in use" in error.message
    assert "line 30" in error.message
    assert "line 5\n" not in error.message
    assert str(place.log) in error.message
    assert error.details["log"] == str(place.log)


def test_one_that_is_not_ready_in_time_is_stopped(place: Place, script: Callable[[str], None]) -> None:
    script("echo $$; exec sleep 60")
    refused("HBASE_NOT_STARTED", lambda: start(place.directory, wait_seconds=0.2))
    assert start_mark(int(place.log.read_text())) is None


def test_another_number_of_servers_needs_a_stop(place: Place, script: Callable[[str], None]) -> None:
    first = start(place.directory, region_servers=2)
    error = refused("HBASE_RUNNING", lambda: start(place.directory, region_servers=1))
    assert str(place.directory) in error.next_step
    assert look(place.directory) == first


def test_a_port_that_is_taken_is_named(
    place: Place,
    script: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ports, "_PORT_SECONDS", 0.1)
    port = start(place.directory).port
    stop(place.directory)
    with socket.create_server(("127.0.0.1", port)):
        assert refused("HBASE_PORT_TAKEN", lambda: start(place.directory)).details["port"] == port


def test_a_port_that_is_not_closed_yet_is_waited_for(place: Place, script: Callable[[str], None]) -> None:
    port = start(place.directory).port
    stop(place.directory)
    with socket.create_server(("127.0.0.1", port)) as listener:
        threading.Timer(0.2, listener.close).start()
        assert start(place.directory).port == port


def test_a_directory_of_something_else_is_not_touched(tmp_path: Path, script: Callable[[str], None]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trips.csv").touch()
    refused("HBASE_DIRECTORY", lambda: start(tmp_path))
    assert stop(tmp_path, purge=True)[1] == "gone"
    assert [path.name for path in tmp_path.rglob("*")] == ["data", "trips.csv"]


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path, script: Callable[[str], None]) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "hbase"):
        refused("HBASE_DIRECTORY", partial(start, directory))


def test_a_purge_leaves_nothing(place: Place, script: Callable[[str], None]) -> None:
    start(place.directory)
    (place.data / "hbase").mkdir(parents=True)
    assert stop(place.directory, purge=True)[1] == "terminated"
    assert not place.directory.exists()
    assert stop(place.directory, purge=True)[1] == "gone"


def test_a_purge_keeps_what_is_not_freshets(place: Place, script: Callable[[str], None]) -> None:
    start(place.directory)
    (place.directory / "notes.txt").touch()
    stop(place.directory, purge=True)
    assert [path.name for path in place.directory.iterdir()] == ["notes.txt"]


def test_one_command_at_a_time(place: Place) -> None:
    told: list[str] = []
    with hold_directory(place, 0, told.append):
        error = refused("HBASE_BUSY", lambda: hold_directory(place, 0.15, told.append).__enter__())
    assert error.retryable
    assert len(told) == 1


def test_who_waited_for_a_purge_makes_the_directory_again(place: Place, script: Callable[[str], None]) -> None:
    start(place.directory)
    found: list[HBase] = []
    with hold_directory(place, 0, lambda words: None):
        waiting = threading.Thread(target=lambda: found.append(start(place.directory)))
        waiting.start()
        time.sleep(0.2)
        kept = read_state(place, State)
        assert kept is not None
        end_process(kept.pid, kept.mark)
        delete_files(place)
    waiting.join()
    assert found[0].state == "up"
    assert place.lock.exists()


def freshet(*words: str) -> Result:
    return CliRunner().invoke(main, ["dev", "hbase", *words])


def test_the_command_says_what_to_write_under_hoodie(place: Place, script: Callable[[str], None]) -> None:
    result = freshet("up", "--dir", str(place.directory), "--output", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["state"], found["quorum"], found["znode"]) == ("up", "127.0.0.1", "/hbase")
    assert found["hoodie"] == {
        "hoodie.index.hbase.zkquorum": "127.0.0.1",
        "hoodie.index.hbase.zkport": found["port"],
        "hoodie.index.hbase.zknode.path": "/hbase",
    }
    assert [check_key(key, str(value)) for key, value in found["hoodie"].items()] == [None] * 3
    again = freshet("up", "--dir", str(place.directory), "--output", "json")
    assert (again.exit_code, again.stdout) == (0, result.stdout)
    assert "it was up already" in again.stderr
    text = freshet("status", "--dir", str(place.directory))
    assert text.exit_code == 0
    assert f"\nhoodie:\n  hoodie.index.hbase.zkquorum: 127.0.0.1\n  hoodie.index.hbase.zkport: {found['port']}\n" in text.stdout


def test_status_and_down_where_nothing_runs(place: Place) -> None:
    status = freshet("status", "--dir", str(place.directory))
    assert status.exit_code == 1
    assert "HBase is down" in status.stdout
    down = freshet("down", "--purge", "--dir", str(place.directory), "--output", "json")
    assert down.exit_code == 0
    assert json.loads(down.stdout) == {"ended": "gone", "pid": 0, "purged": False, "directory": str(place.directory)}
    assert not place.directory.exists()


def test_down_says_what_it_did(place: Place, script: Callable[[str], None]) -> None:
    freshet("up", "--dir", str(place.directory))
    stopped = freshet("down", "--dir", str(place.directory))
    assert stopped.exit_code == 0
    assert "was stopped" in stopped.stdout
    assert "its data stay" in stopped.stdout
    assert "are deleted" in freshet("down", "--purge", "--dir", str(place.directory)).stdout


def test_an_error_is_an_object_for_machines(tmp_path: Path, script: Callable[[str], None]) -> None:
    (tmp_path / "file").touch()
    result = freshet("up", "--dir", str(tmp_path), "--output", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "HBASE_DIRECTORY"

"""The stub of a schema registry as a process: up, status, down."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from freshet.cli.main import main
from freshet.dev import ports
from freshet.dev.ports import HOST
from freshet.dev.registry.server import look, start, stop
from freshet.dev.registry.store import Store
from freshet.errors import FreshetError
from freshet.registry.address import address_of
from freshet.registry.http import ask


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    found = tmp_path / "registry"
    yield found
    if found.exists():
        stop(found, purge=True)


@pytest.mark.waits
def test_what_was_registered_is_there_after_the_next_start_at_the_same_address(directory: Path) -> None:
    runner = CliRunner()
    up = runner.invoke(main, ["dev", "registry", "up", "--dir", str(directory), "--output", "json"])
    url = json.loads(up.output)["url"]
    number = ask(address_of(url), "/subjects/trips-value/versions", {"schema": '"string"'})["id"]
    assert start(directory).url == url
    down = runner.invoke(main, ["dev", "registry", "down", "--dir", str(directory), "--output", "json"])
    assert json.loads(down.output)["ended"] == "terminated"
    assert runner.invoke(main, ["dev", "registry", "status", "--dir", str(directory)]).exit_code == 1
    found = start(directory)
    assert found.url == url
    assert ask(address_of(url), f"/schemas/ids/{number}") == {"schema": '"string"'}
    stop(directory, purge=True)
    assert not directory.exists()
    assert (look(directory).state, stop(directory)[1]) == ("down", "gone")


def test_a_directory_of_others_is_left_alone(directory: Path) -> None:
    directory.mkdir()
    (directory / "diary.txt").write_text("mine")
    with pytest.raises(FreshetError) as error:
        start(directory)
    assert error.value.code == "DEV_REGISTRY_DIRECTORY"
    (directory / "diary.txt").unlink()
    (directory / "registry.json").write_text("{")
    with pytest.raises(FreshetError) as error:
        look(directory)
    assert error.value.code == "DEV_REGISTRY_STATE"
    (directory / "registry.json").unlink()


def test_a_port_that_another_program_has_is_said(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: one that is stopped may hold its port a moment longer than its process is seen, and would answer for the next."""
    monkeypatch.setattr(ports, "_PORT_SECONDS", 0.0)
    port = start(directory).port
    stop(directory)
    with socket.socket() as taken:
        # The ended registry's connections hold the port for a minute against whoever does not ask for this.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((HOST, port))
        taken.listen()
        with pytest.raises(FreshetError, match=str(port)) as error:
            start(directory)
    assert error.value.code == "DEV_REGISTRY_NOT_STARTED"
    assert look(directory).state == "down"


def test_a_schema_has_one_id_under_every_subject_and_is_one_version_of_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "schemas.json")
    assert store.register("a", {"schema": '{"type":"string"}'}) == 1
    assert store.register("b", {"schema": '{ "type": "string" }'}) == 1
    assert store.register("b", {"schema": '"int"'}) == 2
    assert store.register("b", {"schema": '"int"'}) == 2
    assert Store(tmp_path / "schemas.json").versions("b") == [1, 2]

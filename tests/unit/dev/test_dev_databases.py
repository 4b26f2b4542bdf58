"""Starting and stopping a development database, with a shell script in the server's place: no database."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from freshet.cli.main import main
from freshet.dev import life, process
from freshet.dev.databases import postgres
from freshet.dev.databases.answering import mariadb_answers, postgres_answers
from freshet.dev.databases.mariadb import MariaDb
from freshet.dev.databases.owner import Owner
from freshet.dev.databases.postgres import Postgres
from freshet.dev.databases.server import DatabaseServer
from freshet.dev.life import State
from freshet.errors import FreshetError

ME = Owner(prefix=(), name="me")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postgres]:
    """Return a PostgreSQL that is a shell script, which says each time how it was called."""
    binary = tmp_path / "postgres"
    # No shell: one that was started with SIGINT ignored, as in the background, cannot take it.
    binary.write_text(
        f"#!{sys.executable}\nimport pathlib, signal, sys\nsignal.signal(signal.SIGINT, lambda *words: sys.exit())\n"
        "print(*sys.argv, flush=True)\npathlib.Path('data/postmaster.opts').touch()\nsignal.pause()\n"
    )
    (tmp_path / "initdb").write_text('#!/bin/sh\necho "$0 $*"\n')
    for program in ("postgres", "initdb"):
        (tmp_path / program).chmod(0o755)
    monkeypatch.setattr(Postgres, "binary", lambda self: binary)
    monkeypatch.setattr(DatabaseServer, "_owner", lambda self: ME)
    monkeypatch.setattr(postgres, "postgres_answers", lambda *words: (tmp_path / "server/data/postmaster.opts").exists())
    monkeypatch.setattr(life, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(process, "_POLL_SECONDS", 0.02)
    found = Postgres(tmp_path / "server")
    yield found
    found.down(False, lambda words: None)


def up(server: DatabaseServer, port: int | None = None) -> object:
    return server.up(port, 20, lambda words: None)


def test_it_is_prepared_once_and_ends_without_waiting_for_its_clients(server: Postgres) -> None:
    first = server.up(None, 20, lambda words: None)
    said = server.place.log.read_text().splitlines()
    assert [line.split()[0].rpartition("/")[2] for line in said] == ["initdb", "postgres"]
    assert "--auth=trust" in said[0]
    (server.place.data / "orders").touch()
    assert server.down(False, lambda words: None) == (first, "terminated"), "by SIGINT: the script takes no SIGTERM"
    second = server.up(None, 20, lambda words: None)
    assert (second.port, (server.place.data / "orders").exists()) == (first.port, True)
    with pytest.raises(FreshetError) as error:
        up(server, first.port + 1)
    assert error.value.code == "POSTGRES_RUNNING"


def test_one_that_was_killed_while_it_was_prepared_is_prepared_anew(server: Postgres) -> None:
    server.place.directory.mkdir()
    server.place.state.write_text(json.dumps({"version": 1, "port": 20_123, "pid": 0, "mark": ""}))
    server.place.data.mkdir()
    (server.place.data / "half").touch()
    up(server)
    assert not (server.place.data / "half").exists()


@pytest.mark.parametrize("kind", [Postgres, MariaDb])
def test_it_listens_on_this_machine_alone(kind: type[Postgres | MariaDb], tmp_path: Path) -> None:
    words: Sequence[str] = kind(tmp_path).words_of(State(port=20_123))
    assert {"listen_addresses=127.0.0.1", "--bind-address=127.0.0.1"} & set(words)
    assert {"wal_level=logical", "--binlog-row-metadata=FULL"} & set(words)


@pytest.mark.parametrize(("kind", "code"), [(Postgres, "POSTGRES_MISSING"), (MariaDb, "MARIADB_MISSING")])
def test_one_that_is_not_installed_names_its_package(
    kind: type[Postgres | MariaDb], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "binary", lambda self: None)
    with pytest.raises(FreshetError) as error:
        up(kind(tmp_path / "server"))
    assert error.value.code == code
    assert f"apt-get install {kind.package}" in error.value.next_step


@pytest.mark.parametrize(
    ("answer", "postgres_is", "mariadb_is"),
    [
        (b"R" + struct.pack(">ii", 8, 0), True, False),
        (b"E" + struct.pack(">i", 60) + b"SFATAL\0", False, False),
        (b"\x50\0\0\0\x0a5.5.5-10.11", False, True),
        (b"\x10\0\0\0\xff\x10\x04Too many", False, False),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, False),
        (b"", False, False),
    ],
)
def test_only_a_database_answers(answer: bytes, postgres_is: bool, mariadb_is: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for _ in range(2):
                # Who has seen enough closes, whatever is still on its way.
                with listening.accept()[0] as client, suppress(OSError):
                    client.sendall(answer)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(100):
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        port = listening.getsockname()[1]
        assert (postgres_answers(port, "postgres", "postgres"), mariadb_answers(port)) == (postgres_is, mariadb_is)
        thread.join()
    assert not mariadb_answers(port), "nobody listens there any more"


@pytest.mark.parametrize("short", ["postgres", "mariadb"])
def test_status_and_down_where_nothing_runs(short: str, tmp_path: Path) -> None:
    place = str(tmp_path / "server")
    status = CliRunner().invoke(main, ["dev", short, "status", "--dir", place, "--output", "json"])
    assert (status.exit_code, json.loads(status.stdout)["state"]) == (1, "down")
    down = CliRunner().invoke(main, ["dev", short, "down", "--purge", "--dir", place])
    assert (down.exit_code, down.stdout.startswith("no ")) == (0, True)

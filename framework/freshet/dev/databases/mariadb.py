"""MariaDB, set as capturing changes needs it: a binary log of whole rows, with the names of their columns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept
from freshet.dev.databases.answering import mariadb_answers
from freshet.dev.databases.server import DatabaseServer
from freshet.dev.kept import Server
from freshet.dev.life import State
from freshet.dev.ports import HOST

MARIADB = Server(
    name="MariaDB",
    short="mariadb",
    busy="MARIADB_BUSY",
    unusable="MARIADB_DIRECTORY",
    unreadable="MARIADB_STATE_UNREADABLE",
    not_started="MARIADB_NOT_STARTED",
    port_taken="MARIADB_PORT_TAKEN",
    running="MARIADB_RUNNING",
)
_SETTINGS = {
    "bind-address": HOST,
    "skip-name-resolve": "ON",
    # Relative to the data: an absolute path may be longer than the 107 characters of a socket's.
    "socket": "mariadb.sock",
    "pid-file": "mariadb.pid",
    "server-id": "1",
    "log-bin": "mysql-bin",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "gtid-strict-mode": "ON",
    "character-set-server": "utf8mb4",
    "innodb-buffer-pool-size": "64M",
}


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one MariaDB."""

    server: ClassVar[Server] = MARIADB


class MariaDb(DatabaseServer):
    """A MariaDB.

    Args:
        directory: Where its files lie; by default ``mariadb`` in the cache.
    """

    unix_user = "mysql"
    package = "mariadb-server"
    missing = "MARIADB_MISSING"

    def __init__(self, directory: Path | None = None) -> None:
        super().__init__(Place(kept.directory_of(MARIADB, directory)))

    def binary(self) -> Path | None:
        """See ``DatabaseServer``."""
        # Where it is not everybody's to start, Debian keeps it off the path of users.
        found = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")
        return Path(found).resolve() if found else None

    def prepared(self) -> bool:
        """See ``DatabaseServer``: a server that ran there has begun its log."""
        return (self.place.data / "mysql-bin.index").exists()

    def preparing(self, binary: Path) -> Sequence[str]:
        """See ``DatabaseServer``."""
        found = shutil.which("mariadb-install-db") or "mariadb-install-db"
        return [found, "--no-defaults", f"--datadir={self.place.data}", "--auth-root-authentication-method=normal"]

    def words_of(self, state: State) -> Sequence[str]:
        """See ``Life``."""
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        return ["--no-defaults", f"--datadir={self.place.data}", f"--port={state.port}", *settings]

    def url(self, port: int) -> str:
        """See ``DatabaseServer``."""
        return f"mysql://root@{HOST}:{port}/test"

    def answers(self, port: int) -> bool:
        """See ``DatabaseServer``."""
        return mariadb_answers(port)

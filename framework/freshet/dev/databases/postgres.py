"""PostgreSQL, set as capturing changes needs it: its log has what logical decoding reads."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept
from freshet.dev.databases.answering import postgres_answers
from freshet.dev.databases.server import DatabaseServer
from freshet.dev.kept import Server
from freshet.dev.life import State
from freshet.dev.ports import HOST

POSTGRES = Server(
    name="PostgreSQL",
    short="postgres",
    busy="POSTGRES_BUSY",
    unusable="POSTGRES_DIRECTORY",
    unreadable="POSTGRES_STATE_UNREADABLE",
    not_started="POSTGRES_NOT_STARTED",
    port_taken="POSTGRES_PORT_TAKEN",
    running="POSTGRES_RUNNING",
)
_PACKAGES = Path("/usr/lib/postgresql")
_USER = "postgres"
_SETTINGS = {
    "listen_addresses": HOST,
    # A path of a socket may have 107 characters, which a directory's own may be longer than.
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
}


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one PostgreSQL."""

    server: ClassVar[Server] = POSTGRES


class Postgres(DatabaseServer):
    """A PostgreSQL.

    Args:
        directory: Where its files lie; by default ``postgres`` in the cache.
    """

    unix_user = _USER
    package = "postgresql"
    missing = "POSTGRES_MISSING"
    # By SIGTERM it would wait until the last client has gone.
    ends_by = signal.SIGINT

    def __init__(self, directory: Path | None = None) -> None:
        super().__init__(Place(kept.directory_of(POSTGRES, directory)))

    def binary(self) -> Path | None:
        """See ``DatabaseServer``."""
        if found := shutil.which("postgres"):
            return Path(found).resolve()
        # Debian keeps it off the path, a folder for each version.
        there = [path for path in _PACKAGES.glob("*/bin/postgres") if re.fullmatch(r"\d+", path.parts[-3])]
        return max(there, key=lambda path: int(path.parts[-3]), default=None)

    def prepared(self) -> bool:
        """See ``DatabaseServer``: a server that ran there has left this file."""
        return (self.place.data / "postmaster.opts").exists()

    def preparing(self, binary: Path) -> Sequence[str]:
        """See ``DatabaseServer``."""
        settings = ("--auth=trust", f"--username={_USER}", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
        return [str(binary.with_name("initdb")), f"--pgdata={self.place.data}", *settings]

    def words_of(self, state: State) -> Sequence[str]:
        """See ``Life``."""
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        return ["-D", str(self.place.data), "-p", str(state.port), *settings]

    def url(self, port: int) -> str:
        """See ``DatabaseServer``."""
        return f"postgresql://{_USER}@{HOST}:{port}/postgres"

    def answers(self, port: int) -> bool:
        """See ``DatabaseServer``."""
        return postgres_answers(port, _USER, "postgres")

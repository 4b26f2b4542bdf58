"""A real database on this machine for trying and testing, from the machine's own packages, on 127.0.0.1.

It goes on running when the command that started it has ended; tables and port stay from start to start. Nobody is asked for a
password.
"""

from __future__ import annotations

import subprocess
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from freshet.dev.databases.owner import Owner, owner_of
from freshet.dev.kept import Place
from freshet.dev.life import Life, State, Tell, is_alive, read_state
from freshet.dev.ports import HOST, free_port, refuse_taken
from freshet.dev.process import Ended
from freshet.errors import FreshetError

_PREPARE_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Database:
    """A database server as it was found.

    Args:
        state: ``starting`` is a process that does not serve yet.
        directory: Where its files lie.
        port: The port of its clients; 0 where it was never started.
        pid: Id of its process; 0 where none runs.
        log: What it said.
        url: The address for clients, with the user and a database that is there; empty where it was never started.
    """

    state: Literal["up", "starting", "down"]
    directory: Path
    port: int
    pid: int
    log: Path
    url: str

    def as_json(self) -> dict[str, object]:
        """Return the facts as a JSON-serialisable mapping."""
        return {
            "state": self.state,
            "host": HOST,
            "port": self.port,
            "pid": self.pid,
            "log": str(self.log),
            "directory": str(self.directory),
            "url": self.url,
        }


class DatabaseServer(Life[State, Database]):
    """A kind of database; a subclass says what it runs, and when it serves.

    Args:
        place: Its files.
    """

    #: The unix user of the package, as whom it runs where root starts it: both kinds refuse to run as root.
    unix_user: str
    #: The package of Debian that has it.
    package: str
    #: Code of the error that it is not installed.
    missing: str

    def __init__(self, place: Place) -> None:
        super().__init__(place, State)

    # --- what a kind of database says of itself ---------------------------------------------------------------------------

    @abstractmethod
    def binary(self) -> Path | None:
        """Return the server's program; None where it is not installed."""

    @abstractmethod
    def prepared(self) -> bool:
        """Say whether its directory of data was prepared, to the end."""

    @abstractmethod
    def preparing(self, binary: Path) -> Sequence[str]:
        """Return the command that prepares its directory of data."""

    @abstractmethod
    def url(self, port: int) -> str:
        """Return the address for clients."""

    @abstractmethod
    def answers(self, port: int) -> bool:
        """Say whether it serves on a port."""

    # --- what is the same for both ----------------------------------------------------------------------------------------

    def look(self) -> Database:
        """Look at it, without starting or changing anything.

        Raises:
            FreshetError: That its state cannot be read.
        """
        return self.look_at(read_state(self.place, State))

    def up(self, port: int | None, wait_seconds: float, tell: Tell) -> Database:
        """Start it and wait until it serves; one that runs already is returned as it is.

        Args:
            port: The port of its clients; None for that of the last time, at first a free one.
            wait_seconds: How long it may take.
            tell: Told in words what takes time.

        Raises:
            RetryableError: That another command starts or stops it.
            FreshetError: That it is not installed, did not start, has no port, or its directory cannot be used.
        """
        binary = self.binary()
        if binary is None:
            server = self.place.server
            raise FreshetError(
                self.missing,
                f"{server.name} is not installed on this machine.",
                "Nothing was started.",
                f"Install its package: apt-get install {self.package} (Debian), or name another server's address.",
            )
        refuse = partial(self._refuse_another, port)
        return self.start([*self._owner().prefix, str(binary)], partial(self._next, port), wait_seconds, tell, refuse)

    def down(self, purge: bool, tell: Tell) -> tuple[Database, Ended]:
        """Stop it; its tables stay unless they are to be deleted. See ``Life.stop``."""
        return self.stop(purge, tell)

    def look_at(self, kept: State | None) -> Database:
        """See ``Life``."""
        port = kept.port if kept else 0
        down = Database(
            state="down",
            directory=self.place.directory,
            port=port,
            pid=0,
            log=self.place.log,
            url=self.url(port) if port else "",
        )
        if kept is None or not is_alive(kept):
            return down
        return replace(down, state="up" if self.answers(port) else "starting", pid=kept.pid)

    def prepare(self, state: State, command: Sequence[str], log: int) -> None:
        """See ``Life``: makes the directory of data where there is none."""
        if self.prepared():
            return
        owner = self._owner()
        # One that was killed in between is prepared anew: it holds nothing yet.
        owner.empty(self.place)
        try:
            done = subprocess.run(
                [*owner.prefix, *self.preparing(Path(command[-1]))],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.place.directory,
                timeout=_PREPARE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self.not_started(f"its directory was not prepared within {_PREPARE_SECONDS:g} s") from error
        if done.returncode:
            raise self.not_started("its directory could not be prepared")

    def _owner(self) -> Owner:
        return owner_of(self.unix_user)

    def _refuse_another(self, port: int | None, kept: State) -> None:
        if port not in (None, kept.port):
            raise self.running(f"on port {kept.port}, not {port}")

    def _next(self, port: int | None, kept: State | None) -> State:
        kept = kept or State(port=port or free_port(self.place))
        kept = replace(kept, port=port or kept.port)
        refuse_taken(self.place, kept.port, "Name a free one by --port, or end that program.")
        return kept

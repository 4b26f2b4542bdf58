"""Start and stop the stub of a schema registry as a process of its own; its port and its schemas stay from start to start."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept
from freshet.dev.kept import Server, directory_of
from freshet.dev.life import Life, State, Tell, is_alive, read_state
from freshet.dev.ports import HOST, free_port, refuse_taken
from freshet.dev.process import Ended

REGISTRY = Server(
    name="stub of a schema registry",
    short="registry",
    busy="DEV_REGISTRY_BUSY",
    unusable="DEV_REGISTRY_DIRECTORY",
    unreadable="DEV_REGISTRY_STATE",
    not_started="DEV_REGISTRY_NOT_STARTED",
    port_taken="DEV_REGISTRY_NOT_STARTED",
)


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one stub; ``data`` has its schemas."""

    server: ClassVar[Server] = REGISTRY


@dataclass(frozen=True, kw_only=True)
class Found:
    """A stub as it is found.

    Args:
        state: ``up`` where it answers, ``starting`` where its process runs and does not, else ``down``.
        directory: Where its schemas, port and log are.
        port: Its port; 0 before the first start.
        pid: Its process; 0 where none runs.
        log: What it said.
    """

    state: str
    directory: Path
    port: int
    pid: int
    log: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON-serialisable mapping."""
        return {
            "state": self.state,
            "directory": str(self.directory),
            "log": str(self.log),
            "port": self.port,
            "pid": self.pid,
            "url": self.url if self.port else None,
        }


def look(directory: Path | None = None) -> Found:
    """Return whether a stub is up, and where.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.

    Raises:
        FreshetError: DEV_REGISTRY_STATE.
    """
    place = Place(directory_of(REGISTRY, directory))
    return _look_at(place, read_state(place, State))


def start(directory: Path | None = None, wait_seconds: float = 20.0, tell: Tell = lambda words: None) -> Found:
    """Start a stub and wait until it answers; one that is up is returned as it is.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.
        wait_seconds: How long it may take.
        tell: Told in words what takes time.

    Raises:
        RetryableError: DEV_REGISTRY_BUSY.
        FreshetError: DEV_REGISTRY_STATE, DEV_REGISTRY_DIRECTORY or DEV_REGISTRY_NOT_STARTED.
    """
    stub = _Stub(Place(directory_of(REGISTRY, directory)), State)
    command = [sys.executable, "-m", "freshet.dev.registry.stub"]
    return stub.start(command, partial(_next_state, stub.place), wait_seconds, tell)


def stop(directory: Path | None = None, purge: bool = False, tell: Tell = lambda words: None) -> tuple[Found, Ended]:
    """Stop a stub; its schemas stay unless they are to be deleted.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.
        purge: Delete its schemas, port and log too.
        tell: Told in words what takes time.

    Returns:
        What it was, and how it ended.

    Raises:
        RetryableError: DEV_REGISTRY_BUSY.
        FreshetError: DEV_REGISTRY_STATE.
    """
    return _Stub(Place(directory_of(REGISTRY, directory)), State).stop(purge, tell)


class _Stub(Life[State, Found]):
    def look_at(self, kept: State | None) -> Found:
        return _look_at(self.place, kept)

    def words_of(self, state: State) -> Sequence[str]:
        return [str(self.place.data), str(state.port)]

    def prepare(self, state: State, command: Sequence[str], log: int) -> None:
        self.place.data.mkdir(exist_ok=True)


def _look_at(place: kept.Place, state: State | None) -> Found:
    port, pid, now = state.port if state else 0, 0, "down"
    if state is not None and is_alive(state):
        pid, now = state.pid, "up" if _answers(port) else "starting"
    return Found(state=now, directory=place.directory, port=port, pid=pid, log=place.log)


def _next_state(place: kept.Place, state: State | None) -> State:
    state = state or State(port=free_port(place))
    refuse_taken(place, state.port, "End that program; or begin anew by 'down --purge', which deletes the schemas.")
    return state


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False

"""Where a Kafka Connect that freshet started stands: its process, its log, and whether its REST interface answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from freshet.connect.rest import Connect
from freshet.dev.connect.files import Place, State, place_of
from freshet.dev.life import is_alive, read_state
from freshet.dev.ports import HOST

_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Worker:
    """A worker as it was found.

    Args:
        state: ``starting`` is a process that does not serve yet.
        directory: Where its files lie.
        port: The port of its REST interface; 0 where it was never started.
        servers: The Kafka that it writes into; empty where it was never started.
        group: Its group there; empty where it was never started.
        pid: Id of its process; 0 where none runs.
        log: What it said.
    """

    state: Literal["up", "starting", "down"]
    directory: Path
    port: int
    servers: str
    group: str
    pid: int
    log: Path

    @property
    def url(self) -> str:
        """The address of its REST interface."""
        return f"http://{HOST}:{self.port}"

    def as_json(self) -> dict[str, object]:
        """Return the facts as a JSON-serialisable mapping."""
        return {
            "state": self.state,
            "host": HOST,
            "port": self.port,
            "url": self.url if self.port else None,
            "kafka": self.servers,
            "group": self.group,
            "pid": self.pid,
            "log": str(self.log),
            "directory": str(self.directory),
        }


def look(directory: Path | None = None) -> Worker:
    """Look at a worker, without starting or changing anything.

    Args:
        directory: Where its files lie; by default ``connect`` in the cache.

    Raises:
        FreshetError: DEV_CONNECT_STATE.
    """
    place = place_of(directory)
    return look_at(place, read_state(place, State))


def look_at(place: Place, kept: State | None) -> Worker:
    """Look at a worker whose state was read."""
    down = Worker(
        state="down",
        directory=place.directory,
        port=kept.port if kept else 0,
        servers=kept.servers if kept else "",
        group=kept.group if kept else "",
        pid=0,
        log=place.log,
    )
    if kept is None or not is_alive(kept):
        return down
    up = Connect(down.url, _ANSWER_SECONDS).serves()
    return Worker(**{**vars(down), "state": "up" if up else "starting", "pid": kept.pid})

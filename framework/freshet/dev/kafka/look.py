"""Where a Kafka broker that freshet started stands: its process, its log, and whether its port answers."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from freshet.dev.kafka.files import Place, State, place_of
from freshet.dev.life import is_alive, read_state
from freshet.dev.ports import HOST

#: What the broker says once, when it serves.
STARTED = "Kafka Server started"
_ANSWER_SECONDS = 2.0
# The oldest request that a broker knows, and which it answers to any client: which versions of which requests it takes.
_API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)


@dataclass(frozen=True)
class Kafka:
    """A broker as it was found.

    Args:
        state: ``starting`` is a process that does not serve yet.
        directory: Where its files lie.
        port: The port of its clients; 0 where it was never started.
        cluster: The cluster's id; empty where it was never started.
        pid: Id of its process; 0 where none runs.
        log: What it said.
    """

    state: Literal["up", "starting", "down"]
    directory: Path
    port: int
    cluster: str
    pid: int
    log: Path

    @property
    def servers(self) -> str:
        """The address for clients."""
        return f"{HOST}:{self.port}"

    @property
    def hoodie(self) -> dict[str, str]:
        """The connection by Kafka's own key, as a pipeline has it."""
        return {"bootstrap.servers": self.servers}

    def as_json(self) -> dict[str, object]:
        """Return the facts as a JSON-serialisable mapping."""
        return {
            "state": self.state,
            "host": HOST,
            "port": self.port,
            "cluster": self.cluster,
            "pid": self.pid,
            "log": str(self.log),
            "directory": str(self.directory),
            "hoodie": self.hoodie if self.port else {},
        }


def look(directory: Path | None = None) -> Kafka:
    """Look at a broker, without starting or changing anything.

    Args:
        directory: Where its files lie; by default ``kafka`` in the cache.

    Raises:
        FreshetError: KAFKA_STATE_UNREADABLE.
    """
    place = place_of(directory)
    return look_at(place, read_state(place, State))


def look_at(place: Place, kept: State | None) -> Kafka:
    """Look at a broker whose state was read."""
    port, cluster = (kept.port, kept.cluster) if kept else (0, "")
    if kept is None or not is_alive(kept):
        return Kafka("down", place.directory, port, cluster, 0, place.log)
    # It answers before it takes part in its cluster; then a client is told of no broker.
    up = _says_so(place) and answers(kept.port)
    return Kafka("up" if up else "starting", place.directory, port, cluster, kept.pid, place.log)


def answers(port: int) -> bool:
    """Say whether a broker of Kafka answers on a port."""
    try:
        with socket.create_connection((HOST, port), _ANSWER_SECONDS) as found:
            found.sendall(struct.pack(">i", len(_API_VERSIONS)) + _API_VERSIONS)
            head = _received(found, 10)
    except OSError:
        return False
    # Length, the request's own number, and no error.
    return len(head) == 10 and struct.unpack(">iih", head)[1:] == (1, 0)


def _received(found: socket.socket, wanted: int) -> bytes:
    parts = b""
    while len(parts) < wanted and (part := found.recv(wanted - len(parts))):
        parts += part
    return parts


def _says_so(place: Place) -> bool:
    try:
        return STARTED in place.log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False

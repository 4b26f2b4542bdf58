"""The directory of a Kafka Connect that freshet starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept, life
from freshet.dev.kept import Server

CONNECT = Server(
    name="Kafka Connect",
    short="connect",
    busy="DEV_CONNECT_BUSY",
    unusable="DEV_CONNECT_DIRECTORY",
    unreadable="DEV_CONNECT_STATE",
    not_started="DEV_CONNECT_NOT_STARTED",
    port_taken="DEV_CONNECT_PORT_TAKEN",
    running="DEV_CONNECT_RUNNING",
)


@dataclass(frozen=True, kw_only=True)
class State(life.State):
    """What is known of a worker whether it runs or not.

    Args:
        port, pid, mark: As of each server; the port is that of its REST interface.
        servers: Address of the Kafka in which it keeps connectors and positions, and into which they write.
        group: Its group there, and how the topics are called in which it keeps them.
    """

    servers: str
    group: str


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one worker; ``conf`` has its properties and its plugins. What it keeps is in Kafka."""

    server: ClassVar[Server] = CONNECT

    @property
    def properties(self) -> Path:
        """The worker's settings."""
        return self.conf / "worker.properties"

    @property
    def plugins(self) -> Path:
        """A folder for each kind of connector, with its jars."""
        return self.conf / "plugins"


def place_of(directory: Path | None) -> Place:
    """Return the files of a worker; by default those in the cache."""
    return Place(kept.directory_of(CONNECT, directory))

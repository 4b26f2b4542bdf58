"""The directory of a Kafka broker that freshet starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept, life
from freshet.dev.kept import Server

KAFKA = Server(
    name="Kafka",
    short="kafka",
    busy="KAFKA_BUSY",
    unusable="KAFKA_DIRECTORY",
    unreadable="KAFKA_STATE_UNREADABLE",
    not_started="KAFKA_NOT_STARTED",
    port_taken="KAFKA_PORT_TAKEN",
    running="KAFKA_RUNNING",
)


@dataclass(frozen=True, kw_only=True)
class State(life.State):
    """What is known of a broker whether it runs or not.

    Args:
        port, pid, mark: As of each server.
        controller_port: The port by which it votes for itself.
        cluster: Id of the cluster, with which its data are marked.
    """

    controller_port: int
    cluster: str


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one broker; ``conf`` has its properties, ``data`` its topics."""

    server: ClassVar[Server] = KAFKA

    @property
    def properties(self) -> Path:
        """The broker's settings."""
        return self.conf / "server.properties"

    @property
    def marked(self) -> Path:
        """The file by which Kafka tells that its directory of data was prepared."""
        return self.data / "meta.properties"


def place_of(directory: Path | None) -> Place:
    """Return the files of a broker; by default those in the cache."""
    return Place(kept.directory_of(KAFKA, directory))

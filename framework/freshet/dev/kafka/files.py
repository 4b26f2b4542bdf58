"""The directory of a Kafka broker that freshet starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept
from freshet.dev.kept import Server, read_json, unreadable

KAFKA = Server(name="Kafka", short="kafka", busy="KAFKA_BUSY", unusable="KAFKA_DIRECTORY", unreadable="KAFKA_STATE_UNREADABLE")


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known of a broker whether it runs or not.

    Args:
        port: The port of its clients, kept from the first start on.
        controller_port: The port by which it votes for itself.
        cluster: Id of the cluster, with which its data are marked.
        pid: Id of its last process; 0 where there was none.
        mark: That process's ``start_mark``.
    """

    port: int
    controller_port: int
    cluster: str
    pid: int = 0
    mark: str = ""


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
    return Place((directory or kept.default_directory(KAFKA)).expanduser().absolute())


def read_state(place: Place) -> State | None:
    """Read the state; None where there is none.

    Raises:
        FreshetError: KAFKA_STATE_UNREADABLE.
    """
    content = read_json(place)
    try:
        return None if content is None else State(**content)
    except TypeError as error:
        raise unreadable(place, str(error)) from error

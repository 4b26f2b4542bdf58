"""The directory of an HBase that freshet starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept, life
from freshet.dev.kept import Server

ZNODE = "/hbase"
LOG = "hbase.log"
HBASE = Server(
    name="HBase",
    short="hbase",
    busy="HBASE_BUSY",
    unusable="HBASE_DIRECTORY",
    unreadable="HBASE_STATE_UNREADABLE",
    not_started="HBASE_NOT_STARTED",
    port_taken="HBASE_PORT_TAKEN",
    running="HBASE_RUNNING",
)


@dataclass(frozen=True, kw_only=True)
class State(life.State):
    """What is known of an HBase whether it runs or not.

    Args:
        port, pid, mark: As of each server; the port is ZooKeeper's.
        region_servers: How many region servers it was last started with.
        launched_ms: Milliseconds since 1970 just before it was started.
        initialized: Whether that process was seen to be ready; its log says so once, and does not keep it.
    """

    region_servers: int
    launched_ms: int = 0
    initialized: bool = False


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one HBase; ``conf`` is first on the class path, ``data`` has HBase's files and ZooKeeper's."""

    server: ClassVar[Server] = HBASE


def place_of(directory: Path | None) -> Place:
    """Return the files of an HBase; by default those in the cache."""
    return Place(kept.directory_of(HBASE, directory))

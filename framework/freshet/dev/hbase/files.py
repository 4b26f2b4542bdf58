"""The directory of an HBase that freshet starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from freshet.dev import kept
from freshet.dev.kept import Server, read_json, unreadable

ZNODE = "/hbase"
LOG = "hbase.log"
HBASE = Server(name="HBase", short="hbase", busy="HBASE_BUSY", unusable="HBASE_DIRECTORY", unreadable="HBASE_STATE_UNREADABLE")


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known of an HBase whether it runs or not.

    Args:
        port: ZooKeeper's port, kept from the first start on.
        region_servers: How many region servers it was last started with.
        pid: Id of its last process; 0 where there was none.
        mark: That process's ``start_mark``.
        launched_ms: Milliseconds since 1970 just before it was started.
        initialized: Whether that process was seen to be ready; its log says so once, and does not keep it.
    """

    port: int
    region_servers: int
    pid: int = 0
    mark: str = ""
    launched_ms: int = 0
    initialized: bool = False


@dataclass(frozen=True)
class Place(kept.Place):
    """The files of one HBase; ``conf`` is first on the class path, ``data`` has HBase's files and ZooKeeper's."""

    server: ClassVar[Server] = HBASE


def default_directory() -> Path:
    """Return ``hbase`` in the cache."""
    return kept.default_directory(HBASE)


def read_state(place: Place) -> State | None:
    """Read the state; None where there is none.

    Raises:
        FreshetError: HBASE_STATE_UNREADABLE.
    """
    content = read_json(place)
    try:
        return None if content is None else State(**content)
    except TypeError as error:
        raise unreadable(place, str(error)) from error

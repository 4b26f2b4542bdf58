"""Where an HBase that freshet started stands: its process, and what its ZooKeeper says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from freshet.dev.hbase.files import ZNODE, Place, State, place_of
from freshet.dev.hbase.zookeeper import connect
from freshet.dev.life import is_alive, read_state
from freshet.dev.ports import HOST

QUORUM = HOST
_MASTER, _REGION_SERVERS = f"{ZNODE}/master", f"{ZNODE}/rs"
_READY = "Master has completed initialization"
_SCHEDULED = re.compile(r"Scheduled ServerCrashProcedure pid=(\d+)")
_DONE = re.compile(r"Finished pid=(\d+), state=\w+; ServerCrashProcedure")


@dataclass(frozen=True)
class HBase:
    """An HBase as it was found.

    Args:
        state: ``starting`` is a process whose region servers do not all answer.
        directory: Where its files lie.
        port: ZooKeeper's port; 0 where it was never started.
        region_servers: How many are registered now.
        wanted_region_servers: How many it was started with.
        pid: Id of its process; 0 where none runs.
        log: What it said.
    """

    state: Literal["up", "starting", "down"]
    directory: Path
    port: int
    region_servers: int
    wanted_region_servers: int
    pid: int
    log: Path

    @property
    def hoodie(self) -> dict[str, str | int]:
        """The connection by Hudi's own keys."""
        return {
            "hoodie.index.hbase.zkquorum": QUORUM,
            "hoodie.index.hbase.zkport": self.port,
            "hoodie.index.hbase.zknode.path": ZNODE,
        }

    def as_json(self) -> dict[str, object]:
        """Return the facts as a JSON-serialisable mapping."""
        return {
            "state": self.state,
            "quorum": QUORUM,
            "port": self.port,
            "znode": ZNODE,
            "region_servers": self.region_servers,
            "wanted_region_servers": self.wanted_region_servers,
            "pid": self.pid,
            "log": str(self.log),
            "directory": str(self.directory),
            "hoodie": self.hoodie if self.port else {},
        }


def look(directory: Path | None = None) -> HBase:
    """Look at an HBase, without starting or changing anything.

    Args:
        directory: Where its files lie; by default ``hbase`` in the cache.

    Raises:
        FreshetError: HBASE_STATE_UNREADABLE.
    """
    place = place_of(directory)
    return look_at(place, read_state(place, State))


def look_at(place: Place, kept: State | None) -> HBase:
    """Look at an HBase whose state was read."""
    if kept is None or not is_alive(kept):
        return HBase("down", place.directory, kept.port if kept else 0, 0, kept.region_servers if kept else 0, 0, place.log)
    count = _registered(kept)
    up = count >= kept.region_servers and (kept.initialized or _says_so(place))
    return HBase("up" if up else "starting", place.directory, kept.port, count, kept.region_servers, kept.pid, place.log)


def _registered(kept: State) -> int:
    # Those of this process: what one that was killed registered stays until its sessions expire.
    try:
        with connect(kept.port) as zookeeper:
            return sum(not _is_of_before(kept, name) for name in zookeeper.children(_REGION_SERVERS))
    except OSError:
        return 0


def _is_of_before(kept: State, server: str) -> bool:
    # host,port,milliseconds since 1970
    return int(server.rpartition(",")[2]) < kept.launched_ms


def forget_the_dead(state: State) -> bool:
    """Remove what the last process left in ZooKeeper, and would leave for ten seconds more; false where none answers yet.

    It is what HBase's own scripts do after a crash (``hbase master clear``). That process is known to be gone.
    """
    try:
        with connect(state.port) as zookeeper:
            servers = [
                f"{_REGION_SERVERS}/{name}" for name in zookeeper.children(_REGION_SERVERS) if _is_of_before(state, name)
            ]
            created_ms = zookeeper.created_ms(_MASTER)
            for node in servers + [_MASTER] * (created_ms is not None and created_ms < state.launched_ms):
                zookeeper.delete(node)
            return True
    except OSError:
        return False


def _says_so(place: Place) -> bool:
    try:
        said = "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in place.logs)
    except FileNotFoundError:
        return False  # it was given its number just now: look again
    # After a kill the regions of the dead server are opened some seconds later: until then whoever asks for one is refused.
    return _READY in said and set(_SCHEDULED.findall(said)) <= set(_DONE.findall(said))

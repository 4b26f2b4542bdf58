"""A real HBase on this machine for trying and testing: master, region servers and ZooKeeper in one JVM, on 127.0.0.1.

It is started from two jars and PySpark's own, and goes on running when the command that started it has ended. Data and
ports stay from start to start.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from freshet.dev.hbase.files import Place, State, place_of
from freshet.dev.hbase.look import HBase, forget_the_dead, look_at
from freshet.dev.hbase.settings import write_settings
from freshet.dev.life import Life, Tell
from freshet.dev.ports import free_port, refuse_taken
from freshet.dev.process import Ended
from freshet.jvm.ivy import pyspark_jar_dir
from freshet.jvm.jars import HBASE_JARS, missing_jars, resolve_jars
from freshet.jvm.java import find_java_home, java_command


def start(
    directory: Path | None = None,
    region_servers: int | None = None,
    wait_seconds: float = 60.0,
    tell: Tell = lambda words: None,
    heap_gib: int = 1,
) -> HBase:
    """Start an HBase and wait until it is ready; one that runs already is returned as it is.

    Args:
        directory: Where its files lie; by default ``hbase`` in the cache.
        region_servers: How many; None for as many as the last time, at first one.
        wait_seconds: How long it may take, without the download of the jars.
        tell: Told in words what takes time.
        heap_gib: What its Java may take at most, in GiB.

    Returns:
        The HBase, up.

    Raises:
        RetryableError: HBASE_BUSY.
        FreshetError: HBASE_NOT_STARTED, HBASE_PORT_TAKEN, HBASE_RUNNING (with another number of region servers),
            HBASE_DIRECTORY, HBASE_STATE_UNREADABLE; JAVA_NOT_FOUND, JAR_MISSING or JAR_ALTERED.
    """
    place = place_of(directory)
    cluster = _Cluster(place)
    # Before the directory is held, because a download takes as long as it takes.
    command = _command(tell, heap_gib)
    refuse = partial(cluster.refuse_another, region_servers)
    return cluster.start(command, partial(_next_state, place, region_servers), wait_seconds, tell, refuse)


def stop(directory: Path | None = None, purge: bool = False, tell: Tell = lambda words: None) -> tuple[HBase, Ended]:
    """Stop an HBase; its data stay unless they are to be deleted.

    Args:
        directory: Where its files lie; by default ``hbase`` in the cache.
        purge: Delete its data, log and ports too.
        tell: Told in words what takes time.

    Returns:
        What it was, and how it ended.

    Raises:
        RetryableError: HBASE_BUSY.
        FreshetError: HBASE_STATE_UNREADABLE.
    """
    return _Cluster(place_of(directory)).stop(purge, tell)


class _Cluster(Life[State, HBase]):
    def __init__(self, place: Place) -> None:
        super().__init__(place, State)
        self._files, self._forgotten = place, False

    def look_at(self, kept: State | None) -> HBase:
        return look_at(self._files, kept)

    def words_of(self, state: State) -> Sequence[str]:
        return [f"--localRegionServers={state.region_servers}", "start"]

    def prepare(self, state: State, command: Sequence[str], log: int) -> None:
        write_settings(self._files, state)

    def poll(self, state: State) -> None:
        # Once, as soon as ZooKeeper answers: long before the new master could have taken the old one's node.
        self._forgotten = self._forgotten or forget_the_dead(state)

    def served(self, state: State) -> State:
        return replace(state, initialized=True)

    def refuse_another(self, region_servers: int | None, kept: State) -> None:
        if region_servers not in (None, kept.region_servers):
            raise self.running(f"with {kept.region_servers} region server(s), not {region_servers}")


def _next_state(place: Place, region_servers: int | None, kept: State | None) -> State:
    kept = kept or State(port=free_port(place), region_servers=1)
    refuse_taken(
        place, kept.port, "End that program; or change 'port' in hbase.json, and hoodie.index.hbase.zkport of the pipelines."
    )
    now = time.time_ns() // 1_000_000
    return replace(kept, region_servers=region_servers or kept.region_servers, initialized=False, launched_ms=now)


def _command(tell: Tell, heap_gib: int) -> list[str]:
    java = java_command(find_java_home())
    if missing_jars(HBASE_JARS):
        tell("fetching HBase's jars (50 MB), once")
    jars = [*map(str, resolve_jars(HBASE_JARS)), f"{pyspark_jar_dir()}/*"]
    return [
        str(java),
        f"-Xmx{heap_gib}g",
        "-Djava.net.preferIPv4Stack=true",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        # Relative, because a directory's name may hold what separates entries.
        "-cp",
        os.pathsep.join(["conf", *jars]),
        "org.apache.hadoop.hbase.master.HMaster",
    ]

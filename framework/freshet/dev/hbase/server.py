"""A real HBase on this machine for trying and testing: master, region servers and ZooKeeper in one JVM, on 127.0.0.1.

It is started from two jars and PySpark's own, and goes on running when the command that started it has ended. Data and
ports stay from start to start.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from freshet.dev.hbase.files import Place, State, read_state
from freshet.dev.hbase.look import QUORUM, HBase, forget_the_dead, is_alive, look_at, place_of
from freshet.dev.hbase.settings import write_settings
from freshet.dev.kept import delete_files, end_of_log, hold_directory, write_state
from freshet.dev.ports import PORTS, find_free_port, is_free
from freshet.dev.process import Ended, end_process, start_mark
from freshet.errors import FreshetError
from freshet.jvm.ivy import pyspark_jar_dir
from freshet.jvm.jars import HBASE_JARS, missing_jars, resolve_jars
from freshet.jvm.java import find_java_home, java_command

Tell = Callable[[str], None]

_POLL_SECONDS = 0.2
_PORT_SECONDS = 5.0
_BUSY_SECONDS = 60.0


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
    # Before the directory is held, because a download takes as long as it takes.
    command = _command(tell, heap_gib)
    with hold_directory(place, wait_seconds, tell):
        kept = read_state(place)
        if kept is not None and is_alive(kept):
            if region_servers not in (None, kept.region_servers):
                raise FreshetError(
                    "HBASE_RUNNING",
                    f"the HBase in {place.directory} runs with {kept.region_servers} region server(s), not {region_servers}.",
                    "It runs on as it was.",
                    f"Stop it first: {_down(place)}",
                )
            found = _wait_until_up(place, kept, wait_seconds, fresh=False)
            if found.state == "up":
                tell("it was up already")
                return found
        return _launch(place, _next_state(kept, region_servers), command, wait_seconds)


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
    place = place_of(directory)
    # A directory without a state is not freshet's: nothing may be locked or deleted there.
    if read_state(place) is None:
        return look_at(place, None), "gone"
    with hold_directory(place, _BUSY_SECONDS, tell):
        kept = read_state(place)
        found = look_at(place, kept)
        ended = end_process(kept.pid, kept.mark) if kept else "gone"
        if kept and purge:
            delete_files(place)
        return found, ended


def _next_state(kept: State | None, region_servers: int | None) -> State:
    if kept is None:
        return State(port=_free_port(), region_servers=region_servers or 1)
    # A killed process is gone before the kernel has closed all of its sockets.
    deadline = time.monotonic() + _PORT_SECONDS
    while not is_free(kept.port) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if not is_free(kept.port):
        raise FreshetError(
            "HBASE_PORT_TAKEN",
            f"another program listens on port {kept.port} of {QUORUM}, which this HBase has had since its first start.",
            "Nothing was started.",
            "End that program; or change 'port' in hbase.json, and hoodie.index.hbase.zkport of the pipelines.",
            port=kept.port,
        )
    return replace(kept, region_servers=region_servers or kept.region_servers)


def _free_port() -> int:
    port = find_free_port()
    if port is not None:
        return port
    raise FreshetError(
        "HBASE_PORT_TAKEN",
        f"a hundred ports of {QUORUM} between {PORTS.start} and {PORTS.stop} are taken.",
        "Nothing was started.",
        "Look who listens on them: ss -ltnp",
    )


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


def _launch(place: Place, state: State, command: list[str], wait_seconds: float) -> HBase:
    # The state first: what follows is then known to be freshet's.
    state = replace(state, pid=0, mark="", initialized=False)
    write_state(place, state)
    write_settings(place, state)
    launched_ms = time.time_ns() // 1_000_000
    for said_before in place.logs:
        said_before.unlink()
    # What Java itself says goes to the file that HBase's logging appends to.
    with open(place.log, "ab") as log:
        # A session of its own: the keyboard's interrupt and the terminal's end are not for it.
        process = subprocess.Popen(
            [*command, f"--localRegionServers={state.region_servers}", "start"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=place.directory,
            start_new_session=True,
        )
    mark = start_mark(process.pid) or ""
    started = replace(state, pid=process.pid, mark=mark, launched_ms=launched_ms)
    try:
        write_state(place, started)
        return _wait_until_up(place, started, wait_seconds, fresh=True)
    except BaseException:
        end_process(process.pid, mark)
        process.wait()
        raise


def _wait_until_up(place: Place, state: State, wait_seconds: float, fresh: bool) -> HBase:
    deadline, forgotten = time.monotonic() + wait_seconds, not fresh
    while (found := look_at(place, state)).state != "up":
        if found.state == "down":
            if not fresh:
                return found  # killed just now: it is started again
            raise _not_started(place, "it ended")
        if time.monotonic() >= deadline:
            raise _not_started(place, f"it was not ready after {wait_seconds:g} s", stopped=fresh)
        # Once, as soon as ZooKeeper answers: long before the new master could have taken the old one's node.
        forgotten = forgotten or forget_the_dead(state)
        time.sleep(_POLL_SECONDS)
    write_state(place, replace(state, initialized=True))
    return found


def _not_started(place: Place, why: str, stopped: bool = True) -> FreshetError:
    return FreshetError(
        "HBASE_NOT_STARTED",
        f"the HBase in {place.directory}: {why}. The end of {place.log}:{end_of_log(place)}\n",
        "Nothing runs; the data are as they were." if stopped else "Its process still runs.",
        f"Read the log; give it longer by --wait, or begin anew: {_down(place)} --purge",
        log=str(place.log),
        directory=str(place.directory),
    )


def _down(place: Place) -> str:
    return f"freshet dev hbase down --dir {shlex.quote(str(place.directory))}"

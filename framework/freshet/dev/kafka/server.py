"""A real Kafka on this machine for trying and testing: broker and controller in one JVM, on 127.0.0.1.

It is started from jars of its own, which are not Spark's, and goes on running when the command that started it has ended.
Topics and port stay from start to start.
"""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from freshet.dev.kafka.files import Place, State, place_of, read_state
from freshet.dev.kafka.look import STARTED, Kafka, is_alive, look_at
from freshet.dev.kafka.settings import write_settings
from freshet.dev.kept import delete_files, end_of_log, hold_directory, write_state
from freshet.dev.ports import HOST, PORTS, find_free_port, is_free
from freshet.dev.process import Ended, end_process, start_mark
from freshet.errors import FreshetError
from freshet.jvm.jars import KAFKA_SERVER_JARS, missing_jars, resolve_jars
from freshet.jvm.java import find_java_home, java_command

Tell = Callable[[str], None]

_POLL_SECONDS = 0.1
_PORT_SECONDS = 5.0
_BUSY_SECONDS = 60.0
_FORMAT_SECONDS = 120.0
_FORMAT, _SERVE = "kafka.tools.StorageTool", "kafka.Kafka"
# Warnings, and the one line that says that it serves: nothing rolls this log.
_LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info")


def start(
    directory: Path | None = None,
    port: int | None = None,
    wait_seconds: float = 60.0,
    tell: Tell = lambda words: None,
    heap_mib: int = 256,
) -> Kafka:
    """Start a broker and wait until it serves; one that runs already is returned as it is.

    Args:
        directory: Where its files lie; by default ``kafka`` in the cache.
        port: The port of its clients; None for that of the last time, at first a free one.
        wait_seconds: How long it may take, without the download of the jars.
        tell: Told in words what takes time.
        heap_mib: What its Java may take at most, in MiB.

    Returns:
        The broker, up.

    Raises:
        RetryableError: KAFKA_BUSY.
        FreshetError: KAFKA_NOT_STARTED, KAFKA_PORT_TAKEN, KAFKA_RUNNING (on another port), KAFKA_DIRECTORY,
            KAFKA_STATE_UNREADABLE; JAVA_NOT_FOUND, JAR_MISSING or JAR_ALTERED.
    """
    place = place_of(directory)
    # Before the directory is held, because a download takes as long as it takes.
    command = _command(tell, heap_mib)
    with hold_directory(place, wait_seconds, tell):
        kept = read_state(place)
        if kept is not None and is_alive(kept):
            if port not in (None, kept.port):
                raise FreshetError(
                    "KAFKA_RUNNING",
                    f"the Kafka in {place.directory} runs on port {kept.port}, not {port}.",
                    "It runs on as it was.",
                    f"Stop it first: {_down(place)}",
                )
            found = _wait_until_up(place, kept, wait_seconds, fresh=False)
            if found.state == "up":
                tell("it was up already")
                return found
        return _launch(place, _next_state(kept, port), command, wait_seconds)


def stop(directory: Path | None = None, purge: bool = False, tell: Tell = lambda words: None) -> tuple[Kafka, Ended]:
    """Stop a broker; its topics stay unless they are to be deleted.

    Args:
        directory: Where its files lie; by default ``kafka`` in the cache.
        purge: Delete its topics, log and port too.
        tell: Told in words what takes time.

    Returns:
        What it was, and how it ended.

    Raises:
        RetryableError: KAFKA_BUSY.
        FreshetError: KAFKA_STATE_UNREADABLE.
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


def _next_state(kept: State | None, port: int | None) -> State:
    if kept is None:
        own = port or _free_port(())
        # As Kafka writes it: 16 random bytes, without the signs that a command line would take for an option.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        kept = State(port=own, controller_port=_free_port((own,)), cluster=f"k{cluster[1:]}")
    kept = replace(kept, port=port or kept.port)
    _refuse_taken(kept.port, "Name a free one by --port, or end that program.")
    if not is_free(kept.controller_port):
        # Only the broker itself knows it.
        kept = replace(kept, controller_port=_free_port((kept.port,)))
    return kept


def _refuse_taken(port: int, remedy: str) -> None:
    # A killed process is gone before the kernel has closed all of its sockets.
    deadline = time.monotonic() + _PORT_SECONDS
    while not is_free(port) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if not is_free(port):
        raise FreshetError(
            "KAFKA_PORT_TAKEN",
            f"another program listens on port {port} of {HOST}.",
            "Nothing was started.",
            remedy,
            port=port,
        )


def _free_port(taken: tuple[int, ...]) -> int:
    port = find_free_port(taken)
    if port is not None:
        return port
    raise FreshetError(
        "KAFKA_PORT_TAKEN",
        f"a hundred ports of {HOST} between {PORTS.start} and {PORTS.stop} are taken.",
        "Nothing was started.",
        "Look who listens on them: ss -ltnp",
    )


def _command(tell: Tell, heap_mib: int) -> list[str]:
    java = java_command(find_java_home())
    if missing_jars(KAFKA_SERVER_JARS):
        tell("fetching Kafka's jars (43 MB), once")
    jars = os.pathsep.join(map(str, resolve_jars(KAFKA_SERVER_JARS)))
    # A small broker ends before the optimising compiler earns back what it takes.
    lean = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return [str(java), f"-Xmx{heap_mib}m", *lean, "-Djava.net.preferIPv4Stack=true", *_LOGGING, "-cp", jars]


def _launch(place: Place, state: State, command: Sequence[str], wait_seconds: float) -> Kafka:
    # The state first: what follows is then known to be freshet's.
    state = replace(state, pid=0, mark="")
    write_state(place, state)
    write_settings(place, state)
    for said_before in place.logs:
        said_before.unlink()
    with open(place.log, "ab") as log:
        if not place.marked.exists():
            _prepare(place, state, command, log.fileno())
        # A session of its own: the keyboard's interrupt and the terminal's end are not for it.
        process = subprocess.Popen(
            [*command, _SERVE, str(place.properties)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=place.directory,
            start_new_session=True,
        )
    mark = start_mark(process.pid) or ""
    started = replace(state, pid=process.pid, mark=mark)
    try:
        write_state(place, started)
        return _wait_until_up(place, started, wait_seconds, fresh=True)
    except BaseException:
        end_process(process.pid, mark)
        process.wait()
        raise


def _prepare(place: Place, state: State, command: Sequence[str], log: int) -> None:
    # One that was killed in between is prepared again: the directory may be marked, or half so.
    words = [*command, _FORMAT, "format", "-t", state.cluster, "-c", str(place.properties), "--ignore-formatted"]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=place.directory, timeout=_FORMAT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _not_started(place, f"its directory was not prepared within {_FORMAT_SECONDS:g} s") from error
    if done.returncode:
        raise _not_started(place, "its directory could not be prepared")


def _wait_until_up(place: Place, state: State, wait_seconds: float, fresh: bool) -> Kafka:
    deadline = time.monotonic() + wait_seconds
    while (found := look_at(place, state)).state != "up":
        if found.state == "down":
            if not fresh:
                return found  # killed just now: it is started again
            raise _not_started(place, "it ended")
        if time.monotonic() >= deadline:
            raise _not_started(place, f"it did not say {STARTED!r} within {wait_seconds:g} s", stopped=fresh)
        time.sleep(_POLL_SECONDS)
    return found


def _not_started(place: Place, why: str, stopped: bool = True) -> FreshetError:
    return FreshetError(
        "KAFKA_NOT_STARTED",
        f"the Kafka in {place.directory}: {why}. The end of {place.log}:{end_of_log(place)}\n",
        "Nothing runs; the data are as they were." if stopped else "Its process still runs.",
        f"Read the log; give it longer by --wait, or begin anew: {_down(place)} --purge",
        log=str(place.log),
        directory=str(place.directory),
    )


def _down(place: Place) -> str:
    return f"freshet dev kafka down --dir {shlex.quote(str(place.directory))}"

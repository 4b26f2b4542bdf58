"""A real Kafka on this machine for trying and testing: broker and controller in one JVM, on 127.0.0.1.

It is started from jars of its own, which are not Spark's, and goes on running when the command that started it has ended.
Topics and port stay from start to start.
"""

from __future__ import annotations

import base64
import os
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from freshet.dev.kafka.files import Place, State, place_of
from freshet.dev.kafka.look import Kafka, look_at
from freshet.dev.kafka.settings import write_settings
from freshet.dev.life import Life, Tell
from freshet.dev.ports import free_port, is_free, refuse_taken
from freshet.dev.process import Ended
from freshet.jvm.jars import KAFKA_SERVER_JARS, missing_jars, resolve_jars
from freshet.jvm.java import find_java_home, java_command

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
    broker = _Broker(place)
    # Before the directory is held, because a download takes as long as it takes.
    command = _command(tell, heap_mib)
    refuse = partial(broker.refuse_another, port)
    return broker.start(command, partial(_next_state, place, port), wait_seconds, tell, refuse)


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
    return _Broker(place_of(directory)).stop(purge, tell)


class _Broker(Life[State, Kafka]):
    def __init__(self, place: Place) -> None:
        super().__init__(place, State)
        self._files = place

    def look_at(self, kept: State | None) -> Kafka:
        return look_at(self._files, kept)

    def words_of(self, state: State) -> Sequence[str]:
        return [_SERVE, str(self._files.properties)]

    def prepare(self, state: State, command: Sequence[str], log: int) -> None:
        write_settings(self._files, state)
        if self._files.marked.exists():
            return
        # One that was killed in between is prepared again: the directory may be marked, or half so.
        words = [*command, _FORMAT, "format", "-t", state.cluster, "-c", str(self._files.properties), "--ignore-formatted"]
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._files.directory,
                timeout=_FORMAT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self.not_started(f"its directory was not prepared within {_FORMAT_SECONDS:g} s") from error
        if done.returncode:
            raise self.not_started("its directory could not be prepared")

    def refuse_another(self, port: int | None, kept: State) -> None:
        if port not in (None, kept.port):
            raise self.running(f"on port {kept.port}, not {port}")


def _next_state(place: Place, port: int | None, kept: State | None) -> State:
    if kept is None:
        own = port or free_port(place)
        # As Kafka writes it: 16 random bytes, without the signs that a command line would take for an option.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        kept = State(port=own, controller_port=free_port(place, (own,)), cluster=f"k{cluster[1:]}")
    kept = replace(kept, port=port or kept.port)
    refuse_taken(place, kept.port, "Name a free one by --port, or end that program.")
    if not is_free(kept.controller_port):
        # Only the broker itself knows it.
        kept = replace(kept, controller_port=free_port(place, (kept.port,)))
    return kept


def _command(tell: Tell, heap_mib: int) -> list[str]:
    java = java_command(find_java_home())
    if missing_jars(KAFKA_SERVER_JARS):
        tell("fetching Kafka's jars (43 MB), once")
    jars = os.pathsep.join(map(str, resolve_jars(KAFKA_SERVER_JARS)))
    # A small broker ends before the optimising compiler earns back what it takes.
    lean = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return [str(java), f"-Xmx{heap_mib}m", *lean, "-Djava.net.preferIPv4Stack=true", *_LOGGING, "-cp", jars]

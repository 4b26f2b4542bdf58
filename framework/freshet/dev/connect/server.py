"""A real Kafka Connect on this machine for trying and testing: one worker in distributed mode, on 127.0.0.1, with Debezium.

It is started from jars of its own, which are neither Spark's nor the broker's, and goes on running when the command that
started it has ended. Connectors, their positions and the port stay from start to start; the former in Kafka.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from freshet.dev.connect.files import Place, State, place_of
from freshet.dev.connect.look import Worker, look_at
from freshet.dev.connect.settings import write_settings
from freshet.dev.kafka import look as kafka
from freshet.dev.life import Life, Tell
from freshet.dev.ports import free_port, refuse_taken
from freshet.dev.process import Ended
from freshet.errors import FreshetError
from freshet.jvm.jars import (
    CONNECT_JARS,
    DEBEZIUM_MARIADB_JARS,
    DEBEZIUM_POSTGRES_JARS,
    JarSet,
    missing_jars,
    resolve_jars,
)
from freshet.jvm.java import find_java_home, java_command

_SERVE = "org.apache.kafka.connect.cli.ConnectDistributed"
_CONNECTORS = {"debezium-postgres": DEBEZIUM_POSTGRES_JARS, "debezium-mariadb": DEBEZIUM_MARIADB_JARS}
# Warnings alone: nothing rolls this log.
_LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",)


def start(
    directory: Path | None = None,
    port: int | None = None,
    servers: str | None = None,
    wait_seconds: float = 90.0,
    tell: Tell = lambda words: None,
    heap_mib: int = 512,
) -> Worker:
    """Start a worker and wait until it serves; one that runs already is returned as it is.

    Args:
        directory: Where its files lie; by default ``connect`` in the cache.
        port: The port of its REST interface; None for that of the last time, at first a free one.
        servers: Address of its Kafka, ``HOST:PORT``; None for that of the last time, at first that of ``freshet dev kafka``.
        wait_seconds: How long it may take, without the download of the jars.
        tell: Told in words what takes time.
        heap_mib: What its Java may take at most, in MiB.

    Returns:
        The worker, up.

    Raises:
        RetryableError: DEV_CONNECT_BUSY.
        FreshetError: DEV_CONNECT_NO_KAFKA, DEV_CONNECT_NOT_STARTED, DEV_CONNECT_PORT_TAKEN, DEV_CONNECT_RUNNING (on another
            port, or for another Kafka), DEV_CONNECT_DIRECTORY, DEV_CONNECT_STATE, KAFKA_STATE_UNREADABLE; JAVA_NOT_FOUND,
            JAR_MISSING or JAR_ALTERED.
    """
    place = place_of(directory)
    # Before the directory is held, because a download takes as long as it takes.
    command, connectors = _command(tell, heap_mib), _connectors(tell)
    worker = _Worker(place, connectors)
    refuse = partial(worker.refuse_another, port, servers)
    return worker.start(command, partial(_next_state, place, port, servers), wait_seconds, tell, refuse)


def stop(directory: Path | None = None, purge: bool = False, tell: Tell = lambda words: None) -> tuple[Worker, Ended]:
    """Stop a worker; its connectors stay unless they are to be forgotten.

    Args:
        directory: Where its files lie; by default ``connect`` in the cache.
        purge: Forget its connectors, too: the next start has another group, and topics of its own. Those of this one stay in
            Kafka, and so does what its connectors keep in their databases.
        tell: Told in words what takes time.

    Returns:
        What it was, and how it ended.

    Raises:
        RetryableError: DEV_CONNECT_BUSY.
        FreshetError: DEV_CONNECT_STATE.
    """
    return _Worker(place_of(directory), {}).stop(purge, tell)


class _Worker(Life[State, Worker]):
    def __init__(self, place: Place, connectors: Mapping[str, Sequence[Path]]) -> None:
        super().__init__(place, State)
        self._files, self._connectors = place, connectors

    def look_at(self, kept: State | None) -> Worker:
        return look_at(self._files, kept)

    def words_of(self, state: State) -> Sequence[str]:
        return [_SERVE, str(self._files.properties)]

    def prepare(self, state: State, command: Sequence[str], log: int) -> None:
        write_settings(self._files, state, self._connectors)

    def refuse_another(self, port: int | None, servers: str | None, kept: State) -> None:
        if port not in (None, kept.port):
            raise self.running(f"on port {kept.port}, not {port}")
        if servers not in (None, kept.servers):
            raise self.running(f"with the Kafka at {kept.servers}, not {servers}")


def _next_state(place: Place, port: int | None, servers: str | None, kept: State | None) -> State:
    found = servers or (kept.servers if kept else "") or _own_kafka()
    if not any(_answers(one) for one in found.split(",") if one):
        raise FreshetError(
            "DEV_CONNECT_NO_KAFKA",
            f"no Kafka answers at {found}." if found else "no Kafka was named, and none was started here.",
            "Nothing was started.",
            "Start one: freshet dev kafka up; or name one by --kafka HOST:PORT.",
            servers=found,
        )
    if kept is None or servers not in (None, kept.servers):
        # What is kept in one Kafka says nothing in another one.
        kept = State(
            port=port or (kept.port if kept else free_port(place)),
            servers=found,
            group=f"freshet-connect-{uuid.uuid4().hex[:8]}",
        )
    kept = replace(kept, port=port or kept.port)
    refuse_taken(place, kept.port, "Name a free one by --port, or end that program.")
    return kept


def _own_kafka() -> str:
    found = kafka.look()
    return found.servers if found.port else ""


def _answers(address: str) -> bool:
    host, _, port = address.strip().rpartition(":")
    return port.isdigit() and kafka.answers(int(port), host.strip("[]"))


def _command(tell: Tell, heap_mib: int) -> list[str]:
    java = java_command(find_java_home())
    jars = os.pathsep.join(map(str, _resolved(CONNECT_JARS, "Kafka Connect", tell)))
    lean = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return [str(java), f"-Xmx{heap_mib}m", *lean, "-Djava.net.preferIPv4Stack=true", *_LOGGING, "-cp", jars]


def _connectors(tell: Tell) -> dict[str, Sequence[Path]]:
    return {name: _resolved(wanted, "Debezium", tell) for name, wanted in _CONNECTORS.items()}


def _resolved(wanted: JarSet, whose: str, tell: Tell) -> tuple[Path, ...]:
    missing = missing_jars(wanted)
    if missing:
        tell(f"fetching {whose}'s jars ({len(missing)}), once")
    return resolve_jars(wanted)

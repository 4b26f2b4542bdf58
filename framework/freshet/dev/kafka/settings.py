"""The settings of a Kafka broker that freshet starts."""

from __future__ import annotations

from freshet.dev.kafka.files import Place, State
from freshet.dev.ports import HOST


def write_settings(place: Place, state: State) -> None:
    """Write ``server.properties``."""
    place.conf.mkdir(exist_ok=True)
    text = "".join(f"{name}={_escaped(value)}\n" for name, value in server_properties(place, state).items())
    # Java reads properties as Latin-1, and everything else by its escapes.
    place.properties.write_bytes(text.encode("ascii"))


def server_properties(place: Place, state: State) -> dict[str, str]:
    """Return the broker's settings: one process that is broker and controller, on this machine alone."""
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{state.controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{HOST}:{state.port},CONTROLLER://{HOST}:{state.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{state.port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(place.data),
        # One broker: the first transaction or consumer group would wait for replicas that never come.
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A typing error in a name would make a topic.
        "auto.create.topics.enable": "false",
    }


def _escaped(value: str) -> str:
    text = value.replace("\\", "\\\\")
    return "".join(letter if " " <= letter <= "~" else _unicode(letter) for letter in text)


def _unicode(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

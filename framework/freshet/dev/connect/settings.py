"""The settings of a Kafka Connect that freshet starts, and its folder of connectors."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from freshet.dev.connect.files import Place, State
from freshet.dev.ports import HOST
from freshet.dev.properties import write_properties

_JSON = "org.apache.kafka.connect.json.JsonConverter"


def write_settings(place: Place, state: State, connectors: Mapping[str, Sequence[Path]]) -> None:
    """Write ``worker.properties``, and the folder of connectors anew.

    Args:
        place: The worker's files.
        state: What is known of it.
        connectors: The jars of each kind of connector, by the name of its folder.
    """
    write_properties(place.properties, worker_properties(place, state))
    if place.plugins.exists():
        shutil.rmtree(place.plugins)
    for name, jars in connectors.items():
        # A folder is a world of its own: what one connector brings, another does not see.
        folder = place.plugins / name
        folder.mkdir(parents=True)
        for jar in jars:
            (folder / jar.name).symlink_to(jar)


def worker_properties(place: Place, state: State) -> dict[str, str]:
    """Return the worker's settings: the one of its group, on this machine alone."""
    kept = {
        f"{what}.storage.{name}": value
        for what in ("config", "offset", "status")
        # As many copies as the broker makes by itself.
        for name, value in (("topic", f"{state.group}-{what}"), ("replication.factor", "-1"), ("partitions", "1"))
        if (what, name) != ("config", "partitions")
    }
    return {
        "bootstrap.servers": state.servers,
        "group.id": state.group,
        **kept,
        "listeners": f"http://{HOST}:{state.port}",
        "rest.advertised.host.name": HOST,
        "plugin.path": str(place.plugins),
        # A scan of all classes would take seconds; Debezium's jars name their connectors.
        "plugin.discovery": "service_load",
        # Of a connector that does not name its own.
        "key.converter": _JSON,
        "value.converter": _JSON,
        # Passwords are named, as ${env:NAME}, and stand in no config.
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        # After a kill what came since is written again; a minute of it by default.
        "offset.flush.interval.ms": "1000",
        # A worker that was killed comes back at once: nobody else could take its connectors meanwhile, which are kept back for
        # five minutes by default.
        "scheduled.rebalance.max.delay.ms": "0",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "2000",
    }

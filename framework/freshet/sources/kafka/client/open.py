"""Who answers for a cluster: the client without a JVM, which only those install who read topics."""

from __future__ import annotations

from freshet.errors import FreshetError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.kafka.look.facts import Broker


def open_broker(topics: KafkaSpec) -> Broker:
    """Return who answers for the cluster of a source; nothing is asked yet.

    Raises:
        FreshetError: KAFKA_CLIENT_MISSING.
    """
    # The client's library takes a tenth of a second to load, and is no part of a plain installation.
    try:
        from freshet.sources.kafka.client.confluent import ConfluentBroker
    except ImportError as error:
        raise FreshetError(
            "KAFKA_CLIENT_MISSING",
            f"topics are read by the package confluent-kafka, which is not there: {error}.",
            "Nothing was read or written.",
            "Install it: pip install 'freshet[kafka]'",
        ) from error
    return ConfluentBroker(topics)

"""A cluster of Kafka, asked without a JVM, by confluent-kafka."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaException, admin

from freshet.errors import FreshetError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.kafka.client.cluster import Cluster, cluster_at
from freshet.sources.kafka.look.facts import Extent, Facts, Part

# The package's own types leave out some of what it has.
_KAFKA: Any = confluent_kafka
_ADMIN: Any = admin
_LOOKS = 5
#: Of the look at records' timestamps, which tells how old what waits is, and nothing else.
_TIMES_SECONDS = 3.0


class ConfluentBroker:
    """The cluster of a source; see ``freshet.sources.kafka.look.facts.Broker``.

    Args:
        topics: The source.
    """

    def __init__(self, topics: KafkaSpec) -> None:
        self._topics = topics

    def facts(self) -> Facts:
        """Return what there is of the topics that the pipeline reads."""
        return self._look((self._topics,))[0]

    def facts_of(self, sources: Sequence[KafkaSpec]) -> list[Facts | FreshetError]:
        """Return what there is of the topics of several sources of the cluster, or why that cannot be told."""
        try:
            return list(self._look(sources))
        except FreshetError as error:
            if len(sources) == 1 or error.details["cluster_wide"]:
                return [error] * len(sources)
        # One topic must not hide the others.
        return [found for one in sources for found in self.facts_of((one,))]

    def offsets_at(self, parts: Iterable[Part], moment_ms: int) -> Mapping[Part, int | None]:
        """Return the offset of the first record of a time or a later one; None where there is none."""
        (found,) = self._cluster.offsets(tuple(parts), _ADMIN.OffsetSpec.for_timestamp(moment_ms))
        return {part: offset if offset >= 0 else None for part, offset in found.items()}

    def times_at(self, offsets: Mapping[Part, int]) -> Mapping[Part, int]:
        """Return the timestamp of the first record at or behind an offset, as far as it can be had in time."""
        if not offsets:
            return {}
        # It joins no group: it is told what to read, and commits nothing.
        consumer = _KAFKA.Consumer(
            {
                **self._cluster.settings,
                "group.id": "freshet-look",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 16_384,
            }
        )
        found: dict[Part, int] = {}
        looked_at = set[Part]()
        deadline = time.monotonic() + _TIMES_SECONDS
        try:
            consumer.assign([_KAFKA.TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()])
            while len(looked_at) < len(offsets) and time.monotonic() < deadline:
                message = consumer.poll(0.2)
                if message is None or message.error() is not None:
                    continue
                part = (message.topic(), message.partition())
                if part not in looked_at:
                    looked_at.add(part)
                    consumer.pause([_KAFKA.TopicPartition(*part)])
                    _, moment = message.timestamp()
                    # One without a time says -1, which would be half a century of lag.
                    if moment >= 0:
                        found[part] = moment
        except KafkaException:
            # How old something is, is no reason to fail.
            return found
        finally:
            consumer.close()
        return found

    def publish(self, group: str, offsets: Mapping[Part, int]) -> str:
        """Set the offsets of a consumer group; returns in words why that was refused."""
        return self._cluster.set_group(group, offsets)

    @property
    def _cluster(self) -> Cluster:
        return cluster_at(self._topics.client)

    def _look(self, sources: Sequence[KafkaSpec]) -> Sequence[Facts]:
        """Look at the topics of several sources: three questions, however many topics there are."""
        cluster = self._cluster
        described = cluster.described(_names(cluster, sources))
        for _ in range(_LOOKS):
            asked = time.time_ns() // 1_000_000
            parts = [(name, one.id) for name, topic in described.items() for one in topic.partitions]
            begins, ends = cluster.offsets(parts, _ADMIN.OffsetSpec.earliest(), _ADMIN.OffsetSpec.latest())
            before, described = _ids(described), cluster.described(_names(cluster, sources))
            # Offsets say nothing of whose they are: a topic that was made anew meanwhile is another one.
            if before == _ids(described):
                # What is behind the end belongs to transactions that are open; of the two, asked at once, either may be older.
                extents = {part: Extent(begin, max(begin, ends[part])) for part, begin in begins.items()}
                return [_of(source, before, extents, asked) for source in sources]
        raise cluster.failed(RuntimeError(f"its topics were others at each of {_LOOKS} looks"))


def _names(cluster: Cluster, sources: Sequence[KafkaSpec]) -> list[str]:
    known = cluster.names() if any(source.pattern for source in sources) else []
    return [name for source in sources for name in (*source.topics, *(one for one in known if _is_of(source, one)))]


def _is_of(source: KafkaSpec, name: str) -> bool:
    return bool(re.fullmatch(source.pattern, name)) if source.pattern else name in source.topics


def _of(source: KafkaSpec, ids: Mapping[str, str], extents: Mapping[Part, Extent], asked_ms: int) -> Facts:
    mine = {name: topic for name, topic in ids.items() if _is_of(source, name)}
    return Facts(ids=mine, parts={part: extent for part, extent in extents.items() if part[0] in mine}, asked_ms=asked_ms)


def _ids(described: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(topic.topic_id) for name, topic in described.items()}

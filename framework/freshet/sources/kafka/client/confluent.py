"""A cluster of Kafka, asked without a JVM, by confluent-kafka."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, admin

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.hudi.keys.kafka_client import without_jvm
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.kafka.look.facts import Extent, Facts, Part

# The package's own types leave out some of what it has.
_KAFKA: Any = confluent_kafka
_ADMIN: Any = admin
# Of one question; a plan asks four.
_SECONDS = 10.0
_LOOKS = 5
#: Of the look at records' timestamps, which tells how old what waits is, and nothing else.
_TIMES_SECONDS = 3.0
_DENIED = (
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
)
_NOTHING = "Nothing was read or written."


def _ids(described: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(topic.topic_id) for name, topic in described.items()}


def _if_there(topic: Any) -> Any:
    try:
        return topic.result(timeout=2 * _SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise


class ConfluentBroker:
    """The cluster of a source; see ``freshet.sources.kafka.look.facts.Broker``.

    Args:
        topics: The source.
    """

    def __init__(self, topics: KafkaSpec) -> None:
        self._topics = topics
        self._denied = ""
        self._settings = {
            **without_jvm(topics.client),
            "socket.timeout.ms": int(_SECONDS * 1000),
            "socket.connection.setup.timeout.ms": int(_SECONDS * 1000),
            # It goes on trying after an error, and says what went wrong here alone.
            "error_cb": self._heard,
            "log_level": 0,
        }
        self._client: Any = None

    def facts(self) -> Facts:
        """Return what there is of the topics that the pipeline reads."""
        described = self._described()
        for _ in range(_LOOKS):
            found = self._found(described)
            # Offsets say nothing of whose they are: a topic that was made anew meanwhile is another one.
            described = self._described()
            if found.ids == _ids(described):
                return found
        raise self._failed(TimeoutError(f"its topics were others at each of {_LOOKS} looks"))

    def _found(self, described: Mapping[str, Any]) -> Facts:
        asked = time.time_ns() // 1_000_000
        if not described:
            return Facts(asked_ms=asked)
        parts = [_KAFKA.TopicPartition(name, one.id) for name, topic in described.items() for one in topic.partitions]
        begins = self._offsets(parts, _ADMIN.OffsetSpec.earliest())
        ends = self._offsets(parts, _ADMIN.OffsetSpec.latest())
        return Facts(
            ids=_ids(described),
            # The end was asked for last. What is behind it belongs to transactions that are open.
            parts={part: Extent(begin, max(begin, ends[part])) for part, begin in begins.items()},
            asked_ms=asked,
        )

    def offsets_at(self, parts: Iterable[Part], moment_ms: int) -> Mapping[Part, int | None]:
        """Return the offset of the first record of a time or a later one; None where there is none."""
        asked = [_KAFKA.TopicPartition(topic, number) for topic, number in parts]
        found = self._offsets(asked, _ADMIN.OffsetSpec.for_timestamp(moment_ms)) if asked else {}
        return {part: offset if offset >= 0 else None for part, offset in found.items()}

    def times_at(self, offsets: Mapping[Part, int]) -> Mapping[Part, int]:
        """Return the timestamp of the first record at or behind an offset, as far as it can be had in time."""
        if not offsets:
            return {}
        # It joins no group: it is told what to read, and commits nothing.
        consumer = _KAFKA.Consumer(
            {
                **self._settings,
                "group.id": "freshet-look",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 16_384,
            }
        )
        found: dict[Part, int] = {}
        deadline = time.monotonic() + _TIMES_SECONDS
        try:
            consumer.assign([_KAFKA.TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()])
            while len(found) < len(offsets) and time.monotonic() < deadline:
                message = consumer.poll(0.2)
                if message is None or message.error() is not None:
                    continue
                part = (message.topic(), message.partition())
                if part not in found:
                    found[part] = message.timestamp()[1]
                    consumer.pause([_KAFKA.TopicPartition(*part)])
        except KafkaException:
            # How old something is, is no reason to fail.
            return found
        finally:
            consumer.close()
        return found

    def publish(self, group: str, offsets: Mapping[Part, int]) -> str:
        """Set the offsets of a consumer group; returns in words why that was refused."""
        wanted = [_KAFKA.TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
        done = self._all(
            self._admin.alter_consumer_group_offsets(
                [_KAFKA.ConsumerGroupTopicPartitions(group, wanted)], request_timeout=_SECONDS
            )
        )
        refused = [one.error for result in done.values() for one in result.topic_partitions if one.error is not None]
        return f"the group {group}: {refused[0].str()}" if refused else ""

    @property
    def _admin(self) -> Any:
        if self._client is None:
            self._client = _ADMIN.AdminClient(self._settings)
        return self._client

    def _described(self) -> dict[str, Any]:
        """Return the topics that are there. By their names they are asked for alone, in a way that makes none of them."""
        names = list(self._topics.topics)
        if self._topics.pattern:
            known = self._asked(lambda: self._admin.list_topics(timeout=_SECONDS)).topics
            names = [name for name, one in known.items() if re.fullmatch(self._topics.pattern, name) and one.error is None]
        if not names:
            return {}
        asked = self._admin.describe_topics(_KAFKA.TopicCollection(names), request_timeout=_SECONDS)
        found = {name: self._asked(partial(_if_there, one)) for name, one in asked.items()}
        return {name: topic for name, topic in found.items() if topic is not None}

    def _offsets(self, parts: list[Any], wanted: Any) -> dict[Part, int]:
        found = self._all(
            self._admin.list_offsets(
                dict.fromkeys(parts, wanted),
                isolation_level=_KAFKA.IsolationLevel.READ_COMMITTED,
                request_timeout=_SECONDS,
            )
        )
        return {(part.topic, part.partition): one.offset for part, one in found.items()}

    def _all(self, futures: Mapping[Any, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = self._asked(
            lambda: {key: future.result(timeout=2 * _SECONDS) for key, future in futures.items()}
        )
        return found

    def _asked(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except (KafkaException, TimeoutError) as error:
            raise self._failed(error) from error

    def _heard(self, error: Any) -> None:
        if error.code() in _DENIED:
            self._denied = error.str()

    def _failed(self, error: Exception) -> FreshetError:
        servers = self._topics.servers
        told = error.args[0] if error.args and isinstance(error.args[0], KafkaError) else None
        if self._denied or (told is not None and told.code() in _DENIED):
            return StateError(
                "KAFKA_DENIED",
                f"the Kafka at {servers} does not let the pipeline in: {self._denied or (told.str() if told else error)}.",
                _NOTHING,
                "Check security.protocol, sasl.* and ssl.* under 'hoodie:', and what the user may do: describe and read the "
                "topics, and of the group of group.id read.",
                servers=servers,
            )
        return RetryableError(
            "KAFKA_UNREACHABLE",
            f"the Kafka at {servers} does not answer within {_SECONDS:g} s: {told.str() if told else error or 'no answer'}.",
            _NOTHING,
            "Check bootstrap.servers and that the brokers run, and run the same command again; a broker that expects TLS or a "
            "password looks like this, too, to a client that offers none.",
            servers=servers,
        )

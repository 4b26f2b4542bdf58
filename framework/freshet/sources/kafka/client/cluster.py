"""One connection to a cluster, which all pipelines share that read it: to open it takes longer than to ask."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, admin

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.hudi.keys.kafka_client import without_jvm
from freshet.sources.kafka.look.facts import Part

# The package's own types leave out some of what it has.
_KAFKA: Any = confluent_kafka
_ADMIN: Any = admin
# Of one question; a plan asks three.
_SECONDS = 10.0
_DENIED = (
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
)
_PASSING = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
)
# Nobody answers, or lets anyone in: the same for every topic.
_OF_ALL = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE)
_PAUSE_SECONDS = 0.1
_NOTHING = "Nothing was read or written."


class Cluster:
    """A cluster, asked without a JVM; each question is bounded in time.

    Args:
        client: Settings by the names of Kafka's Java client.
    """

    def __init__(self, client: Mapping[str, str]) -> None:
        self._servers = client["bootstrap.servers"]
        self._denied = ""
        self._opening = Lock()
        self._client: Any = None
        self.settings = {
            **without_jvm(client),
            "socket.timeout.ms": int(_SECONDS * 1000),
            "socket.connection.setup.timeout.ms": int(_SECONDS * 1000),
            # It goes on trying after an error, and says what went wrong here alone.
            "error_cb": self._heard,
            "log_level": 0,
        }

    def names(self) -> list[str]:
        """Return the names of all topics."""
        known = self._asked(lambda: self._admin.list_topics(timeout=_SECONDS)).topics
        return [name for name, one in known.items() if one.error is None]

    def described(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those topics that are there. By their names they are asked for alone, in a way that makes none of them.

        Raises:
            FreshetError: KAFKA_UNREACHABLE or KAFKA_DENIED.
        """
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        asked = self._admin.describe_topics(_KAFKA.TopicCollection(wanted), request_timeout=_SECONDS)
        found = {name: self._asked(partial(_if_there, one)) for name, one in asked.items()}
        # What it heard before, it heard of a connection that works by now.
        self._denied = ""
        return {name: topic for name, topic in found.items() if topic is not None}

    def offsets(self, parts: Sequence[Part], *wanted: Any) -> list[dict[Part, int]]:
        """Return for each specification of offsets those of every partition, all asked for at the same time.

        Raises:
            FreshetError: KAFKA_UNREACHABLE or KAFKA_DENIED.
        """
        places = [_KAFKA.TopicPartition(topic, number) for topic, number in parts]
        if not places:
            return [{} for _ in wanted]
        deadline = time.monotonic() + _SECONDS
        while True:
            asked = [
                self._admin.list_offsets(
                    dict.fromkeys(places, one),
                    isolation_level=_KAFKA.IsolationLevel.READ_COMMITTED,
                    request_timeout=_SECONDS,
                )
                for one in wanted
            ]
            try:
                return [
                    {(part.topic, part.partition): told.result(timeout=2 * _SECONDS).offset for part, told in one.items()}
                    for one in asked
                ]
            except (KafkaException, TimeoutError) as error:
                # A partition that is new, or whose leader has changed, is somewhere else in a moment.
                if _code_of(error) not in _PASSING or time.monotonic() >= deadline:
                    raise self.failed(error) from error
                time.sleep(_PAUSE_SECONDS)

    def set_group(self, group: str, offsets: Mapping[Part, int]) -> str:
        """Set the offsets of a consumer group; returns in words why that was refused.

        Raises:
            FreshetError: KAFKA_UNREACHABLE or KAFKA_DENIED.
        """
        wanted = [_KAFKA.TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
        asked = self._admin.alter_consumer_group_offsets(
            [_KAFKA.ConsumerGroupTopicPartitions(group, wanted)], request_timeout=_SECONDS
        )
        done = self._asked(lambda: [one.result(timeout=2 * _SECONDS) for one in asked.values()])
        refused = [one.error for result in done for one in result.topic_partitions if one.error is not None]
        return f"the group {group}: {refused[0].str()}" if refused else ""

    def failed(self, error: Exception) -> FreshetError:
        """Return in words what went wrong; the next who asks opens a connection anew."""
        _forget(self)
        if self._client is not None:
            # What it heard of the login it tells where it is polled alone.
            self._client.poll(0)
        told = error.args[0] if error.args and isinstance(error.args[0], KafkaError) else None
        of_all = bool(self._denied) or isinstance(error, TimeoutError) or _code_of(error) in _OF_ALL
        if self._denied or _code_of(error) in _DENIED:
            return StateError(
                "KAFKA_DENIED",
                f"the Kafka at {self._servers} does not let the pipeline in: "
                f"{self._denied or (told.str() if told else error)}.",
                _NOTHING,
                "Check security.protocol, sasl.* and ssl.* under 'hoodie:', and what the user may do: describe and read the "
                "topics, and of the group of group.id read.",
                servers=self._servers,
                cluster_wide=of_all,
            )
        return RetryableError(
            "KAFKA_UNREACHABLE",
            f"the Kafka at {self._servers} does not answer within {_SECONDS:g} s: "
            f"{told.str() if told else error or 'no answer'}.",
            _NOTHING,
            "Check bootstrap.servers and that the brokers run, and run the same command again; a broker that expects TLS or a "
            "password looks like this, too, to a client that offers none.",
            servers=self._servers,
            cluster_wide=of_all,
        )

    @property
    def _admin(self) -> Any:
        with self._opening:
            if self._client is None:
                self._client = _ADMIN.AdminClient(self.settings)
            return self._client

    def _asked(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except (KafkaException, TimeoutError) as error:
            raise self.failed(error) from error

    def _heard(self, error: Any) -> None:
        if error.code() in _DENIED:
            self._denied = error.str()


_Key = tuple[int, frozenset[tuple[str, str]]]
_OPEN: dict[_Key, Cluster] = {}
_LOCK = Lock()


def cluster_at(client: Mapping[str, str]) -> Cluster:
    """Return a cluster, by the connection to it that is open already where one is.

    Args:
        client: Settings by the names of Kafka's Java client.
    """
    # A process that was forked has none of its parent's threads.
    key = (os.getpid(), frozenset(client.items()))
    with _LOCK:
        if key not in _OPEN:
            _OPEN[key] = Cluster(client)
        return _OPEN[key]


def _forget(cluster: Cluster) -> None:
    with _LOCK:
        for key in [key for key, one in _OPEN.items() if one is cluster]:
            del _OPEN[key]


def _code_of(error: Exception) -> int | None:
    told = error.args[0] if error.args else None
    return told.code() if isinstance(told, KafkaError) else None


def _if_there(topic: Any) -> Any:
    try:
        return topic.result(timeout=2 * _SECONDS)
    except KafkaException as error:
        if _code_of(error) == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise

"""Topics of a real broker, as producers and administrators make them."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import IsolationLevel, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

SECONDS = 30.0


class Topics:
    """Topics of one test; each has a name that no other test's has.

    Args:
        servers: The broker's address.
    """

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._own = uuid.uuid4().hex[:8]
        self.admin: Any = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        self._producer: Any = None

    def name(self, short: str) -> str:
        """Return the whole name of a topic."""
        return f"{short}_{self._own}"

    def create(self, short: str, partitions: int = 1, **config: str) -> str:
        """Make a topic; returns its whole name."""
        name = self.name(short)
        settings = {key.replace("_", "."): value for key, value in config.items()}
        self._done(self.admin.create_topics([NewTopic(name, partitions, config=settings)]))
        return name

    def delete(self, name: str) -> None:
        """Delete a topic, and wait until it is gone."""
        self._done(self.admin.delete_topics([name]))
        while name in self.admin.list_topics(timeout=SECONDS).topics:
            time.sleep(0.02)
        self._producer = None

    def grow(self, name: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self._done(self.admin.create_partitions([NewPartitions(name, partitions)]))
        while len(self.admin.list_topics(name, timeout=SECONDS).topics[name].partitions) < partitions:
            time.sleep(0.02)
        # It knows the partitions that there were, and asks again in minutes.
        self._producer = None

    def trim(self, name: str, partition: int, upto: int) -> None:
        """Let retention have taken what is before an offset."""
        self._done(self.admin.delete_records([TopicPartition(name, partition, upto)]))

    def id_of(self, name: str) -> str:
        """Return Kafka's id of a topic."""
        return str(self.admin.describe_topics(TopicCollection([name]))[name].result(SECONDS).topic_id)

    def send(self, name: str, values: Iterable[object], partition: int = 0, **more: Any) -> None:
        """Write records: a mapping as JSON, bytes and texts as they are, None as a tombstone."""
        if self._producer is None:
            self._producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 0, "log_level": 0})
        _produce(self._producer, name, values, partition, more)
        assert self._producer.flush(SECONDS) == 0

    def send_large(self, name: str, values: Iterable[bytes]) -> None:
        """Write records of up to 60 MB, each in a batch of its own."""
        producer: Any = Producer({"bootstrap.servers": self.servers, "message.max.bytes": 60 << 20, "log_level": 0})
        for value in values:
            _produce(producer, name, [value], 0, {})
            assert producer.flush(SECONDS) == 0

    @contextmanager
    def transaction(self, name: str, values: Iterable[object], commit: bool = True) -> Iterator[None]:
        """Write records in a transaction that is open within the block, and then committed or aborted."""
        producer: Any = Producer({"bootstrap.servers": self.servers, "transactional.id": uuid.uuid4().hex, "log_level": 0})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        _produce(producer, name, values, 0, {})
        assert producer.flush(SECONDS) == 0
        yield
        producer.commit_transaction(SECONDS) if commit else producer.abort_transaction(SECONDS)
        # The broker answers before the transaction's end stands in the partition, and shows its records a moment later.
        while self._end(name, IsolationLevel.READ_COMMITTED) < self._end(name, IsolationLevel.READ_UNCOMMITTED):
            time.sleep(0.02)

    def _end(self, name: str, level: IsolationLevel) -> int:
        asked = self.admin.list_offsets({TopicPartition(name, 0): OffsetSpec.latest()}, isolation_level=level)
        return int(next(iter(asked.values())).result(SECONDS).offset)

    @staticmethod
    def _done(futures: Mapping[Any, Any]) -> None:
        for future in futures.values():
            future.result(SECONDS)


def _produce(producer: Any, name: str, values: Iterable[object], partition: int, more: Mapping[str, Any]) -> None:
    def told(error: Any, message: Any) -> None:
        # Else a record that the broker refuses, such as one of tomorrow, would only not be there.
        assert error is None, error.str()

    for value in values:
        given = json.dumps(value) if isinstance(value, dict) else value
        producer.produce(name, value=given, partition=partition, on_delivery=told, **more)

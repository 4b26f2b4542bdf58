"""What a real cluster says of topics, asked without a JVM."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, TopicPartition

from freshet.dev.kafka.look import Kafka, answers
from freshet.errors import FreshetError
from freshet.sources.kafka.client.open import open_broker
from freshet.sources.kafka.look.facts import Broker, Extent
from tests.kit.kafka import Topics
from tests.kit.topics import a_topic_spec


def broker(topics: Topics, *names: str, servers: str = "", pattern: str = "") -> Broker:
    return open_broker(a_topic_spec(*names, pattern=pattern, client={"bootstrap.servers": servers or topics.servers}))


def _until_it_ends_at(offset: int, topics: Topics, name: str) -> None:
    """Wait until a topic ends there; a test that waits in vain is ended."""
    while (found := broker(topics, name).facts().parts[name, 0]) != Extent(0, offset):
        assert found.end < offset
        time.sleep(0.05)


def test_what_there_is_of_a_topic(kafka: Kafka, topics: Topics) -> None:
    assert answers(kafka.port)
    name = topics.create("orders", 2)
    topics.send(name, [b"a", b"b", b"c"])
    facts = broker(topics, name, topics.name("none")).facts()
    assert facts.ids == {name: topics.id_of(name)}
    assert facts.parts == {(name, 0): Extent(0, 3), (name, 1): Extent(0, 0)}


def test_what_can_be_read_ends_before_the_first_open_transaction(topics: Topics) -> None:
    name = topics.create("orders")
    topics.send(name, [b"a", b"b", b"c"])
    with topics.transaction(name, [b"d"]):
        assert broker(topics, name).facts().parts == {(name, 0): Extent(0, 3)}
    # The record, and the mark of the transaction's end, which the cluster writes after it has answered.
    _until_it_ends_at(5, topics, name)
    with topics.transaction(name, [b"e"], commit=False):
        pass
    _until_it_ends_at(7, topics, name)


def test_retention_shows_and_a_topic_that_is_made_anew_has_another_id(topics: Topics) -> None:
    name = topics.create("orders")
    topics.send(name, [b"x"] * 10)
    topics.trim(name, 0, 4)
    before = broker(topics, name).facts()
    assert before.parts == {(name, 0): Extent(4, 10)}
    topics.delete(name)
    assert broker(topics, name).facts().ids == {}
    topics.create("orders")
    after = broker(topics, name).facts()
    assert after.ids.keys() == before.ids.keys()
    assert after.ids != before.ids


def test_a_pattern_finds_topics_and_partitions_that_are_new(topics: Topics) -> None:
    one, other = topics.create("o_a"), topics.create("o_b", 2)
    topics.create("p_c")
    found = broker(topics, pattern=f"o_.*{one[-8:]}")
    assert set(found.facts().parts) == {(one, 0), (other, 0), (other, 1)}
    topics.grow(one, 3)
    assert (one, 2) in found.facts().parts


def test_offsets_are_found_by_time_and_times_by_offset(topics: Topics) -> None:
    name = topics.create("orders", 2)
    for second in range(5):
        topics.send(name, [b"x"], timestamp=1_700_000_000_000 + second * 1000)
    found = broker(topics, name)
    parts = [(name, 0), (name, 1)]
    assert found.offsets_at(parts, 1_700_000_001_500) == {(name, 0): 2, (name, 1): None}
    assert found.offsets_at(parts, 1_700_000_009_000) == {(name, 0): None, (name, 1): None}
    assert found.times_at({(name, 0): 3}) == {(name, 0): 1_700_000_003_000}
    assert found.times_at({}) == {}


def test_a_groups_offsets_are_set_for_tools_that_show_lag(topics: Topics) -> None:
    name = topics.create("orders", 2)
    topics.send(name, [b"x"] * 5)
    found = broker(topics, name)
    for offset in (3, 5):
        found.publish(name, {(name, 0): offset, (name, 1): 0})
        consumer = Consumer({"bootstrap.servers": topics.servers, "group.id": name})
        told = consumer.committed([TopicPartition(name, 0), TopicPartition(name, 1)], timeout=30)
        assert [one.offset for one in told] == [offset, 0]
        consumer.close()


def test_a_cluster_that_is_not_there_is_said_within_a_bound(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    from freshet.sources.kafka.client import cluster

    monkeypatch.setattr(cluster, "_SECONDS", 1.0)
    begin = time.monotonic()
    with pytest.raises(FreshetError) as refused:
        broker(topics, "orders", servers="127.0.0.1:1").facts()
    assert (refused.value.code, refused.value.retryable) == ("KAFKA_UNREACHABLE", True)
    # A bound, and no duration: a client's own would be a minute.
    assert time.monotonic() - begin < 30

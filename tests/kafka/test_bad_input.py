"""What a cluster, its records and its users do that nobody wants: each is said with a code or read, and nothing is lost.

The kinds that another module has: records that cannot be decoded, unknown schemas, retention and topics made anew (test_runs,
test_avro_runs), a registry that is down (tests/unit/sources/test_kafka_schemas.py), numbers that do not fit and fields that
stand twice (tests/integration/test_kafka_decode.py, test_avro_decode.py), schemas that hold themselves (tests/unit/registry).
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from freshet.dev.kafka import server, settings
from freshet.dev.kafka.files import Place, State
from freshet.dev.kafka.look import Kafka
from freshet.errors import FreshetError
from freshet.sources.kafka.client.open import open_broker
from freshet.sources.kafka.look.facts import Extent
from tests.kafka.test_runs import TopicLake, orders
from tests.kit.commands import freshet, refused
from tests.kit.kafka import Topics
from tests.kit.topics import a_topic_spec

_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="{}" password="{}"{};'


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Kafka]:
    """Start a broker of the test's own, which it may end."""
    folder = tmp_path / "own"
    try:
        yield server.start(folder, wait_seconds=120, heap_mib=768)
    finally:
        server.stop(folder, purge=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_who_has_no_right_to_log_in_is_told_so_and_who_has_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port, plain = free_port(), settings.server_properties

    def with_login(place: Place, state: State) -> Mapping[str, str]:
        found = plain(place, state)
        login = _JAAS.format("broker", "b", ' user_broker="b" user_lake="geheim"')
        return {
            **found,
            "listeners": f"{found['listeners']},LOGIN://127.0.0.1:{port}",
            "advertised.listeners": f"{found['advertised.listeners']},LOGIN://127.0.0.1:{port}",
            "listener.security.protocol.map": f"{found['listener.security.protocol.map']},LOGIN:SASL_PLAINTEXT",
            "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.login.plain.sasl.jaas.config": login,
        }

    monkeypatch.setattr(settings, "server_properties", with_login)
    folder = tmp_path / "kafka"
    try:
        topics = Topics(server.start(folder, wait_seconds=120).servers)
        name = topics.create("orders")
        topics.send(name, [b"a"])

        def facts(user: str, password: str) -> Any:
            client = {
                "bootstrap.servers": f"127.0.0.1:{port}",
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": _JAAS.format(user, password, ""),
            }
            return open_broker(a_topic_spec(name, client=client)).facts()

        assert facts("lake", "geheim").parts == {(name, 0): Extent(0, 1)}
        for user, password in (("lake", "wrong"), ("nobody", "geheim")):
            with pytest.raises(FreshetError) as error:
                facts(user, password)
            assert error.value.code == "KAFKA_DENIED"
            assert password not in str(error.value)
        # One that offers no login is not let in either, and is not told why.
        with pytest.raises(FreshetError) as error:
            open_broker(a_topic_spec(name, client={"bootstrap.servers": f"127.0.0.1:{port}"})).facts()
        assert error.value.code == "KAFKA_UNREACHABLE"
    finally:
        server.stop(folder, purge=True)


def test_a_thousand_partitions_are_looked_at_and_read_where_something_is(
    spark: SparkSession, tmp_path: Path, topics: Topics
) -> None:
    lake, topic = TopicLake(spark, tmp_path, topics), topics.create("orders", 1000)
    lake.orders(topic)
    for number, one in ((0, "a"), (500, "b"), (999, "c")):
        topics.send(topic, orders(one), partition=number)
    lake.ran()
    assert [row[0] for row in lake.rows()] == ["a", "b", "c"]
    assert lake.ran()["outcome"] == "idle"
    topics.send(topic, orders("d"), partition=7)
    told = freshet(lake, "status")["pipelines"][0]
    assert (told["state"], told["rows_behind"]) == ("behind", 1)
    lake.ran()
    assert [row[0] for row in lake.rows()] == ["a", "b", "c", "d"]


def test_a_record_of_50_mb_is_read_as_any_other(spark: SparkSession, tmp_path: Path, own: Kafka) -> None:
    topics = Topics(own.servers)
    lake, topic = TopicLake(spark, tmp_path, topics), topics.create("orders", max_message_bytes=str(60 << 20))
    lake.orders(topic)
    text = lake.project_root / "pipelines/orders.yml"
    plain = "source:\n  columns: {id: string, amount: 'decimal(10,2)'}\n"
    text.write_text(text.read_text("utf-8").replace(plain, "source:\n  format: bytes\n"), "utf-8")
    lake.write_file(
        "transformers/orders.sql",
        "SELECT cast(_kafka.offset AS string) AS id, cast(length(value) AS decimal(10,2)) AS amount, _kafka.offset AS at\n"
        "FROM <SRC>\n",
    )
    topics.send_large(topic, [b"x", b"\x01" * (50 << 20), b"y"])
    assert freshet(lake, "status")["pipelines"][0]["rows_behind"] == 3
    lake.ran()
    assert lake.rows() == [("0", "1.00"), ("1", f"{50 << 20}.00"), ("2", "1.00")]


ENDS_THE_BROKER = """\
import os, pathlib, signal

def transform(inputs, context):
    file = pathlib.Path({flag!r})
    if not file.exists():
        file.touch()
        os.kill({pid}, signal.SIGKILL)
    return inputs["SRC"]
"""


@pytest.mark.waits
def test_a_broker_that_goes_between_the_plan_and_the_read_costs_no_record(
    spark: SparkSession, tmp_path: Path, own: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    from freshet.sources.kafka.read import reader

    monkeypatch.setattr(reader, "_BOUNDS", {"kafka.default.api.timeout.ms": "5000", "kafka.request.timeout.ms": "3000"})
    topics = Topics(own.servers)
    lake, topic = TopicLake(spark, tmp_path, topics), topics.create("orders")
    lake.orders(topic)
    topics.send(topic, orders("ab"))
    lake.ran()
    topics.send(topic, orders("cd"))
    # The plan is made, and the records are not read yet.
    lake.write_file("transformers/ends.py", ENDS_THE_BROKER.format(flag=str(tmp_path / "ended"), pid=own.pid))
    file = lake.project_root / "pipelines/orders.yml"
    plain = file.read_text("utf-8")
    file.write_text(plain.replace("transformers/orders.sql", "[transformers/orders.sql, transformers/ends.py]"), "utf-8")
    error = refused(lake, "run", "orders", code=4)
    assert (error["code"], error["retryable"]) == ("KAFKA_UNREACHABLE", True)
    assert [row[0] for row in lake.rows()] == ["a", "b"]
    # And one that is gone is said within a bound, by all that ask it.
    assert refused(lake, "run", "orders", code=4)["code"] == "KAFKA_UNREACHABLE"
    assert freshet(lake, "status")["pipelines"][0]["state"] == "KAFKA_UNREACHABLE"
    server.start(own.directory, wait_seconds=120)
    file.write_text(plain, "utf-8")
    topics.send(topic, orders("e"))
    lake.ran()
    assert [row[0] for row in lake.rows()] == ["a", "b", "c", "d", "e"]
    assert lake.ran()["outcome"] == "idle"


def test_a_broker_that_hangs_is_said_within_a_bound(own: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    from freshet.sources.kafka.client import cluster

    topics = Topics(own.servers)
    name = topics.create("orders")
    monkeypatch.setattr(cluster, "_SECONDS", 3.0)
    found = open_broker(a_topic_spec(name, client={"bootstrap.servers": own.servers}))
    found.facts()
    os.kill(own.pid, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        with pytest.raises(FreshetError) as error:
            found.facts()
        assert error.value.code == "KAFKA_UNREACHABLE"
        # A bound, and no duration: it would never answer.
        assert time.monotonic() - begin < 60
    finally:
        os.kill(own.pid, signal.SIGCONT)
    assert found.facts().ids == {name: topics.id_of(name)}


def test_clocks_that_are_ahead_or_behind_and_records_without_a_time(topics: Topics) -> None:
    name = topics.create("orders", 3)
    now = int(time.time() * 1000)
    for number, moment in enumerate((now + 600_000, 1000, -1)):
        topics.send(name, [b"x"], partition=number, timestamp=moment)
    found = open_broker(a_topic_spec(name, client={"bootstrap.servers": topics.servers}))
    told = found.times_at({(name, number): 0 for number in range(3)})
    assert told == {(name, 0): now + 600_000, (name, 1): 1000}
    assert found.offsets_at([(name, 1)], now) == {(name, 1): None}

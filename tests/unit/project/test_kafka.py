"""Topics of Kafka as the main source: which keys say so, what they mean, and what is refused at its line.

The kind: a key that is taken and has no effect, a password in a file, and what no topic can do, found before anything runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from freshet.hudi.keys.kafka_client import without_jvm
from freshet.project.load.project import load_project
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.rules.records import _PLAIN, _plain
from freshet.types.from_sql import parse_type
from tests.kit.project import ACCEPTS, BASE, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
HEAD = "ddl: ddl/payments.sql\ntransform: transformers/payments.sql\nhoodie:\n  hoodie.bucket.index.num.buckets: 2\n"
SERVERS = "  bootstrap.servers: 127.0.0.1:9092\n"
TOPIC = "  hoodie.streamer.source.kafka.topic: orders\n"


def yml(hoodie: str = SERVERS + TOPIC, more: str = "") -> dict[str, str | bytes]:
    return {FILE: HEAD + hoodie + more + ACCEPTS}


def loaded(tmp_path: Path, hoodie: str = SERVERS + TOPIC, more: str = "", **options: Any) -> PipelineSpec:
    root = a_project(tmp_path, files=yml(hoodie, more))
    return load_project(root, **{"environ": {}, **options}).pipelines[0]


def topics(tmp_path: Path, *args: str, **options: Any) -> KafkaSpec:
    found = loaded(tmp_path, *args, **options).source
    assert isinstance(found, KafkaSpec)
    return found


def test_a_topic_by_hoodiestreamers_keys(tmp_path: Path) -> None:
    found = topics(
        tmp_path,
        SERVERS
        + TOPIC
        + "  auto.offset.reset: latest\n  group.id: earnings\n  hoodie.streamer.kafka.source.maxEvents: 1000\n"
        + "  hoodie.deltastreamer.source.kafka.minPartitions: 8\n"
        + "  hoodie.streamer.source.kafka.enable.failOnDataLoss: false\n",
    )
    assert (found.topics, found.pattern, found.place) == (("orders",), "", "kafka:orders")
    assert (found.reset, found.group, found.max_events, found.min_partitions) == ("latest", "earnings", 1000, 8)
    assert (found.fail_on_data_loss, found.client) == (False, {"bootstrap.servers": "127.0.0.1:9092"})
    assert [(c.name, str(c.type)) for c in found.columns] == [
        ("id", "string"),
        ("amount", "decimal(10,2)"),
        ("updated_at", "timestamp"),
    ]


def test_what_holds_where_nothing_is_said(tmp_path: Path) -> None:
    found = topics(tmp_path)
    assert (found.reset, found.group, found.max_events, found.fail_on_data_loss) == ("none", "", 5_000_000, True)
    assert (found.format, found.is_strict, found.tombstones) == ("json", False, "")


def test_offsets_of_a_group_are_not_set_where_that_is_said(tmp_path: Path) -> None:
    lines = "  group.id: g\n  hoodie.streamer.source.kafka.enable.commit.offset: false\n"
    assert topics(tmp_path, SERVERS + TOPIC + lines).group == ""


def test_spark_gets_kafkas_jars_where_a_pipeline_reads_it_and_hudis_keys_alone_reach_the_writer(tmp_path: Path) -> None:
    spec = loaded(tmp_path)
    assert spec.spark_conf["spark.freshet.kafka"] == "true"
    assert not [key for key in spec.write_options if not key.startswith("hoodie.") or "kafka" in key]
    tables = load_project(a_project(tmp_path / "tables"), environ={}).pipelines[0]
    assert "spark.freshet.kafka" not in tables.spark_conf


def test_several_topics_and_a_pattern(tmp_path: Path) -> None:
    assert topics(tmp_path / "a", SERVERS, "source: {topics: [trips, orders]}\n").place == "kafka:trips,orders"
    found = topics(tmp_path / "b", SERVERS, "source: {pattern: 'orders_.*'}\n")
    assert (found.topics, found.pattern, found.place) == ((), "orders_.*", "kafka:/orders_.*/")


def test_columns_of_the_json_may_be_declared(tmp_path: Path) -> None:
    more = "source:\n  mode: strict\n  tombstones: row\n  columns: {id: string, tags: 'array<string>'}\n"
    found = topics(tmp_path, SERVERS + TOPIC, more)
    assert [(c.name, str(c.type)) for c in found.columns] == [("id", "string"), ("tags", "array<string>")]
    assert (found.is_strict, found.tombstones) == (True, "row")


@pytest.mark.parametrize(
    "text",
    [
        *_PLAIN,
        *(kind.upper() for kind in _PLAIN),
        "decimal(10,2)",
        "decimal(5, 0)",
        "decimal(28,28)",
        "decimal(2,10)",
        "decimal",
    ],
)
def test_plain_types_are_what_the_parser_of_ddls_makes_of_them(text: str) -> None:
    found = _plain(text)
    assert found is None or found == parse_type(text)
    assert (found is None) == (text in ("decimal(2,10)", "decimal"))


def test_the_cluster_and_how_much_at_a_time_are_no_part_of_the_fingerprint(tmp_path: Path) -> None:
    one = loaded(tmp_path / "a")
    other = loaded(
        tmp_path / "b", "  bootstrap.servers: b:1\n  hoodie.streamer.kafka.source.maxEvents: 7\n  group.id: g\n" + TOPIC
    )
    assert one.fingerprint == other.fingerprint
    assert loaded(tmp_path / "c", SERVERS + TOPIC, "source: {mode: strict}\n").fingerprint != one.fingerprint
    assert loaded(tmp_path / "d", SERVERS + TOPIC.replace("orders", "trips")).fingerprint != one.fingerprint


@pytest.mark.parametrize(
    ("hoodie", "more", "expected"),
    [
        (TOPIC, "", (3, "MISSING_KEY")),
        (SERVERS + TOPIC, "source: {topics: [a, b]}\n", (7, "CONFLICTING_SETTING")),
        (SERVERS, "source: {topics: [a], pattern: b}\n", (6, "CONFLICTING_SETTING")),
        (SERVERS, "source: {pattern: '('}\n", (6, "BAD_VALUE")),
        (SERVERS + TOPIC.replace("orders", "or ders"), "", (6, "BAD_VALUE")),
        (SERVERS + TOPIC + "  hoodie.streamer.source.hoodieincr.path: data/raw/x\n", "", (6, "CONFLICTING_SETTING")),
        (SERVERS + TOPIC + "  hoodie.datasource.query.incremental.format: cdc\n", "", (7, "CONFLICTING_SETTING")),
        (SERVERS + TOPIC + "  hoodie.streamer.kafka.source.maxEvents: 0\n", "", (7, "BAD_VALUE")),
        (SERVERS + TOPIC + "  auto.offset.reset: group\n", "", (7, "BAD_VALUE")),
        (SERVERS + TOPIC + "  auto.ofset.reset: latest\n", "", (7, "UNKNOWN_KEY")),
        (SERVERS + TOPIC + "  isolation.level: read_uncommitted\n", "", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC + "  enable.auto.commit: true\n", "", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC + "  schema.registry.url: http://r\n", "", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC + "  hoodie.streamer.source.kafka.value.deserializer.class: x\n", "", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC + "  hoodie.streamer.source.kafka.checkpoint.type: timestamp\n", "", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC + "  ssl.truststore.type: JKS\n", "", (7, "BAD_VALUE")),
        (SERVERS + TOPIC, "source: {format: xml}\n", (7, "WRONG_TYPE")),
        (SERVERS + TOPIC, "source: {fromat: json}\n", (7, "UNKNOWN_KEY")),
        (SERVERS + TOPIC, "source: {format: text, columns: {a: string}}\n", (7, "CONFLICTING_SETTING")),
        (SERVERS + TOPIC, "source: {columns: {a: no_type}}\n", (7, "UNSUPPORTED_TYPE")),
        (SERVERS + TOPIC, "source: {columns: {_kafka: string}}\n", (7, "BAD_NAME")),
        (SERVERS + TOPIC, "source: {columns: {a: string, A: string}}\n", (7, "BAD_NAME")),
        (SERVERS + TOPIC, "source: {columns: {a: 'array<decimal(10,2)>'}}\n", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC, "source: {columns: {a: 'decimal(38,2)'}}\n", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC, "source: {columns: {a: 'struct<b:array<timestamp>>'}}\n", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC, "source: {columns: {a: 'map<string,date>'}}\n", (7, "NOT_SUPPORTED")),
        (SERVERS + TOPIC, "source: {tombstones: delete}\n", (7, "CONFLICTING_SETTING")),
        (SERVERS + TOPIC, "backfill: {event_time: sent_at}\n", (7, "UNKNOWN_COLUMN")),
        (
            SERVERS + TOPIC,
            "inputs: {cities: {table: raw.cities, read: incremental, drives: {id: id}}}\n",
            (7, "NOT_SUPPORTED"),
        ),
    ],
)
def test_what_is_refused_is_refused_at_its_line(problems_of: Check, hoodie: str, more: str, expected: tuple[int, str]) -> None:
    found = seen(problems_of(yml(hoodie, more)))
    assert (FILE, *expected) in found, found
    assert {one for _, _, one in found} == {expected[1]}


def test_an_instant_of_commits_is_refused_where_there_are_none(problems_of: Check) -> None:
    sql = "SELECT id, amount, <SRC_INSTANT> AS n,\n  updated_at FROM <SRC>\n"
    assert seen(problems_of({**yml(), "transformers/payments.sql": sql})) == [("transformers/payments.sql", 1, "NOT_SUPPORTED")]


def test_what_is_said_of_topics_where_none_is_read_is_refused_in_a_pipeline_and_not_in_a_config(problems_of: Check) -> None:
    path = "  hoodie.streamer.source.hoodieincr.path: data/raw/events\n"
    assert seen(problems_of(yml(path + SERVERS)))[0][1:] == (6, "CONFLICTING_SETTING")
    assert seen(problems_of(yml(path, "source: {mode: strict}\n")))[0][1:] == (6, "CONFLICTING_SETTING")
    config = BASE + "hoodie:\n  bootstrap.servers: b:1\n  hoodie.streamer.kafka.source.maxEvents: 7\n"
    assert problems_of({**yml(path), "configs/base.yml": config}) == []


LOGIN = "  security.protocol: SASL_SSL\n  sasl.mechanism: SCRAM-SHA-512\n  sasl.jaas.config: {}\n"
JAAS = """'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="{}";'"""


def test_a_password_is_read_from_the_environment_and_not_shown(tmp_path: Path) -> None:
    lines = SERVERS + TOPIC + LOGIN.format(JAAS.format("{{ env.KAFKA_PASSWORD }}"))
    found = topics(tmp_path, lines, environ={"KAFKA_PASSWORD": "geheimnis"})
    assert "geheimnis" in found.client["sasl.jaas.config"]
    assert "geheimnis" not in repr(found)
    assert without_jvm(found.client)["sasl.password"] == "geheimnis"


def test_a_password_in_a_file_is_refused_and_not_shown(problems_of: Check) -> None:
    problems = problems_of(yml(SERVERS + TOPIC + LOGIN.format(JAAS.format("geheimnis"))))
    assert seen(problems) == [(FILE, 9, "SECRET_IN_FILE")]
    assert "geheimnis" not in str(problems)


def test_a_topic_whose_name_would_tell_a_secret_is_refused(problems_of: Check) -> None:
    lines = SERVERS + TOPIC.replace("orders", '"{{ env.TENANT }}_orders"')
    assert seen(problems_of(yml(lines), environ={"TENANT": "geheimnis"})) == [(FILE, 6, "SECRET_IN_NAME")]


PEM = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"}


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ({}, {}),
        ({"security.protocol": "SSL", **PEM}, {"security.protocol": "SSL", "ssl.ca.location": "/ca.pem"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/me.pem", "ssl.key.password": "x"},
            {"ssl.certificate.location": "/me.pem", "ssl.key.location": "/me.pem", "ssl.key.password": "x"},
        ),
        (
            {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
            {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
        ),
        (
            {"sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS[1:-1].replace("scram.Scram", "plain.Plain").format(r"a\"b;c")},
            {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": 'a"b;c'},
        ),
    ],
)
def test_the_client_without_a_jvm_is_told_the_same(client: dict[str, str], expected: dict[str, str]) -> None:
    assert without_jvm(client) == expected


@pytest.mark.parametrize(
    "client",
    [
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"},
        {"sasl.mechanism": "PLAIN", "sasl.jaas.config": "x"},
        {"sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS[1:-1].format("p")},
        {"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": "a.ScramLoginModule required;"},
        {"ssl.truststore.location": "/trust.jks"},
        {"ssl.keystore.location": "/own.jks"},
    ],
)
def test_what_it_cannot_be_told_is_refused(client: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"sasl|ssl"):
        without_jvm(client)

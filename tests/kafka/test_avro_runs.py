"""Pipelines over topics of Avro, with a real broker and the stub of a schema registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import SparkSession

from freshet.dev.registry.server import start, stop
from freshet.registry.address import address_of
from freshet.registry.http import ask
from tests.kit.commands import freshet, refused
from tests.kit.kafka import Topics
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS
from tests.kit.registry import avro, framed, record, register

DDL = """\
CREATE TABLE derived.orders (id STRING NOT NULL, amount DECIMAL(10,2), city STRING, at BIGINT NOT NULL)
USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'at', type = 'mor')
"""
SQL = "SELECT id, amount, city, _kafka.offset AS at FROM <SRC>\n"
YML = """\
ddl: ddl/orders.sql
transform: transformers/orders.sql
{top}source:
  format: {format}
  columns: {{id: string, amount: 'decimal(10,2)', city: string}}
{source}hoodie:
  bootstrap.servers: {servers}
  hoodie.streamer.source.kafka.topic: {topic}
  auto.offset.reset: earliest
{hoodie}"""
QUARANTINE = "checks: [{name: decoded, malformed: true, severity: drop}]\n"
V1 = record(id="string", amount="int")
V2 = record(
    id="string", amount=["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}], city="string"
)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the stub as ``freshet dev registry up`` does, and return its address."""
    folder = tmp_path_factory.mktemp("registry") / "stub"
    try:
        yield start(folder).url
    finally:
        stop(folder, purge=True)


class AvroLake(Lake):
    """A lake whose one pipeline, ``orders``, reads a topic of one test."""

    def __init__(self, spark: SparkSession, root: Path, topics: Topics) -> None:
        super().__init__(spark, root)
        self.topics = topics

    def orders(self, topic: str, form: str = "avro", source: str = "", top: str = "", hoodie: str = "") -> None:
        text = YML.format(servers=self.topics.servers, topic=topic, format=form, source=source, top=top, hoodie=hoodie)
        self.write_file("pipelines/orders.yml", text + ACCEPTS)
        self.write_file("ddl/orders.sql", DDL)
        self.write_file("transformers/orders.sql", SQL)

    def ran(self) -> dict[str, Any]:
        found: dict[str, Any] = freshet(self, "run", "orders")["runs"][0]
        return found

    def rows(self) -> list[tuple[Any, ...]]:
        table = self.spark.read.format("hudi").load(self.path("derived.orders"))
        return sorted(tuple(row) for row in table.selectExpr("id", "cast(amount as string)", "city").collect())


@pytest.fixture
def alake(spark: SparkSession, tmp_path: Path, topics: Topics) -> AvroLake:
    return AvroLake(spark, tmp_path, topics)


def by(registry: str, more: str = "") -> str:
    return f"  schema: {{registry: '{registry}'{more}}}\n"


def test_a_topic_whose_schema_changes_is_read_on_and_what_cannot_be_decoded_is_kept(
    alake: AvroLake, topics: Topics, registry: str
) -> None:
    topic = topics.create("orders")
    first = register(registry, f"{topic}-value", V1)
    alake.orders(topic, source=by(registry), top=QUARANTINE)
    topics.send(topic, [framed(first, avro(V1, {"id": "a", "amount": 3})), framed(99, b"x"), b"plain"])
    assert alake.ran()["quarantined"] == 2
    second = register(registry, f"{topic}-value", V2)
    topics.send(topic, [framed(second, avro(V2, {"id": "b", "amount": None, "city": "Oslo"}))])
    topics.send(topic, [framed(first, avro(V1, {"id": "a", "amount": 4})), framed(second, b"")])
    assert alake.ran()["quarantined"] == 1
    assert alake.rows() == [("a", "4.00", None), ("b", None, "Oslo")]
    spec = alake.project("orders").pipelines[0]
    held = alake.spark.read.format("hudi").load(spec.quarantine.path).collect()
    kept = sorted((json.loads(row["_quarantine_row"]) for row in held), key=lambda one: int(one["offset"]))
    assert [(one["topic"], one["partition"], one["offset"]) for one in kept] == [(topic, 0, 1), (topic, 0, 2), (topic, 0, 5)]
    assert alake.ran()["outcome"] == "idle"


def test_without_a_check_a_record_of_an_unknown_schema_fails_the_run(alake: AvroLake, topics: Topics, registry: str) -> None:
    topic = topics.create("orders")
    alake.orders(topic, source=by(registry))
    topics.send(topic, [framed(99, b"x")])
    assert refused(alake, "run", "orders")["code"] == "REGISTRY_SUBJECT_UNKNOWN"
    number = register(registry, f"{topic}-value", V1)
    error = refused(alake, "run", "orders", code=6)
    assert (error["code"], "id 99" in error["message"]) == ("RECORD_UNREADABLE", True)
    topics.trim(topic, 0, 1)
    freshet(alake, "checkpoint", "set", "orders", f"{topic},0:1", "--create")
    topics.send(topic, [framed(number, avro(V1, {"id": "a", "amount": 3}))])
    alake.ran()
    assert alake.rows() == [("a", "3.00", None)]


def test_a_subject_that_does_not_fit_is_refused_before_anything_is_read(alake: AvroLake, topics: Topics, registry: str) -> None:
    topic = topics.create("orders")
    number = register(registry, f"{topic}-value", V1)
    alake.orders(topic, source=by(registry, ", compatibility: check"))
    topics.send(topic, [framed(number, avro(V1, {"id": "a", "amount": 3}))])
    alake.ran()
    register(registry, f"{topic}-value", record(id="string", amount="string"))
    assert freshet(alake, "plan", "orders")["plans"][0]["window"]["kind"] == "idle"
    topics.send(topic, [framed(number, avro(V1, {"id": "b", "amount": 3}))])
    assert "SCHEMA_MISFIT" in json.dumps(freshet(alake, "plan", "orders", code=5))
    assert refused(alake, "run", "orders")["code"] == "SCHEMA_MISFIT"
    assert alake.rows() == [("a", "3.00", None)]


def test_a_tombstone_deletes_the_row_that_its_avro_key_names_and_a_header_names_a_schema(
    alake: AvroLake, topics: Topics, registry: str
) -> None:
    topic = topics.create("orders")
    number = register(registry, f"{topic}-value", V1)
    of_key = register(registry, f"{topic}-key", record("Key", id="string"))
    guid = UUID(ask(address_of(registry), f"/subjects/{topic}-value/versions/1")["guid"])
    alake.orders(topic, source=by(registry) + "  tombstones: delete\n  key: {format: avro, columns: {id: string}}\n")
    alake.write_file("ddl/orders.sql", DDL.replace("at BIGINT", "_hoodie_is_deleted BOOLEAN, at BIGINT"))
    alake.write_file(
        "transformers/orders.sql",
        "SELECT coalesce(id, _key.id) AS id, amount, city, _hoodie_is_deleted, _kafka.offset AS at FROM <SRC>\n",
    )
    keys = {one: framed(of_key, avro(record("Key", id="string"), {"id": one})) for one in "ab"}
    topics.send(topic, [framed(number, avro(V1, {"id": "a", "amount": 3}))], key=keys["a"])
    named = [("__value_schema_id", b"\x01" + guid.bytes)]
    topics.send(topic, [avro(V1, {"id": "b", "amount": 4})], key=keys["b"], headers=named)
    alake.ran()
    assert alake.rows() == [("a", "3.00", None), ("b", "4.00", None)]
    topics.send(topic, [None], key=keys["a"])
    alake.ran()
    assert alake.rows() == [("b", "4.00", None)]


def test_avro_by_a_file_and_json_behind_an_id(alake: AvroLake, topics: Topics) -> None:
    topic = topics.create("orders")
    alake.write_file("schemas/order.avsc", json.dumps(V2))
    alake.orders(topic, hoodie="  hoodie.streamer.schemaprovider.source.schema.file: schemas/order.avsc\n")
    topics.send(topic, [avro(V2, {"id": "a", "amount": None, "city": "Oslo"})])
    alake.ran()
    assert alake.rows() == [("a", None, "Oslo")]
    alake.orders(topic, form="json_schema")
    topics.send(topic, [framed(5, b'{"id":"a","amount":2.5,"city":"Bergen"}')])
    alake.ran()
    assert alake.rows() == [("a", "2.50", "Bergen")]

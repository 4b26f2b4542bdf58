"""By which schemas records are decoded: what says so, and what is refused at its line before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.registry.address import Address
from tests.kit.project import ACCEPTS, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
AVSC = "schemas/payment.avsc"
HEAD = """\
ddl: ddl/payments.sql
transform: transformers/payments.sql
hoodie:
  hoodie.bucket.index.num.buckets: 2
  bootstrap.servers: 127.0.0.1:9092
  hoodie.streamer.source.kafka.topic: orders
"""
BY_FILE = f"  hoodie.streamer.schemaprovider.source.schema.file: {AVSC}\n"
AVRO = "source: {format: avro}\n"
REGISTRY = "source:\n  format: avro\n  schema: {registry: 'http://r:8081'}\n"
FIELDS: dict[str, Any] = {
    "id": "string",
    "amount": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    "updated_at": {"type": "long", "logicalType": "timestamp-micros"},
    "note": ["int", "string"],
}


def avsc(**changes: Any) -> str:
    fields = [{"name": name, "type": kind} for name, kind in {**FIELDS, **changes}.items()]
    return json.dumps({"type": "record", "name": "Payment", "fields": fields})


#: Avro's own parser takes it for none; without a look at it each record would be one that cannot be decoded.
TWICE = json.dumps({"type": "record", "name": "Payment", "fields": [{"name": "id", "type": "string"}] * 2})


def files(more: str, text: str | None = None) -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {FILE: HEAD + more + ACCEPTS}
    return found if text is None else {**found, AVSC: text}


def loaded(tmp_path: Path, more: str, text: str | None = None, **options: Any) -> PipelineSpec:
    root = a_project(tmp_path, files=files(more, text))
    return load_project(root, **{"environ": {}, **options}).pipelines[0]


def topics(tmp_path: Path, more: str, text: str | None = None, **options: Any) -> KafkaSpec:
    found = loaded(tmp_path, more, text, **options).source
    assert isinstance(found, KafkaSpec)
    return found


def test_a_schema_of_a_file_of_the_project(tmp_path: Path) -> None:
    found = topics(tmp_path, BY_FILE + AVRO, avsc())
    assert (found.format, found.registry, json.loads(found.avro_schema)["name"]) == ("avro", None, "Payment")
    assert [column.name for column in found.columns] == ["id", "amount", "updated_at"]


def test_sparks_decoder_is_there_for_pipelines_of_avro_alone(tmp_path: Path) -> None:
    assert loaded(tmp_path / "a", BY_FILE + AVRO, avsc()).spark_conf["spark.freshet.avro"] == "true"
    assert "spark.freshet.avro" not in loaded(tmp_path / "b", "source: {format: json_schema}\n").spark_conf


def test_how_records_are_decoded_is_a_part_of_the_fingerprint_and_where_the_registry_is_none(tmp_path: Path) -> None:
    one, other = (
        loaded(tmp_path / name, BY_FILE + AVRO, text).fingerprint
        for name, text in (("a", avsc()), ("b", avsc(updated_at={"type": "long", "logicalType": "timestamp-millis"})))
    )
    assert one != other
    here, there = (
        loaded(tmp_path / name, REGISTRY.replace("r:8081", host)).fingerprint for name, host in (("c", "r:1"), ("d", "s:2"))
    )
    assert here == there


def test_a_registry_its_subjects_and_whether_they_are_compared(tmp_path: Path) -> None:
    found = topics(tmp_path / "a", REGISTRY)
    assert (found.registry, found.subjects, found.is_compared) == (Address(urls=("http://r:8081",)), (), False)
    assert found.subjects_of(["orders"]) == ("orders-value",)
    more = (
        "source:\n  format: avro\n  schema: {registry: 'http://r:1, http://s:2', subjects: [a.B, a.C], compatibility: check}\n"
    )
    found = topics(tmp_path / "b", more)
    assert found.registry == Address(urls=("http://r:1", "http://s:2"))
    assert (found.subjects_of(["orders"]), found.is_compared) == (("a.B", "a.C"), True)


def test_a_password_of_the_registry_is_read_from_the_environment_and_not_shown(tmp_path: Path) -> None:
    more = REGISTRY.replace("http://", "https://{{ env.LOGIN }}@")
    found = topics(tmp_path, more, environ={"LOGIN": "ann:geheimnis%40"})
    assert found.registry is not None
    assert (found.registry.urls, found.registry.user, found.registry.password) == (("https://r:8081",), "ann", "geheimnis@")
    assert "geheimnis" not in repr(found)


def test_a_password_of_the_registry_in_a_file_is_refused_and_not_shown(problems_of: Check) -> None:
    problems = problems_of(files(REGISTRY.replace("http://", "http://ann:geheimnis@")))
    assert seen(problems) == [(FILE, 9, "SECRET_IN_FILE")]
    assert "geheimnis" not in str(problems)


def test_avro_may_hold_what_json_cannot(tmp_path: Path) -> None:
    more = AVRO.replace("}", ", columns: {id: string, deep: 'array<struct<at:timestamp,of:decimal(38,2)>>'}}")
    deep = {
        "type": "array",
        "items": {
            "type": "record",
            "name": "Deep",
            "fields": [
                {"name": "at", "type": FIELDS["updated_at"]},
                {"name": "of", "type": {**FIELDS["amount"], "precision": 30}},
            ],
        },
    }
    assert len(topics(tmp_path, BY_FILE + more, avsc(deep=deep)).columns) == 2


@pytest.mark.parametrize(
    ("more", "text", "expected"),
    [
        (AVRO, None, (7, "MISSING_KEY")),
        (BY_FILE + AVRO, None, (7, "MISSING_FILE")),
        (BY_FILE.replace("schemas/", "../") + AVRO, None, (7, "PATH_OUTSIDE_PROJECT")),
        (BY_FILE + REGISTRY, avsc(), (7, "CONFLICTING_SETTING")),
        (BY_FILE, avsc(), (7, "CONFLICTING_SETTING")),
        (REGISTRY.replace("avro", "json"), None, (9, "CONFLICTING_SETTING")),
        (REGISTRY.replace("avro", "json_schema"), None, (9, "CONFLICTING_SETTING")),
        (REGISTRY.replace("http://r:8081", "r:8081"), None, (9, "BAD_VALUE")),
        (REGISTRY.replace("registry", "regstry"), None, (9, "UNKNOWN_KEY")),
        (REGISTRY.replace("}", ", compatibility: BACKWARD}"), None, (9, "WRONG_TYPE")),
        ("source: {format: protobuf}\n", None, (7, "NOT_SUPPORTED")),
        ("source: {format: xml}\n", None, (7, "WRONG_TYPE")),
        ("source: {max_bytes: 1000000}\n", None, (7, "NOT_SUPPORTED")),
        (BY_FILE + AVRO, "{", (7, "BAD_VALUE")),
        (BY_FILE + AVRO, '{"type": "array"}', (7, "BAD_VALUE")),
        (BY_FILE + AVRO, avsc(id="Missing"), (7, "BAD_VALUE")),
        (BY_FILE + AVRO, TWICE, (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO, avsc(more={**json.loads(TWICE), "name": "More"}), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO, '"string"', (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO, avsc(amount="string"), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO, avsc(amount=["int", "string"]), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO, avsc(amount=["null", "Payment"]), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO.replace("}", ", columns: {ID: string}}"), avsc(), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO.replace("}", ", mode: strict}"), avsc(), (7, "SCHEMA_MISFIT")),
        (BY_FILE + AVRO.replace("}", ", columns: {other: string}}"), avsc(), (7, "SCHEMA_MISFIT")),
    ],
)
def test_what_is_refused_is_refused_at_its_line(
    problems_of: Check, more: str, text: str | None, expected: tuple[int, str]
) -> None:
    found = seen(problems_of(files(more, text)))
    assert (FILE, *expected) in found, found
    assert {one for _, _, one in found} == {expected[1]}


def test_a_schema_file_where_no_topic_is_read_is_refused(problems_of: Check) -> None:
    text = HEAD.replace("  bootstrap.servers: 127.0.0.1:9092\n", "").replace(
        "hoodie.streamer.source.kafka.topic: orders", "hoodie.streamer.source.hoodieincr.path: data/raw/events"
    )
    assert seen(problems_of({FILE: text + BY_FILE + ACCEPTS, AVSC: avsc()})) == [(FILE, 6, "CONFLICTING_SETTING")]

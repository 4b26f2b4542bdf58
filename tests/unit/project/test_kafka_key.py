"""Keys of records that are Avro: what says so, what becomes of them, and what is refused at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.kafka import KafkaSpec, KeySpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.registry.address import Address
from tests.kit.project import ACCEPTS, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
HEAD = """\
ddl: ddl/payments.sql
transform: transformers/payments.sql
hoodie:
  hoodie.bucket.index.num.buckets: 2
  bootstrap.servers: 127.0.0.1:9092
  hoodie.streamer.source.kafka.topic: orders
"""
KEY = "source:\n  key: {format: avro, columns: {id: string, part: int}, registry: 'http://r:8081'}\n"


def loaded(tmp_path: Path, more: str = KEY) -> PipelineSpec:
    root = a_project(tmp_path, files={FILE: HEAD + more + ACCEPTS})
    return load_project(root, environ={}).pipelines[0]


def key_of(spec: PipelineSpec) -> KeySpec:
    assert isinstance(spec.source, KafkaSpec)
    assert spec.source.key is not None
    return spec.source.key


def test_a_key_is_a_column_of_its_own_beside_the_bytes(tmp_path: Path) -> None:
    spec = loaded(tmp_path)
    key = key_of(spec)
    assert (key.registry, key.subjects_of(["orders"])) == (Address(urls=("http://r:8081",)), ("orders-key",))
    assert isinstance(spec.source, KafkaSpec)
    assert {c.name: str(c.type) for c in spec.source.row_columns}["_key"] == "struct<id:string,part:int>"
    assert spec.spark_conf["spark.freshet.avro"] == "true"


def test_the_registry_of_the_values_has_the_keys_schemas_too(tmp_path: Path) -> None:
    more = (
        "source:\n  format: avro\n  schema: {registry: 'http://v:1'}\n"
        "  key: {format: avro, columns: {id: string}, subjects: a.K}\n"
    )
    key = key_of(loaded(tmp_path, more))
    assert (key.registry.urls, key.subjects_of(["orders"])) == (("http://v:1",), ("a.K",))


def test_what_a_key_holds_is_a_part_of_the_fingerprint_and_where_its_registry_is_none(tmp_path: Path) -> None:
    kinds = {
        "none": "",
        "one": KEY,
        "other": KEY.replace("part: int", "part: bigint"),
        "there": KEY.replace("r:8081", "s:1"),
    }
    found = {name: loaded(tmp_path / name, more).fingerprint for name, more in kinds.items()}
    assert found["one"] == found["there"]
    assert len(set(found.values())) == 3


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (KEY.replace(", registry: 'http://r:8081'", ""), (8, "MISSING_KEY")),
        (KEY.replace("http://r:8081", "r:8081"), (8, "BAD_VALUE")),
        (KEY.replace("http://", "http://ann:geheimnis@"), (8, "SECRET_IN_FILE")),
        (KEY.replace("{id: string, part: int}", "{}"), (8, "MISSING_KEY")),
        (KEY.replace("part: int", "ID: int"), (8, "BAD_NAME")),
        (KEY.replace("part: int", "part: whole"), (8, "UNSUPPORTED_TYPE")),
        (KEY.replace("format: avro", "format: json"), (8, "WRONG_TYPE")),
        (KEY + "  columns: {id: string, _key: string}\n", (9, "BAD_NAME")),
        (
            KEY + "  format: changelog\n  changelog: {adapter: debezium, reference_key: {kind: lsn}}\n",
            (8, "CONFLICTING_SETTING"),
        ),
    ],
)
def test_what_is_refused_is_refused_at_its_line(problems_of: Check, more: str, expected: tuple[int, str]) -> None:
    found = seen(problems_of({FILE: HEAD + more + ACCEPTS}))
    assert (FILE, *expected) in found, found


def test_a_column_may_be_called_so_where_no_key_is_decoded(tmp_path: Path) -> None:
    spec = loaded(tmp_path, "source: {columns: {_key: string}}\n")
    assert isinstance(spec.source, KafkaSpec)
    assert [column.name for column in spec.source.columns] == ["_key"]

"""Which schemas the records of a window may have, and what the plan says of them; against a stub of a registry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from freshet.cases.registries import hold_against_registry
from freshet.dev.registry.stub import Stub
from freshet.errors import RetryableError, StateError
from freshet.hudi.table import MemoryState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Plan
from freshet.problems import Problems
from freshet.project.model.kafka import KafkaSpec, KeySpec
from freshet.registry.address import Address, address_of
from freshet.sources.kafka import source as source_module
from freshet.sources.kafka.read.schemas import key_schemas_of, schemas_of
from freshet.sources.kafka.reads import ReadTopics
from freshet.types.columns import Atomic, Column
from tests.kit.memory import AVRO_TYPES, CITIES, a_commit, a_spec, a_table_state
from tests.kit.registry import record, register, serving
from tests.kit.topics import MemoryBroker, a_topic_spec

FITS = record(**AVRO_TYPES)
MISFITS = record(**{**AVRO_TYPES, "day": "int"})


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as found:
        yield found


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> MemoryBroker:
    held = MemoryBroker({("orders", 0): (0, 10)})
    monkeypatch.setattr(source_module, "open_broker", lambda topics: held)
    return held


def avro_spec(url: str, **changes: Any) -> KafkaSpec:
    return a_topic_spec(**{"format": "avro", "registry": address_of(url), **changes})


def planned(source: KafkaSpec) -> Plan:
    table = a_table_state([a_commit(3)], ref=CITIES)
    return compile_plan(a_spec(source=source), MemoryState({table.ref.path: table}), RunRequest())


def stage_of(plan: Plan) -> ReadTopics:
    stage = plan.stages[0]
    assert isinstance(stage, ReadTopics)
    return stage


def test_the_schemas_of_a_window_are_all_that_its_subjects_have(cluster: MemoryBroker, stub: Stub) -> None:
    ids = [register(stub.url, "orders-value", one) for one in (FITS, MISFITS)]
    register(stub.url, "orders-key", '"string"')
    stage = stage_of(planned(avro_spec(stub.url)))
    assert stage.subjects == ("orders-value",)
    assert [one for one in stub.asked if not one.endswith("/versions")] == [], "a plan asks for no schema"
    assert list(schemas_of(stage)) == ids
    named = stage_of(planned(avro_spec(stub.url, subjects=("a.B",))))
    with pytest.raises(StateError) as refused:
        schemas_of(named)
    assert refused.value.code == "REGISTRY_SUBJECT_UNKNOWN"


def test_the_schemas_of_keys_are_those_of_their_own_subjects(cluster: MemoryBroker, stub: Stub) -> None:
    number = register(stub.url, "orders-key", "string")
    key = KeySpec(columns=(Column(name="id", type=Atomic("string")),), registry=address_of(stub.url))
    plan = planned(a_topic_spec(key=key))
    stage = stage_of(plan)
    assert (list(key_schemas_of(stage)), schemas_of(stage)) == ([number], {})
    assert f"keys as avro by those of orders-key at {stub.url}" in plan_text(plan)
    # Its GUID is told, by which headers name it.
    (found,) = key_schemas_of(stage).values()
    assert re.fullmatch("[0-9A-F]{32}", found.guid)


def test_a_schema_of_a_file_needs_no_registry(cluster: MemoryBroker) -> None:
    stage = stage_of(planned(a_topic_spec(format="avro", avro_schema=json.dumps(FITS))))
    assert [(number, one.text) for number, one in schemas_of(stage).items()] == [(0, json.dumps(FITS))]
    assert schemas_of(stage_of(planned(a_topic_spec()))) == {}


def test_a_registry_that_is_gone_may_be_asked_again(cluster: MemoryBroker) -> None:
    with pytest.raises(RetryableError) as gone:
        schemas_of(stage_of(planned(avro_spec("http://127.0.0.1:1"))))
    assert gone.value.code == "REGISTRY_UNREACHABLE"


def test_a_plan_shows_where_the_schemas_are_and_no_password(cluster: MemoryBroker) -> None:
    address = Address(urls=("http://r:1",), user="ann", password="geheimnis")
    plan = planned(a_topic_spec(format="avro", registry=address))
    shown = json.dumps(plan_json(plan)) + plan_text(plan) + repr(plan)
    assert "http://r:1" in shown
    assert "geheimnis" not in shown
    assert "as avro by the schemas of orders-value at http://r:1" in plan_text(plan)


def test_a_plan_holds_the_columns_against_the_newest_schema_where_that_is_said(cluster: MemoryBroker, stub: Stub) -> None:
    register(stub.url, "orders-value", FITS)
    compared = avro_spec(stub.url, is_compared=True)
    assert stage_of(planned(compared)).subjects == ("orders-value",)
    register(stub.url, "orders-value", MISFITS)
    with pytest.raises(StateError) as refused:
        planned(compared)
    assert refused.value.code == "SCHEMA_MISFIT"
    assert "orders-value" in refused.value.message
    assert planned(avro_spec(stub.url)).stages, "nobody asked for it"
    cluster.parts = {("orders", 0): (0, 0)}
    assert planned(compared).window.kind == "idle"


def test_validate_deep_holds_the_columns_against_the_newest_schema(stub: Stub) -> None:
    spec = a_spec(source=avro_spec(stub.url, is_compared=True))
    problems = Problems()
    assert hold_against_registry(spec, problems) == []
    register(stub.url, "orders-value", {**FITS, "fields": [*FITS["fields"], {"name": "more", "type": "int"}]})
    told = [(one.code, "'more'" in one.message) for one in hold_against_registry(spec, problems)]
    # The stub lets any later schema pass, and says so.
    assert told == [("SCHEMA_DIFFERS", False), ("SCHEMA_DIFFERS", True)]
    register(stub.url, "orders-value", MISFITS)
    hold_against_registry(spec, problems)
    assert {one.code for one in problems.found} == {"REGISTRY_SUBJECT_UNKNOWN", "SCHEMA_MISFIT"}
    pattern = a_spec(source=avro_spec(stub.url, is_compared=True, topics=(), pattern="orders_.*"))
    assert [one.code for one in hold_against_registry(pattern, Problems())] == ["SCHEMA_NOT_COMPARED"]
    assert hold_against_registry(a_spec(), Problems()) == []

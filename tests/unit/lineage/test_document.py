"""What an OpenLineage event says of a run, held against the classes of the published schemas."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from freshet.events.kinds import WindowPlanned
from freshet.hudi.table import MemoryState
from freshet.lineage.columns import Origin, origins_of
from freshet.lineage.datasets import inputs_of, of_path
from freshet.lineage.document import document_of, known_of, run_uuid
from freshet.lineage.told import Ending, Told
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.model.promises import LineageOut
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import split_statements
from freshet.types.columns import Atomic, Column
from freshet.verdict.facts import TableFacts
from tests.kit.memory import CITIES, SOURCE, TARGET, a_commit, a_spec, a_table_state, an_avro_schema, at
from tests.kit.openlineage import check

SQL = """
create temporary view paid as select trip_id, fare * 2 as fare, city, updated_at, day from <SRC>;
select p.trip_id, p.fare, count(*) over (partition by c.name) as rides, p.updated_at, p.day
from paid p join cities c using (city)
"""
OUTCOMES: list[dict[str, Any]] = [
    {"name": "ids", "kind": "unique", "severity": "fail", "status": "passed", "expected": "no two", "seen": "none"},
    {"name": "fares", "kind": "where", "severity": "drop", "status": "dropped", "rows": 3, "expected": "0", "seen": "3"},
    {"name": "late", "kind": "volume", "severity": "warn", "status": "skipped", "expected": "", "seen": ""},
]


def sql(*texts: str) -> tuple[TransformSpec, ...]:
    return tuple(TransformSpec(file="transformers/x.sql", kind="sql", statements=split_statements(text)) for text in texts)


def pipeline(**changes: Any) -> PipelineSpec:
    return a_spec(**{"transform": sql(SQL), "lineage": LineageOut(file="/x"), **changes})


def told(**changes: Any) -> Told:
    window = WindowPlanned(
        pipeline="earnings", message="", kind="increment", commits=2, rows=20, begin=at(10), end=at(20), waiting_commits=1
    )
    return Told(**{"pipeline": "earnings", "run_id": "r1", "what": "run", "begun": 1e9, "window": window, **changes})


def tables() -> MemoryState:
    types: dict[str, Any] = {
        name: ["null", "string"] for name in ("trip_id", "fare", "city", "updated_at", "day", "never_used")
    }
    source = a_table_state([a_commit(10, extra={"schema": an_avro_schema(types)})], ref=SOURCE)
    schema = an_avro_schema({"city": "string", "name": ["null", "string"]})
    cities = a_table_state([a_commit(10, extra={"schema": schema})], ref=CITIES, record_key=("city",))
    return MemoryState({SOURCE.path: source, CITIES.path: cities})


def document(ending: Ending = "COMPLETE", spec: PipelineSpec | None = None, **changes: Any) -> dict[str, Any]:
    spec = spec or pipeline()
    found = document_of(spec, "prod", known_of(spec, tables()), told(**changes), ending, 1e9 + 1.5)
    # As it is sent.
    found = json.loads(json.dumps(found))
    check(found)
    return found


@pytest.mark.parametrize("ending", ["START", "COMPLETE", "FAIL", "ABORT"])
def test_every_event_is_one_of_openlineages(ending: Ending) -> None:
    found = document(ending, checks=OUTCOMES, rows=7, commit=at(50), quarantined=3, error={"code": "X", "message": "y"})
    assert found["eventType"] == ending
    assert (found["job"]["namespace"], found["job"]["name"]) == ("freshet.prod", "earnings")
    assert found["eventTime"] == "2001-09-09T01:46:41.500+00:00"
    assert found["run"]["runId"] == run_uuid("prod", told())
    assert found["run"]["facets"]["externalQuery"]["externalQueryId"] == "r1"
    assert found["job"]["facets"]["ownership"]["owners"] == [{"name": "earnings-data"}]
    assert found["job"]["facets"]["sql"]["query"].endswith("join cities c using (city)")


def test_the_check_finds_what_is_wrong() -> None:
    """Else all of the above would pass whatever is sent."""
    good = document()
    broken: list[dict[str, Any]] = [
        {**good, "eventType": "DONE"},
        {**good, "eventTime": "yesterday"},
        {**good, "run": {"runId": "r1"}},
        {**good, "jobs": good["job"]},
        {name: value for name, value in good.items() if name != "job"},
        {**good, "job": {**good["job"], "facets": {"sql": {**good["job"]["facets"]["sql"], "text": "x"}}}},
        {**good, "outputs": [{"namespace": "file"}]},
    ]
    for one in broken:
        with pytest.raises((AssertionError, ValueError)):
            check(one)


def test_inputs() -> None:
    main, cities = document()["inputs"]
    assert (main["namespace"], main["name"]) == ("file", SOURCE.path)
    assert main["facets"]["symlinks"]["identifiers"] == [{"namespace": "file", "name": "raw.trips", "type": "TABLE"}]
    assert main["facets"]["version"]["datasetVersion"] == at(20)
    assert main["inputFacets"]["inputStatistics"]["rowCount"] == 20
    names = [(one["name"], one["type"]) for one in main["facets"]["schema"]["fields"]]
    assert ("never_used", "string") in names
    assert (cities["name"], cities["inputFacets"]) == (CITIES.path, {})


def test_what_cannot_be_told_of_a_window_is_left_out() -> None:
    main = document(window=None)["inputs"][0]
    assert (main["inputFacets"], "version" in main["facets"]) == ({}, False)


def test_a_table_of_which_nobody_knows_is_an_input_all_the_same() -> None:
    spec = pipeline()
    found = document_of(spec, "prod", known_of(spec, MemoryState({})), told(), "START", 1e9)
    check(found)
    assert [one["name"] for one in found["inputs"]] == [SOURCE.path, CITIES.path]
    assert "schema" not in found["inputs"][0]["facets"]


def test_the_source_that_is_read_as_it_was_before_is_one_input() -> None:
    before = replace(pipeline().inputs[0], name="before", table=SOURCE, as_of="checkpoint")
    found = document(spec=pipeline(inputs=(before,)))
    assert [one["name"] for one in found["inputs"]] == [SOURCE.path]


def test_the_output() -> None:
    (target,) = document(rows=7, commit=at(50))["outputs"]
    assert (target["namespace"], target["name"]) == ("file", TARGET.path)
    assert target["facets"]["version"]["datasetVersion"] == at(50)
    assert target["outputFacets"]["outputStatistics"]["rowCount"] == 7
    assert [one["name"] for one in target["facets"]["schema"]["fields"]] == ["trip_id", "fare", "rides", "updated_at", "day"]
    assert target["facets"]["schema"]["fields"][1]["type"] == "decimal(10,2)"


def test_only_what_was_published_is_counted() -> None:
    (target,) = document("FAIL", rows=7, commit=at(50), quarantined=3)["outputs"]
    assert (target["outputFacets"], "version" in target["facets"]) == ({}, False)


def test_rows_in_the_quarantine_are_another_output() -> None:
    _, apart = document(rows=7, quarantined=3)["outputs"]
    assert apart["name"] == "/lake/derived/earnings_quarantine"
    assert apart["outputFacets"]["outputStatistics"]["rowCount"] == 3


def test_checks_are_assertions_and_one_that_looked_at_nothing_is_none() -> None:
    (target,) = document("FAIL", checks=OUTCOMES)["outputs"]
    assert target["facets"]["dataQualityAssertions"]["assertions"] == [
        {
            "assertion": "unique",
            "success": True,
            "severity": "error",
            "name": "ids",
            "expected": "no two",
            "actual": "none",
            "params": {},
        },
        {
            "assertion": "where",
            "success": False,
            "severity": "warn",
            "name": "fares",
            "expected": "0",
            "actual": "3",
            "params": {},
        },
    ]


def test_columns() -> None:
    fields = document()["outputs"][0]["facets"]["columnLineage"]["fields"]

    def of(name: str) -> list[tuple[str, str, str]]:
        found = fields[name]["inputFields"]
        return [(one["name"], one["field"], one["transformations"][0]["subtype"]) for one in found]

    assert of("trip_id") == [(SOURCE.path, "trip_id", "IDENTITY")]
    assert of("fare") == [(SOURCE.path, "fare", "TRANSFORMATION")]
    assert "rides" not in fields or (CITIES.path, "name", "TRANSFORMATION") in of("rides")


def test_columns_behind_a_python_step() -> None:
    """Without a promise nobody knows; with one it is said that it may be more."""
    python = TransformSpec(file="transformers/x.py", kind="python")
    facts = {
        "src": TableFacts(columns=("trip_id", "fare", "day", "updated_at"), record_key=("trip_id",), ordering="updated_at")
    }
    chain = (*sql("select trip_id, fare, updated_at, day from <SRC>"), python)
    spec = pipeline(transform=chain, inputs=())
    assert origins_of(spec, facts) == {}
    found = origins_of(replace(spec, row_by_row=True), facts)
    assert found["trip_id"] == Origin(of=(("src", "trip_id"),), is_same=True, is_all=True)
    assert found["fare"] == Origin(of=(("src", "fare"),), is_same=False, is_all=False)
    assert "rides" not in found


def test_a_column_with_a_part_that_nobody_knows_is_left_out() -> None:
    """Half of where it comes from would be taken for all of it."""
    spec = pipeline(transform=sql("select trip_id, fare + nowhere.x as fare from <SRC>"), inputs=())
    facts = {"src": TableFacts(columns=("trip_id", "fare"))}
    assert set(origins_of(spec, facts)) == {"trip_id"}


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        ("/lake/raw/trips", "file", "/lake/raw/trips"),
        ("s3a://bucket/raw/trips", "s3://bucket", "raw/trips"),
        ("gs://bucket/raw/trips", "gs://bucket", "raw/trips"),
        ("hdfs://name:8020/raw/trips", "hdfs://name:8020", "/raw/trips"),
        ("abfss://box@acc.dfs.core.windows.net/raw", "abfss://box@acc.dfs.core.windows.net", "/raw"),
        ("s3://key:secret@bucket/raw", "s3://bucket", "raw"),
    ],
)
def test_names_are_openlineages(path: str, namespace: str, name: str) -> None:
    assert of_path(path) == (namespace, name)


def test_topics() -> None:
    source = KafkaSpec(
        table=TableRef("kafka:trips,rides", "kafka:trips,rides"),
        max_commits=5,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
        topics=("trips", "rides"),
        client={"bootstrap.servers": "b1:9092, b2:9092", "sasl.password": "secret"},
        columns=(Column(name="trip_id", type=Atomic("string")),),
    )
    spec = pipeline(source=source, inputs=())
    one, other = inputs_of(spec, MemoryState({}))["src"]
    assert (one.namespace, one.name, other.name) == ("kafka://b1:9092", "trips", "rides")
    assert [column.name for column in one.columns] == ["trip_id", "_kafka"]
    found = document_of(spec, "prod", known_of(spec, MemoryState({})), told(), "START", 1e9)
    check(found)
    assert found["inputs"][0]["inputFacets"] == {}, "how many rows each of them had is not known"


def test_a_run_has_one_name_and_another_run_another() -> None:
    assert run_uuid("prod", told()) == run_uuid("prod", told(rows=5))
    assert len({run_uuid("prod", told()), run_uuid("dev", told()), run_uuid("prod", told(run_id="r2"))}) == 3

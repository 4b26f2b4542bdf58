"""A changelog as the main source: what the YAML says of it, what freshet adds to the table, and what is refused at its line.

The kind: a key that is taken and has no effect, a table that cannot be merged into, and a step, a check or an operation that
would make of an event something else than it says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.cases.load import read_fixture
from freshet.changelog.adapter import Source
from freshet.changelog.declared import AdapterName, Changelog, adapter_of
from freshet.changelog.layout import Layout
from freshet.changelog.reference import (
    BinlogPosition,
    Columns,
    Given,
    KafkaOffset,
    Lsn,
    MariaDbGtid,
    MySqlGtid,
    Reference,
)
from freshet.changelog.values import Coding
from freshet.problems import Problems
from freshet.project.load.project import load_project
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.project import a_project
from tests.unit.project.conftest import Check, seen

FILE, TABLE = "pipelines/payments.yml", "ddl/payments.sql"
DDL = """\
CREATE TABLE derived.payments (
  id STRING NOT NULL,
  amount DECIMAL(10,2),
  tip INT
)
USING hudi
TBLPROPERTIES (primaryKey = 'id', type = 'mor')
"""
TOPIC = "  bootstrap.servers: 127.0.0.1:9092\n  hoodie.streamer.source.kafka.topic: payments\n"
PATH = '  hoodie.streamer.source.hoodieincr.path: "{{ var.raw_root }}/events"\n'
LSN = "adapter: debezium, reference_key: {kind: lsn}"


def yml(changelog: str = LSN, hoodie: str = TOPIC, more: str = "", source: str = "") -> str:
    return (
        f"ddl: {TABLE}\nsource:\n  format: changelog\n  changelog: {{{changelog}}}\n{source}"
        f"hoodie:\n  hoodie.bucket.index.num.buckets: 2\n{hoodie}{more}"
    )


def files(
    changelog: str = LSN, hoodie: str = TOPIC, more: str = "", source: str = "", ddl: str = DDL
) -> dict[str, str | bytes]:
    return {FILE: yml(changelog, hoodie, more, source), TABLE: ddl}


def loaded(tmp_path: Path, *args: str, **options: str) -> PipelineSpec:
    return load_project(a_project(tmp_path, files=files(*args, **options)), environ={}).pipelines[0]


def declared(tmp_path: Path, *args: str, **options: str) -> Changelog:
    found = loaded(tmp_path, *args, **options).source.changelog
    assert found is not None
    return found


def test_the_table_gets_the_columns_that_freshet_keeps_and_its_ordering_field(tmp_path: Path) -> None:
    spec = loaded(tmp_path, f"{LSN}, groups: {{tips: tip}}")
    own, kept = spec.target.columns[:3], spec.target.columns[3:]
    assert [(c.name, c.nullable) for c in own] == [("id", False), ("amount", True), ("tip", True)]
    assert [c.name for c in kept] == ["_event_state", "_event_deleted", "_event_order"]
    assert "tips:struct<ref_key" in str(kept[0].type)
    assert (spec.target.ordering_field, spec.operation, spec.transform) == ("_event_order", "upsert", ())
    assert (spec.write.strategy, spec.write.columns) == ("reference_key", tuple(c.name for c in spec.target.columns))


def test_records_of_topics_are_read_as_they_are_and_an_adapter_makes_events_of_them(tmp_path: Path) -> None:
    spec = loaded(tmp_path)
    assert isinstance(spec.source, KafkaSpec)
    assert (spec.source.format, spec.source.tombstones, spec.source.columns) == ("bytes", "row", ())
    log = spec.source.changelog
    assert log is not None
    assert (log.adapter, log.source.reference, log.is_typed) == ("debezium", Lsn(), False)
    assert (log.layout.key, [c.name for c in log.layout.columns]) == (("id",), ["id", "amount", "tip"])


def test_a_table_has_events_with_their_types_in_freshets_own_form_and_messages_in_others(tmp_path: Path) -> None:
    own = declared(tmp_path / "a", "adapter: freshet", PATH)
    assert (own.is_typed, own.source.reference) == (True, Given())
    assert declared(tmp_path / "b", LSN, PATH).is_typed is False
    assert declared(tmp_path / "c", "adapter: freshet", TOPIC).is_typed is False


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("kind: given, form: text, generation: 2", Given("text", 2)),
        ("kind: binlog, logs: mysql-bin", BinlogPosition(("mysql-bin",))),
        ("kind: binlog, logs: [a, b], generation: 1", BinlogPosition(("a", "b"), 1)),
        ("kind: mariadb_gtid, domain: 0", MariaDbGtid(0)),
        ("kind: mysql_gtid, servers: [u, v], within: total_order", MySqlGtid(("u", "v"), "total_order")),
        ("kind: lsn", Lsn()),
        ("kind: columns, columns: [TIP]", Columns((Column(name="tip", type=parse_type("int")),))),
        ("kind: offset", KafkaOffset()),
    ],
)
def test_what_orders_the_changes(tmp_path: Path, key: str, expected: Reference) -> None:
    adapter = "freshet" if "given" in key else "debezium"
    assert declared(tmp_path, f"adapter: {adapter}, reference_key: {{{key}}}").source.reference == expected


def test_how_values_are_written_and_how_the_connector_is_set(tmp_path: Path) -> None:
    log = declared(
        tmp_path,
        f"{LSN}, identity: full, with_schema: true, tombstones: aside, unavailable: '', strict: true, data_center: oslo, "
        "equal_reference_keys: row, values: {decimals: number}, values_of: {AMOUNT: {decimals: base64, scale: 2}}",
    )
    assert (log.connector.identity, log.connector.with_schema, log.connector.tombstones) == ("full", True, "aside")
    assert (log.connector.unavailable, log.source.strict, log.source.data_center) == ("", True, "oslo")
    assert (log.layout.equal, log.source.coding) == ("row", Coding(decimals="number"))
    assert log.source.codings == {"amount": Coding(decimals="base64", scale=2)}


@pytest.mark.parametrize("adapter", ["freshet", "debezium", "maxwell", "canal", "plain"])
def test_every_adapter_has_a_name(adapter: AdapterName) -> None:
    columns = (Column(name="id", type=parse_type("int")), Column(name="a", type=parse_type("int")))
    reference: Reference = Given() if adapter == "freshet" else KafkaOffset()
    log = Changelog(adapter=adapter, source=Source(layout=Layout(key=("id",), columns=columns), reference=reference))
    assert adapter_of(log).refused


def test_the_fingerprint_follows_the_changelog_and_stays_where_there_is_none(tmp_path: Path) -> None:
    one = loaded(tmp_path / "a")
    assert loaded(tmp_path / "b").fingerprint == one.fingerprint
    assert loaded(tmp_path / "c", f"{LSN}, equal_reference_keys: row").fingerprint != one.fingerprint
    assert loaded(tmp_path / "d", "adapter: debezium, reference_key: {kind: lsn, generation: 1}").fingerprint != one.fingerprint


def test_a_chain_is_missing_where_no_changelog_is_read(problems_of: Check) -> None:
    text = f"ddl: {TABLE}\nhoodie:\n{PATH}"
    assert (FILE, 1, "MISSING_KEY") in seen(problems_of({FILE: text}))


@pytest.mark.parametrize(
    ("changelog", "expected"),
    [
        ("adapter: avro", "WRONG_TYPE"),
        ("adapter: debezium", "MISSING_KEY"),
        ("reference_key: {kind: lsn}", "MISSING_KEY"),
        ("adapter: debezium, reference_key: {}", "MISSING_KEY"),
        (f"{LSN}, identiy: full", "UNKNOWN_KEY"),
        ("adapter: debezium, reference_key: {kind: lsn, log: a}", "UNKNOWN_KEY"),
        ("adapter: debezium, reference_key: {kind: lsn, logs: a}", "CONFLICTING_SETTING"),
        ("adapter: debezium, reference_key: {kind: binlog}", "MISSING_KEY"),
        ("adapter: debezium, reference_key: {kind: columns, columns: nope}", "UNKNOWN_COLUMN"),
        # What orders a changelog has to be told by its messages.
        ("adapter: canal, reference_key: {kind: lsn}", "BAD_VALUE"),
        ("adapter: freshet, reference_key: {kind: lsn}", "BAD_VALUE"),
        ("adapter: maxwell, reference_key: {kind: offset}, identity: full", "CONFLICTING_SETTING"),
        ("adapter: canal, reference_key: {kind: offset}, tombstones: skip", "CONFLICTING_SETTING"),
        (f"{LSN}, groups: {{tips: nope}}", "UNKNOWN_COLUMN"),
        (f"{LSN}, groups: {{tips: id}}", "BAD_VALUE"),
        (f"{LSN}, groups: {{'t-ips': tip}}", "BAD_NAME"),
        (f"{LSN}, groups: {{row: tip}}", "BAD_VALUE"),
        (f"{LSN}, groups: {{a: tip, A: amount}}", "BAD_NAME"),
        (f"{LSN}, values_of: {{nope: {{times: days}}}}", "UNKNOWN_COLUMN"),
        (f"{LSN}, values_of: {{amount: {{decimals: base64}}}}", "BAD_VALUE"),
        (f"{LSN}, values: {{zone: Mars/Base, times: text}}", "BAD_VALUE"),
    ],
)
def test_what_is_wrong_with_a_changelog_is_refused_at_its_line(problems_of: Check, changelog: str, expected: str) -> None:
    assert seen(problems_of(files(changelog))) == [(FILE, 4, expected)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("transform: transformers/payments.sql\n", "NOT_SUPPORTED"),
        ("inputs: {cities: {table: raw.cities}}\n", "NOT_SUPPORTED"),
        ("write: {strategy: merge, columns: [tip]}\n", "CONFLICTING_SETTING"),
        ("write: {strategy: history, columns: [tip]}\n", "CONFLICTING_SETTING"),
        ("write: {strategy: append, when_not_matched: insert}\n", "CONFLICTING_SETTING"),
        ("backfill: {event_time: at}\n", "NOT_SUPPORTED"),
        ("exactness: row_by_row\n", "CONFLICTING_SETTING"),
        ("schema_contract: add_columns\n", "CONFLICTING_SETTING"),
        ("checks: [{name: a, severity: drop, where: amount < 0}]\n", "NOT_SUPPORTED"),
        ("checks: [{name: a, unique: id}]\n", "NOT_SUPPORTED"),
        # Of a batch it counts events, and of the commits before rows.
        ("checks: [{name: a, volume: {at_least: 10%}}]\n", "NOT_SUPPORTED"),
        ("checks: [{name: a, sql: select count(*) from <TABLE_NAME>, expect: 0, scope: batch}]\n", "NOT_SUPPORTED"),
        ("  hoodie.datasource.write.operation: insert\n", "CONFLICTING_SETTING"),
        ("  hoodie.datasource.query.incremental.format: cdc\n", "CONFLICTING_SETTING"),
        ("  hoodie.write.concurrency.mode: NON_BLOCKING_CONCURRENCY_CONTROL\n", "CONFLICTING_SETTING"),
        ("  hoodie.datasource.write.precombine.field: tip\n", "CONFLICTING_SETTING"),
    ],
)
def test_what_does_not_go_with_a_changelog(problems_of: Check, more: str, expected: str) -> None:
    found = seen(problems_of(files(LSN, PATH, more)))
    assert {(file, code) for file, _, code in found} == {(FILE, expected)}, found


@pytest.mark.parametrize(
    ("source", "expected"),
    [("  columns: {id: string}\n", 5), ("  mode: strict\n", 5), ("  tombstones: delete\n", 5)],
)
def test_what_is_of_json_does_not_go_with_a_changelog(problems_of: Check, source: str, expected: int) -> None:
    assert seen(problems_of(files(source=source))) == [(FILE, expected, "CONFLICTING_SETTING")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("  tip INT\n", "  tip INT,\n  _event_state STRING\n", (5, "RESERVED_COLUMN")),
        ("  tip INT\n", "  tip INT,\n  _hoodie_is_deleted BOOLEAN\n", (5, "RESERVED_COLUMN")),
        ("  tip INT\n", "  tip INT NOT NULL\n", (4, "CONFLICTING_SETTING")),
        ("type = 'mor'", "preCombineField = 'tip', type = 'mor'", (7, "CONFLICTING_SETTING")),
        ("USING hudi", "USING hudi\nPARTITIONED BY (tip)", (7, "NOT_SUPPORTED")),
        ("primaryKey = 'id', ", "", (1, "MISSING_PRIMARY_KEY")),
    ],
)
def test_a_table_that_cannot_be_merged_into(problems_of: Check, before: str, after: str, expected: tuple[int, str]) -> None:
    more = "partition_is_stable: true\n"
    assert seen(problems_of(files(more=more, ddl=DDL.replace(before, after)))) == [(TABLE, *expected)]


@pytest.mark.parametrize("topics", ["topics: [a, b]", "pattern: 'a.*'"])
def test_offsets_order_the_changes_of_one_topic_alone(problems_of: Check, topics: str) -> None:
    servers = TOPIC.splitlines(keepends=True)[0]
    text = files("adapter: plain, reference_key: {kind: offset}", servers, source=f"  {topics}\n")
    assert seen(problems_of(text)) == [(FILE, 4, "CONFLICTING_SETTING")]


def test_cases_of_a_transformation_are_refused_where_there_is_none(tmp_path: Path) -> None:
    root = a_project(tmp_path, files={**files(hoodie=PATH), "pipelines/tests/payments.yml": "cases: {}\n"})
    spec = load_project(root, environ={}).pipelines[0]
    problems = Problems()
    assert read_fixture(root, spec, problems) is None
    assert [one.code for one in problems.found] == ["NOT_SUPPORTED"]


def test_a_partition_that_is_of_the_key(tmp_path: Path) -> None:
    ddl = DDL.replace("primaryKey = 'id'", "primaryKey = 'id,tip'").replace("USING hudi", "USING hudi\nPARTITIONED BY (tip)")
    spec = loaded(tmp_path, ddl=ddl)
    assert spec.source.changelog is not None
    assert (spec.source.changelog.layout.key, spec.target.partition_by) == (("id", "tip"), ("tip",))


def test_a_changelog_is_said_whole(problems_of: Check) -> None:
    text = yml().replace(f"  changelog: {{{LSN}}}\n", "")
    assert seen(problems_of({FILE: text, TABLE: DDL})) == [(FILE, 2, "MISSING_KEY")]
    text = yml().replace("format: changelog", "format: json") + "transform: transformers/payments.sql\n"
    assert (FILE, 4, "CONFLICTING_SETTING") in seen(problems_of({FILE: text, TABLE: DDL}))


def test_checks_that_a_changelog_can_have(tmp_path: Path) -> None:
    more = (
        "checks:\n  - {name: conforms, severity: drop, malformed: true, limit: 10}\n"
        "  - {name: none, sql: select count(*) from <TABLE_NAME> where not _event_deleted and amount < 0, expect: 0}\n"
    )
    assert [one.name for one in loaded(tmp_path, more=more).checks] == ["conforms", "none"]


def test_a_table_of_histories_tells_its_rows_apart_by_their_versions(tmp_path: Path) -> None:
    spec = loaded(tmp_path, more="write: {strategy: history}\n")
    assert (spec.target.record_key, spec.target.ordering_field) == (("id", "_event_version"), "_event_order")
    kept = ["valid_from", "valid_to", "current", "_event_version", "_event_state", "_event_deleted", "_event_order"]
    assert [c.name for c in spec.target.columns[3:]] == kept
    assert [c.name for c in spec.target.columns if not c.nullable] == ["id", "_event_version"]
    # Versions of one row lie in one file group.
    assert (spec.write.strategy, spec.index.parameters["hoodie.bucket.index.hash.field"]) == ("history", "id")
    own = loaded(
        tmp_path / "b", LSN, TOPIC + "  hoodie.bucket.index.hash.field: id,_event_version\n", "write: {strategy: history}\n"
    )
    assert own.index.parameters["hoodie.bucket.index.hash.field"] == "id,_event_version"


def test_a_table_of_events_has_each_of_them(tmp_path: Path) -> None:
    spec = loaded(tmp_path, f"{LSN}, groups: {{tips: tip}}", more="write: {strategy: append}\n")
    assert (spec.target.record_key, spec.write.strategy) == (("id", "_event_day", "_event_id"), "append")
    assert [c.name for c in spec.target.columns[3:]] == ["_event", "_event_day", "_event_id", "_event_order"]
    ddl = DDL.replace("USING hudi", "USING hudi\nPARTITIONED BY (_event_day)")
    assert loaded(tmp_path / "b", more="write: {strategy: append}\n", ddl=ddl).target.partition_by == ("_event_day",)


@pytest.mark.parametrize(
    ("keeps", "columns"),
    [("history", "current"), ("history", "_event_version"), ("append", "_event_day, amount"), ("append", "_event_id")],
)
def test_a_partition_that_no_event_tells(problems_of: Check, keeps: str, columns: str) -> None:
    """Of a row whose partition changes with its versions two would stand, and by one of another's the row is not found."""
    ddl = DDL.replace("USING hudi", f"USING hudi\nPARTITIONED BY ({columns})")
    more = f"write: {{strategy: {keeps}}}\npartition_is_stable: true\n"
    assert seen(problems_of(files(more=more, ddl=ddl))) == [(TABLE, 7, "NOT_SUPPORTED")]


def test_what_a_table_keeps_is_of_its_fingerprint(tmp_path: Path) -> None:
    found = {
        loaded(tmp_path / str(number), more=more).fingerprint
        for number, more in enumerate(("", "write: {strategy: history}\n", "write: {strategy: append}\n"))
    }
    assert len(found) == 3


@pytest.mark.parametrize(
    ("changelog", "keeps", "ddl", "expected"),
    [
        # A version is a whole row; and of two events none is chosen where both are kept.
        (f"{LSN}, groups: {{tips: tip}}", "history", DDL, (FILE, 4, "BAD_VALUE")),
        (f"{LSN}, equal_reference_keys: row", "append", DDL, (FILE, 4, "CONFLICTING_SETTING")),
        (LSN, "history", DDL.replace("tip INT", "Valid_To TIMESTAMP"), (TABLE, 4, "RESERVED_COLUMN")),
        (LSN, "append", DDL.replace("tip INT", "_event_id STRING"), (TABLE, 4, "RESERVED_COLUMN")),
    ],
)
def test_what_does_not_go_with_what_a_table_keeps(
    problems_of: Check, changelog: str, keeps: str, ddl: str, expected: tuple[str, int, str]
) -> None:
    more = f"write: {{strategy: {keeps}}}\n"
    assert seen(problems_of(files(changelog, more=more, ddl=ddl))) == [expected]
    if expected[2] == "RESERVED_COLUMN":
        # Another table may have such a column.
        assert seen(problems_of(files(f"{LSN}, values: {{times: micros}}", ddl=ddl))) == []


def test_versions_and_events_are_of_changelogs_alone(problems_of: Check) -> None:
    for strategy, code in (("history", "CONFLICTING_SETTING"), ("append", "CONFLICTING_SETTING"), ("merge", "MISSING_KEY")):
        text = f"ddl: {TABLE}\ntransform: transformers/payments.sql\nwrite: {{strategy: {strategy}}}\nhoodie:\n{PATH}"
        assert (FILE, 3, code) in seen(problems_of({FILE: text}))


def test_events_of_avro_are_refused_and_not_read_as_json(problems_of: Check) -> None:
    found = problems_of(files(source="  schema: {registry: 'http://127.0.0.1:8081'}\n"))
    assert seen(found) == [(FILE, 5, "NOT_SUPPORTED")]
    found = problems_of(files(more="  hoodie.streamer.schemaprovider.source.schema.file: schemas/orders.avsc\n"))
    assert seen(found) == [(FILE, 9, "NOT_SUPPORTED")]

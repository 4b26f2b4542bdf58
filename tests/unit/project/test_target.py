"""Rules of the target: what would duplicate or lose rows is refused, at its line."""

from __future__ import annotations

import pytest

from tests.kit.project import BASE
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import DDL_FILE, PARTITIONED, PAYMENTS, YML, YML_FILE, yml


@pytest.mark.parametrize(
    ("lines", "ddl", "code"),
    [
        ((), PARTITIONED, "PARTITION_MAY_CHANGE"),
        (("partition_is_stable: true",), PARTITIONED, ""),
        ((), PARTITIONED.replace("'id'", "'id,day'"), ""),
        (("  hoodie.index.type: RECORD_INDEX",), PARTITIONED, ""),
        ((), PAYMENTS, ""),
        (
            ("  hoodie.index.type: RECORD_INDEX", "  hoodie.record.index.update.partition.path: false"),
            PARTITIONED,
            "CONFLICTING_SETTING",
        ),
        (("  hoodie.index.type: RECORD_INDEX", "  hoodie.metadata.enable: false"), PARTITIONED, "CONFLICTING_SETTING"),
    ],
)
def test_an_index_that_would_duplicate_rows_is_refused(problems_of: Check, lines: tuple[str, ...], ddl: str, code: str) -> None:
    assert [p.code for p in problems_of({YML_FILE: yml(*lines), DDL_FILE: ddl})] == ([code] if code else [])


@pytest.mark.parametrize("count", ["0", "-1", "'-1'"])
def test_a_table_has_at_least_one_bucket(problems_of: Check, count: str) -> None:
    assert seen(problems_of({YML_FILE: YML.replace("buckets: 2", f"buckets: {count}")})) == [(YML_FILE, 6, "BAD_VALUE")]


def test_a_configs_index_is_answered_in_the_pipeline(problems_of: Check) -> None:
    files = {"configs/base.yml": BASE + "hoodie: {hoodie.index.type: BUCKET}\n", DDL_FILE: PARTITIONED}
    assert seen(problems_of(files)) == [(YML_FILE, 1, "PARTITION_MAY_CHANGE")]


@pytest.mark.parametrize(("kind", "codes"), [("mor", ["DELETE_ON_MERGE_ON_READ"]), ("cow", [])])
def test_a_delete_is_refused_where_hudi_would_break_the_table(problems_of: Check, kind: str, codes: list[str]) -> None:
    files = {DDL_FILE: PAYMENTS.replace("'cow'", f"'{kind}'")}
    found = problems_of(files, overrides=["hoodie.datasource.write.operation=delete"])
    assert [p.code for p in found] == codes


def test_an_insert_into_a_record_index_is_refused(problems_of: Check) -> None:
    found = problems_of(overrides=["hoodie.datasource.write.operation=insert", "hoodie.index.type=RECORD_INDEX"])
    assert [p.code for p in found] == ["INSERT_DUPLICATES"]


@pytest.mark.parametrize("key", ["hoodie.datasource.write.payload.class", "hoodie.compaction.payload.class"])
@pytest.mark.parametrize(
    ("payload", "codes"),
    [
        ("org.apache.hudi.common.model.DefaultHoodieRecordPayload", []),
        ("org.apache.hudi.common.model.EventTimeAvroPayload", []),
        ("org.apache.hudi.common.model.PartialUpdateAvroPayload", ["NULL_KEEPS_OLD_VALUE"]),
        ("org.apache.hudi.common.model.OverwriteWithLatestAvroPayload", ["OLDER_ROW_WINS"]),
        ("org.apache.hudi.common.model.OverwriteNonDefaultsWithLatestAvroPayload", ["OLDER_ROW_WINS"]),
        ("com.example.DefaultHoodieRecordPayload", ["OLDER_ROW_WINS"]),
    ],
)
def test_only_payloads_by_the_ordering_field_are_taken(problems_of: Check, key: str, payload: str, codes: list[str]) -> None:
    assert seen(problems_of({YML_FILE: yml(f"  {key}: {payload}")})) == [(YML_FILE, 7, code) for code in codes]
    in_ddl = PAYMENTS.replace("'cow'", f"'cow', '{key}' = '{payload}'")
    assert [p.code for p in problems_of({YML_FILE: YML, DDL_FILE: in_ddl})] == codes


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.record.merge.strategy.id", "x"),
        ("hoodie.compaction.record.merger.strategy", "x"),
        ("hoodie.write.record.merge.strategy.id", "x"),
        ("hoodie.datasource.write.record.merger.strategy", "x"),
        ("hoodie.write.record.merge.custom.implementation.classes", "x.Y"),
        ("hoodie.datasource.write.record.merger.impls", "x.Y"),
        ("hoodie.payload.ordering.field", "id"),
        ("hoodie.combine.before.upsert", "false"),
        ("hoodie.populate.meta.fields", "false"),
        ("hoodie.datasource.write.drop.partition.columns", "true"),
        ("hoodie.avro.schema", "x"),
        ("hoodie.write.schema", "x"),
        ("hoodie.timeline.path", "x"),
        ("hoodie.timeline.history.path", "x"),
        ("hoodie.datasource.write.keygenerator.class", "x.Y"),
        ("hoodie.datasource.write.keygenerator.type", "SIMPLE"),
        ("hoodie.table.keygenerator.class", "x.Y"),
        ("hoodie.table.keygenerator.type", "SIMPLE"),
    ],
)
def test_keys_that_freshet_relies_on_are_reserved(problems_of: Check, key: str, value: str) -> None:
    (found,) = problems_of({YML_FILE: yml(f"  {key}: {value}")})
    assert (found.file, found.line, found.code) == (YML_FILE, 7, "RESERVED_KEY")
    assert found.hint


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("`fare amount` INT", True),
        ("`a-b` INT", True),
        ("`1a` INT", True),
        ("`größe` INT", True),
        ("größe INT", True),
        ("s STRUCT<a: INT, `b c`: INT>", True),
        ("s MAP<STRING, ARRAY<STRUCT<`ä`: INT>>>", True),
        ("_hoodie_is_deleted BOOLEAN", False),
        ("_a1 STRUCT<B: INT, _c: INT>", False),
    ],
)
def test_names_that_avro_cannot_hold_are_refused(problems_of: Check, column: str, bad: bool) -> None:
    text = PAYMENTS.replace("TIMESTAMP\n)", f"TIMESTAMP,\n  {column}\n)")
    line = text[: text.index(column)].count("\n") + 1
    assert seen(problems_of({DDL_FILE: text})) == ([(DDL_FILE, line, "BAD_NAME")] if bad else [])


def test_a_key_of_a_badly_named_column_is_not_reported_too(problems_of: Check) -> None:
    text = PAYMENTS.replace("'id'", "'größe'").replace("TIMESTAMP\n)", "TIMESTAMP,\n  `größe` INT\n)")
    assert [p.code for p in problems_of({DDL_FILE: text})] == ["BAD_NAME"]

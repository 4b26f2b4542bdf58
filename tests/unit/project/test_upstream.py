"""What a pipeline says of a table that the project makes itself is held against that table's DDL, before anything runs.

Of this kind: the partition columns of ``on``, the columns of ``drives`` and of a backfill's cut, the deletes of the table
before in a chain, the change data that its reader asks for. Of a table that others make nothing is known here.
"""

from __future__ import annotations

import pytest

from tests.kit.project import DDL, PIPELINE
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML

RATES = DDL.format(name="rates").replace("USING hudi", "USING hudi PARTITIONED BY (id)")
PROJECT = {
    "ddl/rates.sql": RATES,
    "pipelines/rates.yml": PIPELINE.format(name="rates", source="quotes"),
    "transformers/rates.sql": "SELECT id, amount, updated_at FROM <SRC>",
}
READER = "pipelines/payments.yml"


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ("read: affected_partitions, on: {id: id}", []),
        ("read: affected_partitions, on: {dya: id}", ["NOT_A_PARTITION"]),
        ("read: affected_partitions, on: {amount: id}", ["NOT_A_PARTITION"]),
        ("read: incremental, drives: {ID: id}", []),
        ("read: incremental, drives: {idd: id}", ["UNKNOWN_COLUMN"]),
    ],
)
def test_columns_of_an_input(problems_of: Check, asked: str, codes: list[str]) -> None:
    text = YML + f"inputs:\n  rates: {{table: derived.rates, {asked}}}\n"
    assert seen(problems_of({**PROJECT, READER: text})) == [(READER, 8, code) for code in codes]
    foreign = text.replace("derived.rates", "raw.rates")
    assert seen(problems_of({**PROJECT, READER: foreign})) == [], "nobody here knows that table"


def test_columns_of_a_backfills_cut(problems_of: Check) -> None:
    text = YML + "inputs:\n  rates: {table: derived.rates}\nbackfill: {event_time: updated_at, inputs: {rates: at}}\n"
    assert seen(problems_of({**PROJECT, READER: text})) == [(READER, 8, "UNKNOWN_COLUMN")]


DELETES = RATES.replace("  amount", "  _hoodie_is_deleted BOOLEAN,\n  amount")
RECORDED = DELETES.replace("type = 'cow'", "type = 'cow', 'hoodie.table.cdc.enabled' = 'true'")
FORMAT = "  hoodie.datasource.query.incremental.format: %s\n"
DELETING = {"pipelines/rates.yml": PROJECT["pipelines/rates.yml"] + "  hoodie.datasource.write.operation: delete\n"}
IN_YAML = {"pipelines/rates.yml": PROJECT["pipelines/rates.yml"] + "  hoodie.table.cdc.enabled: true\n"}


@pytest.mark.parametrize(
    ("files", "asked", "codes"),
    [
        ({}, "", []),
        ({"ddl/rates.sql": DELETES}, "", ["DELETES_NOT_RECORDED"]),
        (DELETING, "", ["DELETES_NOT_RECORDED"]),
        ({"ddl/rates.sql": DELETES}, FORMAT % "latest_state", []),
        ({"ddl/rates.sql": DELETES}, FORMAT % "cdc", ["CDC_NOT_RECORDED"]),
        ({}, FORMAT % "cdc", ["CDC_NOT_RECORDED"]),
        ({"ddl/rates.sql": RECORDED}, "", []),
        ({"ddl/rates.sql": DELETES, **IN_YAML}, "", []),
    ],
)
def test_deletes_within_a_chain(problems_of: Check, files: dict[str, str], asked: str, codes: list[str]) -> None:
    """A table that deletes and keeps no change data: its reader would keep the rows, and be told so only by a notice."""
    text = YML.replace("raw_root }}/events", "derived_root }}/rates") + asked
    found = [problem for problem in seen(problems_of({**PROJECT, **files, READER: text})) if problem[0] == READER]
    assert found == [(READER, 4, code) for code in codes]


@pytest.mark.parametrize(
    ("chain", "texts", "line"),
    [
        (["a.sql", "b.py"], ["SELECT id, amount, updated_at FROM raw.events"], True),
        (["a.sql", "c.sql"], ["SELECT * FROM events", "SELECT id, amount, updated_at FROM <SRC>"], True),
        (["a.sql", "c.sql"], ["SELECT * FROM <SRC>", "SELECT id, amount, updated_at FROM events"], True),
        (["a.sql", "c.sql"], ["CREATE TEMPORARY VIEW v AS SELECT * FROM <SRC>; SELECT 1", "SELECT * FROM v"], False),
        (["b.py", "a.sql"], ["SELECT * FROM made_by_python"], False),
        (["a.sql", "b.py"], ["SELECT * FROM <SRC>"], False),
    ],
)
def test_every_sql_reads_what_came_before(problems_of: Check, chain: list[str], texts: list[str], line: bool) -> None:
    """A step that reads another name drops the increment, or the step before it, whatever comes after."""
    files = dict(zip((f"transformers/{name}" for name in chain if name.endswith(".sql")), texts, strict=True))
    files["transformers/b.py"] = "def transform(inputs, context):\n    return inputs['SRC']\n"
    text = YML.replace("transformers/payments.sql", f"[{', '.join(f'transformers/{name}' for name in chain)}]")
    assert seen(problems_of({**files, READER: text})) == ([(READER, 2, "SOURCE_NOT_USED")] if line else [])


MARK = "  _hoodie_is_deleted BOOLEAN,\n  amount"
MOR, DAYS = ("'cow'", "'mor'"), ("USING hudi", "USING hudi PARTITIONED BY (id)")


@pytest.mark.parametrize(
    ("kind", "changes", "index", "refused"),
    [
        ("DECIMAL(12,2)", [MOR, ("  amount", MARK)], "", True),
        ("DATE", [MOR, ("  amount", MARK)], "", True),
        ("DECIMAL(12,2)", [MOR, DAYS], "RECORD_INDEX", True),
        ("DATE", [MOR, DAYS], "RECORD_INDEX", True),
        ("DATE", [MOR], "RECORD_INDEX", False),
        ("DATE", [MOR, DAYS], "", False),
        ("DECIMAL(12,2)", [MOR], "", False),
        ("DATE", [("  amount", MARK)], "RECORD_INDEX", False),
        ("BINARY", [], "", True),
        ("BINARY", [MOR], "", True),
        *(
            (kind, [MOR, ("  amount", MARK)], "RECORD_INDEX", False)
            for kind in ("BIGINT", "INT", "SMALLINT", "TINYINT", "DOUBLE", "FLOAT", "STRING", "BOOLEAN", "TIMESTAMP")
        ),
    ],
)
def test_ordering_fields(
    problems_of: Check,
    kind: str,
    changes: list[tuple[str, str]],
    index: str,
    refused: bool,
) -> None:
    """What Hudi 1.0.2 does with each is held by tests/integration/test_ordering_types.py."""
    ddl = DDL.format(name="payments").replace("updated_at TIMESTAMP", f"updated_at {kind}")
    for change in changes:
        ddl = ddl.replace(*change)
    text = YML + (f"  hoodie.index.type: {index}\n" if index else "")
    found = problems_of({"ddl/payments.sql": ddl, READER: text})
    assert [problem.code for problem in found] == ["ORDERING_TYPE"] * refused


@pytest.mark.parametrize("kind", ["TIMESTAMP_NTZ", "ARRAY<TIMESTAMP_NTZ>", "STRUCT<a: TIMESTAMP_NTZ>"])
def test_a_type_that_hudi_cannot_write(problems_of: Check, kind: str) -> None:
    ddl = DDL.format(name="payments").replace("amount DECIMAL(10,2)", f"amount {kind}")
    assert seen(problems_of({"ddl/payments.sql": ddl})) == [("ddl/payments.sql", 3, "UNSUPPORTED_TYPE")]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "BINARY", "DATE", "DECIMAL(10,2)", "DOUBLE", "BOOLEAN", "STRING"])
def test_a_partition_that_hudi_shows_otherwise(problems_of: Check, kind: str) -> None:
    """What Hudi 1.0.2 does with each is held by tests/integration/test_partition_types.py."""
    ddl = DDL.format(name="payments").replace("amount DECIMAL(10,2)", f"amount {kind}")
    for change in (("USING hudi", "USING hudi PARTITIONED BY (amount)"), ("primaryKey = 'id'", "primaryKey = 'id,amount'")):
        ddl = ddl.replace(*change)
    codes = [problem.code for problem in problems_of({"ddl/payments.sql": ddl, READER: YML})]
    assert codes == ["PARTITION_TYPE"] * (kind in ("TIMESTAMP", "BINARY"))


@pytest.mark.parametrize(
    ("key", "value", "codes"),
    [
        ("updated_at", "true", ["KEY_LOSES_DIGITS"]),
        ("id,updated_at", "true", ["KEY_LOSES_DIGITS"]),
        ("updated_at", "false", []),
        ("id", "true", []),
    ],
)
def test_a_key_that_ends_at_the_millisecond(problems_of: Check, key: str, value: str, codes: list[str]) -> None:
    ddl = DDL.format(name="payments").replace("primaryKey = 'id'", f"primaryKey = '{key}'")
    text = YML + f"  hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled: {value}\n"
    assert seen(problems_of({"ddl/payments.sql": ddl, READER: text})) == [(READER, 7, code) for code in codes]


def test_times_have_one_calendar(problems_of: Check) -> None:
    text = YML + "spark: {spark.sql.parquet.datetimeRebaseModeInWrite: LEGACY}\n"
    assert seen(problems_of({READER: text})) == [(READER, 7, "RESERVED_KEY")]

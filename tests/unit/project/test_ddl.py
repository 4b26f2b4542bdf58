"""DDL files: what is read, and every mistake at its line."""

from __future__ import annotations

import pytest

from freshet.problems import Problems
from freshet.project.syntax.ddl import ddl_header, parse_ddl

FULL = """\
-- a comment
CREATE TABLE IF NOT EXISTS derived.trips (
  trip_id STRING NOT NULL COMMENT 'the id',
  `fare_amount` DECIMAL(10, 2),
  stops ARRAY<STRUCT<at: TIMESTAMP, city: INT>>,
  extra MAP<STRING, BIGINT>,
  _hoodie_is_deleted BOOLEAN,
  datestr STRING
)
USING hudi
PARTITIONED BY (datestr)
LOCATION '/lake/trips'
COMMENT 'trips'
TBLPROPERTIES (
  primaryKey = 'trip_id',
  'preCombineField' = 'datestr',
  type = 'mor',
  hoodie.index.type = 'BUCKET',
  'hoodie.bucket.index.num.buckets' = 4
)
"""


def parsed(text: str) -> list[tuple[int, str]]:
    problems = Problems()
    parse_ddl(text, "t.sql", problems)
    return [(p.line, p.code) for p in problems.found]


def test_a_full_table_is_read_also_from_the_cache() -> None:
    for _ in range(2):
        problems = Problems()
        table = parse_ddl(FULL, "ddl/trips.sql", problems)
        assert not problems.found
        assert table is not None
        assert (table.name, table.line) == ("derived.trips", 2)
        assert [(c.name, str(c.type), c.nullable) for c in table.columns] == [
            ("trip_id", "string", False),
            ("fare_amount", "decimal(10,2)", True),
            ("stops", "array<struct<at:timestamp,city:int>>", True),
            ("extra", "map<string,bigint>", True),
            ("_hoodie_is_deleted", "boolean", True),
            ("datestr", "string", True),
        ]
        assert table.columns[0].comment == "the id"
        assert table.column_lines == {
            "trip_id": 3,
            "fare_amount": 4,
            "stops": 5,
            "extra": 6,
            "_hoodie_is_deleted": 7,
            "datestr": 8,
        }
        assert table.partition_by is not None
        assert (table.partition_by.value, table.partition_by.line) == ("datestr", 11)
        assert table.location is not None
        assert (table.location.value, table.location.line) == ("/lake/trips", 12)
        assert {key: (s.value, s.line) for key, s in table.settings.items()} == {
            "primaryKey": ("trip_id", 15),
            "preCombineField": ("datestr", 16),
            "type": ("mor", 17),
            "hoodie.index.type": ("BUCKET", 18),
            "hoodie.bucket.index.num.buckets": ("4", 19),
        }


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("CREATE TABLE a.b (\n x INT,\n y FOO\n) USING hudi", 3, "DDL_SYNTAX"),
        ("CREATE TABLE a.b (\n x INT\n y INT\n) USING hudi", 3, "DDL_SYNTAX"),
        ("CREATE TABLE a.b (\n x INT,\n y\n) USING hudi", 3, "DDL_SYNTAX"),
        ("CREATE TABLE a.b (\n x INT,\n y STRING COMMENT 'open\n) USING hudi", 3, "DDL_SYNTAX"),
        ("CREATE TABLE a.b (x INT) USING hudi FOO BAR", 1, "DDL_SYNTAX"),
        ("\nDROP TABLE a.b", 2, "DDL_NOT_A_TABLE"),
        ("SELECT 1", 1, "DDL_NOT_A_TABLE"),
        ("CREATE VIEW v AS SELECT 1", 1, "DDL_NOT_A_TABLE"),
        ("CREATE TABLE a.b USING hudi AS SELECT 1", 1, "DDL_NOT_A_TABLE"),
        ("CREATE TABLE a.b (x INT) USING hudi; DROP TABLE c", 1, "DDL_NOT_ONE_TABLE"),
        ("", 0, "DDL_NOT_ONE_TABLE"),
        ("-- nothing", 0, "DDL_NOT_ONE_TABLE"),
        ("CREATE TABLE a.b (x INT)", 1, "DDL_NOT_HUDI"),
        ("CREATE TABLE a.b (x INT)\nUSING delta", 2, "DDL_NOT_HUDI"),
        ("CREATE TABLE c.a.b (x INT) USING hudi", 1, "DDL_NAME"),
        ("CREATE TABLE a.b (\n x INT,\n X STRING) USING hudi", 3, "DUPLICATE_COLUMN"),
        ("CREATE TABLE a.b (\n _hoodie_file_name STRING, x INT) USING hudi", 2, "RESERVED_COLUMN"),
        ("CREATE TABLE a.b (\n _hoodie_is_deleted STRING, x INT) USING hudi", 2, "RESERVED_COLUMN"),
        ("CREATE TABLE a.b (\n x INT,\n y VARCHAR(10)) USING hudi", 3, "UNSUPPORTED_TYPE"),
        ("CREATE TABLE a.b (\n x INT,\n y INTERVAL DAY) USING hudi", 3, "UNSUPPORTED_TYPE"),
        ("CREATE TABLE a.b (\n x INT,\n y VOID) USING hudi", 3, "DDL_SYNTAX"),
        ("CREATE TABLE a.b (\n x INT PRIMARY KEY) USING hudi", 2, "DDL_NOT_SUPPORTED"),
        ("CREATE TABLE a.b (\n x INT DEFAULT 3) USING hudi", 2, "DDL_NOT_SUPPORTED"),
        ("CREATE TABLE a.b (x INT) USING hudi\nPARTITIONED BY (bucket(4, x))", 2, "DDL_NOT_SUPPORTED"),
        ("CREATE TABLE a.b (x INT) USING hudi\nTBLPROPERTIES (\n primarykeys = 'x')", 3, "UNKNOWN_PROPERTY"),
        ("CREATE TABLE a.b (x INT) USING hudi\nTBLPROPERTIES (type = 'cow',\n type = 'mor')", 3, "DUPLICATE_KEY"),
    ],
)
def test_every_mistake_has_its_line(text: str, line: int, code: str) -> None:
    assert (line, code) in parsed(text)


def test_the_nearest_property_is_offered() -> None:
    problems = Problems()
    parse_ddl("CREATE TABLE a.b (x INT) USING hudi TBLPROPERTIES (primarykeys = 'x')", "t.sql", problems)
    assert "'primaryKey'" in problems.found[0].hint


def test_a_header_is_found_without_parsing() -> None:
    assert ddl_header(FULL) == ("derived.trips", "/lake/trips")
    assert ddl_header("-- CREATE TABLE x.y\ncreate table if not exists `a` . `b` (x int)") == ("a.b", None)
    assert ddl_header("select 1") is None

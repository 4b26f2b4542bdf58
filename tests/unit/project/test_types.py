"""Types: text and JSON to types, what fits, what may widen."""

from __future__ import annotations

import subprocess
import sys

import pytest

from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Fit, Map, Struct, fit, may_widen, stored
from freshet.types.from_json import from_avro, from_spark, type_from_spark, type_to_spark
from freshet.types.from_sql import TypeProblem, parse_type

STRING, INT, BIGINT, DOUBLE = Atomic("string"), Atomic("int"), Atomic("bigint"), Atomic("double")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("STRING", STRING),
        ("integer", INT),
        ("LONG", BIGINT),
        ("byte", Atomic("tinyint")),
        ("short", Atomic("smallint")),
        ("real", Atomic("float")),
        ("timestamp", Atomic("timestamp")),
        ("timestamp_ltz", Atomic("timestamp")),
        ("timestamp_ntz", Atomic("timestamp_ntz")),
        ("binary", Atomic("binary")),
        ("void", Atomic("void")),
        ("decimal(10,2)", Decimal(10, 2)),
        ("DEC(5)", Decimal(5, 0)),
        ("decimal", Decimal(10, 0)),
        ("map<string,bigint>", Map(STRING, BIGINT)),
        ("array<void>", Array(Atomic("void"))),
        ("struct<a:int,b:array<string>>", Struct((("a", INT), ("b", Array(STRING))))),
        (
            "struct<void:int,timestamp:struct<`a b`:double>>",
            Struct((("void", INT), ("timestamp", Struct((("a b", DOUBLE),))))),
        ),
    ],
)
def test_types_are_read_from_spark_sql(text: str, expected: DataType) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "foo",
        "",
        "interval day",
        "varchar(10)",
        "char(3)",
        "decimal(39,2)",
        "decimal(3,5)",
        "array",
        "struct<>",
        "struct<a:int not null>",
        "map<string>",
        "int; drop table x",
        "array<" * 3000,
    ],
)
def test_what_a_table_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(TypeProblem):
        parse_type(text)


def test_simple_names_survive_a_round_trip() -> None:
    text = "struct<a:decimal(10,2),b:map<string,array<timestamp_ntz>>>"
    assert str(parse_type(text)) == text


AVRO = {
    "type": "record",
    "name": "r",
    "namespace": "n",
    "fields": [
        {"name": "_hoodie_commit_time", "type": ["null", "string"]},
        {"name": "_hoodie_is_deleted", "type": ["null", "boolean"]},
        {"name": "id", "type": "string", "doc": "key"},
        {
            "name": "money",
            "type": [
                "null",
                {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
            ],
        },
        {"name": "again", "type": ["null", "n.f"]},
        {"name": "raw", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "kind", "type": {"type": "enum", "name": "e", "symbols": ["A"]}},
        {"name": "list", "type": {"type": "array", "items": ["null", "long"]}},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {"name": "inner", "type": ["null", {"type": "record", "name": "i", "fields": [{"name": "x", "type": "int"}]}]},
        {"name": "blob", "type": "bytes"},
    ],
}


def test_avro_schemas_of_commits_are_read() -> None:
    assert [(c.name, str(c.type), c.nullable) for c in from_avro(AVRO)] == [
        ("_hoodie_is_deleted", "boolean", True),
        ("id", "string", False),
        ("money", "decimal(10,2)", True),
        ("again", "decimal(10,2)", True),
        ("raw", "decimal(4,0)", False),
        ("day", "date", False),
        ("at", "timestamp", False),
        ("ms", "timestamp", False),
        ("local", "timestamp_ntz", False),
        ("kind", "string", False),
        ("list", "array<bigint>", False),
        ("map", "map<string,double>", False),
        ("inner", "struct<x:int>", True),
        ("blob", "binary", False),
    ]


@pytest.mark.parametrize(
    "schema", ['"string"', "[]", '{"type":"record","name":"r","fields":[{"name":"a","type":["int","string"]}]}']
)
def test_other_avro_is_refused(schema: str) -> None:
    with pytest.raises(ValueError, match=r"Avro|union"):
        from_avro(schema)


def test_avro_and_status_do_not_load_sqlglot() -> None:
    code = "import sys, freshet.types.from_json, freshet.project.syntax.ddl; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_spark_json_round_trip() -> None:
    kind = Struct((("a b", Decimal(10, 2)), ("c", Map(STRING, Array(Atomic("tinyint"))))))
    assert type_from_spark(type_to_spark(kind)) == kind
    schema = {"fields": [{"name": "x", "type": "long", "nullable": False, "metadata": {"comment": "n"}}]}
    assert from_spark(schema) == (Column(name="x", type=BIGINT, nullable=False, comment="n"),)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("int", "int", Fit.SAME),
        ("void", "string", Fit.WIDENS),
        ("int", "bigint", Fit.WIDENS),
        ("bigint", "int", Fit.CHECKED),
        ("int", "double", Fit.WIDENS),
        ("bigint", "double", Fit.NO),
        ("int", "float", Fit.NO),
        ("float", "double", Fit.WIDENS),
        ("double", "float", Fit.NO),
        ("int", "decimal(10,0)", Fit.WIDENS),
        ("int", "decimal(10,2)", Fit.CHECKED),
        ("decimal(10,2)", "decimal(12,2)", Fit.WIDENS),
        ("decimal(10,2)", "decimal(10,3)", Fit.CHECKED),
        ("decimal(10,2)", "decimal(10,1)", Fit.NO),
        ("decimal(10,2)", "double", Fit.NO),
        ("string", "int", Fit.NO),
        ("int", "string", Fit.NO),
        ("array<int>", "array<bigint>", Fit.WIDENS),
        ("array<bigint>", "array<int>", Fit.NO),
        ("struct<a:int>", "struct<A:int>", Fit.SAME),
        ("struct<a:int>", "struct<a:int,b:int>", Fit.NO),
        ("map<string,int>", "map<string,double>", Fit.WIDENS),
        ("date", "timestamp", Fit.WIDENS),
    ],
)
def test_fit(source: str, target: str, expected: Fit) -> None:
    assert fit(parse_type(source), parse_type(target)) is expected


@pytest.mark.parametrize(
    ("table", "ddl", "expected"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("int", "float", False),
        ("float", "double", True),
        ("double", "float", False),
        ("int", "string", False),
        ("int", "smallint", True),
        ("array<int>", "array<tinyint>", True),
        ("decimal(10,2)", "decimal(12,2)", False),
        ("struct<a:int>", "struct<a:bigint,b:string>", True),
        ("struct<a:int,b:string>", "struct<a:int>", False),
        ("struct<a:int>", "struct<x:int,A:int>", True),
        ("map<string,int>", "map<string,bigint>", True),
        ("map<int,int>", "map<bigint,int>", False),
        ("array<struct<a:int>>", "array<struct<a:int,b:date>>", True),
    ],
)
def test_may_widen(table: str, ddl: str, expected: bool) -> None:
    assert may_widen(parse_type(table), parse_type(ddl)) is expected


def test_small_integers_are_stored_as_int() -> None:
    assert stored(parse_type("struct<a:array<smallint>,b:map<string,tinyint>>")) == parse_type(
        "struct<a:array<int>,b:map<string,int>>"
    )

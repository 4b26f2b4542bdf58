"""A column that becomes narrower is found though the table's own schema cannot say so.

Avro has no TINYINT and no SMALLINT: both are an INT in the table. Each commit records what was declared. Of this kind: every
step from a wider to a narrower whole number, within arrays, maps and structs too; and none of what only becomes wider.
"""

from __future__ import annotations

import json

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY
from freshet.hudi.options import columns_record
from freshet.plan.target import compare_target
from freshet.types.columns import Array, Atomic, Column, DataType, Struct, stored
from tests.kit.memory import AVRO_TYPES, COLUMNS, a_spec, a_target

TINY, SMALL, INT = Atomic("tinyint"), Atomic("smallint"), Atomic("int")


def columns(kind: DataType) -> tuple[Column, ...]:
    return tuple(Column(name="rides", type=kind) if column.name == "rides" else column for column in COLUMNS)


def compared(before: DataType | None, now: DataType) -> None:
    """Compare a table that was made with one type with a DDL that says another; None is a table of another writer."""
    avro: object = "int"
    if isinstance(now, Array):
        avro = {"type": "array", "items": ["null", "int"]}
    elif isinstance(now, Struct):
        avro = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "int"]}]}
    extra = {} if before is None else {COLUMNS_KEY: columns_record(columns(before))}
    assert before is None or stored(before) == stored(now)
    table = a_target(schema={**AVRO_TYPES, "rides": ["null", avro]}, extra=extra)
    compare_target(a_spec(target={"columns": columns(now)}), table)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (INT, SMALL),
        (INT, TINY),
        (SMALL, TINY),
        (Array(INT), Array(SMALL)),
        (Struct((("a", INT),)), Struct((("a", TINY),))),
    ],
)
def test_a_narrower_column_is_refused(before: DataType, now: DataType) -> None:
    with pytest.raises(StateError) as refused:
        compared(before, now)
    assert refused.value.code == "SCHEMA_CHANGED"
    assert f"column rides is {before} in the table and {now} in the DDL" in refused.value.message


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (INT, INT),
        (SMALL, SMALL),
        (TINY, SMALL),
        (TINY, INT),
        (SMALL, INT),
        (Array(SMALL), Array(INT)),
        (None, SMALL),
        (None, INT),
    ],
)
def test_what_holds_every_value_is_no_change(before: DataType | None, now: DataType) -> None:
    compared(before, now)


def test_what_is_recorded() -> None:
    assert json.loads(columns_record(columns(SMALL))) == {"rides": "smallint"}
    assert columns_record(columns(INT)) == "{}"

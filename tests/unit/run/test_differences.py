"""Expected rows against found ones, without a JVM: which row is held against which, and by what columns."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Row

from freshet.cases.differences import differences
from freshet.cases.values import RowSet
from freshet.types.columns import Atomic, Column

NAMES = ("id", "a", "b")
COLUMNS = tuple(Column(name=name, type=Atomic("string")) for name in NAMES)


def _found(expected: list[dict[str, Any]], *rows: tuple[Any, ...], key: tuple[str, ...] = ("id",)) -> list[str]:
    columns = tuple(name for name in NAMES if any(name in row for row in expected))
    found = [Row(*NAMES)(*row) for row in rows]
    return [str(one) for one in differences(RowSet(columns, tuple(expected)), found, COLUMNS, key)]


def test_a_column_that_a_row_leaves_out_is_not_compared_for_it_and_a_null_that_is_written_is() -> None:
    """Of the same kind: a column that no row names, a null among values, a row that names no column at all."""
    rows = (("1", "x", None), ("2", "y", "z"))
    assert _found([{"id": "1", "a": "x"}, {"id": "2", "b": "z"}], *rows) == []
    assert _found([{"id": "1", "b": None}, {"id": "2", "a": "y"}], *rows) == []
    assert _found([{"id": "1"}, {}], *rows) == []
    assert _found([{"id": "1", "a": None}, {"id": "2", "b": None}], *rows) == [
        "row id=1: a: expected null, found x",
        "row id=2: b: expected null, found z",
    ]


@pytest.mark.parametrize(
    "expected",
    [
        [{"a": "x"}, {"a": "x", "b": "1"}],
        [{"a": "x", "b": "1"}, {"a": "x"}],
        [{"b": "1"}, {"a": "x"}],
        [{}, {"id": "1"}],
        [{"id": "1", "a": "x", "b": "1"}, {"a": "x"}],
    ],
)
def test_each_expected_row_has_a_row_of_its_own(expected: list[dict[str, Any]]) -> None:
    """Whichever is looked at first: one that fits several rows leaves to another the only one that this fits."""
    rows = [("1", "x", "1"), ("2", "x", "2")]
    assert _found(expected, *rows, key=()) == _found(expected, *reversed(rows), key=()) == []
    assert len(_found(expected, *rows, ("3", "q", "q"), key=())) == 1
    assert len(_found([*expected, {"a": "x"}], *rows, key=())) == 1


def test_what_is_missing_says_what_it_names() -> None:
    assert _found([{"a": "q"}, {"id": "1"}], ("1", "x", "1"), ("2", "x", "2")) == [
        "missing row: a=q",
        "unexpected row: id=2, a=x",
    ]

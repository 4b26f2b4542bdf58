"""Descriptions of reference keys that cannot be right are refused. That their texts compare right: tests/integration."""

from __future__ import annotations

import pytest

from freshet.changelog.reference import (
    BinlogPosition,
    Columns,
    Given,
    KafkaOffset,
    Lsn,
    MariaDbGtid,
    MySqlGtid,
    Reference,
    expression,
    needed,
)
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type

EVERY: tuple[Reference, ...] = (
    BinlogPosition(("mysql-bin",)),
    MariaDbGtid(0),
    MariaDbGtid(0, "total_order"),
    MySqlGtid(("3e11fa47-71ca-11e1-9e33-c80aa9429562",)),
    Lsn(),
    Given(),
    Given("text"),
    KafkaOffset(),
    Columns((Column(name="version", type=parse_type("bigint")),)),
)


@pytest.mark.parametrize("reference", EVERY, ids=str)
def test_each_kind_says_what_it_needs_and_is_refused_without(reference: Reference) -> None:
    parts = {part: f"m.{part}" for part in needed(reference)}
    made = expression(reference, parts)
    assert "'0000'" in made
    for part in parts:
        assert f"m.{part}" in made
        with pytest.raises(ValueError, match=part):
            expression(reference, {name: sql for name, sql in parts.items() if name != part})


@pytest.mark.parametrize(
    "reference",
    [
        BinlogPosition(()),
        BinlogPosition(("a", "a")),
        MySqlGtid(()),
        Columns(()),
        Given(generation=-1),
        Given(generation=10_000),
        *(
            Columns((Column(name="version", type=parse_type(kind)),))
            for kind in ("double", "boolean", "binary", "array<int>", "decimal(38,2)", "timestamp_ntz")
        ),
    ],
    ids=str,
)
def test_an_order_that_cannot_be_right_is_refused(reference: Reference) -> None:
    with pytest.raises(ValueError, match=r"order in which|no column|generation|no reference key"):
        expression(reference, dict.fromkeys(needed(reference), "x"))

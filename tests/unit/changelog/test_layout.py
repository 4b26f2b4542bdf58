"""Which tables can take changelogs, and what else they hold."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.changelog.layout import Layout, reserved_columns
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type


def columns(**kinds: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=parse_type(kind)) for name, kind in kinds.items())


TRIPS = columns(id="bigint", fare="int", note="string", tip="int")


def test_columns_that_no_group_names_are_the_group_of_the_row() -> None:
    layout = Layout(key=("id",), columns=TRIPS, groups={"tips": ("tip",)})
    assert {group: [c.name for c in found] for group, found in layout.all_groups.items()} == {
        "row": ["fare", "note"],
        "tips": ["tip"],
    }
    every = Layout(key=("id",), columns=TRIPS, groups={"all": ("fare", "note", "tip")})
    assert list(every.all_groups) == ["all"]


def test_the_state_has_a_register_for_each_group_and_the_values_of_its_forced_change() -> None:
    state, deleted, order = reserved_columns(Layout(key=("id",), columns=TRIPS, groups={"tips": ("tip",)}))
    register = "ref_key:string,timestamp:bigint,is_deleted:boolean"
    assert str(state.type) == (
        f"struct<groups:struct<row:struct<{register}>,tips:struct<{register}>>,"
        f"forced:struct<row:struct<{register},values:struct<fare:int,note:string>>,tips:struct<{register},values:struct<tip:int>>>>"
    )
    assert (state.name, deleted.name, str(deleted.type)) == ("_event_state", "_event_deleted", "boolean")
    assert (order.name, str(order.type)) == ("_event_order", "bigint")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"key": ()}, "the key names"),
        ({"key": ("nope",)}, "the key names"),
        ({"columns": columns(id="bigint")}, "beside its key"),
        ({"columns": columns(id="bigint", a="int", A="int")}, "of its own"),
        ({"columns": columns(id="bigint", _event_state="int")}, "_event_state"),
        ({"columns": (*TRIPS[:1], Column(name="fare", type=parse_type("int"), nullable=False))}, "NOT NULL"),
        ({"groups": {"a": ("tip",), "b": ("tip",)}}, "one group at most"),
        ({"groups": {"a": ("id",)}}, "one group at most"),
        ({"groups": {"a": ("nope",)}}, "one group at most"),
        ({"groups": {"a": ()}}, "has columns"),
        ({"groups": {"row": ("tip",)}}, "all other columns"),
    ],
)
def test_what_cannot_be_merged_is_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Layout(**{"key": ("id",), "columns": TRIPS, **change})

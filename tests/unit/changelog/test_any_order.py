"""The merge by reference key: any permutation, duplication and cut of a history gives the table that the history means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.changelogs import Event, Row, meaning, merge

SIZES = {"row": 2, "tip": 1}
_VALUE = st.one_of(st.none(), st.integers(0, 2))
_TEXT = st.sampled_from("abcd")


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Draw an event from so few keys, versions and times that many meet."""
    is_deleted = draw(st.integers(0, 3)) == 0
    touched = [] if is_deleted else draw(st.sampled_from([["row", "tip"], ["row"], ["tip"]]))
    return Event(
        key=draw(st.integers(0, 1)),
        ref_key=draw(_TEXT),
        timestamp=draw(st.integers(0, 3)),
        is_deleted=is_deleted,
        force_update=draw(st.integers(0, 4)) == 0,
        values={group: tuple(draw(_VALUE) for _ in range(SIZES[group])) for group in touched},
        references={group: draw(_TEXT) for group in (touched or SIZES) if draw(st.booleans())},
    )


@pytest.mark.parametrize("equal", ["deleted", "row"])
@settings(max_examples=400, deadline=None)
@given(history=st.lists(events(), max_size=7), data=st.data())
def test_a_history_means_one_table_in_whatever_order_and_pieces_it_comes(
    equal: str, history: list[Event], data: st.DataObject
) -> None:
    arrived = data.draw(st.permutations([*history, *data.draw(st.lists(st.sampled_from(history)) if history else st.just([]))]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arrived)), max_size=3)))
    table: dict[int, Row] = {}
    for start, end in zip([0, *cuts], [*cuts, len(arrived)], strict=True):
        table = merge(SIZES, equal, table, arrived[start:end])
    assert table == meaning(SIZES, equal, history)


def _shown(*history: Event) -> dict[str, tuple[object, ...]]:
    return {
        group: register.shown for group, register in meaning(SIZES, "deleted", history)[0].items() if not register.is_deleted
    }


def _row(ref_key: str, timestamp: int, value: int, **more: object) -> Event:
    return Event(key=0, ref_key=ref_key, timestamp=timestamp, values={"row": (value, value), "tip": (value,)}, **more)  # type: ignore[arg-type]


def _tip(ref_key: str, timestamp: int, value: int, **more: object) -> Event:
    return Event(key=0, ref_key=ref_key, timestamp=timestamp, values={"tip": (value,)}, **more)  # type: ignore[arg-type]


GONE = Event(key=0, ref_key="m", timestamp=5, is_deleted=True)


def test_the_newest_by_reference_key_is_shown_and_not_the_newest_by_time() -> None:
    assert _shown(_row("b", 1, 2), _row("a", 9, 1)) == {"row": (2, 2), "tip": (2,)}


def test_each_group_has_its_own_newest_change() -> None:
    assert _shown(_row("b", 1, 1), _tip("c", 2, 7), _row("a", 3, 0)) == {"row": (1, 1), "tip": (7,)}


def test_a_late_partial_change_brings_no_deleted_row_back() -> None:
    assert _shown(_row("a", 1, 1), GONE, _tip("b", 9, 7)) == {}


def test_a_row_that_was_inserted_again_has_nothing_of_what_it_was() -> None:
    assert _shown(_row("a", 1, 1), GONE, _tip("n", 6, 7)) == {"tip": (7,)}
    assert _shown(_row("a", 1, 1), GONE, _row("n", 6, 2), _tip("b", 7, 9)) == {"row": (2, 2), "tip": (2,)}


def test_a_forced_change_is_applied_over_what_was_created_up_to_it_and_once() -> None:
    forced = _row("a", 6, 0, force_update=True)
    assert _shown(_row("k", 5, 1), forced) == {"row": (0, 0), "tip": (0,)}
    assert _shown(_row("k", 5, 1), forced, _row("l", 7, 2), forced) == {"row": (2, 2), "tip": (2,)}
    assert _shown(GONE, forced) == {"row": (0, 0), "tip": (0,)}


def test_of_equal_reference_keys_the_declared_one_wins() -> None:
    both = [_row("m", 9, 1), GONE]
    assert all(register.is_deleted for register in meaning(SIZES, "deleted", both)[0].values())
    assert not any(register.is_deleted for register in meaning(SIZES, "row", both)[0].values())

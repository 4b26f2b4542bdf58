"""The history of rows: any permutation, duplication and cut of events gives the intervals that the events mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.changelogs import Event
from tests.kit.changelogs import meaning as newest
from tests.kit.histories import History, as_of, meaning, merge

SIZE = 2
_VALUE = st.integers(0, 2)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Draw an event from so few keys, versions and times that many meet."""
    is_deleted = draw(st.integers(0, 3)) == 0
    return Event(
        key=draw(st.integers(0, 1)),
        ref_key=draw(st.sampled_from("abcd")),
        timestamp=draw(st.integers(0, 5)),
        is_deleted=is_deleted,
        force_update=draw(st.integers(0, 4)) == 0,
        values={} if is_deleted else {"row": (draw(_VALUE), draw(_VALUE))},
    )


@pytest.mark.parametrize("equal", ["deleted", "row"])
@settings(max_examples=150, deadline=None)
@given(history=st.lists(events(), max_size=7), data=st.data())
def test_events_mean_one_history_in_whatever_order_and_pieces_they_come(
    equal: str, history: list[Event], data: st.DataObject
) -> None:
    arrived = data.draw(st.permutations([*history, *data.draw(st.lists(st.sampled_from(history)) if history else st.just([]))]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arrived)), max_size=3)))
    table: dict[int, History] = {}
    for start, end in zip([0, *cuts], [*cuts, len(arrived)], strict=True):
        table = merge(SIZE, equal, table, arrived[start:end])
    assert table == meaning(SIZE, equal, history)


@settings(max_examples=150, deadline=None)
@given(history=st.lists(events(), max_size=7), moment=st.integers(-1, 6))
def test_at_each_moment_one_interval_at_most_holds_and_it_is_that_of_the_row_at_that_time(
    history: list[Event], moment: int
) -> None:
    shown = {}
    for key, versions in meaning(SIZE, "deleted", history).items():
        holding = [one for one in versions if one.since <= moment and (one.until is None or moment < one.until)]
        assert len(holding) <= 1
        assert sum(one.is_current for one in versions) == (not versions[-1].change.is_deleted)
        shown.update((key, one.change.values) for one in holding)
    assert shown == as_of(SIZE, "deleted", history, moment)


@settings(max_examples=100, deadline=None)
@given(history=st.lists(events(), max_size=7))
def test_the_current_version_is_what_a_table_of_the_newest_rows_has_where_time_follows_the_reference_key(
    history: list[Event],
) -> None:
    # Of one reference key a change that was sent again later is another one, and time goes back behind it.
    times = {"a": 1, "b": 2, "c": 3, "d": 4}
    told = [one if one.force_update else Event(**{**vars(one), "timestamp": times[one.ref_key]}) for one in history]
    rows = newest({"row": SIZE}, "deleted", told)
    for key, versions in meaning(SIZE, "deleted", told).items():
        register = rows[key]["row"]
        assert [one.change.values for one in versions if one.is_current] == ([] if register.is_deleted else [register.shown])


def _row(ref_key: str, timestamp: int, value: int, **more: object) -> Event:
    return Event(key=0, ref_key=ref_key, timestamp=timestamp, values={"row": (value, value)}, **more)  # type: ignore[arg-type]


def _intervals(*history: Event) -> list[tuple[object, int, int | None]]:
    return [
        (None if one.change.is_deleted else one.change.values[0], one.since, one.until)
        for one in meaning(SIZE, "deleted", history)[0]
    ]


GONE = Event(key=0, ref_key="m", timestamp=5, is_deleted=True)


def test_a_late_change_cuts_the_interval_that_it_lies_in() -> None:
    assert _intervals(_row("a", 1, 1), _row("c", 5, 3), _row("b", 3, 2)) == [(1, 1, 3), (2, 3, 5), (3, 5, None)]


def test_a_delete_closes_an_interval_and_a_row_that_comes_back_opens_one() -> None:
    assert _intervals(_row("a", 1, 1), GONE, _row("n", 8, 2)) == [(1, 1, 5), (None, 5, 5), (2, 8, None)]
    assert _intervals(_row("a", 1, 1), GONE) == [(1, 1, 5), (None, 5, 5)]
    # A change that comes after the delete and was made before it ends with it.
    assert _intervals(GONE, _row("b", 3, 7)) == [(7, 3, 5), (None, 5, 5)]


def test_a_clock_that_goes_back_makes_no_interval_that_ends_before_it_begins() -> None:
    assert _intervals(_row("a", 5, 1), _row("b", 3, 2), _row("c", 9, 3)) == [(1, 5, 5), (2, 5, 9), (3, 9, None)]


def test_a_forced_change_begins_when_it_was_created_whatever_its_reference_key() -> None:
    forced = _row("a", 6, 0, force_update=True)
    assert _intervals(_row("k", 5, 1), forced, forced, _row("l", 7, 2)) == [(1, 5, 6), (0, 6, 7), (2, 7, None)]

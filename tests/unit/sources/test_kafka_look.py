"""Which records the next run reads, and what it is refused for: pure, over a cluster in memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.sources.hudi.reads import Window
from freshet.sources.kafka.look.window import next_window, shared, spans_of, whole_window
from freshet.sources.kafka.position import KafkaPosition, offsets_of
from tests.kit.topics import MemoryBroker, a_position, a_topic_spec

Parts = dict[tuple[str, int], tuple[int, int]]
TWO: Parts = {("orders", 0): (0, 10), ("orders", 1): (0, 4)}


def looked(
    position: KafkaPosition | None, parts: Parts = TWO, topics: tuple[str, ...] = ("orders",), ids: Any = None, **changes: Any
) -> Window:
    facts = MemoryBroker(parts, ids or {}).facts()
    return next_window("earnings", a_topic_spec(*topics, **changes), facts, position)


def refused(code: str, *args: Any, **kwargs: Any) -> StateError:
    with pytest.raises(StateError) as error:
        looked(*args, **kwargs)
    assert error.value.code == code
    assert error.value.next_step
    return error.value


def test_a_first_run_begins_where_the_pipeline_says() -> None:
    first = looked(None)
    assert (first.kind, first.begin_inclusive, first.end_inclusive) == ("increment", "orders,0:0,1:0", "orders,0:10,1:4")
    assert (first.rows, first.waiting_rows) == (14, 0)
    # What retention has taken before anybody read it is not lost to this pipeline.
    assert looked(None, {("orders", 0): (3, 10)}).begin_inclusive == "orders,0:3"
    latest = looked(None, reset="latest")
    assert (latest.kind, latest.end_inclusive, latest.rows) == ("start_at_latest", "orders,0:10,1:4", 0)
    assert "auto.offset.reset" in refused("NO_CHECKPOINT", None, reset="none").next_step


def test_a_run_goes_on_from_the_offsets() -> None:
    window = looked(a_position(orders={0: 7, 1: 4}))
    assert (window.kind, window.begin_inclusive, window.end_inclusive, window.rows) == (
        "increment",
        "orders,0:7,1:4",
        "orders,0:10,1:4",
        3,
    )
    idle = looked(a_position(orders={0: 10, 1: 4}))
    assert (idle.kind, idle.rows, idle.end_inclusive) == ("idle", 0, "orders,0:10,1:4")


def test_a_topic_without_a_record_is_idle() -> None:
    empty: Parts = {("orders", 0): (0, 0), ("orders", 1): (0, 0)}
    assert looked(None, empty).kind == "idle"
    assert looked(a_position(orders={0: 0, 1: 0}), empty).kind == "idle"


def test_a_bound_is_shared_fairly_among_the_partitions() -> None:
    parts: Parts = {("orders", 0): (0, 1000), ("orders", 1): (0, 5), ("orders", 2): (100, 1000)}
    window = looked(a_position(orders={0: 0, 1: 0, 2: 100}), parts, max_events=25)
    assert window.end_inclusive == "orders,0:10,1:5,2:110"
    assert (window.rows, window.waiting_rows) == (25, 1880)
    # Fewer than there are partitions: one of each in turn is no way to starve any for ever.
    assert looked(a_position(orders={0: 0, 1: 0, 2: 100}), parts, max_events=1).rows == 1


@given(st.dictionaries(st.integers(0, 20), st.integers(0, 50), max_size=8), st.integers(0, 200))
def test_what_is_shared_adds_up_and_nobody_gets_less_than_another_who_wants_as_much(waits: dict[int, int], most: int) -> None:
    available = {("t", number): count for number, count in waits.items()}
    taken = shared(available, most)
    assert sum(taken.values()) == min(most, sum(available.values()))
    assert all(0 <= taken[part] <= available[part] for part in available)
    short = [taken[part] for part in available if taken[part] < available[part]]
    # Of those that are cut, none is cut by more than one record more than another, and nobody has more than them by two.
    assert not short or max(taken.values()) - min(short) <= 1


def test_a_new_partition_begins_at_its_beginning() -> None:
    window = looked(a_position(orders={0: 10}), TWO)
    assert (window.begin_inclusive, window.rows) == ("orders,0:10,1:0", 4)


def test_retention_that_has_passed_the_checkpoint_is_an_error_that_says_how_much() -> None:
    parts: Parts = {("orders", 0): (40, 100), ("orders", 1): (0, 4)}
    error = refused("OFFSETS_LOST", a_position(orders={0: 15, 1: 2}), parts)
    assert error.details["lost"] == 25  # type: ignore[attr-defined]
    assert error.details["partitions"] == ["orders-0"]  # type: ignore[attr-defined]
    assert "at least 25 records are gone" in error.message
    # A partition that is new, and has lost records before anybody read them.
    assert refused("OFFSETS_LOST", a_position(orders={1: 2}), parts).details["lost"] == 40  # type: ignore[attr-defined]


def test_a_log_that_ends_before_the_checkpoint_was_cut_off() -> None:
    error = refused("OFFSETS_LOST", a_position(orders={0: 15, 1: 4}))
    assert error.details["lost"] == 5  # type: ignore[attr-defined]


def test_a_declared_fallback_goes_on_with_what_is_there_and_says_so() -> None:
    parts: Parts = {("orders", 0): (40, 100), ("orders", 1): (0, 4)}
    window = looked(a_position(orders={0: 15, 1: 9}), parts, fail_on_data_loss=False)
    assert (window.begin_inclusive, window.end_inclusive, window.rows) == ("orders,0:40,1:0", "orders,0:100,1:4", 64)
    assert "at least 30 records gone" in window.reason
    # Nothing is left to read, and the checkpoint has to go on all the same.
    nothing = looked(a_position(orders={0: 15}), {("orders", 0): (40, 40)}, fail_on_data_loss=False)
    assert (nothing.kind, nothing.rows, nothing.end_inclusive) == ("increment", 0, "orders,0:40")


def test_a_topic_that_was_made_anew_is_refused_whatever_its_offsets_are() -> None:
    error = refused("TOPIC_REPLACED", a_position(orders={0: 3, 1: 3}, ids={"orders": "old"}))
    assert error.details["topics"] == ["orders"]  # type: ignore[attr-defined]
    # HoodieStreamer says no id; fewer partitions than before can only be another topic's.
    assert looked(a_position(orders={0: 3, 1: 3}, ids={})).rows == 8
    refused("TOPIC_REPLACED", a_position(orders={0: 3, 1: 3, 2: 0}, ids={}))


def test_a_topic_that_is_gone_is_refused() -> None:
    position = a_position("kafka:orders,trips", orders={0: 1, 1: 1}, trips={0: 5})
    error = refused("TOPIC_MISSING", position, topics=("orders", "trips"))
    assert error.details["topics"] == ["trips"]  # type: ignore[attr-defined]


def test_a_checkpoint_of_other_topics_is_refused_with_the_command_that_goes_on() -> None:
    error = refused("CHECKPOINT_OF_ANOTHER_TABLE", a_position("kafka:trips", trips={0: 5}))
    assert "freshet checkpoint set earnings 'trips,0:5'" in error.next_step


def test_topics_by_a_pattern_and_a_new_one_among_them() -> None:
    parts: Parts = {("o_a", 0): (0, 2), ("o_b", 0): (0, 3)}
    window = looked(a_position("kafka:/o_.*/", o_a={0: 2}), parts, topics=(), pattern="o_.*")
    assert (window.begin_inclusive, window.end_inclusive) == ("o_a,0:2;o_b,0:0", "o_a,0:2;o_b,0:3")


def test_a_window_is_read_by_the_offsets_that_it_names() -> None:
    window = looked(a_position(orders={0: 7, 1: 4}))
    begin, end = (offsets_of(text) for text in (window.begin_inclusive, window.end_inclusive))
    assert begin is not None
    assert end is not None
    assert [(part, span.begin, span.end) for part, span in spans_of(begin, end)] == [(("orders", 0), 7, 10)]


def test_all_records_are_only_those_that_were_ever_written() -> None:
    whole = whole_window("earnings", MemoryBroker(TWO).facts())
    assert (whole.kind, whole.rows, whole.waiting_rows, whole.end_inclusive) == ("whole_table", 14, 0, "orders,0:10,1:4")
    assert whole_window("earnings", MemoryBroker({("orders", 0): (0, 0)}).facts()).kind == "idle"
    with pytest.raises(StateError) as error:
        whole_window("earnings", MemoryBroker({("orders", 0): (3, 10)}).facts())
    assert error.value.code == "TOPIC_TRIMMED"
    assert "at least 3 records gone" in error.value.message

"""Positions in topics: their texts, HoodieStreamer's among them, and what a checkpoint keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from freshet.errors import FreshetError, StateError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, STREAMER_V1_KEY, STREAMER_V2_KEY, Checkpoint, decode, encode
from freshet.sources.kafka.position import KafkaPosition, in_kafka, offsets_of, text_of
from tests.kit.memory import a_checkpoint
from tests.kit.topics import a_position


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("orders,0:12,1:40", {"orders": {0: 12, 1: 40}}),
        ("orders,0:12", {"orders": {0: 12}}),
        ("a.b-c_d,10:0", {"a.b-c_d": {10: 0}}),
        ("orders,0:12;trips,0:7,1:8", {"orders": {0: 12}, "trips": {0: 7, 1: 8}}),
        ("empty;orders,0:12", {"orders": {0: 12}, "empty": {}}),
    ],
)
def test_a_text_names_offsets_and_is_written_the_same(text: str, offsets: dict[str, dict[int, int]]) -> None:
    assert offsets_of(text) == offsets
    assert text_of(offsets) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "orders",
            "orders,",
            "orders,0",
            "orders,0:",
            "orders,:1",
            "orders,0:1,0:2",
            "orders,0:-1",
            "orders,0:1;orders,1:1",
        ),
        *("or ders,0:1", "orders;trips", "20260801101500000", "earliest", "orders,0:1234567890123456789"),
    ],
)
def test_other_texts_name_none(text: str) -> None:
    assert offsets_of(text) is None


def test_a_commit_keeps_offsets_and_ids_and_hoodiestreamers_form() -> None:
    checkpoint = Checkpoint({MAIN: a_position(orders={1: 40, 0: 12}, ids={"orders": "T1"})})
    kept = encode(checkpoint)
    assert kept[STREAMER_V2_KEY] == "orders,0:12,1:40"
    assert json.loads(kept[CHECKPOINT_KEY])["positions"][MAIN] == {
        "kind": "kafka",
        "of": "kafka:orders",
        "topics": {"orders": {"id": "T1", "offsets": {"0": 12, "1": 40}}},
    }
    assert decode(kept) == checkpoint


def test_of_several_topics_hoodiestreamer_has_no_form() -> None:
    checkpoint = Checkpoint({MAIN: a_position("kafka:a,b", a={0: 1}, b={0: 2})})
    assert STREAMER_V2_KEY not in encode(checkpoint)
    assert decode(encode(checkpoint)) == checkpoint
    nothing = Checkpoint({MAIN: a_position(orders={})})
    assert STREAMER_V2_KEY not in encode(nothing)


@pytest.mark.parametrize("key", [STREAMER_V1_KEY, STREAMER_V2_KEY])
def test_hoodiestreamers_checkpoint_is_gone_on_from(key: str) -> None:
    found = decode({key: "orders,0:12,1:40"})
    assert found == Checkpoint({MAIN: KafkaPosition(of="kafka:orders", offsets={"orders": {0: 12, 1: 40}})})


@pytest.mark.parametrize("key", [STREAMER_V1_KEY, STREAMER_V2_KEY])
def test_what_is_neither_of_a_table_nor_of_a_topic_is_refused(key: str) -> None:
    with pytest.raises(StateError) as refused:
        decode({key: "a.csv,1700000000000"})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"


@pytest.mark.parametrize(
    "topics",
    [
        {"orders": {"offsets": {"0": -1}}},
        {"orders": {"offsets": {"0": "12"}}},
        {"orders": {"offsets": {"0": True}}},
        {"orders": {"offsets": {"x": 1}}},
        {"orders": {"offsets": {"-1": 1}}},
        {"orders": {"id": 7, "offsets": {}}},
        {"or ders": {"offsets": {}}},
        {"orders": {}},
        {"orders": 7},
        [],
    ],
)
def test_a_position_that_is_none_is_refused(topics: Any) -> None:
    raw = {"version": 1, "positions": {MAIN: {"kind": "kafka", "of": "kafka:orders", "topics": topics}}}
    with pytest.raises(FreshetError) as refused:
        decode({CHECKPOINT_KEY: json.dumps(raw)})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"


def test_which_of_two_is_further() -> None:
    one = a_position(orders={0: 12, 1: 40})
    assert one.is_beyond(a_position(orders={0: 11, 1: 41}))
    assert one.is_beyond(a_position(orders={0: 12}))
    assert not one.is_beyond(one)
    assert not one.is_beyond(a_checkpoint(5).positions[MAIN])
    assert one.is_at("kafka:orders")
    assert not one.is_at("kafka:trips")


def test_a_position_of_another_kind_is_refused() -> None:
    with pytest.raises(StateError) as refused:
        in_kafka("earnings", a_checkpoint(5).positions[MAIN])
    assert refused.value.code == "CHECKPOINT_OF_ANOTHER_KIND"
    assert "freshet checkpoint set earnings" in refused.value.next_step

"""The vector checkpoint's one encoding, HoodieStreamer's keys beside it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.errors import Exit, StateError
from freshet.hudi.checkpoint import (
    CHECKPOINT_KEY,
    MAIN,
    METADATA_PREFIX,
    STREAMER_V1_KEY,
    STREAMER_V2_KEY,
    Checkpoint,
    decode,
    encode,
)
from freshet.sources.hudi.position import HudiPosition
from tests.kit.memory import SOURCE, a_checkpoint, at

positions = st.builds(
    HudiPosition,
    instant=st.from_regex(r"\A[0-9]{17}\Z"),
    table=st.text(),
    basis=st.sampled_from(["completed", "requested"]),
)
vectors = st.builds(Checkpoint, st.dictionaries(st.text(min_size=1), positions, max_size=4))


def code_of(metadata: dict[str, str]) -> str:
    with pytest.raises(StateError) as refused:
        decode(metadata)
    assert refused.value.exit_code is Exit.STATE
    return refused.value.code


@settings(max_examples=40, deadline=None)
@given(vectors)
def test_what_is_encoded_is_decoded(checkpoint: Checkpoint) -> None:
    entries = encode(checkpoint)
    assert decode(entries) == checkpoint
    # Hudi copies nothing else into the commit.
    assert all(key.startswith(METADATA_PREFIX) for key in entries)


def test_same_vector_same_text_whatever_the_order() -> None:
    one, two = HudiPosition(instant=at(1), table="/a"), HudiPosition(instant=at(2), table="/b")
    assert encode(Checkpoint({"x": one, MAIN: two})) == encode(Checkpoint({MAIN: two, "x": one}))


def test_main_position_stands_under_hoodie_streamers_own_key() -> None:
    entries = encode(a_checkpoint(7))
    assert entries[STREAMER_V2_KEY] == at(7)
    assert json.loads(entries[CHECKPOINT_KEY]) == {
        "version": 1,
        "positions": {"SRC": {"kind": "hudi", "table": SOURCE.path, "instant": at(7), "basis": "completed"}},
    }


def test_a_request_time_never_poses_as_a_completion_time() -> None:
    assert STREAMER_V2_KEY not in encode(a_checkpoint(7, basis="requested"))


def test_hoodie_streamers_v2_key_is_a_completion_time_of_a_table_it_does_not_name() -> None:
    assert decode({STREAMER_V2_KEY: at(5)}) == Checkpoint({MAIN: HudiPosition(instant=at(5), table="", basis="completed")})


def test_hoodie_streamers_v1_key_is_a_request_time() -> None:
    assert decode({STREAMER_V1_KEY: at(5)}) == Checkpoint({MAIN: HudiPosition(instant=at(5), table="", basis="requested")})


def test_v2_wins_over_v1() -> None:
    assert decode({STREAMER_V1_KEY: at(3), STREAMER_V2_KEY: at(5)}) == Checkpoint({MAIN: HudiPosition(instant=at(5))})


def test_freshets_own_wins_in_the_same_commit() -> None:
    own = a_checkpoint(9)
    assert decode({**encode(own), STREAMER_V2_KEY: at(5), STREAMER_V1_KEY: at(3)}) == own


@pytest.mark.parametrize("metadata", [{}, {"schema": "{}"}, {STREAMER_V2_KEY: ""}, {STREAMER_V1_KEY: ""}])
def test_a_commit_without_checkpoint(metadata: dict[str, str]) -> None:
    assert decode(metadata) is None


def test_reset_is_a_checkpoint_without_positions_and_hides_an_older_one() -> None:
    entries = encode(Checkpoint())
    assert STREAMER_V2_KEY not in entries
    found = decode(entries)
    assert found is not None
    assert found.main is None


def test_newer_version_is_refused_even_when_its_shape_is_unknown() -> None:
    assert code_of({CHECKPOINT_KEY: json.dumps({"version": 3, "vector": []})}) == "CHECKPOINT_TOO_NEW"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "junk",
        "null",
        "[]",
        "3",
        "{}",
        '{"version": 1}',
        '{"version": "x", "positions": {}}',
        '{"version": 0, "positions": {}}',
        '{"version": 1e999, "positions": {}}',
        '{"version": true, "positions": {}}',
        '{"version": 1, "positions": []}',
        '{"version": 1, "positions": {"SRC": {}}}',
        '{"version": 1, "positions": {"SRC": "20260801"}}',
        '{"version": 1, "positions": {"SRC": {"instant": 20260801, "table": "/t", "basis": "completed"}}}',
        '{"version": 1, "positions": {"SRC": {"instant": null, "table": "/t", "basis": "completed"}}}',
        '{"version": 1, "positions": {"SRC": {"instant": "20260801", "table": "/t", "basis": "guessed"}}}',
    ],
)
def test_garbage_is_refused(text: str) -> None:
    assert code_of({CHECKPOINT_KEY: text}) == "CHECKPOINT_UNREADABLE"


def test_garbage_is_not_answered_by_hoodie_streamers_key_beside_it() -> None:
    assert code_of({CHECKPOINT_KEY: "junk", STREAMER_V2_KEY: at(5)}) == "CHECKPOINT_UNREADABLE"


@pytest.mark.parametrize("key", [STREAMER_V1_KEY, STREAMER_V2_KEY])
def test_a_checkpoint_of_another_kind_of_source_is_refused(key: str) -> None:
    with pytest.raises(StateError) as caught:
        decode({key: "a.csv,5"})
    assert caught.value.code == "CHECKPOINT_UNREADABLE"

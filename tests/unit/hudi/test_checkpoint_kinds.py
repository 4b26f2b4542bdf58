"""A position says of what kind of source it is; one of a kind that this freshet does not know is never taken for an instant."""

from __future__ import annotations

import json

import pytest

from freshet.errors import Exit, StateError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, STREAMER_V2_KEY, decode, encode
from freshet.sources.hudi.position import HudiPosition
from tests.kit.memory import a_checkpoint, at


def entries(**of_position: object) -> dict[str, str]:
    position = {"kind": "hudi", "table": "/t", "instant": at(5), "basis": "completed", **of_position}
    return {CHECKPOINT_KEY: json.dumps({"version": 1, "positions": {MAIN: position}})}


@pytest.mark.parametrize("kind", ["pulsar", "sockets", "HUDI", ""])
def test_a_position_of_an_unknown_kind_is_refused_by_code(kind: str) -> None:
    """Of the kind: whatever a newer freshet writes into a position under the same version, the members of the main source and
    of an input alike; HoodieStreamer's key beside it does not answer for it."""
    for metadata in (entries(kind=kind), {**entries(kind=kind), STREAMER_V2_KEY: at(5)}):
        with pytest.raises(StateError) as refused:
            decode(metadata)
        assert (refused.value.code, refused.value.exit_code) == ("CHECKPOINT_KIND_UNKNOWN", Exit.STATE)
        assert refused.value.details["kind"] == kind


def test_a_position_of_an_unknown_kind_is_refused_whatever_else_it_holds() -> None:
    raw = {
        "version": 1,
        "positions": {
            MAIN: json.loads(encode(a_checkpoint(5))[CHECKPOINT_KEY])["positions"][MAIN],
            "rides": {"kind": "pulsar", "topic": "rides", "offsets": {"0": 5}},
        },
    }
    with pytest.raises(StateError) as refused:
        decode({CHECKPOINT_KEY: json.dumps(raw)})
    assert (refused.value.code, refused.value.details["position"]) == ("CHECKPOINT_KIND_UNKNOWN", "rides")


@pytest.mark.parametrize("kind", [None, 7, ["hudi"], {"hudi": 1}])
def test_a_kind_that_is_no_text_is_garbage(kind: object) -> None:
    with pytest.raises(StateError) as refused:
        decode(entries(kind=kind))
    assert refused.value.code == "CHECKPOINT_UNREADABLE"


def test_a_position_without_a_kind_is_garbage_and_a_hudi_table_is_known() -> None:
    raw = json.loads(entries()[CHECKPOINT_KEY])
    assert decode(entries()) is not None
    assert decode(entries()).positions[MAIN] == HudiPosition(instant=at(5), table="/t")  # type: ignore[union-attr]
    del raw["positions"][MAIN]["kind"]
    with pytest.raises(StateError) as refused:
        decode({CHECKPOINT_KEY: json.dumps(raw)})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"

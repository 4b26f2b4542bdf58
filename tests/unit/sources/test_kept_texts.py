"""Checkpoints as freshet has written them, to the letter: they are read, and written again as the same text.

The kind: a field of a position that gets another name, order or version, so that a table goes on from nowhere, or an earlier
freshet cannot read what a later one has left. A new version of the vector or of a position adds texts here, and changes none.
"""

from __future__ import annotations

import pytest

from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, STREAMER_V2_KEY, Checkpoint, decode, encode
from freshet.sources.hudi.position import HudiPosition, Known
from freshet.sources.kafka.position import KafkaPosition

KNOWN = Known(
    (("20260801101500009", "20260801101500010"), ("20260801101500019", "20260801101500020")), since="20260801101500010"
)
_KNOWN = (
    '"known":{"commits":["20260801101500009_20260801101500010","20260801101500019_20260801101500020"],'
    '"since":"20260801101500010"}'
)
TRIPS = HudiPosition(instant="20260801101500020", table="/lake/raw/trips", known=KNOWN)
_TRIPS = f'{{"basis":"completed","instant":"20260801101500020","kind":"hudi",{_KNOWN},"table":"/lake/raw/trips"}}'

KEPT = {
    "version 1, two inputs": (
        f'{{"positions":{{"SRC":{_TRIPS},"tips":'
        '{"basis":"completed","instant":"20260801101500007","kind":"hudi","table":"s3a://b/tips"}},"version":1}',
        Checkpoint({MAIN: TRIPS, "tips": HudiPosition(instant="20260801101500007", table="s3a://b/tips")}),
        "20260801101500020",
    ),
    "version 1, set back by hand": (
        '{"positions":{"SRC":{"basis":"completed","instant":"20260801101500010","kind":"hudi","table":"/lake/raw/trips"}},'
        f'"seen":{_TRIPS},"version":1}}',
        Checkpoint({MAIN: HudiPosition(instant="20260801101500010", table="/lake/raw/trips")}, TRIPS),
        "20260801101500010",
    ),
    "version 1, a request time": (
        '{"positions":{"SRC":{"basis":"requested","instant":"20260801101500009","kind":"hudi","table":"/lake/raw/trips"}},'
        '"version":1}',
        Checkpoint({MAIN: HudiPosition(instant="20260801101500009", table="/lake/raw/trips", basis="requested")}),
        None,
    ),
    "version 2, a path with a secret": (
        '{"positions":{"SRC":{"basis":"completed","digest":"0123456789abcdef0123456789abcdef","instant":"20260801101500020",'
        f'"kind":"hudi",{_KNOWN},"table":"/lake/${{env.T}}/trips"}}}},"version":2}}',
        Checkpoint(
            {
                MAIN: HudiPosition(
                    instant="20260801101500020",
                    table="/lake/${env.T}/trips",
                    known=KNOWN,
                    digest="0123456789abcdef0123456789abcdef",
                )
            }
        ),
        "20260801101500020",
    ),
    "version 1, a topic": (
        '{"positions":{"SRC":{"kind":"kafka","of":"kafka:orders","topics":{"orders":{"id":"T1","offsets":{"0":12,"1":40}}}}},'
        '"version":1}',
        Checkpoint({MAIN: KafkaPosition(of="kafka:orders", offsets={"orders": {0: 12, 1: 40}}, ids={"orders": "T1"})}),
        "orders,0:12,1:40",
    ),
    "version 1, topics by a pattern": (
        '{"positions":{"SRC":{"kind":"kafka","of":"kafka:/o_.*/","topics":{"o_a":{"id":"T1","offsets":{"0":12}},'
        '"o_b":{"offsets":{}}}}},"version":1}',
        Checkpoint({MAIN: KafkaPosition(of="kafka:/o_.*/", offsets={"o_a": {0: 12}, "o_b": {}}, ids={"o_a": "T1"})}),
        None,
    ),
    "version 1, a reset": ('{"positions":{},"version":1}', Checkpoint(), None),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_text_that_was_kept_is_read_and_written_as_it_was(name: str) -> None:
    text, vector, of_streamer = KEPT[name]
    found = decode({CHECKPOINT_KEY: text})
    assert found == vector
    # Two positions are equal whatever commits they know.
    assert [p.encoded() for p in found.positions.values()] == [p.encoded() for p in vector.positions.values()]
    assert found.seen is None or found.seen.encoded() == TRIPS.encoded()
    entries = encode(vector)
    assert entries == {CHECKPOINT_KEY: text, **({STREAMER_V2_KEY: of_streamer} if of_streamer else {})}
    assert encode(found) == entries

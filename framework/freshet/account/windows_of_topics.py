"""Windows of record times of topics that are read: by the time index on one side, and the checkpoint's offsets on the other.

No record is read. Both sides count offsets, so that those which hold no record, of transactions and of compaction, are on both.
Where a producer sets the records' times, one that goes back is counted in the window of the records around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from freshet.account.model import Fed
from freshet.account.steps import LATEST, Step
from freshet.account.windows import Tally
from freshet.hudi.checkpoint import MAIN
from freshet.sources.kafka.look.facts import Broker, Facts, Part
from freshet.sources.kafka.position import KafkaPosition

_Spans = Mapping[Part, Sequence[tuple[int, int, str]]]


def count_topics(
    facts: Facts, broker: Broker, steps: Sequence[Step], ranges: Iterable[Fed], begins: Sequence[int], size: int
) -> dict[int, Tally]:
    """Count records by windows, and those that no commit of the target has taken.

    Args:
        facts: The topics as they stand.
        broker: Knows the time index.
        steps: The target's steps, oldest first.
        ranges: What became of each range of offsets between them.
        begins: The windows, in seconds since 1970, one after the other.
        size: Their length in seconds.
    """
    at = {begin: _offsets(facts, broker, begin) for begin in (*begins, begins[-1] + size)}
    left_out = _left_out(facts, steps, ranges)
    found: dict[int, Tally] = {}
    for begin in begins:
        tally = Tally()
        for part, start in at[begin].items():
            end = at[begin + size][part]
            missing = 0
            for first, last, why in left_out.get(part, ()):
                events = max(0, min(end, last) - max(start, first))
                if why and events:
                    tally.add(events, why)
                # What the first run passed over, as the pipeline says, is no part of it.
                missing += events
            tally.add(end - start - missing, "")
        if tally.at_source:
            found[begin] = tally
    return found


def _offsets(facts: Facts, broker: Broker, seconds: int) -> dict[Part, int]:
    found = broker.offsets_at(facts.parts, seconds * 1000)
    return {
        part: extent.end if (offset := found.get(part)) is None else min(max(offset, extent.begin), extent.end)
        for part, extent in facts.parts.items()
    }


def _left_out(facts: Facts, steps: Sequence[Step], ranges: Iterable[Fed]) -> _Spans:
    """Return what of each partition was not taken: each span with the reason, which is empty where the pipeline says so."""
    last, first = _position(steps[-1:]), _position(steps[:1])
    found: dict[Part, list[tuple[int, int, str]]] = {}
    for (topic, number), extent in facts.parts.items():
        read = last.offsets.get(topic, {}).get(number, 0) if last is not None else 0
        spans = [(read, extent.end, "wait")]
        if first is not None and steps[0].origin == LATEST:
            spans.append((0, first.offsets.get(topic, {}).get(number, 0), ""))
        found[topic, number] = spans
    for one in ranges:
        if one.fate == "dropped":
            part, begin, end = _range(one.what)
            if part in found:
                found[part].append((begin, min(end, found[part][0][0]), f"were passed over: {one.why}"))
    return found


def _position(steps: Sequence[Step]) -> KafkaPosition | None:
    position = steps[0].position(MAIN) if steps else None
    return position if isinstance(position, KafkaPosition) else None


def _range(what: str) -> tuple[Part, int, int]:
    place, _, span = what.rpartition(":")
    topic, _, number = place.rpartition(",")
    begin, _, end = span.partition("-")
    return (topic, int(number)), int(begin), int(end)

"""Windows of record times of topics that are read: by the time index on one side, and the checkpoint's offsets on the other.

No record is read. Both sides count offsets, so that those which hold no record, of transactions and of compaction, are on both.
Where a producer sets the records' times, one that goes back is counted in the window of the records around it. Records that
were gone before they were read the index names no more: they may be of any window up to that of the oldest record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from freshet.account.model import Fed
from freshet.account.of_topics import ranges_by
from freshet.account.steps import LATEST, WHOLE, Step
from freshet.account.windows import Tally
from freshet.hudi.checkpoint import MAIN
from freshet.sources.hudi.reads import counted
from freshet.sources.kafka.look.facts import Broker, Facts, Part
from freshet.sources.kafka.position import KafkaPosition

#: Offsets from one up to and without another, and why they were not taken; empty where the pipeline says so.
_Span = tuple[int, int, str]
_WAIT = "wait"


def count_topics(
    facts: Facts, broker: Broker, steps: Sequence[Step], begins: Sequence[int], size: int
) -> tuple[dict[int, Tally], dict[int, str]]:
    """Count records by windows, and those that no commit of the target has taken.

    Args:
        facts: The topics as they stand.
        broker: Knows the time index.
        steps: The target's steps, oldest first.
        begins: The windows, in seconds since 1970, one after the other.
        size: Their length in seconds.

    Returns:
        By the window's begin the counts, and why more of its records may be missing than the index still tells.
    """
    at = {begin: _offsets(facts, broker, begin) for begin in (*begins, begins[-1] + size)}
    steps = [_in_these(step, facts) for step in steps]
    passed_over = _passed_over(_since_whole(steps))
    left_out = {
        part: tuple(_left_out(part, extent.end, steps, passed_over.get(part, ()))) for part, extent in facts.parts.items()
    }
    gone = {part: lost for part in left_out if (lost := _gone(part, facts.parts[part].begin, left_out[part], steps))}
    found: dict[int, Tally] = {}
    doubts: dict[int, str] = {}
    for begin in begins:
        tally = Tally()
        for part, start in at[begin].items():
            end = at[begin + size][part]
            missing = 0
            for first, last, why in left_out[part]:
                events = max(0, min(end, last) - max(start, first))
                if why and events:
                    tally.add(events, why)
                # What the first run passed over, as the pipeline says, is no part of it.
                missing += events
            tally.add(end - start - missing, "")
        lost = sum(records for part, records in gone.items() if at[begin][part] <= facts.parts[part].begin)
        if lost:
            doubts[begin] = f"{counted(lost, 'record')} that were gone before they were read may be of it"
        if tally.at_source or lost:
            found[begin] = tally
    return found, doubts


def _offsets(facts: Facts, broker: Broker, seconds: int) -> dict[Part, int]:
    found = broker.offsets_at(facts.parts, seconds * 1000)
    return {
        part: extent.end if (offset := found.get(part)) is None else min(max(offset, extent.begin), extent.end)
        for part, extent in facts.parts.items()
    }


def _in_these(step: Step, facts: Facts) -> Step:
    """Return a step without the topics that were made anew since: their offsets mean nothing in those that are there."""
    position = step.position(MAIN)
    if not isinstance(position, KafkaPosition):
        return step
    others = {topic for topic, known in position.ids.items() if facts.ids.get(topic, known) != known}
    offsets = {topic: of for topic, of in position.offsets.items() if topic not in others}
    return replace(step, checkpoint=step.checkpoint.with_main(replace(position, offsets=offsets)))


def _left_out(part: Part, end: int, steps: Sequence[Step], passed_over: Iterable[_Span]) -> Iterator[_Span]:
    """Yield what of a partition was not taken."""
    read = _read(steps[-1:], part)
    # A checkpoint that was set back takes away nothing of what is read.
    reached = max((_read((step,), part) for step in steps if step.reads), default=0)
    yield max(read, reached), end, _WAIT
    for first, last, why in passed_over:
        yield first, min(last, read), why
        # The next run reads them after all.
        yield max(first, read), last, _WAIT


def _passed_over(steps: Sequence[Step]) -> dict[Part, list[_Span]]:
    first = steps[0] if steps else None
    position = first.position(MAIN) if first is not None and first.origin == LATEST else None
    offsets = position.offsets if isinstance(position, KafkaPosition) else {}
    found = {(topic, number): [(0, offset, "")] for topic, of in offsets.items() for number, offset in of.items()}
    for one in ranges_by(steps, MAIN):
        if one.fate in ("taken", "dropped"):
            part, begin, end = _range(one)
            # What was passed over, and read after all, was taken.
            found[part] = [piece for span in found.get(part, ()) for piece in _without(span, begin, end)]
            if one.fate == "dropped":
                found[part].append((begin, end, f"were passed over: {one.why}"))
    return found


def _since_whole(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps from the last one on that read all, or that was the first one again."""
    for number, step in reversed(tuple(enumerate(steps))):
        if step.origin == WHOLE:
            return steps[number:]
        if not isinstance(step.position(MAIN), KafkaPosition) and number + 1 < len(steps):
            return steps[number + 1 :]
    return steps


def _gone(part: Part, begin: int, left_out: Iterable[_Span], steps: Sequence[Step]) -> int:
    """Return how many records of a partition that was being read are gone, and were not taken."""
    if not _read(steps[-1:], part):
        return 0
    return sum(max(0, min(last, begin) - first) for first, last, why in left_out if why)


def _without(span: _Span, begin: int, end: int) -> Iterator[_Span]:
    first, last, why = span
    pieces = ((first, min(last, begin)), (max(first, end), last))
    yield from ((start, stop, why) for start, stop in pieces if start < stop)


def _read(steps: Iterable[Step], part: Part) -> int:
    position = next((step.position(MAIN) for step in steps), None)
    return position.offsets.get(part[0], {}).get(part[1], 0) if isinstance(position, KafkaPosition) else 0


def _range(fed: Fed) -> tuple[Part, int, int]:
    place, _, span = fed.what.rpartition(":")
    topic, _, number = place.rpartition(",")
    begin, _, end = span.partition("-")
    return (topic, int(number)), int(begin), int(end)

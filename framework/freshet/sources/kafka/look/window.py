"""Choose the next window of topics: pure, from what the cluster says and the pipeline's position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.hudi.reads import Window, counted
from freshet.sources.kafka.look.facts import Facts, Part
from freshet.sources.kafka.look.lost import gone_from, refuse_another, refuse_lost, refuse_replaced
from freshet.sources.kafka.position import KafkaPosition, text_of


@dataclass(frozen=True)
class Span:
    """What of a partition a run reads: from an offset on, up to and without another one."""

    begin: int
    end: int


def next_window(name: str, spec: KafkaSpec, facts: Facts, position: KafkaPosition | None) -> Window:
    """Choose what the next run reads.

    Args:
        name: The pipeline's name, for messages.
        spec: The pipeline's source.
        facts: The topics as they stand.
        position: Where the pipeline stands; None where its target carries no checkpoint.

    Returns:
        A window whose begin and end are offsets of every partition, with at most ``spec.max_events`` records between, shared
        fairly among the partitions.

    Raises:
        StateError: NO_CHECKPOINT, CHECKPOINT_OF_ANOTHER_TABLE, TOPIC_MISSING, TOPIC_REPLACED or OFFSETS_LOST.
    """
    if position is None:
        if spec.reset == "none":
            raise _nowhere_to_begin(name)
        if spec.reset == "latest":
            return Window(kind="start_at_latest", end_inclusive=end_text(facts), reason="no checkpoint yet: latest")
        begins, lost = {part: extent.begin for part, extent in facts.parts.items()}, 0
    else:
        refuse_another(name, spec, position)
        refuse_replaced(name, facts, position)
        begins = _begins(facts, position)
        gone = gone_from(facts, begins)
        if gone and spec.fail_on_data_loss:
            refuse_lost(name, facts, gone, begins)
        lost = sum(gone.values())
        begins |= {part: facts.parts[part].begin for part in gone}
    window = _window(facts, begins, spec.max_events)
    since = "since the checkpoint" if position is not None else "since the topics' beginning: no checkpoint yet, earliest"
    if window.kind == "idle" and not lost:
        return Window(kind="idle", end_inclusive=window.end_inclusive, reason=f"no record {since}")
    said = f"; at least {counted(lost, 'record')} gone before they were read: enable.failOnDataLoss is false" if lost else ""
    return replace(window, kind="increment", reason=f"{window.reason} {since}{said}")


def whole_window(name: str, facts: Facts) -> Window:
    """Return all records that were ever written, as one window.

    Raises:
        StateError: TOPIC_TRIMMED: some are gone.
    """
    gone = {part: extent.begin for part, extent in facts.parts.items() if extent.begin}
    if gone:
        where = ", ".join(f"{topic}-{number}" for topic, number in sorted(gone)[:5])
        raise StateError(
            "TOPIC_TRIMMED",
            f"{name}: the topics do not hold all records that were written any more: at least "
            f"{counted(sum(gone.values()), 'record')} gone from {counted(len(gone), 'partition')} ({where}), so that a table "
            "made from them alone would lack rows.",
            "Nothing was read or written.",
            f"To read again what the topics hold, and keep the rows that stand: freshet checkpoint set {name} earliest",
            lost=sum(gone.values()),
        )
    window = _window(facts, dict.fromkeys(facts.parts, 0), sum(extent.end for extent in facts.parts.values()))
    return (
        window
        if window.kind == "idle"
        else replace(window, kind="whole_table", reason=f"all that was ever written, {window.reason}")
    )


def shared(available: Mapping[Part, int], most: int) -> dict[Part, int]:
    """Share a number of records fairly among partitions.

    Args:
        available: Records that wait in each.
        most: How many may be read of all together.

    Returns:
        How many to read of each: the same of all, but for those that have fewer.
    """
    taken: dict[Part, int] = {}
    left = most
    # The emptiest first, so that what one does not need is for those after it.
    waiting = sorted(available, key=lambda part: (available[part], part))
    for done, part in enumerate(waiting):
        taken[part] = min(available[part], left // (len(waiting) - done))
        left -= taken[part]
    return taken


def end_text(facts: Facts) -> str:
    """Return the end of every partition, as a window names it."""
    return text_of(by_topic(facts, {part: extent.end for part, extent in facts.parts.items()}))


def by_topic(facts: Facts, offsets: Mapping[Part, int]) -> dict[str, dict[int, int]]:
    """Return offsets by topic and partition; a topic without a partition is there, too."""
    found: dict[str, dict[int, int]] = {topic: {} for topic in facts.ids}
    for (topic, number), offset in offsets.items():
        found.setdefault(topic, {})[number] = offset
    return found


def waiting(facts: Facts, position: KafkaPosition | None) -> dict[Part, int]:
    """Return by partition the first offset that waits to be read, of those where something waits."""
    begins = _begins(facts, position) if position else {part: extent.begin for part, extent in facts.parts.items()}
    starts = {part: max(offset, facts.parts[part].begin) for part, offset in begins.items()}
    return {part: offset for part, offset in starts.items() if offset < facts.parts[part].end}


def spans_of(begin: Mapping[str, Mapping[int, int]], end: Mapping[str, Mapping[int, int]]) -> Iterable[tuple[Part, Span]]:
    """Yield what a window reads of each partition, those left out of which it reads nothing."""
    for topic, offsets in sorted(end.items()):
        for number, offset in sorted(offsets.items()):
            first = begin.get(topic, {}).get(number, 0)
            if first < offset:
                yield (topic, number), Span(first, offset)


def _begins(facts: Facts, position: KafkaPosition) -> dict[Part, int]:
    # A partition that the position does not know is new: it is read from its beginning.
    return {(topic, number): position.offsets.get(topic, {}).get(number, 0) for topic, number in facts.parts}


def _window(facts: Facts, begins: Mapping[Part, int], most: int) -> Window:
    available = {part: max(0, facts.parts[part].end - offset) for part, offset in begins.items()}
    taken = shared(available, most)
    ends = {part: offset + taken[part] for part, offset in begins.items()}
    rows, left = sum(taken.values()), sum(available.values()) - sum(taken.values())
    return Window(
        kind="increment" if rows else "idle",
        begin_inclusive=text_of(by_topic(facts, begins)),
        end_inclusive=text_of(by_topic(facts, ends)),
        rows=rows,
        waiting_rows=left,
        reason=f"at most {counted(rows, 'record')} of {counted(sum(map(bool, taken.values())), 'partition')}",
    )


def _nowhere_to_begin(name: str) -> StateError:
    return StateError(
        "NO_CHECKPOINT",
        f"{name}: the target carries no checkpoint, and the pipeline does not say where to begin.",
        "Nothing was read or written.",
        "Add to the YAML's hoodie: auto.offset.reset: earliest (all that the topics hold) or latest (only what comes from now "
        "on)",
    )

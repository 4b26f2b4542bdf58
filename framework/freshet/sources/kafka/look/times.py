"""Where the records of a range of event times lie. Pure, but for what the time index is asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timezone

from freshet.errors import StateError
from freshet.project.model.kafka import ORIGIN
from freshet.sources.hudi.reads import ReadRange, counted
from freshet.sources.kafka.look.facts import Broker, Facts, Part
from freshet.sources.kafka.look.window import Span
from freshet.types.iso import moment_of

#: The column that Kafka's time index is of.
TIMESTAMP = f"{ORIGIN}.timestamp"


def begins_of(name: str, facts: Facts, broker: Broker, times: ReadRange) -> Iterable[tuple[Part, Span]]:
    """Return what of each partition holds the records of a range, and more behind them.

    Args:
        name: The pipeline's name, for messages.
        facts: The topics as they stand.
        broker: Knows the time index.
        times: The column and the range, in UTC.

    Raises:
        StateError: TOPIC_TRIMMED: records of the range may be gone.
    """
    begins = {part: extent.begin for part, extent in facts.parts.items()}
    if times.column.lower() == TIMESTAMP:
        moment = moment_of(times.start).replace(tzinfo=timezone.utc)
        found = broker.offsets_at(facts.parts, int(moment.timestamp() * 1000))
        begins = {part: facts.parts[part].end if (first := found.get(part)) is None else first for part in begins}
        # What is before the first record of the range is before the range, where there is such a record.
        gone = [part for part, first in begins.items() if first == facts.parts[part].begin > 0]
    else:
        gone = [part for part, first in begins.items() if first > 0]
    if gone:
        topic, number = min(gone)
        raise StateError(
            "TOPIC_TRIMMED",
            f"{name}: records of {times.start} to {times.end} may be gone: of {counted(len(gone), 'partition')} the first that "
            f"is left may be of the range itself, such as {topic}-{number} at offset {facts.parts[topic, number].begin}.",
            "Nothing was read or written.",
            f"Begin the backfill later; with 'event_time: {TIMESTAMP}' the time index tells what is still there.",
            partitions=[f"{topic}-{number}" for topic, number in sorted(gone)],
        )
    return [
        (part, Span(first, facts.parts[part].end)) for part, first in sorted(begins.items()) if first < facts.parts[part].end
    ]

"""Positions that somebody sets: offsets, a time, or an end of the topics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

from freshet.errors import StateError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.hudi.reads import counted
from freshet.sources.kafka.look.facts import Broker, Facts, Part
from freshet.sources.kafka.look.window import by_topic
from freshet.sources.kafka.position import KafkaPosition, offsets_of, text_of
from freshet.types.iso import moment_of

_ENDS = ("earliest", "latest")


def text_by_hand(text: str) -> str:
    """Return a position that somebody sets in its one form.

    Args:
        text: Offsets (``orders,0:12,1:40``; several topics with ``;`` between), a time of ISO 8601, ``earliest`` or ``latest``.

    Raises:
        ValueError: It is none of these, in words.
    """
    text = text.strip()
    if text.lower() in _ENDS:
        return text.lower()
    offsets = offsets_of(text)
    if offsets is not None:
        return text_of(offsets)
    moment = _moment(text)
    if moment is None:
        raise ValueError(
            "a position in topics is the next offset of each partition (orders,0:12,1:40, and ';' before another topic), a "
            "time from which on records are read (2026-08-01T10:15:00Z; without a zone it is UTC), earliest or latest."
        )
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def position_by_hand(name: str, spec: KafkaSpec, broker: Broker | None, facts: Facts | None, text: str) -> KafkaPosition:
    """Return the position of a text in its one form.

    Args:
        name: The pipeline's name, for messages.
        spec: Its source.
        broker: Tells the offset of a time; None where it was not asked.
        facts: The topics as they stand; None where nobody knows them.
        text: The position; empty for one before all records.

    Raises:
        StateError: SOURCE_MISSING or OFFSETS_INCOMPLETE.
    """
    if not text:
        return KafkaPosition(of=spec.place, offsets={})
    offsets = offsets_of(text)
    if facts is None or broker is None:
        if offsets is not None:
            return KafkaPosition(of=spec.place, offsets=offsets)
        raise StateError(
            "SOURCE_MISSING",
            f"{name}: there is no topic {spec.place.partition(':')[2]} that could tell where {text} is.",
            "The checkpoint stays.",
            "Make the topic, or name offsets.",
            path=spec.place,
        )
    if offsets is not None:
        _refuse_incomplete(name, facts, offsets)
    else:
        found = {part: extent.begin if text == "earliest" else extent.end for part, extent in facts.parts.items()}
        moment = _moment(text) if text not in _ENDS else None
        if moment is not None:
            at = broker.offsets_at(facts.parts, int(moment.timestamp() * 1000))
            found = {part: end if (first := at.get(part)) is None else first for part, end in found.items()}
        offsets = by_topic(facts, found)
    return KafkaPosition(of=spec.place, offsets=offsets, ids={t: i for t, i in facts.ids.items() if t in offsets})


def refuse_ahead(name: str, facts: Facts, text: str) -> None:
    """Raise CHECKPOINT_AHEAD for offsets behind the end of their partitions."""
    named = offsets_of(text) or {}
    ahead: dict[Part, int] = {
        (topic, number): offset
        for topic, offsets in named.items()
        for number, offset in offsets.items()
        if (topic, number) in facts.parts and offset > facts.parts[topic, number].end
    }
    if not ahead:
        return
    (topic, number), offset = min(ahead.items())
    raise StateError(
        "CHECKPOINT_AHEAD",
        f"{name}: {topic}-{number} ends at {facts.parts[topic, number].end}, before {offset}.",
        "The checkpoint stays.",
        f"The latest that can be set: freshet checkpoint set {name} latest",
    )


def _refuse_incomplete(name: str, facts: Facts, offsets: Mapping[str, Mapping[int, int]]) -> None:
    # What is left out would be read from its beginning, as a new partition is: nobody who sets offsets means that.
    missing = sorted(f"{topic}-{number}" for topic, number in facts.parts if number not in offsets.get(topic, {}))
    unknown = sorted(f"{t}-{n}" for t, of_one in offsets.items() for n in of_one if (t, n) not in facts.parts)
    if missing or unknown:
        wrong = [f"{counted(len(missing), 'partition')} left out ({', '.join(missing[:5])})"] if missing else []
        wrong += [f"{', '.join(unknown[:5])}, which {'is' if len(unknown) == 1 else 'are'} not read"] if unknown else []
        raise StateError(
            "OFFSETS_INCOMPLETE",
            f"{name}: the offsets do not name what is read: {'; '.join(wrong)}.",
            "The checkpoint stays.",
            "Name the next offset of every partition of every topic, 0 where all of it is wanted; or name a time.",
            missing=missing,
            unknown=unknown,
        )


def _moment(text: str) -> datetime | None:
    try:
        found = moment_of(text)
    except ValueError:
        return None
    # Digits alone are a day to Python, and may be anything to whoever wrote them.
    if text.isdigit():
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)

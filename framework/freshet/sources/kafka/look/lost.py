"""What forbids reading on from a position: records that are gone, topics that are others. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.errors import StateError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.hudi.reads import counted
from freshet.sources.kafka.look.facts import Facts, Part
from freshet.sources.kafka.position import KafkaPosition

_SHOWN = 5
_NOTHING = "Nothing was read or written."


def refuse_another(name: str, spec: KafkaSpec, position: KafkaPosition) -> None:
    """Raise CHECKPOINT_OF_ANOTHER_TABLE where a position is one in other topics than the pipeline reads."""
    if position.is_at(spec.place):
        return
    raise StateError(
        "CHECKPOINT_OF_ANOTHER_TABLE",
        f"{name}: the checkpoint belongs to {position.of}, and the pipeline reads {spec.place}.",
        _NOTHING,
        f"Say where each topic goes on, a new one at its first offset: freshet checkpoint set {name} "
        f"'{position.text or 'TOPIC,0:0'}'",
        checkpoint_table=position.of,
        source=spec.place,
    )


def refuse_replaced(name: str, facts: Facts, position: KafkaPosition) -> None:
    """Raise TOPIC_MISSING or TOPIC_REPLACED where a topic is gone, or another one has its name."""
    missing = sorted(position.offsets.keys() - facts.ids.keys())
    if missing:
        raise StateError(
            "TOPIC_MISSING",
            f"{name}: {', '.join(missing)} was read before, and the cluster has no such topic: what had not been read of it "
            "is gone with it.",
            _NOTHING,
            f"Make sure that bootstrap.servers names the right cluster. To go on without it: freshet checkpoint set {name} "
            "with the offsets of the others",
            topics=missing,
        )
    # A topic never loses a partition.
    fewer = {t for t, offsets in position.offsets.items() for number in offsets if (t, number) not in facts.parts}
    others = sorted(fewer | {topic for topic, known in position.ids.items() if facts.ids[topic] != known})
    if others:
        raise StateError(
            "TOPIC_REPLACED",
            f"{name}: {', '.join(others)} was deleted and made anew, or is a topic of another cluster: its offsets begin "
            "again, and those of the checkpoint mean nothing in it.",
            _NOTHING,
            f"To read the new topic from its beginning: freshet checkpoint set {name} earliest",
            topics=others,
        )


def gone_from(facts: Facts, begins: Mapping[Part, int]) -> dict[Part, int]:
    """Return how many records are gone at least, by partition, of those from which some are.

    Retention has passed the position where the log begins behind it; the log was cut off, as by a leader that had not
    all of it, where it ends before it.
    """
    found = {}
    for part, offset in begins.items():
        extent = facts.parts[part]
        if offset < extent.begin:
            found[part] = extent.begin - offset
        elif offset > extent.end:
            found[part] = offset - extent.end
    return found


def refuse_lost(name: str, facts: Facts, gone: Mapping[Part, int], begins: Mapping[Part, int]) -> None:
    """Raise OFFSETS_LOST for records that are gone."""
    told = [
        f"{topic}-{number} is read up to {begins[topic, number]} and holds {facts.parts[topic, number].begin} to "
        f"{facts.parts[topic, number].end}"
        for topic, number in sorted(gone)[:_SHOWN]
    ]
    more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
    lost = sum(gone.values())
    raise StateError(
        "OFFSETS_LOST",
        f"{name}: at least {counted(lost, 'record')} {'is' if lost == 1 else 'are'} gone from "
        f"{counted(len(gone), 'partition')}: {'; '.join(told)}{more}.",
        _NOTHING,
        f"To go on with what is there: freshet checkpoint set {name} earliest (rows that are read again change nothing where "
        "the ordering field decides); to always do so: hoodie.streamer.source.kafka.enable.failOnDataLoss: false; to prevent "
        "it, raise retention.ms or retention.bytes of the topic.",
        lost=lost,
        partitions=[f"{topic}-{number}" for topic, number in sorted(gone)],
    )

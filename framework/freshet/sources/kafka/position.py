"""How far topics of Kafka have been read: the next offset of each partition, and which topic that was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from freshet.errors import StateError
from freshet.project.model.kafka import KAFKA, place_of_topics
from freshet.sources.position import Encoding, Position

#: By the number of a partition: the offset of the next record to read.
Offsets = Mapping[int, int]

_TOPIC = r"[A-Za-z0-9._-]{1,249}"
_OFFSETS = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")
#: As HoodieStreamer writes those of one topic: ``orders,0:12,1:40``. Of a topic without a partition nothing stands behind it.
_ONE_TOPIC = re.compile(rf"({_TOPIC})((?:,[0-9]{{1,9}}:[0-9]{{1,18}})*)")


@dataclass(frozen=True, kw_only=True)
class KafkaPosition(Position):
    """How far topics have been read.

    Args:
        of: What is read, as ``project.model.kafka`` calls the place.
        offsets: By topic and partition: the offset of the next record.
        ids: Kafka's id of each topic, by which one that was deleted and made anew is told; none where nobody said it.
    """

    kind: ClassVar[str] = KAFKA

    of: str
    offsets: Mapping[str, Offsets]
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Return what is read."""
        return self.of

    @property
    def text(self) -> str:
        """Return the offsets, as HoodieStreamer writes those of one topic; several topics with ``;`` between."""
        return text_of(self.offsets)

    @property
    def is_exact(self) -> bool:
        """Return True: an offset is one wherever it is asked for."""
        return True

    def as_json(self) -> dict[str, object]:
        """Return what is shown of it."""
        topics = {
            name: {
                **({"id": self.ids[name]} if name in self.ids else {}),
                "offsets": {str(number): offset for number, offset in sorted(offsets.items())},
            }
            for name, offsets in sorted(self.offsets.items())
        }
        return {"of": self.of, "topics": topics}

    def encoded(self) -> dict[str, object]:
        """Return what a commit keeps of it."""
        return self.as_json()

    def streamer_form(self) -> str | None:
        """Return the offsets of one topic; HoodieStreamer reads no more than one."""
        return self.text if len(self.offsets) == 1 and any(self.offsets.values()) else None

    def is_beyond(self, other: Position) -> bool:
        """Say whether some partition has been read further."""
        if not isinstance(other, KafkaPosition):
            return False
        return any(
            offset > other.offsets.get(topic, {}).get(number, 0)
            for topic, offsets in self.offsets.items()
            for number, offset in offsets.items()
        )

    def is_at(self, place: str) -> bool:
        """Say whether it is one in the same topics."""
        return self.of == place

    def in_clear(self, place: str, hidden: Mapping[str, str]) -> KafkaPosition:
        """Return it as it is: a commit keeps the names of topics."""
        return self

    def concealed(self, place: str, hidden: Mapping[str, str]) -> KafkaPosition:
        """Return it as it is: no name of a topic holds a secret."""
        return self


def text_of(offsets: Mapping[str, Offsets]) -> str:
    """Return offsets as people read them: ``orders,0:12,1:40;trips,0:7``."""
    return ";".join(
        ",".join([topic, *(f"{number}:{offset}" for number, offset in sorted(of_one.items()))])
        for topic, of_one in sorted(offsets.items())
    )


def offsets_of(text: str) -> dict[str, dict[int, int]] | None:
    """Return the offsets that a text names; None where it names none."""
    found: dict[str, dict[int, int]] = {}
    for part in text.split(";"):
        match = _ONE_TOPIC.fullmatch(part.strip())
        if match is None or match[1] in found:
            return None
        pairs = [(int(number), int(offset)) for number, offset in _OFFSETS.findall(match[2])]
        if len(dict(pairs)) < len(pairs):
            return None
        found[match[1]] = dict(pairs)
    return found if any(found.values()) else None


def in_kafka(name: str, position: Position | None) -> KafkaPosition | None:
    """Return a position as one in topics; None for none.

    Args:
        name: The pipeline's name, for messages.
        position: The position that a checkpoint holds.

    Raises:
        StateError: CHECKPOINT_OF_ANOTHER_KIND.
    """
    if position is None or isinstance(position, KafkaPosition):
        return position
    raise StateError(
        "CHECKPOINT_OF_ANOTHER_KIND",
        f"{name}: the checkpoint is a position in a source of kind {position.kind!r}, and topics of Kafka are read.",
        "Nothing was read or written.",
        f"Where the topics took its place: freshet checkpoint set {name} earliest, or latest, or the time from which on their "
        "records are wanted.",
        kind=position.kind,
    )


def _read(raw: Mapping[str, Any]) -> KafkaPosition:
    offsets: dict[str, dict[int, int]] = {}
    ids: dict[str, str] = {}
    for name, one in raw["topics"].items():
        if not re.fullmatch(_TOPIC, name) or not isinstance(one.get("id", ""), str):
            raise ValueError("a topic has a name and an id")
        if not all(type(offset) is int and offset >= 0 for offset in one["offsets"].values()):
            raise ValueError("an offset is a whole number")
        offsets[name] = {int(number): offset for number, offset in one["offsets"].items()}
        if one.get("id"):
            ids[name] = one["id"]
    if not isinstance(raw["of"], str) or any(number < 0 for one in offsets.values() for number in one):
        raise ValueError("a position is of topics, and a partition a whole number")
    return KafkaPosition(of=raw["of"], offsets=offsets, ids=ids)


def _from_streamer(text: str, is_v1: bool) -> KafkaPosition | None:
    # The same text under both keys: it names no commit.
    found = offsets_of(text) if ";" not in text else None
    return KafkaPosition(of=place_of_topics(tuple(found)), offsets=found) if found else None


#: See ``freshet.sources.encodings``.
ENCODING = Encoding(kind=KAFKA, version=1, read=_read, from_streamer=_from_streamer)

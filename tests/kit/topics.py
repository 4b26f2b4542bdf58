"""A cluster of Kafka in memory, and topics as a pipeline's main source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from freshet.errors import FreshetError
from freshet.project.model.kafka import KafkaSpec, place_of_topics
from freshet.project.model.pipeline import TableRef
from freshet.sources.kafka.look.facts import Extent, Facts, Part
from freshet.sources.kafka.position import KafkaPosition
from tests.kit.memory import COLUMNS

#: When the cluster in memory is asked, in milliseconds since 1970.
NOW = 1_800_000_000_000


@dataclass
class MemoryBroker:
    """Answers for topics in memory; see ``freshet.sources.kafka.look.facts.Broker``.

    Args:
        parts: Begin and end of each partition.
        ids: The topics' ids; where none is given a topic's name is its id.
        times: Timestamps of records, by partition and offset.
        published: What consumer groups were set to.
        asked: How often it was asked what there is.
    """

    parts: dict[Part, tuple[int, int]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    times: dict[Part, dict[int, int]] = field(default_factory=dict)
    published: dict[str, Mapping[Part, int]] = field(default_factory=dict)
    asked: int = 0

    def facts(self) -> Facts:
        self.asked += 1
        return self._facts()

    def _facts(self) -> Facts:
        return Facts(
            ids={topic: self.ids.get(topic, topic) for topic, _ in self.parts},
            parts={part: Extent(*extent) for part, extent in self.parts.items()},
            asked_ms=NOW,
        )

    def facts_of(self, sources: Sequence[KafkaSpec]) -> list[Facts | FreshetError]:
        self.asked += 1
        found = self._facts()
        return [
            Facts(
                ids={topic: own for topic, own in found.ids.items() if topic in one.topics},
                parts={part: extent for part, extent in found.parts.items() if part[0] in one.topics},
                asked_ms=NOW,
            )
            for one in sources
        ]

    def offsets_at(self, parts: Iterable[Part], moment_ms: int) -> Mapping[Part, int | None]:
        return {
            part: min((offset for offset, at in self.times.get(part, {}).items() if at >= moment_ms), default=None)
            for part in parts
        }

    def times_at(self, offsets: Mapping[Part, int]) -> Mapping[Part, int]:
        found = {}
        for part, offset in offsets.items():
            later = [at for at in self.times.get(part, {}) if at >= offset]
            if later:
                found[part] = self.times[part][min(later)]
        return found

    def publish(self, group: str, offsets: Mapping[Part, int]) -> str:
        self.published[group] = dict(offsets)
        return ""


def a_topic_spec(*topics: str, pattern: str = "", **changes: Any) -> KafkaSpec:
    """Return topics as a main source, from their beginning on; ``orders`` where none is named."""
    names = topics or (() if pattern else ("orders",))
    place = place_of_topics(names, pattern)
    settings: dict[str, Any] = {
        "table": TableRef(place, place),
        "max_commits": 5,
        "missing_checkpoint": "ERROR",
        "full_scan_when_expired": False,
        "incremental_format": "auto",
        "topics": names,
        "pattern": pattern,
        "client": {"bootstrap.servers": "127.0.0.1:9092"},
        "reset": "earliest",
        "columns": COLUMNS,
    }
    return KafkaSpec(**{**settings, **changes})


def a_position(of: str = "kafka:orders", ids: dict[str, str] | None = None, **topics: dict[int, int]) -> KafkaPosition:
    """Return a position in topics, each with its name as its id where none is given."""
    return KafkaPosition(of=of, offsets=topics, ids={topic: topic for topic in topics} if ids is None else ids)

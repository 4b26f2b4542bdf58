"""What a cluster says of topics, as data; and who says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from freshet.errors import FreshetError
from freshet.project.model.kafka import KafkaSpec

#: A topic's name and the number of a partition.
Part = tuple[str, int]


@dataclass(frozen=True)
class Extent:
    """What of a partition can be read.

    Args:
        begin: Offset of the oldest record that is still there.
        end: The offset behind the last one that is committed, whatever transactions are open.
    """

    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Topics as they stood at one moment.

    Args:
        ids: Kafka's id of each topic that is there, by its name.
        parts: Every partition of these.
        cluster: Id of the cluster.
        asked_ms: When that was, in milliseconds since 1970.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[Part, Extent] = field(default_factory=dict)
    cluster: str = ""
    asked_ms: int = 0


class Broker(Protocol):
    """A cluster, asked without a JVM. Each question is bounded in time."""

    def facts(self) -> Facts:
        """Return what there is of the topics that the pipeline reads.

        Raises:
            FreshetError: KAFKA_UNREACHABLE or KAFKA_DENIED.
        """
        ...

    def facts_of(self, sources: Sequence[KafkaSpec]) -> Sequence[Facts | FreshetError]:
        """Return what there is of the topics of several sources of one cluster, or why that cannot be told, in their order.

        Args:
            sources: The sources; they have the same client's settings.
        """
        ...

    def offsets_at(self, parts: Iterable[Part], moment_ms: int) -> Mapping[Part, int | None]:
        """Return the offset of the first record of a time or a later one; None where there is none.

        Args:
            parts: The partitions.
            moment_ms: Milliseconds since 1970, by the records' own timestamps.
        """
        ...

    def times_at(self, offsets: Mapping[Part, int]) -> Mapping[Part, int]:
        """Return the timestamp of the first record at or behind an offset, in milliseconds since 1970.

        Args:
            offsets: By partition. One whose record cannot be had in time is left out of the answer.
        """
        ...

    def publish(self, group: str, offsets: Mapping[Part, int]) -> str:
        """Set the offsets of a consumer group, for tools that show its lag; returns in words why that was refused.

        Raises:
            FreshetError: KAFKA_UNREACHABLE or KAFKA_DENIED.
        """
        ...

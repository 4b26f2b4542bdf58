"""Topics of Kafka as the main source of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from freshet.project.model.records import RecordsSpec, told
from freshet.registry.address import Address, subject_of
from freshet.types.columns import Array, Atomic, Column, Struct

#: The kind of source that topics are.
KAFKA = "kafka"
#: The column of <SRC> that says where a record came from.
ORIGIN = "_kafka"
#: HoodieStreamer's default of how many records a run reads at most.
DEFAULT_MAX_EVENTS = 5_000_000

#: The column of <SRC> that a decoded key is.
KEY = "_key"

Format = Literal["json", "json_schema", "avro", "text", "bytes"]
#: Formats whose values become several columns.
OF_COLUMNS: tuple[Format, ...] = ("json", "json_schema", "avro")
Reset = Literal["earliest", "latest", "none"]


@dataclass(frozen=True, kw_only=True)
class KeySpec:
    """Keys of records that are Avro.

    Args:
        columns: What of a key is read: its fields, or the one field that a key is which is no record.
        registry: The schema registry.
        subjects: Those whose schemas keys may have; empty for the topics' own.
    """

    columns: tuple[Column, ...]
    registry: Address
    subjects: tuple[str, ...] = ()

    def subjects_of(self, topics: Iterable[str]) -> tuple[str, ...]:
        """Return the subjects whose schemas the keys of topics may have."""
        return self.subjects or tuple(subject_of("topic", topic, "key") for topic in topics)

    @property
    def column(self) -> Column:
        """Return the column that a key becomes; null of a record without one."""
        return Column(name=KEY, type=Struct(tuple((column.name, column.type) for column in self.columns)))


@dataclass(frozen=True, kw_only=True)
class KafkaSpec(RecordsSpec):
    """Topics, read incrementally as ``<SRC>``: a row for each record; see ``RecordsSpec``, too.

    Args:
        topics: Their names; empty where a pattern names them.
        pattern: Regular expression that the whole name of a topic matches; empty where they are named.
        client: Settings of the client, by Kafka's names: servers, security and the rest.
        max_events: Bound on records per run.
        reset: Where a run without a checkpoint begins; ``none`` is an error.
        group: Consumer group whose offsets are set after a commit; empty for none.
        fail_on_data_loss: False lets a run go on behind records that are gone.
        min_partitions: Tasks that read at the same time, at least; 0 for one a partition.
        format: What a record's value is.
        avro_schema: Schema that all values were written with, as JSON; empty where a registry has those of each.
        registry: The schema registry; None for none.
        subjects: Those whose schemas values may have; empty for the topics' own.
        is_compared: True where the plan holds the columns against the subjects.
        key: How keys are decoded; None where they are bytes.
    """

    kind: ClassVar[str] = KAFKA

    topics: tuple[str, ...]
    pattern: str = ""
    client: Mapping[str, str] = field(repr=False)
    max_events: int = DEFAULT_MAX_EVENTS
    reset: Reset = "none"
    group: str = ""
    fail_on_data_loss: bool = True
    min_partitions: int = 0
    format: Format = "json"
    avro_schema: str = field(default="", repr=False)
    registry: Address | None = None
    subjects: tuple[str, ...] = ()
    is_compared: bool = False
    key: KeySpec | None = None

    @property
    def uses_avro(self) -> bool:
        """Return True where values or keys are decoded as Avro."""
        return self.format == "avro" or self.key is not None

    @property
    def begins_late(self) -> bool:
        """Return True where a first run leaves out the records that are there."""
        return self.reset == "latest"

    @property
    def origin(self) -> Column:
        """Return ``_kafka``."""
        return Column(name=ORIGIN, type=ORIGIN_TYPE)

    @property
    def value_columns(self) -> tuple[Column, ...]:
        """Return the columns that a record's value becomes."""
        plain = Column(name="value", type=Atomic("string" if self.format == "text" else "binary"))
        return self.columns if self.format in OF_COLUMNS else (plain,)

    @property
    def row_columns(self) -> tuple[Column, ...]:
        """Return the columns of <SRC>, the key's before where the record came from."""
        *values, origin = super().row_columns
        return (*values, *((self.key.column,) if self.key is not None else ()), origin)

    @property
    def matters(self) -> list[Any]:
        """Return what of topics decides about rows, besides their names."""
        schema = [self.avro_schema] if self.avro_schema else []
        key = [str(self.key.column.type)] if self.key is not None else []
        return [self.format, told(self.columns), self.is_strict, self.tombstones, *schema, *key]

    @property
    def servers(self) -> str:
        """Return the addresses of the cluster."""
        return self.client["bootstrap.servers"]

    def subjects_of(self, topics: Iterable[str]) -> tuple[str, ...]:
        """Return the subjects whose schemas the values of topics may have."""
        return self.subjects or tuple(subject_of("topic", topic, "value") for topic in topics)


def place_of_topics(topics: tuple[str, ...], pattern: str = "") -> str:
    """Return what topics are called as a place; the cluster is no part of it, whose address may change."""
    return f"{KAFKA}:/{pattern}/" if pattern else f"{KAFKA}:{','.join(topics)}"


#: What ``_kafka`` holds.
ORIGIN_TYPE = Struct(
    (
        ("topic", Atomic("string")),
        ("partition", Atomic("int")),
        ("offset", Atomic("bigint")),
        ("timestamp", Atomic("timestamp")),
        ("timestamp_type", Atomic("string")),
        ("key", Atomic("binary")),
        ("headers", Array(Struct((("key", Atomic("string")), ("value", Atomic("binary")))))),
        ("tombstone", Atomic("boolean")),
    )
)


#: What a message of a changelog is, in topics and in tables.
MESSAGE = (Column(name="value", type=Atomic("binary")), Column(name=ORIGIN, type=ORIGIN_TYPE))

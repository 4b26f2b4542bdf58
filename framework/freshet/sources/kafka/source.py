"""Topics of Kafka as the main source of a pipeline: all that is asked of them without a JVM."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from freshet.errors import FreshetError, StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.one_look import OneLook, once
from freshet.hudi.table import StateReader
from freshet.project.model.checks import MalformedRule
from freshet.project.model.kafka import KAFKA, KafkaSpec
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange, Version, Window
from freshet.sources.kafka.client.open import open_broker
from freshet.sources.kafka.look import by_hand, words
from freshet.sources.kafka.look.facts import Broker, Facts, Part
from freshet.sources.kafka.look.misfits import refuse_misfits
from freshet.sources.kafka.look.times import begins_of
from freshet.sources.kafka.look.window import Span, end_text, next_window, spans_of, waiting, whole_window
from freshet.sources.kafka.position import KafkaPosition, in_kafka, offsets_of
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.sources.position import Position
from freshet.sources.protocol import Lag, SourceKind


@dataclass(frozen=True)
class KafkaSource:
    """Topics, read from offset to offset; see ``freshet.sources.protocol.Source``.

    Args:
        spec: The pipeline.
        topics: Its source.
        facts: The topics when they were looked at.
        broker: Who is asked for what only a few need: times.
    """

    spec: PipelineSpec
    topics: KafkaSpec
    facts: Facts
    broker: Broker = field(compare=False)

    @property
    def zone(self) -> str:
        """Return nothing: offsets name no times."""
        return ""

    @property
    def end(self) -> str:
        """Return the end of every partition; empty where no record was ever written."""
        return end_text(self.facts) if any(extent.end for extent in self.facts.parts.values()) else ""

    @property
    def passes_deletes(self) -> bool:
        """Return True where records without a value are declared to delete."""
        return self.topics.tombstones == "delete"

    def refuse_unreadable(self) -> None:
        """Do nothing: what cannot be decoded shows when it is read."""

    def look(self, position: Position | None, seen: Position | None = None) -> Window:
        """Return the records behind a position; see ``next_window``."""
        return next_window(self.spec.name, self.topics, self.facts, in_kafka(self.spec.name, position))

    def look_whole(self, upto: str = "") -> Window:
        """Return all records that were ever written, or those up to a position.

        Raises:
            StateError: TOPIC_TRIMMED, or TOPIC_HAS_NO_VERSIONS where they are wanted up to a position.
        """
        if upto:
            raise words.no_versions(self.spec.name)
        return whole_window(self.spec.name, self.facts)

    def position_after(self, window: Window, before: Position | None) -> KafkaPosition:
        """Return the window's end, with the topics' ids."""
        return KafkaPosition(of=self.topics.place, offsets=offsets_of(window.end_inclusive) or {}, ids=self.facts.ids)

    def read(self, window: Window, before: Checkpoint | None, deletes: bool) -> ReadTopics:
        """Return the stage that reads a window's offsets."""
        begin, end = (offsets_of(text) or {} for text in (window.begin_inclusive, window.end_inclusive))
        ranges = spans_of(begin, end) if window.begin_inclusive else ()
        return replace(self._stage(ranges), window=window, with_deletes=deletes)

    def _stage(self, ranges: Iterable[tuple[Part, Span]]) -> ReadTopics:
        ranges = tuple(ranges)
        topics, key = dict.fromkeys(topic for (topic, _), _ in ranges), self.topics.key
        subjects = self.topics.subjects_of(topics)
        if self.topics.is_compared and ranges:
            refuse_misfits(self.spec.name, self.topics, subjects)
        is_log = self.topics.changelog is not None
        malformed = next((one for one in self.spec.checks if isinstance(one.rule, MalformedRule)), None)
        return ReadTopics(
            table=self.topics.table,
            window=Window(kind="backfill"),
            with_deletes=self.passes_deletes,
            ranges=tuple(Range(topic, number, span.begin, span.end) for (topic, number), span in ranges),
            client=self.topics.client,
            min_partitions=self.topics.min_partitions,
            format=self.topics.format,
            columns=self.topics.columns,
            is_strict=self.topics.is_strict,
            tombstones=self.topics.tombstones,
            group=self.topics.group,
            avro_schema=self.topics.avro_schema,
            registry=self.topics.registry,
            subjects=subjects if self.topics.registry else (),
            key_columns=key.columns if key else (),
            key_registry=key.registry if key else None,
            key_subjects=key.subjects_of(topics) if key else (),
            # Any record is one of bytes; which of them is an event is told behind it.
            rule=malformed.name if malformed is not None and malformed.severity == "drop" and not is_log else "",
        )

    def read_range(self, times: ReadRange) -> ReadTopics:
        """Return the stage that reads the records of a range of event times, as far as the topics have been written by now.

        Of Kafka's own timestamps its time index tells where to begin; where to end it does not, as a producer's may go back.

        Raises:
            StateError: TOPIC_TRIMMED.
        """
        return replace(self._stage(begins_of(self.spec.name, self.facts, self.broker, times)), times=times)

    def late_words(self, window: Window) -> str:
        """Return nothing: records come in the order of their offsets."""
        return ""

    def unseen_words(self, window: Window) -> str:
        """Return nothing: a record that deletes is a record."""
        return ""

    def refuse_ahead(self, text: str) -> None:
        """Raise CHECKPOINT_AHEAD for offsets behind the end."""
        by_hand.refuse_ahead(self.spec.name, self.facts, text)

    def position_words(self, position: Position) -> str:
        """Return the offsets."""
        found = in_kafka(self.spec.name, position)
        return found.text if found else ""

    def lag(self, position: Position | None) -> Lag:
        """Return the records that wait at most, and how long the oldest of them has waited."""
        found = in_kafka(self.spec.name, position)
        begins = waiting(self.facts, found)
        rows = sum(self.facts.parts[part].end - offset for part, offset in begins.items())
        oldest = min(self.broker.times_at(begins).values(), default=self.facts.asked_ms) if begins else self.facts.asked_ms
        return Lag(
            position=found.text if found else "",
            rows=rows,
            # Timestamps are the producers', whose clocks may be ahead.
            minutes=round(max(0, self.facts.asked_ms - oldest) / 60_000, 4),
        )

    def version_before(self, window: Window, position: Position) -> Version:
        """Raise TOPIC_HAS_NO_VERSIONS."""
        raise words.no_versions(self.spec.name)

    def known_partitions(self, one: InputSpec, window: Window) -> tuple[tuple[str, ...], ...] | None:
        """Return None: only the records tell which partitions of an input they need."""
        return None

    def drive(
        self, one: InputSpec, changes: ReadIncrement, window: Window, earlier: Sequence[DriveRows], every_row: bool
    ) -> DriveRows:
        """Raise TOPIC_HAS_NO_KEYS: records are found by their offsets alone."""
        raise StateError(
            "TOPIC_HAS_NO_KEYS",
            f"{self.spec.name}: the input {one.name} drives rows of the main source, and records of a topic cannot be found by "
            "a key.",
            "Nothing was read or written.",
            "Land the topic in a raw table by a pipeline of its own, and let that be the main source.",
        )


def topics_of(spec: PipelineSpec) -> KafkaSpec:
    """Return a pipeline's main source as topics."""
    if not isinstance(spec.source, KafkaSpec):
        raise TypeError(f"{spec.name} reads no topics")
    return spec.source


def _asks_of(topics: KafkaSpec) -> Hashable:
    return KAFKA, frozenset(topics.client.items()), topics.topics, topics.pattern


def _together(specs: Sequence[PipelineSpec], state: OneLook) -> None:
    """Look at the topics of several pipelines, each cluster once."""
    sources = {_asks_of(topics_of(spec)): topics_of(spec) for spec in specs}
    clusters: dict[Hashable, list[KafkaSpec]] = {}
    for topics in sources.values():
        clusters.setdefault(frozenset(topics.client.items()), []).append(topics)
    for of in clusters.values():
        try:
            told = open_broker(of[0]).facts_of(of)
        except FreshetError as error:
            told = [error] * len(of)
        for topics, found in zip(of, told, strict=True):
            state.tell(_asks_of(topics), found)


def _look(spec: PipelineSpec, state: StateReader) -> tuple[Broker, Facts | None]:
    broker = open_broker(topics_of(spec))
    facts = once(state, _asks_of(topics_of(spec)), broker.facts)
    missing = [topic for topic in topics_of(spec).topics if topic not in facts.ids]
    # One of several that is missing is told by what the checkpoint knows of it.
    return broker, None if not facts.ids or missing else facts


def _find(spec: PipelineSpec, state: StateReader) -> KafkaSource | None:
    broker, facts = _look(spec, state)
    return KafkaSource(spec, topics_of(spec), facts, broker) if facts is not None else None


def _by_hand(spec: PipelineSpec, state: StateReader, text: str) -> KafkaPosition:
    broker, facts = _look(spec, state) if text else (None, None)
    return by_hand.position_by_hand(spec.name, topics_of(spec), broker, facts, text)


def _published(spec: PipelineSpec, position: Position) -> str:
    topics = topics_of(spec)
    if not topics.group or not isinstance(position, KafkaPosition):
        return ""
    offsets = {(topic, number): offset for topic, of in position.offsets.items() for number, offset in of.items()}
    try:
        return open_broker(topics).publish(topics.group, offsets) if offsets else ""
    except FreshetError as error:
        return str(error)


#: See ``freshet.sources.registry``.
KIND = SourceKind(
    find=_find,
    what=lambda spec: words.what(topics_of(spec)),
    remedy="Check hoodie.streamer.source.kafka.topic and bootstrap.servers, or make the topic: freshet makes none.",
    position_by_hand=_by_hand,
    text_by_hand=by_hand.text_by_hand,
    most=lambda spec: f"{topics_of(spec).max_events:,} records",
    describe=words.describe,
    reading=words.reading,
    readable=words.readable,
    published=_published,
    together=_together,
)

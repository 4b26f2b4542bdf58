"""A source that is no table: numbered rows in memory, of the kind "memory". Its positions are whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import InputSpec, PipelineSpec, SourceSpec, TableRef
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange, Version, Window
from freshet.sources.position import Encoding, Position
from freshet.sources.protocol import Lag, Source, SourceKind

KIND = "memory"


@dataclass(frozen=True)
class NumberPosition(Position):
    kind: ClassVar[str] = KIND
    version: ClassVar[int] = 2

    number: int
    queue: str = "trips"

    @property
    def place(self) -> str:
        return f"memory:{self.queue}"

    @property
    def text(self) -> str:
        return str(self.number)

    @property
    def is_exact(self) -> bool:
        return True

    def as_json(self) -> dict[str, object]:
        return {"number": self.number, "queue": self.queue}

    def encoded(self) -> dict[str, object]:
        return self.as_json()

    def streamer_form(self) -> str | None:
        return f"{self.queue},{self.number}"

    def is_beyond(self, other: Position) -> bool:
        return isinstance(other, NumberPosition) and self.number > other.number

    def is_at(self, place: str) -> bool:
        return place == self.place

    def in_clear(self, place: str, hidden: Mapping[str, str]) -> Position:
        return self

    def concealed(self, place: str, hidden: Mapping[str, str]) -> Position:
        return self


def _read(raw: Mapping[str, Any]) -> NumberPosition:
    if type(raw["number"]) is not int:
        raise ValueError("a number")
    return NumberPosition(raw["number"], raw["queue"])


def _from_streamer(text: str, is_v1: bool) -> NumberPosition | None:
    queue, comma, number = text.partition(",")
    return NumberPosition(int(number), queue) if comma and number.isdigit() and not is_v1 else None


#: Version 1 knew one queue alone, and did not name it.
ENCODING = Encoding(
    kind=KIND, version=2, read=_read, from_streamer=_from_streamer, ladder={1: lambda raw: {**raw, "queue": "trips"}}
)


class NumberSpec(SourceSpec):
    kind = KIND


@dataclass(frozen=True)
class NumberSource:
    """Rows 1 to ``last``, of which the first ``dropped`` are gone."""

    spec: PipelineSpec
    last: int
    dropped: int = 0
    zone: str = ""
    passes_deletes: bool = False

    @property
    def end(self) -> str:
        return str(self.last) if self.last else ""

    def refuse_unreadable(self) -> None:
        pass

    def look(self, position: Position | None, seen: Position | None = None) -> Window:
        if position is None:
            return self.look_whole()
        assert isinstance(position, NumberPosition)
        begin, end = position.number + 1, min(self.last, position.number + self.spec.source.max_commits)
        if begin > self.last:
            return Window(kind="idle", end_inclusive=position.text, reason="no row since the checkpoint")
        if begin <= self.dropped:
            raise StateError("CHECKPOINT_EXPIRED", "gone", "Nothing was read.", "")
        return Window(
            kind="increment", begin_inclusive=str(begin), end_inclusive=str(end), rows=end - begin + 1, reason="rows that wait"
        )

    def look_whole(self, upto: str = "") -> Window:
        if not self.last:
            return Window(kind="idle", reason="the source has no row yet")
        return Window(kind="whole_table", end_inclusive=upto or self.end, reason="all rows")

    def position_after(self, window: Window, before: Position | None) -> Position:
        return NumberPosition(int(window.end_inclusive))

    def read(self, window: Window, before: Checkpoint | None, deletes: bool) -> ReadIncrement:
        return ReadIncrement(table=self.spec.source.table, window=window, with_deletes=deletes)

    def read_range(self, times: ReadRange) -> ReadRange:
        return replace(times, as_of=self.end)

    def late_words(self, window: Window) -> str:
        return ""

    def unseen_words(self, window: Window) -> str:
        return ""

    def refuse_ahead(self, text: str) -> None:
        if int(text) > self.last:
            raise StateError("CHECKPOINT_AHEAD", f"{text} is beyond {self.last}", "The checkpoint stays.", "")

    def position_words(self, position: Position) -> str:
        return position.text

    def lag(self, position: Position | None) -> Lag:
        number = position.number if isinstance(position, NumberPosition) else 0
        return Lag(position=str(number), commits=self.last - number, rows=self.last - number, horizon=str(self.dropped + 1))

    def version_before(self, window: Window, position: Position) -> Version:
        raise StateError("NO_VERSIONS", "numbers have none", "Nothing was read.", "")

    def known_partitions(self, one: InputSpec, window: Window) -> tuple[tuple[str, ...], ...] | None:
        return None

    def drive(
        self, one: InputSpec, changes: ReadIncrement, window: Window, earlier: Sequence[DriveRows], every_row: bool
    ) -> DriveRows:
        raise StateError("NO_KEYS", "rows are found by number alone", "Nothing was read.", "")


@dataclass
class Queue:
    """What a source of the kind finds; ``last`` None where there is no queue."""

    last: int | None = 0
    dropped: int = 0
    asked: list[StateReader] = field(default_factory=list)

    def kind(self) -> SourceKind:
        return SourceKind(
            find=self._find,
            what=lambda spec: f"queue at {spec.source.place}",
            remedy="Fill it.",
            position_by_hand=lambda spec, state, text: NumberPosition(int(text or 0)),
            text_by_hand=lambda text: text,
            most=lambda spec: f"{spec.source.max_commits} numbers",
            reading=lambda window, zone: f"numbers up to {window.end_inclusive}",
            describe=lambda window, zone: f"numbers {window.begin_inclusive} to {window.end_inclusive}",
            readable=_readable,
        )

    def _find(self, spec: PipelineSpec, state: StateReader) -> Source | None:
        self.asked.append(state)
        return NumberSource(spec, self.last, self.dropped) if self.last is not None else None


def _readable(text: str, zone: str, now: datetime | None) -> str:
    return f"number {text}"


def a_number_spec(**changes: Any) -> NumberSpec:
    """Return the settings of the source: five rows a run, all of them first."""
    settings: dict[str, Any] = {
        "table": TableRef("trips", "memory:trips"),
        "max_commits": 5,
        "missing_checkpoint": "READ_UPTO_LATEST_COMMIT",
        "full_scan_when_expired": False,
        "incremental_format": "auto",
    }
    return NumberSpec(**{**settings, **changes})

"""What the plan, the status and a backfill ask of a source, and what a run asks of its reader.

A source is looked at without a JVM, and says what of it a run reads; a reader does that, with Spark, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadLookback, ReadRange, Version, Window
from freshet.sources.position import Position

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Lag:
    """How far a source has gone on from a position.

    Args:
        position, horizon: As the source counts it, empty for none; and the oldest position that can still be read from.
        commits, rows: What waits; no commits of a source that has none.
        minutes: From the position to the newest of what waits, or how long the oldest of it has waited where a position names
            no time; 0 where nothing waits.
        oldest: When the oldest of what waits came, as Hudi names instants; empty where nothing waits, or nobody knows.
        minutes_to_horizon: How much history is left before the position expires; None where nothing of it was ever dropped.
        captured: Up to where in its database's log the target holds a table that goes on with others; empty where unknown.
    """

    position: str = ""
    commits: int = 0
    rows: int = 0
    minutes: float = 0.0
    oldest: str = ""
    horizon: str = ""
    minutes_to_horizon: float | None = None
    captured: str = ""


class Source(Protocol):
    """The main source of a pipeline, as it was when it was looked at: the same question gets the same answer."""

    @property
    def zone(self) -> str:
        """Return the zone in which its positions name times; empty where they name none."""
        ...

    @property
    def end(self) -> str:
        """Return the position of its newest rows, as a window names it; empty where there is nothing yet."""
        ...

    @property
    def passes_deletes(self) -> bool:
        """Return True where it records which rows were deleted."""
        ...

    def refuse_unreadable(self) -> None:
        """Raise a StateError where it would show other rows than were written."""
        ...

    def look(self, position: Position | None, seen: Position | None = None) -> Window:
        """Return what the next run reads.

        Args:
            position: How far it has been read; None where the target carries no checkpoint.
            seen: How far it had been read, where the position has been set back from there by hand.

        Raises:
            StateError: It cannot be read on from there; the code says why.
        """
        ...

    def look_whole(self, upto: str = "") -> Window:
        """Return all of it as one window, whatever was read before.

        Args:
            upto: Read it as it stood there, where that can still be read; empty for now.
        """
        ...

    def position_after(self, window: Window, before: Position | None) -> Position:
        """Return the position of a run that has read a window, from a position or, for None, from the beginning."""
        ...

    def read(self, window: Window, before: Checkpoint | None, deletes: bool) -> ReadIncrement:
        """Return the stage that reads a window.

        Args:
            window: The window.
            before: The target's checkpoint.
            deletes: True where the rows that were deleted are read too.
        """
        ...

    def read_range(self, times: ReadRange) -> ReadRange | ReadIncrement:
        """Return the stage that reads the rows of a range of event times, in the version that it has now.

        Raises:
            StateError: It does not hold all rows of the range any more.
        """
        ...

    def late_words(self, window: Window) -> str:
        """Say which of the window's rows came later than their place tells; empty where none did."""
        ...

    def unseen_words(self, window: Window) -> str:
        """Say what the window holds of deletes that its rows don't show; empty where there is nothing."""
        ...

    def refuse_ahead(self, text: str) -> None:
        """Raise a StateError for a position, set by hand, that lies beyond its end."""
        ...

    def position_words(self, position: Position) -> str:
        """Return a position as the source counts it.

        Raises:
            StateError: CHECKPOINT_UNKNOWN_COMMIT.
        """
        ...

    def lag(self, position: Position | None) -> Lag:
        """Return how far it has gone on from a position; from its beginning for None."""
        ...

    def version_before(self, window: Window, position: Position) -> Version:
        """Return the version in which another table is joined that is wanted as it stood before a window.

        Raises:
            StateError: There is no such version.
        """
        ...

    def known_partitions(self, one: InputSpec, window: Window) -> tuple[tuple[str, ...], ...] | None:
        """Return the partitions of another table that the window's rows need; None where only the rows tell."""
        ...

    def drive(
        self,
        one: InputSpec,
        changes: ReadIncrement,
        window: Window,
        earlier: Sequence[DriveRows],
        every_row: bool,
    ) -> DriveRows:
        """Return the stage that adds the rows of the keys that changed in another table.

        Args:
            one: The other table, as the pipeline names it.
            changes: What changed there.
            window: What is read of the source itself.
            earlier: The stages that add rows before.
            every_row: True where all rows are added.

        Raises:
            StateError: Its rows cannot be found by a key.
        """
        ...


class InputTable(Protocol):
    """Another table that a pipeline reads, as it was when it was looked at."""

    @property
    def is_empty(self) -> bool:
        """Return True where nothing was ever written to it."""
        ...

    @property
    def partition_by(self) -> tuple[str, ...]:
        """Return its partition columns."""
        ...

    def refuse_unreadable(self) -> None:
        """Raise a StateError where it would show other rows than were written."""
        ...

    def news(self, position: Position | None) -> Window | None:
        """Return what of it is new and drives a run; None where it drives none.

        Raises:
            StateError: It cannot be read on from there.
        """
        ...

    def position_after(self, driven: Window | None, before: Position | None) -> Position:
        """Return the position of a run that has read what drives it, or all that there is."""
        ...

    def read_changes(self, changes: Window, before: Position | None) -> ReadIncrement:
        """Return what reads the changes that drive a run."""
        ...

    def look_back(self, source: Source, window: Window, news: Window | None, read_upto: str) -> ReadLookback:
        """Return the stage that reads what changed within its look-back.

        Args:
            source: The main source.
            window: What is read of it.
            news: What drives this run; None where nothing does.
            read_upto: Up to where the main source was read before; empty before the first run.
        """
        ...

    def version_now(self) -> str:
        """Return the version that it has now; empty for the latest."""
        ...

    def late_words(self, window: Window) -> str:
        """Say which of the window's rows came later than their place tells; empty where none did."""
        ...


@dataclass(frozen=True, kw_only=True)
class SourceKind:
    """One kind of source.

    Args:
        find: Looks at a pipeline's main source; None where there is none.
        what: Says what should be there, such as ``Hudi table at <path>``.
        remedy: What to do where it is not there.
        position_by_hand: Makes the position of a text that somebody sets; the source need not be there.
        text_by_hand: Returns such a text in its one form; ValueError, in words, where it is none.
        most: Says in words how much of it a run reads at most.
        describe: Says in words what a window reads, by the plan's zone.
        reading: Says so while it is read.
        published: Told how far a commit has read, for those who do not read checkpoints; returns in words why that failed,
            which harms nothing.
        readable: Returns a text of a position, with the plan's zone, as people read it; its age where a time is given.
        together: Asks with one question what several pipelines' looks would ask with one each.
    """

    find: Callable[[PipelineSpec, StateReader], Source | None]
    what: Callable[[PipelineSpec], str]
    remedy: str
    position_by_hand: Callable[[PipelineSpec, StateReader, str], Position]
    text_by_hand: Callable[[str], str]
    most: Callable[[PipelineSpec], str]
    describe: Callable[[Window, str], str]
    reading: Callable[[Window, str], str]
    readable: Callable[[str, str, datetime | None], str]
    published: Callable[[PipelineSpec, Position], str] = lambda spec, position: ""
    together: Callable[[Sequence[PipelineSpec], OneLook], None] = lambda specs, state: None


class Reader(Protocol):
    """Reads what a plan says of one kind of source."""

    @property
    def identity(self) -> tuple[str, ...]:
        """Return the columns that tell rows apart beside the source's own; no step of the pipeline sees them."""
        ...

    def read(self, spark: SparkSession, stage: ReadIncrement) -> tuple[DataFrame, DataFrame | None]:
        """Return a window's rows, with the columns of ``identity``, and what of it are none.

        The latter is for the quarantine: why (``quality.contract.REASONS``) and what it was (``ORIGINAL``). None where every
        row is one.
        """
        ...

    def drive(self, spark: SparkSession, stage: DriveRows, rows: DataFrame) -> DataFrame:
        """Return a window's rows with those of the keys that changed in another table."""
        ...

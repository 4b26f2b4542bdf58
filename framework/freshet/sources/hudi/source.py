"""A Hudi table as the main source of a pipeline: all that is asked of it without a JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.instants import is_instant, readable, zone_of
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.hudi.look.late import completion_of, late_commits, position_at, position_by_hand, refuse_late, what_is_late
from freshet.sources.hudi.look.partitions import known_partitions, touched_partitions
from freshet.sources.hudi.look.unreadable import refuse_unreadable
from freshet.sources.hudi.look.versions import (
    is_kept,
    refuse_cleaned,
    version_at_end,
    version_before,
    version_now,
    versions_held,
)
from freshet.sources.hudi.look.window import horizon, next_window
from freshet.sources.hudi.position import HudiPosition, in_hudi
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange, Version, Window, counted
from freshet.sources.position import Position
from freshet.sources.protocol import Lag, SourceKind


@dataclass(frozen=True)
class HudiSource:
    """A Hudi table, read commit by commit; see ``freshet.sources.protocol.Source``.

    Args:
        spec: The pipeline.
        table: The table's timeline when it was looked at.
    """

    spec: PipelineSpec
    table: TableState

    @property
    def zone(self) -> str:
        """Return the zone by which the table's writers name instants."""
        return zone_of(self.table)

    @property
    def end(self) -> str:
        """Return the completion time of the newest commit, table services included."""
        return self.table.commits[-1].completed if self.table.commits else ""

    @property
    def passes_deletes(self) -> bool:
        """Return True where the table keeps change data."""
        return self.table.config.records_changes

    def refuse_unreadable(self) -> None:
        """Raise PARTITION_UNREADABLE where Hudi shows the partition columns otherwise than they were written."""
        refuse_unreadable(self.spec.name, self.table)

    def look(self, position: Position | None, seen: Position | None = None) -> Window:
        """Return the commits after a position; see ``next_window``."""
        name = self.spec.name
        return next_window(name, self.table, self.spec.source, in_hudi(name, position), in_hudi(name, seen))

    def look_whole(self, upto: str = "") -> Window:
        """Return the table as it stands, or as it stood when a commit had completed, where it can be read so."""
        spec = replace(self.spec.source, missing_checkpoint="READ_UPTO_LATEST_COMMIT")
        window = next_window(self.spec.name, self.table, spec, None)
        if window.kind != "whole_table" or not upto or upto >= window.end_inclusive:
            return window
        as_of = version_at_end(self.table, upto)
        if not as_of or not is_kept(self.table, Version(as_of)):
            return window
        newest = [i.requested for i in self.table.data_commits if i.completed <= upto][-1:]
        return replace(window, end_inclusive=upto, requested=tuple(newest), reason=f"{window.reason}, as of {upto}")

    def position_after(self, window: Window, before: Position | None) -> HudiPosition:
        """Return a position at the window's end that knows the commits up to it."""
        return position_at(self.table, window.end_inclusive, in_hudi(self.spec.name, before))

    def read(self, window: Window, before: Checkpoint | None, deletes: bool) -> ReadIncrement:
        """Return the stage that reads a window, with the versions that tell what was deleted."""
        ref = self.spec.source.table
        if window.kind == "driven":
            return ReadIncrement(table=ref, window=window, with_deletes=deletes)
        held = versions_held(self.spec.name, self.table, window, before) if deletes and before else ()
        return ReadIncrement(
            table=ref,
            window=window,
            with_deletes=deletes,
            before=held,
            as_of=version_at_end(self.table, window.end_inclusive),
            partitions=touched_partitions(self.table, window),
        )

    def read_range(self, times: ReadRange) -> ReadRange:
        """Return the stage with the time to travel to for all that has completed by now."""
        return replace(times, as_of=version_now(self.table))

    def late_words(self, window: Window) -> str:
        """Say which of the window's commits are named in the past."""
        return what_is_late(self.table, window.late) if window.late else ""

    def unseen_words(self, window: Window) -> str:
        """Say what the window's commits deleted or replaced."""
        if window.unseen_deletes:
            return f"{window.unseen_deletes} deleted rows"
        taken = [i for i in self.table.data_commits if i.requested in window.requested]
        return "replaced file groups" if any(i.action == "replacecommit" for i in taken) else ""

    def refuse_ahead(self, text: str) -> None:
        """Raise CHECKPOINT_AHEAD for a time after the newest commit that brought rows."""
        newest = self.table.data_commits[-1].completed if self.table.data_commits else ""
        # What was requested first is archived first, even where it completed last.
        if newest and text > newest and not self.table.archived(text[:-1]):
            name = self.spec.name
            raise StateError(
                "CHECKPOINT_AHEAD",
                f"{name}: {text} is newer than the source's last commit {newest}.",
                "The checkpoint stays.",
                f"The latest that can be set: freshet checkpoint set {name} {newest}",
            )

    def position_words(self, position: Position) -> str:
        """Return a position as a completion time."""
        found = in_hudi(self.spec.name, position)
        return completion_of(self.spec.name, self.table, found) if found else ""

    def lag(self, position: Position | None) -> Lag:
        """Return the commits that wait, and how near the position is to what the table has dropped."""
        table, found = self.table, in_hudi(self.spec.name, position)
        read_upto = completion_of(self.spec.name, table, found) if found else ""
        late = late_commits(table, found, read_upto) if found else ()
        waiting = (*late, *table.commits_between(begin_exclusive=read_upto))
        oldest = horizon(table)
        trimmed = bool(table.retained_from) or bool(read_upto and table.commits and table.commits[0].completed > read_upto)
        return Lag(
            position=read_upto,
            commits=len(waiting),
            rows=sum(table.info(i).rows for i in waiting),
            minutes=max(0.0, _minutes(read_upto, waiting[-1].completed)) if read_upto and waiting else 0.0,
            oldest=min((i.completed for i in waiting), default=""),
            horizon=oldest,
            minutes_to_horizon=_minutes(oldest, read_upto) if trimmed and oldest and read_upto else None,
        )

    def version_before(self, window: Window, position: Position) -> Version:
        """Return the version that the table's own commits make of a time before the window."""
        refuse_late(self.spec.name, self.table, window)
        return version_before(self.spec.name, self.table, window, self.position_words(position))

    def known_partitions(self, one: InputSpec, window: Window) -> tuple[tuple[str, ...], ...] | None:
        """Return an input's partitions that the window's commits name."""
        return known_partitions(one, self.table, window)

    def drive(
        self,
        one: InputSpec,
        changes: ReadIncrement,
        window: Window,
        earlier: Sequence[DriveRows],
        every_row: bool,
    ) -> DriveRows:
        """Return the stage that finds the keys' rows in the version at the window's end."""
        as_of = version_at_end(self.table, window.end_inclusive)
        refuse_cleaned(self.spec.name, self.table, Version(as_of))
        return DriveRows(
            changes=changes,
            on=one.drives,
            source=self.table.ref,
            as_of=as_of,
            partition_by=self.table.config.partition_by,
            held=window.requested,
            earlier=tuple((drive.changes, drive.on) for drive in earlier),
            every_row=every_row,
        )


def _find(spec: PipelineSpec, state: StateReader) -> HudiSource | None:
    table = state.table(spec.source.table)
    return HudiSource(spec, table) if table is not None else None


def _by_hand(spec: PipelineSpec, state: StateReader, text: str) -> HudiPosition:
    return position_by_hand(state, spec.source.table, text)


def _describe(window: Window, zone: str) -> str:
    span = f"{_readable(window.begin_inclusive, zone, None)} to {_readable(window.end_inclusive, zone, None)}"
    left = f"; {counted(window.waiting_commits, 'commit')} ({counted(window.waiting_rows, 'row')}) left for the next run"
    return f"{counted(len(window.requested), 'commit')}, {counted(window.rows, 'row')}, completed {span}" + (
        left if window.waiting_commits else ""
    )


def _reading(window: Window, zone: str) -> str:
    commits, rows = counted(len(window.requested), "commit"), counted(window.rows, "row")
    return f"{commits} ({rows}) up to {readable(window.end_inclusive, zone)}"


def _text_by_hand(text: str) -> str:
    if not is_instant(text):
        raise ValueError(
            "an instant is a time of 14 to 17 digits, yyyyMMddHHmmss and milliseconds; `freshet checkpoint show` and "
            "`freshet status --output json` print some."
        )
    return text.ljust(17, "0")


def _readable(text: str, zone: str, now: datetime | None) -> str:
    return readable(text, zone, now, to_the_millisecond=True)


#: See ``freshet.sources.registry``.
KIND = SourceKind(
    find=_find,
    what=lambda spec: f"Hudi table at {spec.source.table.path}",
    remedy="Check hoodie.streamer.source.hoodieincr.path and the roots in configs/, or run the pipeline that makes it.",
    position_by_hand=_by_hand,
    text_by_hand=_text_by_hand,
    most=lambda spec: f"{spec.source.max_commits} commits",
    describe=_describe,
    reading=_reading,
    readable=_readable,
)


def _minutes(begin: str, end: str) -> float:
    try:
        return round((_moment(end) - _moment(begin)).total_seconds() / 60, 1)
    except ValueError:
        # HoodieStreamer's start of all time ("000", "00000000000000") is no date to count from.
        return 0.0


def _moment(instant: str) -> datetime:
    return datetime.strptime(instant[:14], "%Y%m%d%H%M%S")

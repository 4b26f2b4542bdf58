"""Files below a root as the main source of a pipeline: all that is asked of them without a JVM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from freshet.errors import StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import StateReader
from freshet.project.model.checks import MalformedRule
from freshet.project.model.files import ORIGIN, WITH_SCHEMA, FilesSpec
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.files.look import by_hand
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.look.listing import list_files
from freshet.sources.files.look.ready import ready_of
from freshet.sources.files.look.seen import in_order
from freshet.sources.files.look.window import Choice, choose, window_of
from freshet.sources.files.position import FilesPosition, in_files, iso_of
from freshet.sources.files.reads import File, ReadFiles
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange, Version, Window, counted
from freshet.sources.position import Position
from freshet.sources.protocol import Lag, SourceKind
from freshet.types.iso import moment_of

_MODIFIED = f"{ORIGIN}.modified"


@dataclass(frozen=True)
class FilesSource:
    """Files, each of which is read once; see ``freshet.sources.protocol.Source``.

    Args:
        spec: The pipeline.
        files: Its source.
        listing: The files when they were looked at.
        chosen: What was chosen of them by now, as a plan asks several times: of hundreds of thousands it takes a second.
    """

    spec: PipelineSpec
    files: FilesSpec
    listing: Listing
    chosen: list[tuple[FilesPosition | None, bool, Choice]] = field(default_factory=list, compare=False, repr=False)

    @property
    def zone(self) -> str:
        """Return nothing: positions name times of UTC."""
        return ""

    @property
    def end(self) -> str:
        """Return when the newest file was modified; empty where there is none."""
        newest = max((file.modified for file in ready_of(self.files, self.listing).files), default=0)
        return iso_of(newest) if newest else ""

    @property
    def passes_deletes(self) -> bool:
        """Return False: a row of a file deletes none."""
        return False

    def refuse_unreadable(self) -> None:
        """Do nothing: what cannot be read shows when it is read."""

    def look(self, position: Position | None, seen: Position | None = None) -> Window:
        """Return the files that were not read; see ``choose``."""
        found = self._position(position)
        return window_of(self._choice(found), found)

    def look_whole(self, upto: str = "") -> Window:
        """Return all files that are there.

        Raises:
            StateError: FILES_HAVE_NO_VERSIONS where they are wanted as they were.
        """
        if upto:
            raise self._no_versions()
        window = window_of(self._choice(None, is_whole=True), None)
        return window if window.kind == "idle" else replace(window, kind="whole_table")

    def position_after(self, window: Window, before: Position | None) -> FilesPosition:
        """Return the position behind what a window reads."""
        return self._choice(self._position(before), is_whole=window.kind == "whole_table").after

    def read(self, window: Window, before: Checkpoint | None, deletes: bool) -> ReadFiles:
        """Return the stage that reads a window's files."""
        is_whole = window.kind == "whole_table"
        position = before.main if before is not None and not is_whole else None
        files = self._choice(self._position(position), is_whole).read if window.kind != "driven" else ()
        return replace(self._stage(files), window=window, with_deletes=deletes)

    def read_range(self, times: ReadRange) -> ReadFiles:
        """Return the stage that reads the rows of a range of event times, out of the files that are there.

        By ``_file.modified`` the files of the range alone are read.
        """
        files = in_order(ready_of(self.files, self.listing).files)
        if times.column.lower() == _MODIFIED:
            begin, end = (_milliseconds(text) for text in (times.start, times.end))
            files = tuple(file for file in files if begin <= file.modified < end)
        return replace(self._stage(files), times=times)

    def _stage(self, files: Iterable[File]) -> ReadFiles:
        log = self.files.changelog
        malformed = next((one for one in self.spec.checks if isinstance(one.rule, MalformedRule)), None)
        return ReadFiles(
            table=self.files.table,
            window=Window(kind="backfill"),
            with_deletes=False,
            files=tuple(files),
            format=self.files.format,
            columns=self.files.columns,
            csv=self.files.csv,
            is_strict=self.files.is_strict,
            rule=malformed.name if malformed is not None and malformed.severity == "drop" else "",
            as_messages=log is not None and self.files.format not in WITH_SCHEMA,
        )

    def late_words(self, window: Window) -> str:
        """Say which files came too late, and are not read; empty where none did."""
        return window.warning

    def unseen_words(self, window: Window) -> str:
        """Return nothing: files record no deletes."""
        return ""

    def refuse_ahead(self, text: str) -> None:
        """Raise CHECKPOINT_AHEAD for a time that has not come yet."""
        by_hand.refuse_ahead(self.spec.name, self.listing, text)

    def position_words(self, position: Position) -> str:
        """Return the time up to which every file was read."""
        found = self._position(position)
        return found.text if found else ""

    def lag(self, position: Position | None) -> Lag:
        """Return how many files wait, and how long the oldest of them has."""
        found = self._position(position)
        choice = self._choice(found)
        waiting = (*choice.read, *choice.later)
        oldest = min((file.modified for file in waiting), default=self.listing.asked_ms)
        return Lag(
            position=found.text if found else "",
            commits=len(waiting),
            minutes=round(max(0, self.listing.asked_ms - oldest) / 60_000, 4),
            captured=choice.after.captured if not waiting else found.captured if found else "",
        )

    def version_before(self, window: Window, position: Position) -> Version:
        """Raise FILES_HAVE_NO_VERSIONS."""
        raise self._no_versions()

    def known_partitions(self, one: InputSpec, window: Window) -> tuple[tuple[str, ...], ...] | None:
        """Return None: only the rows tell which partitions of an input they need."""
        return None

    def drive(
        self, one: InputSpec, changes: ReadIncrement, window: Window, earlier: Sequence[DriveRows], every_row: bool
    ) -> DriveRows:
        """Raise FILES_HAVE_NO_KEYS: rows are found by their files alone."""
        raise StateError(
            "FILES_HAVE_NO_KEYS",
            f"{self.spec.name}: the input {one.name} drives rows of the main source, and rows of files are found by no key.",
            "Nothing was read or written.",
            "Land the files in a raw table by a pipeline of its own, and let that be the main source.",
        )

    def _position(self, position: Position | None) -> FilesPosition | None:
        return in_files(self.spec.name, position, self.files.place)

    def _choice(self, position: FilesPosition | None, is_whole: bool = False) -> Choice:
        for known, was_whole, choice in self.chosen:
            if (known, was_whole) == (position, is_whole):
                return choice
        found = choose(self.spec.name, self.files, ready_of(self.files, self.listing), position, is_whole)
        self.chosen.append((position, is_whole, found))
        return found

    def _no_versions(self) -> StateError:
        return StateError(
            "FILES_HAVE_NO_VERSIONS",
            f"{self.spec.name}: files have no earlier version of themselves.",
            "Nothing was read or written.",
            f"To read files again: freshet checkpoint set {self.spec.name} with the time after which they were modified; or "
            "land them in a raw table, and let that be the main source.",
        )


def files_of(spec: PipelineSpec) -> FilesSpec:
    """Return a pipeline's main source as files."""
    if not isinstance(spec.source, FilesSpec):
        raise TypeError(f"{spec.name} reads no files")
    return spec.source


def _milliseconds(text: str) -> int:
    return int(moment_of(text).replace(tzinfo=timezone.utc).timestamp() * 1000)


def _find(spec: PipelineSpec, state: StateReader) -> FilesSource | None:
    listing = list_files(files_of(spec).table)
    return FilesSource(spec, files_of(spec), listing) if listing is not None else None


def _by_hand(spec: PipelineSpec, state: StateReader, text: str) -> FilesPosition:
    listing = list_files(files_of(spec).table) if text == "latest" else None
    return by_hand.position_by_hand(spec.name, files_of(spec), listing, text)


def _describe(window: Window, zone: str) -> str:
    left = f"; {counted(window.waiting_commits, 'file')} left for the next run" if window.waiting_commits else ""
    return f"files that were modified from {window.begin_inclusive} to {window.end_inclusive}{left}"


def _readable(text: str, zone: str, now: datetime | None) -> str:
    return text


#: See ``freshet.sources.registry``.
KIND = SourceKind(
    find=_find,
    what=lambda spec: f"folder {spec.source.place}",
    remedy="Check hoodie.streamer.source.dfs.root, or make the folder; an object store has one as soon as a file is in it.",
    position_by_hand=_by_hand,
    text_by_hand=by_hand.text_by_hand,
    most=lambda spec: f"{counted(files_of(spec).max_files, 'file')}",
    describe=_describe,
    reading=lambda window, zone: window.reason,
    readable=_readable,
)

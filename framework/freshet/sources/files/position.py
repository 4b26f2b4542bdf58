"""How far a folder has been read: a mark in time, the files of a while before it one by one, and older ones in sum."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, ClassVar

from freshet.errors import StateError
from freshet.project.model.files import FILES
from freshet.sources.position import Encoding, Position

#: Bytes that a file is remembered by: 8 of its path, 4 of its size and time.
OF_PATH, OF_VERSION = 8, 4
ENTRY = OF_PATH + OF_VERSION
_SUM_BITS = 8 * ENTRY
# Until the year 2286 milliseconds since 1970 have 13 digits, and an instant of Hudi has never so few, nor so many.
_STREAMER_DIGITS = 13


@dataclass(frozen=True, kw_only=True)
class FilesPosition(Position):
    """How far the files below a root have been read.

    Args:
        of: The root.
        mark: When the newest file was modified that was read, in milliseconds since 1970; 0 where none was.
        whole: A time up to which every file was read that was there.
        horizon: Files that were modified before it are known in sum alone.
        minutes: By the minute in which they were modified: the files that were read since, each in ``ENTRY`` bytes, sorted.
        days: By day: how many files from before the horizon were read, and the sum of what each is remembered by. Those of a
            day that has no entry are in the next one's. None where nobody counted them: they all count as read.
        captured: Of a table that is published together with others: where in the log of their database all its files end that
            were read, in the database's own words; empty between two such places.
    """

    kind: ClassVar[str] = FILES

    of: str
    mark: int = 0
    whole: int = 0
    horizon: int = 0
    minutes: Mapping[int, bytes] = field(default_factory=dict)
    days: Mapping[int, tuple[int, int]] | None = field(default_factory=dict)
    captured: str = ""

    @property
    def place(self) -> str:
        """Return the root."""
        return self.of

    @property
    def text(self) -> str:
        """Return the time up to which every file was read."""
        return iso_of(self.whole) if self.whole else "earliest"

    @property
    def is_exact(self) -> bool:
        """Return False: which files count as read the folder alone tells."""
        return False

    @property
    def vector_version(self) -> int:
        """Return the version of the vector from which on a reader understands it."""
        return 1

    def as_json(self) -> dict[str, object]:
        """Return what is shown of it."""
        told = {
            "of": self.of,
            "read_up_to": self.text,
            "newest": iso_of(self.mark) if self.mark else "",
            "remembered_since": iso_of(self.horizon) if self.horizon else "",
            "remembered": sum(len(entries) // ENTRY for entries in self.minutes.values()),
        }
        older = {} if self.days is None else {"older": sum(count for count, _ in self.days.values())}
        return {**told, **older, **self._captured()}

    def encoded(self) -> dict[str, object]:
        """Return what a commit keeps of it."""
        told: dict[str, object] = {"of": self.of, "mark": self.mark, "whole": self.whole, "horizon": self.horizon}
        told["minutes"] = {str(at): base64.b64encode(found).decode() for at, found in sorted(self.minutes.items())}
        if self.days is not None:
            told["days"] = {str(day): [count, f"{total:x}"] for day, (count, total) in sorted(self.days.items())}
        return {**told, **self._captured()}

    def _captured(self) -> dict[str, object]:
        return {"captured": self.captured} if self.captured else {}

    def streamer_form(self) -> str | None:
        """Return the time up to which every file was read: HoodieStreamer reads those that were modified after it."""
        text = str(self.whole)
        return text if len(text) == _STREAMER_DIGITS else None

    def is_beyond(self, other: Position) -> bool:
        """Say whether newer files have been read."""
        return isinstance(other, FilesPosition) and self.mark > other.mark

    def is_at(self, place: str) -> bool:
        """Say whether it is one below the same root."""
        return self.of == place

    def in_clear(self, place: str, hidden: Mapping[str, str]) -> FilesPosition:
        """Return it as it is: a root that holds a secret is refused."""
        return self

    def concealed(self, place: str, hidden: Mapping[str, str]) -> FilesPosition:
        """Return it as it is: a root that holds a secret is refused."""
        return self


def iso_of(milliseconds: int) -> str:
    """Return milliseconds since 1970 as ISO 8601, UTC."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"


def in_files(name: str, position: Position | None, place: str) -> FilesPosition | None:
    """Return a position as one in the files below a root; None for none.

    Args:
        name: The pipeline's name, for messages.
        position: The position that a checkpoint holds.
        place: The root.

    Raises:
        StateError: CHECKPOINT_OF_ANOTHER_KIND or CHECKPOINT_OF_ANOTHER_TABLE.
    """
    if position is None:
        return None
    if not isinstance(position, FilesPosition):
        raise StateError(
            "CHECKPOINT_OF_ANOTHER_KIND",
            f"{name}: the checkpoint is a position in a source of kind {position.kind!r}, and files are read.",
            "Nothing was read or written.",
            f"Where the files took its place: freshet checkpoint set {name} earliest, or latest, or the time after which files "
            "are wanted.",
            kind=position.kind,
        )
    if position.of and not position.is_at(place):
        raise StateError(
            "CHECKPOINT_OF_ANOTHER_TABLE",
            f"{name}: the checkpoint belongs to the files below {position.of}, and the pipeline reads {place}.",
            "Nothing was read or written.",
            f"Say after which time files of the new place are read: freshet checkpoint set {name} earliest, or {position.text}",
            checkpoint_table=position.of,
            source=place,
        )
    return position


def _read(raw: Mapping[str, Any]) -> FilesPosition:
    numbers = [raw["mark"], raw["whole"], raw["horizon"]]
    if not isinstance(raw["of"], str) or not all(type(one) is int and one >= 0 for one in numbers):
        raise ValueError("a position is of a root, and its times are whole numbers")
    days = raw.get("days")
    return FilesPosition(
        of=raw["of"],
        mark=raw["mark"],
        whole=raw["whole"],
        horizon=raw["horizon"],
        minutes={int(at): _entries(text) for at, text in raw["minutes"].items()},
        days=None if days is None else {int(day): _sum(*told) for day, told in days.items()},
        captured=str(raw.get("captured", "")),
    )


def _entries(text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("what is remembered is base64") from error
    if len(found) % ENTRY:
        raise ValueError("what is remembered is so many bytes a file")
    return found


def _sum(count: int, total: str) -> tuple[int, int]:
    number = int(total, 16)
    if type(count) is not int or count < 0 or not 0 <= number < 1 << _SUM_BITS:
        raise ValueError("a sum is of so many files")
    return count, number


def _from_streamer(text: str, is_v1: bool) -> FilesPosition | None:
    # The same text under both keys: it names no commit.
    if not (text.isascii() and text.isdigit() and len(text) == _STREAMER_DIGITS):
        return None
    # Where the files lay it does not say.
    return after_time("", int(text))


def after_time(place: str, milliseconds: int) -> FilesPosition:
    """Return the position from which files are read that were modified after a time.

    Args:
        place: The root.
        milliseconds: Since 1970; 0 for one before all files.
    """
    horizon = milliseconds + 1 if milliseconds else 0
    return FilesPosition(of=place, mark=milliseconds, whole=milliseconds, horizon=horizon, days=None if milliseconds else {})


#: See ``freshet.sources.encodings``.
ENCODING = Encoding(kind=FILES, version=1, read=_read, from_streamer=_from_streamer)

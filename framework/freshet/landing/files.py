"""Which files are landed: found by name, of one format, their columns known, without a row of them being read."""

from __future__ import annotations

import bz2
import csv
import glob
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from freshet.errors import DataError, foreign_text
from freshet.problems import did_you_mean

Format = Literal["csv", "json", "parquet"]
UNTOUCHED = "Nothing was written."
_BY_ENDING: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
# By these endings Spark unpacks a file while it reads it.
_PACKED = {".gz": b"\x1f\x8b", ".bz2": b"BZh"}
UNPACK: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}
# A header is no longer; a file whose first quote never ends is not read whole for it.
_HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class Group:
    """Files that are read in one go: the same columns in the same order.

    Args:
        files: Their absolute paths.
        columns: Their columns; empty for JSON, where each row names its own.
        whole: True for JSON that is one list, and not a row a line.
    """

    files: tuple[str, ...]
    columns: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of one format.

    Args:
        format: The format.
        groups: The files, by what they can be read with.
        delimiter: What stands between two values of a CSV file.
        size: Bytes of all of them.
    """

    format: Format
    groups: tuple[Group, ...]
    delimiter: str
    size: int

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the absolute path of each file."""
        return tuple(path for group in self.groups for path in group.files)


def find_files(names: Sequence[str], wanted: str = "", delimiter: str = "") -> Files:
    """Find files and look at their first lines or footers.

    Args:
        names: Files, folders and patterns such as ``data/*.csv``; of a folder its own files are meant.
        wanted: The format; empty for what the files' names say.
        delimiter: Of CSV; empty for a comma, and a tab in ``.tsv``.

    Raises:
        DataError: FILE_NOT_FOUND, NO_FILES, FORMAT_UNKNOWN, FORMATS_DIFFER, FILE_EMPTY, FILE_UNREADABLE, NOT_TEXT, FILE_PACKED,
            HEADER_WRONG or FILES_DIFFER.
    """
    paths = list(dict.fromkeys(os.path.realpath(path) for name in names for path in _found(name, wanted)))
    formats = {path: wanted or _format_of(path) for path in paths}
    if len(set(formats.values())) > 1:
        one, other = (next(p for p, f in formats.items() if f == found) for found in sorted(set(formats.values()))[:2])
        raise _wrong(
            "FORMATS_DIFFER",
            one,
            f"is {formats[one]}, and {shown(other)} is {formats[other]}",
            "Land them one format at a time.",
        )
    found = cast(Format, formats[paths[0]])
    delimiter = delimiter or ("\t" if _endings(paths[0])[0] == ".tsv" else ",")
    for path in paths:
        if os.path.getsize(path) == 0:
            raise _wrong("FILE_EMPTY", path, "is empty", "Leave it out, or write it anew: even without rows it has a header.")
    grouped: dict[tuple[tuple[str, ...], bool, str], list[str]] = {}
    for path in paths:
        grouped.setdefault(_key(path, found, delimiter), []).append(path)
    groups = tuple(Group(tuple(files), columns, whole) for (columns, whole, _), files in grouped.items())
    _compare(groups)
    return Files(format=found, groups=groups, delimiter=delimiter, size=sum(map(os.path.getsize, paths)))


def shown(path: str) -> str:
    """Return a path as a person would name it from here."""
    near = os.path.relpath(path)
    return path if near.startswith("..") else near


def named(files: Files) -> str:
    """Return files in words: the one, or how many there are."""
    return shown(files.paths[0]) if len(files.paths) == 1 else f"{len(files.paths):,} files"


def _found(name: str, wanted: str) -> list[str]:
    try:
        return list(_named(name, wanted))
    except OSError as error:
        # A name that is too long, a folder that this user may not look into.
        raise _wrong("FILE_UNREADABLE", name, f"cannot be read: {error.strerror or error}", "Name another one.") from error


def _named(name: str, wanted: str) -> Iterator[str]:
    path = Path(name)
    if "://" in name:
        raise DataError(
            "FILE_NOT_LOCAL", f"{name} is no file of this machine.", UNTOUCHED, "Fetch it first, and land the copy."
        )
    if path.is_dir():
        files = sorted(
            str(one)
            for one in path.iterdir()
            if one.is_file() and not one.name.startswith((".", "_")) and (wanted or _endings(str(one))[0] in _BY_ENDING)
        )
        if not files:
            raise DataError(
                "NO_FILES",
                f"The folder {name} holds no file of a known format.",
                UNTOUCHED,
                f"Known endings: {', '.join(_BY_ENDING)}; or say --format.",
            )
        yield from files
    elif path.is_file():
        yield str(path)
    elif path.exists():
        raise _wrong("FILE_UNREADABLE", name, "is no ordinary file", "Write it to a file first.")
    elif files := sorted(one for one in glob.glob(name, recursive=True) if os.path.isfile(one)):
        yield from files
    elif glob.has_magic(name):
        raise DataError("NO_FILES", f"No file matches {name}.", UNTOUCHED, f"Here is {os.getcwd()}.")
    else:
        near = os.listdir(path.parent) if path.parent.is_dir() else ()
        raise DataError("FILE_NOT_FOUND", f"There is no file {name}.", UNTOUCHED, did_you_mean(path.name, near))


def _endings(path: str) -> tuple[str, str]:
    """Return a name's ending, and behind it the one that says how the file is packed."""
    stem, packed = os.path.splitext(path.lower())
    return (os.path.splitext(stem)[1], packed) if packed in _PACKED else (packed, "")


def ending_of(path: str) -> str:
    """Return the ending that says how a file is packed; empty where it is not."""
    return _endings(path)[1]


def _format_of(path: str) -> str:
    found = _BY_ENDING.get(_endings(path)[0])
    if found is None:
        raise _wrong(
            "FORMAT_UNKNOWN",
            path,
            "has an ending that says no format",
            f"Say --format csv, json or parquet; known endings: {', '.join(_BY_ENDING)}, and .gz or .bz2 behind them.",
        )
    return found


def _key(path: str, found: Format, delimiter: str) -> tuple[tuple[str, ...], bool, str]:
    try:
        if found == "parquet":
            return _footer(path)
        head = _head(path)
    except (OSError, EOFError, zlib.error) as error:
        raise _wrong("FILE_UNREADABLE", path, f"cannot be read: {foreign_text(error)}", "Write it anew.") from error
    if not head.strip():
        raise _wrong("FILE_EMPTY", path, "is empty", "Leave it out, or write it anew: even without rows it has a header.")
    if found == "json":
        return (), head.lstrip().startswith("["), ""
    return _header(path, head, delimiter), False, ""


def _head(path: str) -> str:
    packed = _endings(path)[1]
    with open(path, "rb") as plain:
        begins = plain.read(4)
    for ending, magic in _PACKED.items():
        if begins.startswith(magic) and ending != packed:
            raise _wrong(
                "FILE_PACKED", path, f"is packed, and its name does not end in {ending}", f"Rename it to {shown(path)}{ending}."
            )
    with UNPACK[packed](path, "rb") as file:
        data: bytes = file.read(_HEAD_BYTES)
    try:
        # The last character may have been cut.
        return data.decode("utf-8-sig", "strict" if len(data) < _HEAD_BYTES else "ignore")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _wrong(
            "NOT_TEXT",
            path,
            f"holds bytes in line {line} that are no UTF-8",
            f"Convert it: iconv -f LATIN1 -t UTF-8 {shown(path)}",
        ) from error


def _header(path: str, head: str, delimiter: str) -> tuple[str, ...]:
    try:
        names = next((row for row in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter) if row), [])
    except csv.Error as error:
        raise _wrong(
            "HEADER_WRONG", path, f"has no header that can be read: {error}", "Write the columns' names there."
        ) from error
    for other, name in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
        if len(names) == 1 and other in names[0] and other != delimiter:
            raise _wrong("HEADER_WRONG", path, f"has the one column '{names[0][:60]}'", f"Say --delimiter {name}.")
    names = [name.strip() for name in names]
    lower = [name.lower() for name in names]
    wrong = [f"column {number} has no name" for number, name in enumerate(names, 1) if not name]
    wrong += [f"column {name} stands twice" for name in dict.fromkeys(names) if name and lower.count(name.lower()) > 1]
    if wrong:
        raise _wrong(
            "HEADER_WRONG", path, f"has a header in which {', '.join(wrong)}", "The first line names each column once."
        )
    return tuple(names)


def _footer(path: str) -> tuple[tuple[str, ...], bool, str]:
    # pyarrow costs 0.2 s to import.
    import pyarrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise _wrong(
            "FILE_UNREADABLE", path, f"is no Parquet file that can be read: {foreign_text(error)}", "Write it anew."
        ) from error
    for field in schema:
        if "[ns" in str(field.type):
            raise _wrong(
                "UNSUPPORTED_TYPE",
                path,
                f"holds {field.name} to the nanosecond, and a table holds microseconds",
                "Write it so: pandas.DataFrame.to_parquet(..., coerce_timestamps='us').",
                column=field.name,
            )
    return tuple(schema.names), False, str(schema.remove_metadata())


def _compare(groups: Sequence[Group]) -> None:
    first = groups[0]
    for other in groups[1:]:
        odd = {c.lower() for c in first.columns} ^ {c.lower() for c in other.columns}
        if odd:
            column = next(c for c in (*first.columns, *other.columns) if c.lower() in odd)
            has, lacks = (first, other) if column in first.columns else (other, first)
            raise _wrong(
                "FILES_DIFFER",
                has.files[0],
                f"has a column {column}, and {shown(lacks.files[0])} has none",
                "Land files of one header at a time.",
                column=column,
            )


def _wrong(code: str, path: str, said: str, next_step: str, **details: object) -> DataError:
    return DataError(code, f"{shown(path)} {said}.", UNTOUCHED, next_step, file=path, **details)

"""Which files are landed: found by name, of one format, their columns known, without a row of them being read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from freshet.errors import DataError
from freshet.landing.heads import UNTOUCHED, Format, endings_of, key_of, shown, wrong_file
from freshet.problems import did_you_mean

_BY_ENDING: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


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
        raise wrong_file(
            "FORMATS_DIFFER",
            one,
            f"is {formats[one]}, and {shown(other)} is {formats[other]}",
            "Land them one format at a time.",
        )
    found = cast(Format, formats[paths[0]])
    delimiter = delimiter or ("\t" if endings_of(paths[0])[0] == ".tsv" else ",")
    for path in paths:
        if os.path.getsize(path) == 0:
            raise wrong_file(
                "FILE_EMPTY", path, "is empty", "Leave it out, or write it anew: even without rows it has a header."
            )
    grouped: dict[tuple[tuple[str, ...], bool, str], list[str]] = {}
    for path in paths:
        grouped.setdefault(key_of(path, found, delimiter), []).append(path)
    groups = tuple(Group(tuple(files), columns, whole) for (columns, whole, _), files in grouped.items())
    _compare(groups)
    return Files(format=found, groups=groups, delimiter=delimiter, size=sum(map(os.path.getsize, paths)))


def named(files: Files) -> str:
    """Return files in words: the one, or how many there are."""
    return shown(files.paths[0]) if len(files.paths) == 1 else f"{len(files.paths):,} files"


def _found(name: str, wanted: str) -> list[str]:
    try:
        return list(_named(name, wanted))
    except OSError as error:
        # A name that is too long, a folder that this user may not look into.
        raise wrong_file("FILE_UNREADABLE", name, f"cannot be read: {error.strerror or error}", "Name another one.") from error


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
            if one.is_file() and not one.name.startswith((".", "_")) and (wanted or endings_of(str(one))[0] in _BY_ENDING)
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
        raise wrong_file("FILE_UNREADABLE", name, "is no ordinary file", "Write it to a file first.")
    elif files := sorted(one for one in glob.glob(name, recursive=True) if os.path.isfile(one)):
        yield from files
    elif glob.has_magic(name):
        raise DataError("NO_FILES", f"No file matches {name}.", UNTOUCHED, f"Here is {os.getcwd()}.")
    else:
        near = os.listdir(path.parent) if path.parent.is_dir() else ()
        raise DataError("FILE_NOT_FOUND", f"There is no file {name}.", UNTOUCHED, did_you_mean(path.name, near))


def _format_of(path: str) -> str:
    found = _BY_ENDING.get(endings_of(path)[0])
    if found is None:
        raise wrong_file(
            "FORMAT_UNKNOWN",
            path,
            "has an ending that says no format",
            f"Say --format csv, json or parquet; known endings: {', '.join(_BY_ENDING)}, and .gz or .bz2 behind them.",
        )
    return found


def _compare(groups: Sequence[Group]) -> None:
    first = groups[0]
    for other in groups[1:]:
        odd = {c.lower() for c in first.columns} ^ {c.lower() for c in other.columns}
        if odd:
            column = next(c for c in (*first.columns, *other.columns) if c.lower() in odd)
            has, lacks = (first, other) if column in first.columns else (other, first)
            raise wrong_file(
                "FILES_DIFFER",
                has.files[0],
                f"has a column {column}, and {shown(lacks.files[0])} has none",
                "Land files of one header at a time.",
                column=column,
            )

"""What the head or footer of one file says of it: how it is packed, its columns, and whether it can be read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable
from typing import Any, Literal

from freshet.errors import DataError, foreign_text

Format = Literal["csv", "json", "parquet"]
UNTOUCHED = "Nothing was written."
# By these endings Spark unpacks a file while it reads it.
_PACKED = {".gz": b"\x1f\x8b", ".bz2": b"BZh"}
UNPACK: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}
# A header is no longer; a file whose first quote never ends is not read whole for it.
_HEAD_BYTES = 1 << 20


def shown(path: str) -> str:
    """Return a path as a person would name it from here."""
    near = os.path.relpath(path)
    return path if near.startswith("..") else near


def endings_of(path: str) -> tuple[str, str]:
    """Return a name's ending, and behind it the one that says how the file is packed."""
    stem, packed = os.path.splitext(path.lower())
    return (os.path.splitext(stem)[1], packed) if packed in _PACKED else (packed, "")


def ending_of(path: str) -> str:
    """Return the ending that says how a file is packed; empty where it is not."""
    return endings_of(path)[1]


def key_of(path: str, found: Format, delimiter: str) -> tuple[tuple[str, ...], bool, str]:
    """Return what files share that are read in one go: columns, whether it is one list of JSON, and the schema of Parquet.

    Raises:
        DataError: FILE_UNREADABLE, FILE_EMPTY, FILE_PACKED, NOT_TEXT, HEADER_WRONG or UNSUPPORTED_TYPE.
    """
    try:
        if found == "parquet":
            return _footer(path)
        head = _head(path)
    except (OSError, EOFError, zlib.error) as error:
        raise wrong_file("FILE_UNREADABLE", path, f"cannot be read: {foreign_text(error)}", "Write it anew.") from error
    if not head.strip():
        raise wrong_file("FILE_EMPTY", path, "is empty", "Leave it out, or write it anew: even without rows it has a header.")
    if found == "json":
        return (), head.lstrip().startswith("["), ""
    return _header(path, head, delimiter), False, ""


def _head(path: str) -> str:
    packed = endings_of(path)[1]
    with open(path, "rb") as plain:
        begins = plain.read(4)
    for ending, magic in _PACKED.items():
        if begins.startswith(magic) and ending != packed:
            raise wrong_file(
                "FILE_PACKED", path, f"is packed, and its name does not end in {ending}", f"Rename it to {shown(path)}{ending}."
            )
    with UNPACK[packed](path, "rb") as file:
        data: bytes = file.read(_HEAD_BYTES)
    try:
        # The last character may have been cut.
        return data.decode("utf-8-sig", "strict" if len(data) < _HEAD_BYTES else "ignore")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise wrong_file(
            "NOT_TEXT",
            path,
            f"holds bytes in line {line} that are no UTF-8",
            f"Convert it: iconv -f LATIN1 -t UTF-8 {shown(path)}",
        ) from error


def _header(path: str, head: str, delimiter: str) -> tuple[str, ...]:
    try:
        names = next((row for row in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter) if row), [])
    except csv.Error as error:
        raise wrong_file(
            "HEADER_WRONG", path, f"has no header that can be read: {error}", "Write the columns' names there."
        ) from error
    for other, name in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
        if len(names) == 1 and other in names[0] and other != delimiter:
            raise wrong_file("HEADER_WRONG", path, f"has the one column '{names[0][:60]}'", f"Say --delimiter {name}.")
    names = [name.strip() for name in names]
    lower = [name.lower() for name in names]
    wrong = [f"column {number} has no name" for number, name in enumerate(names, 1) if not name]
    wrong += [f"column {name} stands twice" for name in dict.fromkeys(names) if name and lower.count(name.lower()) > 1]
    if wrong:
        raise wrong_file(
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
        raise wrong_file(
            "FILE_UNREADABLE", path, f"is no Parquet file that can be read: {foreign_text(error)}", "Write it anew."
        ) from error
    for field in schema:
        if "[ns" in str(field.type):
            raise wrong_file(
                "UNSUPPORTED_TYPE",
                path,
                f"holds {field.name} to the nanosecond, and a table holds microseconds",
                "Write it so: pandas.DataFrame.to_parquet(..., coerce_timestamps='us').",
                column=field.name,
            )
    return tuple(schema.names), False, str(schema.remove_metadata())


def wrong_file(code: str, path: str, said: str, next_step: str, **details: object) -> DataError:
    """Return the error of a file that cannot be landed."""
    return DataError(code, f"{shown(path)} {said}.", UNTOUCHED, next_step, file=path, **details)

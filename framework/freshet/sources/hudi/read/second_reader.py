"""Read data files to see whether they can be read, in a process of its own, which a broken file may end."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from freshet.errors import foreign_text
from freshet.sources.hudi.read.frames import broken_frame

# Blocks of rows, and of change data, as Avro; and the key of their schema among a header's entries.
_OF_ROWS, _SCHEMA = (3, 6), 2


def check_files(asked: Iterable[str]) -> None:
    """Read files one after the other until one cannot be read, and print that one.

    Args:
        asked: A path in each line.
    """
    for line in asked:
        file = line.rstrip("\n")
        print(f"? {file}", flush=True)
        said = damage_of(file)
        if said:
            print(f"! {file}\t{' '.join(said.split())[:200]}", flush=True)
            return


def damage_of(file: str) -> str:
    """Return why a data file cannot be read; empty where it can, or is not there any more.

    Args:
        file: A Parquet file or a log of this machine's own disk.
    """
    if ".log." in file.rpartition("/")[2]:
        try:
            return broken_frame(file) or _broken_rows(Path(file).read_bytes())
        except OSError:
            return ""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file, page_checksum_verification=True) as reader:
            for _ in reader.iter_batches():
                pass
    except (FileNotFoundError, PermissionError):
        return ""
    except (ArrowException, OSError, ValueError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def _broken_rows(data: bytes) -> str:
    """Say which block of a log, whose frames are whole, holds rows that its schema cannot read; empty for none."""
    at = 0
    while at < len(data):
        (length,), (version, kind) = struct.unpack_from(">q", data, at + 6), struct.unpack_from(">ii", data, at + 14)
        if version == 1 and kind in _OF_ROWS:
            try:
                _read_rows(data, at + 22)
            except Exception as error:  # a reader of garbage raises what it likes
                return f"its block at byte {at:,} holds no rows: {foreign_text(error)}"
        at += 14 + length
    return ""


def _read_rows(data: bytes, position: int) -> None:
    from fastavro import parse_schema, schemaless_reader

    entries: dict[int, bytes] = {}
    (count,) = struct.unpack_from(">i", data, position)
    position += 4
    for _ in range(count):
        key, length = struct.unpack_from(">ii", data, position)
        entries[key] = data[position + 8 : position + 8 + length]
        position += 8 + length
    schema = parse_schema(_plain(json.loads(entries[_SCHEMA])))
    _, count = struct.unpack_from(">ii", data, position + 8)
    position += 16
    for _ in range(count):
        (length,) = struct.unpack_from(">i", data, position)
        row = io.BytesIO(data[position + 4 : position + 4 + length])
        schemaless_reader(row, schema, None, handle_unicode_errors="replace")
        if length < 0 or row.tell() != length:
            raise ValueError("a row is longer than it reads")
        position += 4 + length


def _plain(schema: Any) -> Any:
    """Return a schema without its logical types: Python has no time after the year 9999."""
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if key != "logicalType"}
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema

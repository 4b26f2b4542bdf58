"""Whether a log's blocks follow each other without a gap: Hudi passes over one that it cannot read, as if it had never been.

The format is that of ``HoodieLogFormatWriter`` (Hudi 1.0.2): ``#HUDI#``, the length of what follows, a version, a type, a
header, the content with its length before it, a footer, and at the end the length once more. Table version 8 has a log file for
each commit and file group, and names it by the commit, so that a whole one holds no block that a writer left unfinished.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from functools import partial

from freshet.storage.files import Storage

_MAGIC, _VERSION = b"#HUDI#", 1
# What is read at once of a block's begin: its schema is mostly shorter.
_AT_ONCE = 1 << 14
_MOST_ENTRIES = 64
# Blocks of rows, of deletes, and of change data: the header says of which commit they are. Others tell of a rollback.
_OF_A_COMMIT = range(1, 7)
_ROLLBACK = 2
_INSTANT = 0
# Of a log in a store, where each request takes its time: a smaller one is read at once, of another so many pieces at most.
_SMALL, _PIECE, _MOST_PIECES = 1 << 18, 1 << 14, 32
# A metadata table begins with commits of the year 0, which hold blocks of others.
_NAMED = re.compile(r"_([1-9]\d{16})\.log\.\d+_")


# Gives so many bytes from a position on; fewer at the end of the file.
_Read = Callable[[int, int], bytes]


class _Broken(Exception):
    """A block is not whole."""


class _Enough(Exception):
    """So much was read that nobody waits for the rest."""


def broken_frame(path: str) -> str:
    """Say where a log is not what its writer wrote, by its blocks' frames alone; empty where all is in place.

    Args:
        path: A log of this machine's own disk, in a table of version 8.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return _broken(path, os.fstat(descriptor).st_size, partial(os.pread, descriptor))
    finally:
        os.close(descriptor)


def broken_in_store(path: str, size: int, storage: Storage) -> str:
    """Say the same of a log in a store, as far as few requests tell; empty where nothing is found.

    Args:
        path: The log, in a table of version 8.
        size: Its bytes.
        storage: The store.
    """
    if size <= _SMALL:
        data = storage.read(path)
        return _broken(path, len(data), lambda length, position: data[position : position + length])
    try:
        return _broken(path, size, _Pieces(partial(storage.read_part, path), size).read)
    except _Enough:
        return ""


class _Pieces:
    """Reads of an object by pieces that are kept: a block's begin and its end are a request each."""

    def __init__(self, fetch: _Read, size: int) -> None:
        self._fetch, self._size = fetch, size
        self._kept: dict[int, bytes] = {}

    def read(self, length: int, position: int) -> bytes:
        end = min(position + length, self._size)
        numbers = range(position // _PIECE, -(-end // _PIECE))
        for number in numbers:
            if number not in self._kept:
                if len(self._kept) == _MOST_PIECES:
                    raise _Enough
                self._kept[number] = self._fetch(number * _PIECE, _PIECE)
        begin = position - numbers.start * _PIECE
        return b"".join(self._kept[number] for number in numbers)[begin : begin + max(0, end - position)]


def _broken(path: str, size: int, read: _Read) -> str:
    found = _NAMED.search(path.rpartition("/")[2])
    at = 0
    try:
        while at < size:
            at = _next(read, at, size, found[1] if found else "")
    except _Broken as broken:
        return f"its block at byte {at:,} {broken}"
    return ""


def _next(read: _Read, at: int, size: int, instant: str) -> int:
    head = read(_AT_ONCE, at)
    if head[:6] != _MAGIC or len(head) < 26:
        raise _Broken("does not begin as one")
    length: int = struct.unpack_from(">q", head, 6)[0]
    end = at + 14 + length
    if not 24 <= length <= size - at - 14:
        raise _Broken("ends behind the file")
    (again,) = struct.unpack(">q", read(8, end - 8))
    if again != length + 6:
        raise _Broken("has two lengths")
    version, kind = struct.unpack_from(">ii", head, 14)
    if version != _VERSION:
        # Of a later release.
        return end
    entries, position = _entries(read, head, at, at + 22, end)
    (content,) = struct.unpack(">q", _read(read, head, at, position, 8))
    if not 0 <= content <= end - 12 - position - 8:
        raise _Broken("holds more than its length")
    _, position = _entries(read, head, at, position + 8 + content, end)
    if position != end - 8:
        raise _Broken("holds less than its length")
    if kind in _OF_A_COMMIT and kind != _ROLLBACK and instant and entries.get(_INSTANT) != instant.encode():
        raise _Broken(f"is of another commit than {instant}")
    return end


def _entries(read: _Read, head: bytes, at: int, position: int, end: int) -> tuple[dict[int, bytes], int]:
    (count,) = struct.unpack(">i", _read(read, head, at, position, 4))
    position += 4
    if not 0 <= count <= _MOST_ENTRIES:
        raise _Broken("has a broken header")
    found: dict[int, bytes] = {}
    for _ in range(count):
        key, length = struct.unpack(">ii", _read(read, head, at, position, 8))
        position += 8 + length
        if length < 0 or position > end:
            raise _Broken("has a broken header")
        if key == _INSTANT and length <= 64:
            found[key] = _read(read, head, at, position - length, length)
    return found, position


def _read(read: _Read, head: bytes, at: int, position: int, length: int) -> bytes:
    begin = position - at
    data = head[begin : begin + length] if begin + length <= len(head) else read(length, position)
    if len(data) < length:
        raise _Broken("ends behind the file")
    return data

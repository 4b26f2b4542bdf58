"""Which files a position has read: each of a while by itself, older ones in sum. Pure.

A file is remembered by a digest of its path and one of its size and time. Two files are taken for one where both agree, and a
file for one that was written anew where its path's alone does: of ten thousand files that are remembered and a million that
come, that is one chance in thirty million million for the first, and one in two thousand million for the second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from freshet.sources.files.position import ENTRY, OF_PATH, OF_VERSION, FilesPosition
from freshet.sources.files.reads import File

MINUTE, DAY = 60_000, 86_400_000
#: So many files are remembered one by one at most, but for those of the last minutes.
MOST_FILES = 16_384
#: So many days have a sum of their own.
MOST_DAYS = 400
_LAST = 10 * MINUTE
_MODULUS = 1 << (8 * ENTRY)

Sums = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """Files held against a position; each in the order in which they were modified.

    Args:
        new: Files that were not read.
        rewritten: Files whose path was read, with another size or time.
        older: Files from before the horizon, that are known in sum alone.
    """

    new: tuple[File, ...]
    rewritten: tuple[File, ...]
    older: tuple[File, ...]


@dataclass(frozen=True, kw_only=True)
class Late:
    """Files from before the horizon that were never seen.

    Args:
        number: How many there are at least.
        named: Those of which it is known which they are.
        days: The days in which they were modified, in days since 1970.
        doubtful: Days of which files are gone since they were counted: one that came late to those is not told from them.
    """

    number: int = 0
    named: tuple[File, ...] = ()
    days: tuple[int, ...] = ()
    doubtful: tuple[int, ...] = ()


def entry_of(file: File) -> bytes:
    """Return what a file is remembered by."""
    path = blake2b(file.path.encode("utf-8", "surrogateescape"), digest_size=OF_PATH).digest()
    return path + blake2b(f"{file.size}:{file.modified}".encode(), digest_size=OF_VERSION).digest()


def in_order(files: Iterable[File]) -> tuple[File, ...]:
    """Return files in the order in which they are read."""
    return tuple(sorted(files, key=lambda file: (file.modified, file.path)))


def sort_out(files: Iterable[File], position: FilesPosition) -> Sorted:
    """Hold files against a position."""
    entries = {entry for found in position.minutes.values() for entry in _split(found)}
    paths = {entry[:OF_PATH] for entry in entries}
    new, rewritten, older = [], [], []
    for file in files:
        if not entries and file.modified >= position.horizon:
            new.append(file)
            continue
        entry = entry_of(file)
        if entry in entries:
            continue
        if entry[:OF_PATH] in paths:
            rewritten.append(file)
        elif file.modified < position.horizon:
            older.append(file)
        else:
            new.append(file)
    return Sorted(new=in_order(new), rewritten=in_order(rewritten), older=in_order(older))


def late_among(older: Iterable[File], position: FilesPosition) -> Late:
    """Return what of the files from before the horizon was never seen.

    Args:
        older: Those that there are now.
        position: What counted them.
    """
    if position.days is None:
        return Late()
    by_day: dict[int, list[File]] = defaultdict(list)
    keys = sorted(position.days)
    for file in older:
        day = file.modified // DAY
        by_day[next((key for key in keys if key >= day), day)].append(file)
    number, named, days, doubtful = 0, list[File](), set[int](), set[int]()
    for key, files in sorted(by_day.items()):
        known, total = position.days.get(key, (0, 0))
        now = sum_of(files)
        if (len(files), now) == (known, total):
            continue
        if len(files) < known:
            doubtful |= {file.modified // DAY for file in files}
            continue
        number += max(1, len(files) - known)
        one = ((now - total) % _MODULUS).to_bytes(ENTRY, "big") if len(files) == known + 1 else b""
        found = [file for file in files if not known or entry_of(file) == one]
        named += found
        days |= {file.modified // DAY for file in found or files}
    return Late(number=number, named=tuple(named), days=tuple(sorted(days)), doubtful=tuple(sorted(doubtful)))


def sum_of(files: Iterable[File]) -> int:
    """Return the sum of what files are remembered by."""
    return sum(int.from_bytes(entry_of(file), "big") for file in files) % _MODULUS


def position_after(
    position: FilesPosition,
    *,
    read: Iterable[File],
    rewritten: Iterable[File],
    unread: Iterable[File],
    standing: Iterable[File],
    late_ms: int,
) -> FilesPosition:
    """Return the position of a run that has read some files.

    Args:
        position: The one from which it read.
        read: What it has read.
        rewritten: Files in the place of others that were read, which count as read, too.
        unread: What is there, and will be read later.
        standing: All files that can be read.
        late_ms: How much older than the newest file one may be that comes later.
    """
    read, unread = tuple(read), tuple(unread)
    mark = max([position.mark, *(file.modified for file in read)])
    minutes: dict[int, set[bytes]] = {at: set(_split(found)) for at, found in position.minutes.items()}
    again = {*rewritten}
    for file in (*read, *again):
        # One that was rewritten is remembered for as long as what stood in its place.
        at = (mark if file in again else file.modified) // MINUTE
        minutes.setdefault(at, set()).add(entry_of(file))
    # What is there and was not read must not be taken for one of those that were.
    first = min((file.modified for file in unread), default=mark + 1)
    horizon = max(position.horizon, min(mark - late_ms, first))
    kept = sum(map(len, minutes.values()))
    for at in sorted(minutes):
        end = (at + 1) * MINUTE
        if end <= horizon or (kept > MOST_FILES and end <= min(first, mark - _LAST)):
            kept -= len(minutes.pop(at))
            horizon = max(horizon, end)
    left_out, entries = set(unread), {entry for found in minutes.values() for entry in found}
    older = [f for f in standing if f.modified < horizon and f not in left_out and entry_of(f) not in entries]
    return FilesPosition(
        of=position.of,
        mark=mark,
        whole=max(0, min([mark, *(file.modified - 1 for file in unread)])),
        horizon=max(0, horizon),
        minutes={at: b"".join(sorted(found)) for at, found in sorted(minutes.items())},
        days=_days(older),
    )


def _days(files: Iterable[File]) -> Sums:
    by_day: dict[int, list[File]] = defaultdict(list)
    for file in files:
        by_day[file.modified // DAY].append(file)
    days = sorted(by_day)
    if len(days) > MOST_DAYS:
        # Those of the oldest ones are in the last of them.
        last = days[-MOST_DAYS]
        by_day[last] = [file for day in days[: -MOST_DAYS + 1] for file in by_day[day]]
        days = days[-MOST_DAYS:]
    return {day: (len(by_day[day]), sum_of(by_day[day])) for day in days}


def _split(found: bytes) -> list[bytes]:
    return [found[at : at + ENTRY] for at in range(0, len(found), ENTRY)]

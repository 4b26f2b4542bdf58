"""Read what the completed actions of a timeline did, and the archive of the older ones."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import fastavro

from freshet.errors import RetryableError
from freshet.hudi.kept_texts import hold_texts
from freshet.hudi.mending import RESTORE, advice
from freshet.hudi.properties import WAITS
from freshet.hudi.table import COMMIT_ACTIONS, CommitInfo, Instant
from freshet.storage.failures import TableUnreadable
from freshet.storage.files import Storage


def _record(data: bytes) -> dict[str, Any] | None:
    try:
        found = next(iter(fastavro.reader(io.BytesIO(data))), None) if data else None
    except Exception:  # of bytes that are no Avro the reader raises whatever it stumbles over
        return None
    return found if isinstance(found, dict) else None


def read_action(storage: Storage, path: str) -> dict[str, Any]:
    """Return the record of a completed action.

    Raises:
        TableUnreadable: Its file is not whole.
        FileNotFoundError: It is not there.
    """
    for wait in (*WAITS, 0):
        data = storage.read(path)
        record = _record(data)
        if record is not None:
            return record
        time.sleep(wait)
    # Of an empty one, too: its rows stand in the table, and what it did is unknown.
    raise TableUnreadable(path, f"is no whole Avro file ({len(data):,} bytes)", advice(storage, path))


def file_of(timeline: str, instant: Instant) -> str:
    """Return the file of a completed action."""
    return f"{timeline}/{instant.requested}_{instant.completed}.{instant.action}"


def load_commit(storage: Storage, timeline: str, instant: Instant) -> CommitInfo:
    """Return what a commit did.

    Args:
        storage: Where the table lies.
        timeline: Folder of its timeline.
        instant: The commit.

    Raises:
        TableUnreadable: Its file, or the archive that it went to, is not whole.
        RetryableError: TIMELINE_CHANGED.
    """
    name = file_of(timeline, instant)
    try:
        return _commit_info(storage, read_action(storage, name), name)
    except FileNotFoundError:
        # The archiver moved it between the listing and this look; the archive has it.
        for archived, info in load_archived(storage, f"{timeline}/history"):
            if archived.requested == instant.requested:
                return info
    raise RetryableError(
        "TIMELINE_CHANGED",
        f"{name} was there a moment ago, and is not in the archive.",
        "Nothing was read or written.",
        "Run the same command again.",
        file=name,
    )


def _commit_info(storage: Storage, raw: Mapping[str, Any], path: str) -> CommitInfo:
    try:
        return _parsed_info(raw)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = str(error) if type(error) is ValueError else type(error).__name__
        raise TableUnreadable(path, f"holds no commit's metadata ({why})", advice(storage, path)) from error


def _parsed_info(raw: Mapping[str, Any]) -> CommitInfo:
    if "partitionToWriteStats" not in raw:
        raise KeyError("partitionToWriteStats")
    written, replaced = raw.get("partitionToWriteStats") or {}, raw.get("partitionToReplaceFileIds") or {}
    stats = [stat for group in written.values() for stat in group]
    # Writers that do not wait for each other give the groups of all partitions the same ids.
    groups = [(f"{partition}/{stat['fileId']}", stat) for partition, group in written.items() for stat in group]

    extra = raw.get("extraMetadata") or {}
    hold_texts(extra)
    # Of logs the size is that of a file that grew.
    base = [stat for stat in stats if str(stat.get("path") or "").endswith(".parquet")]

    def total(name: str, stats: Sequence[Mapping[str, Any]] = stats) -> int:
        return sum(stat.get(name) or 0 for stat in stats)

    return CommitInfo(
        operation=raw.get("operationType") or "UNKNOWN",
        inserts=total("numInserts"),
        updates=total("numUpdateWrites"),
        deletes=total("numDeletes"),
        file_ids=tuple(sorted({group for group, _ in groups})),
        replaced_ids=tuple(sorted({f"{partition}/{file}" for partition, files in replaced.items() for file in files})),
        partitions=tuple(sorted({*written, *replaced})),
        base_files=len(base),
        base_bytes=total("fileSizeInBytes", base),
        files=tuple((str(stat["path"]), int(stat.get("fileSizeInBytes") or 0)) for stat in stats if stat.get("path")),
        errors=total("totalWriteErrors"),
        extra=extra,
        log_ids=tuple(sorted({group for group, stat in groups if stat not in base})),
    )


def load_archived(
    storage: Storage,
    history: str,
    completed_after: str = "",
    without: frozenset[str] = frozenset(),
) -> tuple[tuple[Instant, CommitInfo], ...]:
    """Return the archived commits that completed after a time, with what they did.

    Args:
        storage: Where the table lies.
        history: Folder of the archive.
        completed_after: Completion time; empty for all.
        without: Request times of commits that are left out.

    Raises:
        TableUnreadable: The archive is not whole.
    """
    found = list[tuple[Instant, CommitInfo]]()
    for path, row in _archive(storage, history, completed_after, without, ("metadata",)):
        instant, raw = _archived_instant(row), _record(row["metadata"])
        if raw is None:
            raise TableUnreadable(path, f"says nothing of {instant.requested}", RESTORE)
        found.append((instant, _commit_info(storage, raw, path)))
    return tuple(found)


def list_archived(storage: Storage, history: str, completed_after: str = "") -> tuple[Instant, ...]:
    """Return the archived commits that completed after a time; what they did is left unread.

    Args:
        storage: Where the table lies.
        history: Folder of the archive.
        completed_after: Completion time; empty for all.

    Raises:
        TableUnreadable: The archive is not whole.
    """
    return tuple(_archived_instant(row) for _, row in _archive(storage, history, completed_after, frozenset(), ()))


def _archived_instant(row: Mapping[str, Any]) -> Instant:
    return Instant(row["completionTime"], row["instantTime"], row["action"])


def _archive(
    storage: Storage,
    history: str,
    completed_after: str,
    without: frozenset[str],
    columns: tuple[str, ...],
) -> Iterator[tuple[str, dict[str, Any]]]:
    if "_version_" not in storage.names(history):
        return
    try:
        yield from _archived_rows(storage, history, completed_after, without, columns)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"is no whole archive ({type(error).__name__}: {error})"
        raise TableUnreadable(history, what, "Restore the archive's files from a copy.") from error


def _archived_rows(
    storage: Storage,
    history: str,
    completed_after: str,
    without: frozenset[str],
    columns: tuple[str, ...],
) -> Iterator[tuple[str, dict[str, Any]]]:
    version = storage.read(f"{history}/_version_").decode().strip()
    manifest = json.loads(storage.read(f"{history}/manifest_{version}"))
    # An idle tick must not pay for this import (0.2 s).
    from pyarrow import BufferReader, array, compute, parquet, string

    known = array(sorted(without), string())
    for file in manifest.get("files", ()):
        path = f"{history}/{file['fileName']}"
        # The history of years may hold gigabytes of metadata; what completed earlier is left undecoded.
        table = parquet.read_table(
            BufferReader(storage.read(path)),
            columns=["instantTime", "completionTime", "action", *columns],
            filters=(compute.field("completionTime") > completed_after) & ~compute.field("instantTime").isin(known),
        )
        yield from ((path, row) for row in table.to_pylist() if row["action"] in COMMIT_ACTIONS)

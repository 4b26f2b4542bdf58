"""What rollbacks and cleans took away, by the timeline's own records."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from freshet.hudi.actions import file_of, read_action
from freshet.hudi.table import Instant
from freshet.storage.failures import TableUnreadable
from freshet.storage.files import Storage


def taken_back(storage: Storage, timeline: str, rollback: Instant) -> tuple[str, ...]:
    """Return the request times of the commits that a rollback took back."""
    try:
        raw = read_action(storage, file_of(timeline, rollback))
    except FileNotFoundError:
        return ()
    return tuple(raw.get("commitsRollback") or ())


def retained_from(storage: Storage, timeline: str, instants: tuple[Instant, ...]) -> str:
    """Return what the table's cleans have left whole: see ``TableState``."""
    deleted = ""
    for clean in sorted((i for i in instants if i.action == "clean"), reverse=True):
        try:
            raw = read_action(storage, file_of(timeline, clean))
        except FileNotFoundError:
            continue
        if raw.get("earliestCommitToRetain"):
            # The older cleans retained no less, so they need no look.
            return max(str(raw["earliestCommitToRetain"]), f"{deleted}+" if deleted else "")
        # KEEP_LATEST_FILE_VERSIONS names no commit: what follows the newest file that any clean deleted is still whole.
        deleted = max([deleted, *(instant for _, instant in _deleted_files(raw))])
    return f"{deleted}+" if deleted else ""


def cleaned_files(storage: Storage, timeline: str, instants: tuple[Instant, ...]) -> tuple[tuple[str, str], ...]:
    """Return the file groups that the table's cleans deleted a version of, each with that version's request time."""
    found: list[tuple[str, str]] = []
    for clean in (i for i in instants if i.action == "clean"):
        with suppress(FileNotFoundError):
            found += _deleted_files(read_action(storage, file_of(timeline, clean)))
    return tuple(found)


def files_to_clean(storage: Storage, timeline: str, requested: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """Return what cleans that have not completed are going to delete, as ``cleaned_files`` does.

    Args:
        storage: Where the table lies.
        timeline: Folder of its timeline.
        requested: Request times of the cleans.

    Returns:
        The files; None where a plan is not there, or not whole.
    """
    found: list[tuple[str, str]] = []
    for time_ in requested:
        try:
            plan = read_action(storage, f"{timeline}/{time_}.clean.requested")
        except (FileNotFoundError, TableUnreadable):
            return None
        for path, files in (plan.get("filePathsToBeDeletedPerPartition") or {}).items():
            found += _groups(path, (str(file.get("filePath") or "") for file in files))
    return tuple(found)


def overtaken(storage: Storage, timeline: str, planned: Sequence[str], done: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the rollbacks that are planned and not done whose commit has completed: each with that commit's request time.

    Args:
        storage: Where the table lies.
        timeline: Folder of its timeline.
        planned: Request times of the rollbacks that are planned and not done.
        done: Request times of what has completed.
    """
    found: list[tuple[str, str]] = []
    for time_ in planned:
        # One that is not whole Hudi gives up.
        with suppress(FileNotFoundError, TableUnreadable):
            plan = read_action(storage, f"{timeline}/{time_}.rollback.requested")
            commit = (plan.get("instantToRollback") or {}).get("commitTime")
            if commit in done:
                found.append((time_, str(commit)))
    return tuple(found)


def _deleted_files(clean: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        group
        for path, partition in (clean.get("partitionMetadata") or {}).items()
        for group in _groups(path, partition.get("successDeleteFiles") or ())
    ]


def _groups(partition: str, files: Iterable[str]) -> list[tuple[str, str]]:
    return [group for file in files if (group := file_group(f"{partition}/{file.rpartition('/')[2]}")) is not None]


def file_group(path: str) -> tuple[str, str] | None:
    """Return of a base or log file's path below its table the file group and the request time; None where it is none."""
    # <file id>_<write token>_<request time>.parquet, or .<file id>_<request time>.log.<...>
    folder, _, name = path.rpartition("/")
    found = re.match(r"([^/_]+?)(?:_[^/_]+)?_(\d{14,17})\.", name.removeprefix("."))
    return (f"{folder}/{found[1]}", found[2]) if found else None

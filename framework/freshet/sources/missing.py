"""Files of a table that are not what its commits wrote: gone, or cut. Hudi passes over most of them without a word.

A listing shows no file that is missing, and a log's reader takes what it cannot read for a write that never ended.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from freshet.errors import FreshetError, StateError
from freshet.plan.reads import Version
from freshet.sources.slices import newest_files
from freshet.spec.model import TableRef
from freshet.state.actions import file_group
from freshet.state.failures import told
from freshet.state.storage import is_local, local_path, storage_for
from freshet.state.table import TableState
from freshet.state.timeline import TimelineState

# Listings that are asked for together; and in all of a version, where each takes its time.
_AT_ONCE, _MOST_FOLDERS = 8, 200
_NAME = re.compile(r"([^/\s]+_\d{14,17}\.(?:parquet|orc|log\.[\w.-]+\w))")


def gone_for_good(table: TableRef, error: BaseException | str, effect: str) -> StateError | None:
    """Return the error of a file that no later run will find either; None where one may, or nobody can tell.

    Args:
        table: The table that the file belongs to.
        error: What Spark and Hudi raised.
        effect: What was or was not written.
    """
    found = re.search(re.escape(table.path.rstrip("/")) + r"/(?:[^\n]*?/)?" + _NAME.pattern, str(error))
    group = file_group(found[0].rpartition(f"{table.path.rstrip('/')}/")[2]) if found else None
    if found is None or group is None:
        return None
    try:
        state = TimelineState().table(table)
        if state is None or state.cleaning or group in state.load_cleaned() or not _is_committed(state, group[1]):
            return None
    except FreshetError:
        return None
    return _missing(table, found[0], effect)


def hold_files(table: TableRef, requested: Collection[str], as_of: str, effect: str) -> None:
    """Refuse to read commits whose files, or those below them, are not there, or are shorter than they were written.

    Args:
        table: The table.
        requested: Request times of the commits.
        as_of: Time of the version that their rows are read at; empty for the latest.
        effect: What was or was not written.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
    """
    state = TimelineState().table(table)
    if state is not None:
        infos = [state.info(i) for i in state.commits if i.requested in set(requested)]
        groups = {group for info in infos for group in info.file_ids}
        files = [*(file for info in infos for file in info.files), *newest_files(state, Version(as_of), groups)]
        _hold_all(table, _by_folder(files), effect)


def hold_version(
    table: TableRef | TableState, version: Version, effect: str,
    is_read: Callable[[TableState, str], bool] = lambda state, folder: True,
) -> None:
    """Refuse to go on with a version of a table whose files are not there, or are shorter than they were written.

    Args:
        table: The table, or what is known of it already. Files of archived commits are not known, and in a store that is not
            this machine's own only the partitions that were written last are looked at.
        version: Its version.
        effect: What was or was not written.
        is_read: Says of a partition's path whether it is of interest.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
    """
    state = TimelineState().table(table) if isinstance(table, TableRef) else table
    if state is not None:
        files = newest_files(state, version)
        found = _by_folder((path, size) for path, size in files if is_read(state, path.rpartition("/")[0]))
        _hold_all(state.ref, found if is_local(state.ref.path) else dict(islice(found.items(), _MOST_FOLDERS)), effect)


def _by_folder(files: Iterable[tuple[str, int]]) -> Mapping[str, list[tuple[str, int]]]:
    found = defaultdict[str, list[tuple[str, int]]](list)
    for path, size in files:
        folder, _, name = path.rpartition("/")
        found[folder].append((name, size))
    return found


def _hold_all(table: TableRef, by_folder: Mapping[str, list[tuple[str, int]]], effect: str) -> None:
    base = local_path(table.path).rstrip("/")
    sizes = told(table, storage_for(base).sizes)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        listed = pool.map(lambda folder: sizes(f"{base}/{folder}"), by_folder)
        for (folder, files), found in zip(by_folder.items(), listed, strict=True):
            for name, size in files:
                _hold(table, f"{table.path.rstrip('/')}/{folder}/{name}", size, found.get(name), effect)


def _hold(table: TableRef, path: str, size: int, found: int | None, effect: str) -> None:
    if found is None and size:
        # What a clean has deleted stands in newer files.
        gone = gone_for_good(table, path, effect)
        if gone is not None:
            raise gone
    if found is not None and found < size:
        raise StateError(
            "FILE_CORRUPT", f"{table.name}: {path} has {found:,} bytes, and its commit wrote {size:,}.", effect,
            f"Restore the file from a copy; or make {table.name} anew, and what is made of it.",
            table=table.name, path=table.path,
        )


def _missing(table: TableRef, file: str, effect: str) -> StateError:
    return StateError(
        "FILE_MISSING", f"{table.name}: a file of it is missing, which its timeline knows and no clean has deleted: "
        f"{file}.", effect,
        f"Restore the file from a copy; or make {table.name} anew, and what is made of it.",
        table=table.path, file=file,
    )


def _is_committed(state: TableState, requested: str) -> bool:
    # What was rolled back meanwhile is no part of the table, and a later run does not ask for it.
    if any(i.requested == requested for i in state.commits):
        return True
    return any(i.requested == requested for i, _ in state.load_archived(""))

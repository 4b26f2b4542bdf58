"""Files of a table that are not what its commits wrote: gone, or cut. Hudi passes over most of them without a word.

A listing shows no file that is missing, and a log's reader takes what it cannot read for a write that never ended.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from framework.errors import FreshetError, StateError
from framework.spec.model import TableRef
from framework.state.actions import file_group
from framework.state.failures import told
from framework.state.storage import local_path, storage_for
from framework.state.table import TableState
from framework.state.timeline import TimelineState

#: Listings that are asked for together.
_AT_ONCE = 8
_NAME = re.compile(r"([^/\s]+_\d{14,17}\.(?:parquet|orc|log\.[\w.-]+\w))")


def gone_for_good(table: TableRef, error: BaseException | str, effect: str) -> StateError | None:
    """Return the error of a file that no later run will find either; None where one may, or nobody can tell.

    Args:
        table: The table that the file belongs to.
        error: What Spark and Hudi raised.
        effect: What was or was not written.
    """
    found = re.search(re.escape(table.path.rstrip("/")) + r"/(?:[^\n]*?/)?" + _NAME.pattern, str(error))
    group = file_group(found[1]) if found else None
    if found is None or group is None:
        return None
    try:
        state = TimelineState().table(table)
        if state is None or state.cleaning or group in state.load_cleaned() or not _is_committed(state, group[1]):
            return None
    except FreshetError:
        return None
    return _missing(table, found[0], effect)


def hold_files(table: TableRef, requested: Collection[str], effect: str) -> None:
    """Refuse to read commits whose files are not there, or are shorter than they were written.

    Args:
        table: The table.
        requested: Request times of the commits.
        effect: What was or was not written.

    Raises:
        StateError: FILE_MISSING or FILE_CORRUPT.
    """
    state = TimelineState().table(table)
    wanted, base = set(requested), local_path(table.path).rstrip("/")
    by_folder = defaultdict[str, list[tuple[str, int]]](list)
    for instant in state.commits if state is not None else ():
        for path, size in state.info(instant).files if state is not None and instant.requested in wanted else ():
            folder, _, name = path.rpartition("/")
            by_folder[folder].append((name, size))
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

"""Files that are not there: which of them no later run will find either."""

from __future__ import annotations

import re
from collections.abc import Collection

from freshet.errors import FreshetError, StateError
from freshet.hudi.cleans import file_group
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read.slices import newest_files
from freshet.sources.hudi.reads import Version

_NAME = re.compile(r"([^/\s]+_\d{14,17}\.(?:parquet|orc|log\.[\w.-]+\w))")


def gone_for_good(table: TableRef, error: BaseException | str, effect: str) -> StateError | None:
    """Return the error of a file that no later run will find either; None where one may, or nobody can tell.

    Args:
        table: The table that the file belongs to.
        error: What Spark and Hudi raised.
        effect: What was or was not written.
    """
    found = re.search(re.escape(table.path.rstrip("/")) + r"/(?:[^\n]*?/)?" + _NAME.pattern, str(error))
    if found is None:
        return None
    try:
        lost = lost_of(table, [found[0].rpartition(f"{table.path.rstrip('/')}/")[2]])
    except FreshetError:
        return None
    return missing(table, lost, effect) if lost else None


def lost_of(table: TableRef, gone: Collection[str]) -> str:
    """Return the first of some files that are not there which a later run will not find either; empty where there is none.

    The timeline is asked now: what a clean has deleted rightly since they were listed stands in newer files.
    """
    state = TimelineState().table(table)
    if state is None:
        return ""
    # No clean rightly deletes a file of the newest version, and one that has died must not excuse for ever what is gone.
    newest = {path for path, _ in newest_files(state, Version(""))}
    to_clean = state.load_cleaning()
    cleaned = {*state.load_cleaned(), *(to_clean or ())}
    for path in gone:
        group = file_group(path)
        if path in newest or (
            group is not None and group not in cleaned and to_clean is not None and _is_committed(state, group[1])
        ):
            return path
    return ""


def missing(table: TableRef, file: str, effect: str) -> StateError:
    """Return the error of a file that is gone for good.

    Args:
        table: The table.
        file: The file, relative to it.
        effect: What was or was not written.
    """
    file = f"{table.path.rstrip('/')}/{file}"
    return StateError(
        "FILE_MISSING",
        f"{table.name}: a file is missing that its timeline knows, and that no clean may delete: {file}.",
        effect,
        f"Restore the file from a copy; or make {table.name} anew, and what is made of it.",
        table=table.path,
        file=file,
    )


def _is_committed(state: TableState, requested: str) -> bool:
    # What was rolled back meanwhile is no part of the table, and a later run does not ask for it.
    if any(i.requested == requested for i in state.commits):
        return True
    return any(i.requested == requested for i, _ in state.load_archived(""))

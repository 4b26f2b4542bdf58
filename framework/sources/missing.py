"""A file that a read did not find: cleaned meanwhile, which the next run knows, or gone for good."""

from __future__ import annotations

import re

from framework.errors import FreshetError, StateError
from framework.spec.model import TableRef
from framework.state.actions import file_group
from framework.state.table import TableState
from framework.state.timeline import TimelineState

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
    return StateError(
        "FILE_MISSING", f"{table.name}: a file of it is missing, which its timeline knows and no clean has deleted: "
        f"{found[0]}.", effect,
        f"Restore the file from a copy; or make {table.name} anew, and what is made of it.",
        table=table.path, file=found[0],
    )


def _is_committed(state: TableState, requested: str) -> bool:
    # What was rolled back meanwhile is no part of the table, and a later run does not ask for it.
    if any(i.requested == requested for i in state.commits):
        return True
    return any(i.requested == requested for i, _ in state.load_archived(""))

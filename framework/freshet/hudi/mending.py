"""What mends a file of a timeline that is not whole."""

from __future__ import annotations

import re

from freshet.hudi.properties import COMPLETED
from freshet.storage.files import Storage

#: What is safe to say of every file.
RESTORE = "Restore the file from a copy."
_TAKE_BACK = (
    f"{RESTORE} Where a writer died while it completed this action, delete the file: the action is then unfinished, "
    "and the table's next write takes it back."
)
# Of each state of an action: request time, and completion time where it completed.
_TIMES = re.compile(r"^(\d{14,17})(?:_(\d{14,17}))?\.")


def advice(storage: Storage, path: str) -> str:
    """Return what mends an action's file.

    Hudi takes nothing back beneath a later action, and nothing whose plan is not there.

    Args:
        storage: Where the table lies.
        path: The file.

    Returns:
        The advice; to delete the file only where the table stays whole without it.
    """
    folder, _, own = path.rpartition("/")
    found = COMPLETED.match(own)
    if found is None:
        return RESTORE
    others = [times for name in storage.names(folder) if name != own and (times := _TIMES.match(name))]
    later = any(times[1] > found[1] or (times[2] or "") > found[2] for times in others)
    planned = any(times[1] == found[1] and times[2] is None for times in others)
    return _TAKE_BACK if planned and not later else RESTORE

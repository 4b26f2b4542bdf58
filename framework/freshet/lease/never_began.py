"""Take away what is left of a table that never began, so that the writer which holds the table can make it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from freshet.hudi.never_began import PROPERTIES, never_began
from freshet.lease.local import backfill_lease, service_lease
from freshet.lease.protocol import Leases
from freshet.project.model.pipeline import TableRef
from freshet.storage.failures import not_writable
from freshet.storage.files import local_path

# A writer that takes no lease of freshet's may be making the table at this moment, which takes milliseconds.
_SETTLES_SECONDS = 0.5


def clear_never_began(table: TableRef, held: TableRef, leases: Leases) -> bool:
    """Remove the ``.hoodie`` of a table that never began; says whether it did.

    Args:
        table: The table.
        held: What the caller holds the lease on: the table, or what one of its other writers does.
        leases: Where the leases of the table are kept.

    Raises:
        StateError: NOT_WRITABLE.
    """
    if not never_began(table.path):
        return False
    others = (one for one in (table, backfill_lease(table), service_lease(table)) if one.path != held.path)
    if any(leases.is_held(one) for one in others):
        # It may be theirs, in the making.
        return False
    folder = Path(local_path(table.path)) / ".hoodie"
    before = _seen(folder)
    time.sleep(_SETTLES_SECONDS)
    if _seen(folder) != before or not never_began(table.path):
        return False
    try:
        for name in PROPERTIES:
            (folder / name).unlink(missing_ok=True)
        # Folders alone, from within: one that somebody has put a file into meanwhile stays.
        for place, _, _ in os.walk(folder, topdown=False):
            os.rmdir(place)
    except OSError as error:
        raise not_writable(table, error) from error
    return True


def _seen(folder: Path) -> tuple[int, ...]:
    try:
        found = (folder / PROPERTIES[0]).stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns

"""Where the lease of a table is kept: on this machine, or beside the table where all machines see it."""

from __future__ import annotations

from freshet.lease.local import LocalLeases
from freshet.lease.protocol import Leases
from freshet.lease.stored import StoredLeases
from freshet.project.model.pipeline import TableRef
from freshet.storage.conditional import conditional_store


def leases_for(target: TableRef, across_machines: bool | None = None) -> Leases:
    """Return where the lease of a table is kept.

    Args:
        target: The table.
        across_machines: True where other machines write to what looks like this one's own disk; False where no lease beside
            the table is wanted; None for one wherever the table's store is remote and writes on a condition.
    """
    store = None if across_machines is False else conditional_store(target.path, bool(across_machines))
    return LocalLeases() if store is None else StoredLeases(store)

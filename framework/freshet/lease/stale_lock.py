"""Hudi's lock for the moment of a commit, where a writer that is gone left its file behind.

The file says nothing of its owner: on a local file system Hudi 1.0.2 writes nothing into it, as it asks whether the file is
there after it has made it. So the owner is told by what stands around it: the leases of this machine, which say who was
killed and when it began, and the heartbeats of all writers of the table. Whatever these do not tell stays Hudi's, which
waits for the lock and takes it by the table's own ``hoodie.write.lock.filesystem.expire``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from freshet.lease.others import held_by_others, left_behind, wait_for_orphans
from freshet.lease.protocol import HeldLease
from freshet.project.model.pipeline import TableRef
from freshet.storage.files import is_local, local_path

# After so long without one a writer is dead to Hudi, by the defaults of ``hoodie.client.heartbeat.interval_in_ms`` and
# ``hoodie.client.heartbeat.tolerable.misses``.
_HEARTBEAT_SECONDS = 120.0
# File systems and clocks that round.
_SLACK_SECONDS = 2.0
_POLL_SECONDS = 0.1


def clear_stale_lock(target: TableRef, lease: HeldLease, on_wait: Callable[[str], None] = lambda words: None) -> bool:
    """Remove the file of Hudi's lock where a writer of this machine that is gone left it; says whether it did.

    Never by its age: it goes where a holder of one of the target's leases was killed or failed, the file was made while
    that one was at work, nobody else of this machine is, and no writer of any tool or machine has a heartbeat.

    Args:
        target: The table; only a local one is looked at.
        lease: One of the target's leases, which the caller holds.
        on_wait: Told in words of what is waited for: a JVM that ends, a heartbeat too young to say that its writer is gone.
    """
    if not is_local(target.path):
        return False
    folder = Path(local_path(target.path)) / ".hoodie"
    if _modified(folder / "lock") is None:
        return False
    # Of one that was ended this moment: as long as its JVM lives, it may be its own, and is by all that can be told.
    wait_for_orphans(target, on_wait)
    gone = (lease.left, *left_behind(target))
    deadline, told = time.monotonic() + _HEARTBEAT_SECONDS + _SLACK_SECONDS, False
    while (made := _modified(folder / "lock")) is not None and not held_by_others(target):
        if not any(_at_work(one, made) for one in gone):
            return False
        rest = _youngest_heartbeat(folder) + _HEARTBEAT_SECONDS - time.time()
        if rest <= 0:
            (folder / "lock").unlink(missing_ok=True)
            return True
        if time.monotonic() >= deadline:
            # Somebody lives, and it may be theirs.
            return False
        if not told:
            on_wait(
                f"{target.name} is locked by a writer that died, or by another that lives: waiting {rest:.0f} s for a "
                "sign of life"
            )
            told = True
        time.sleep(_POLL_SECONDS)
    return False


def _at_work(holder: Mapping[str, Any], moment: float) -> bool:
    begun, ended = holder.get("begun"), holder.get("ended", time.time())
    if not isinstance(begun, float) or not isinstance(ended, float):
        return False
    return begun - _SLACK_SECONDS <= moment <= ended + _SLACK_SECONDS


def _youngest_heartbeat(folder: Path) -> float:
    beats = [_modified(file) for file in (folder / ".heartbeat").glob("*")]
    return max((beat for beat in beats if beat is not None), default=0.0)


def _modified(file: Path) -> float | None:
    try:
        return file.stat().st_mtime
    except OSError:
        return None

"""Who of this machine may be writing to a table beside the caller, and what those left who are gone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from freshet.lease.local import (
    ORPHAN_SECONDS,
    backfill_lease,
    is_free,
    is_running,
    service_lease,
    stem_of,
    try_flock,
)
from freshet.lease.text import record_in, sign
from freshet.project.model.pipeline import TableRef

_POLL_SECONDS = 0.1


def held_by_others(target: TableRef) -> bool:
    """Say whether anybody of this machine but the caller, who holds one of the target's leases, may be writing to it."""
    leases = (target, backfill_lease(target), service_lease(target))
    writers = [stem.with_name(stem.name + ".writer") for stem in map(stem_of, leases)]
    return sum(map(is_running, leases)) > 1 or not all(is_free(file) for file in writers if file.exists())


def wait_for_orphans(target: TableRef, on_wait: Callable[[str], None]) -> None:
    """Wait for the JVMs of the target's writers that are gone, for as long as such a one takes to end by itself.

    Args:
        target: The table.
        on_wait: Told once, in words, when there is one to wait for.
    """
    deadline, told = time.monotonic() + ORPHAN_SECONDS, False
    while _has_orphan(target) and time.monotonic() < deadline:
        if not told:
            on_wait(f"{target.name} is still being left by the JVM of a writer that was killed")
            told = True
        time.sleep(_POLL_SECONDS)


def _has_orphan(target: TableRef) -> bool:
    for lease in (target, backfill_lease(target), service_lease(target)):
        writer = stem_of(lease).with_name(stem_of(lease).name + ".writer")
        if writer.exists() and not is_free(writer) and not is_running(lease):
            return True
    return False


def left_behind(target: TableRef) -> list[Mapping[str, Any]]:
    """Return what holders of the target's leases wrote of themselves that were killed or failed, and are gone.

    Of one that was killed nobody knows when: what is seen here for the first time has ended by now, and is marked so.
    """
    found = []
    for stem in map(stem_of, (target, backfill_lease(target), service_lease(target))):
        lease, writer = (stem.with_name(f"{stem.name}.{ending}") for ending in ("lease", "writer"))
        if not lease.exists() or (writer.exists() and not is_free(writer)):
            continue
        # What cannot be opened tells of nobody.
        with suppress(OSError), open(lease, "a+", encoding="utf-8") as file:
            if not try_flock(file):
                continue
            record = record_in(file)
            if record and "ended" not in record:
                record["ended"] = time.time()
                sign(file, json.dumps(record))
            found.append(record)
    return [record for record in found if record]

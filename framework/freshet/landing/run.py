"""Land files in a raw table: find them, take the lease, and publish what they change in one commit."""

from __future__ import annotations

import time
from dataclasses import replace

from freshet.events.event import Event, Listener
from freshet.hudi.table import StateReader
from freshet.landing.files import find_files
from freshet.landing.outcome import Landed, Landing, in_words
from freshet.landing.plan import bare_spec
from freshet.landing.work import Work
from freshet.lease.local import hold_lease
from freshet.project.load.warehouse import Warehouse
from freshet.project.syntax.column_text import parse_columns
from freshet.run.runner import new_run_id
from freshet.run.watchdog import watched


def land(
    warehouse: Warehouse,
    landing: Landing,
    state: StateReader,
    listen: Listener,
    wait_seconds: float | None = None,
) -> Landed:
    """Land files in a table, which is made where it is not there: with change data and a bucket index.

    Of several rows with one key the newest by the ordering field counts; what the table holds already is not written again.

    Args:
        warehouse: The project, see ``load_warehouse``.
        landing: The files and the table.
        state: Reader of the tables.
        listen: Told what goes on.
        wait_seconds: How long to wait for another writer of the table; None for what the project says.

    Raises:
        DataError: The files cannot be landed as they are; nothing was written.
        StateError: The table forbids it.
        RetryableError: ALREADY_RUNNING, TABLE_CHANGED, or a conflict with a writer that is not freshet.
        FreshetError: The write failed.
    """
    begun, run_id = time.monotonic(), new_run_id()
    bare = bare_spec(warehouse, warehouse.table(landing.table))
    files = find_files(landing.files, landing.format, landing.delimiter)
    said = parse_columns(bare.name, landing.columns)
    wait = bare.lease_wait_seconds if wait_seconds is None else wait_seconds

    def waiting(words: str) -> None:
        listen(Event(name="waiting", pipeline=bare.name, message=words))

    with (
        hold_lease(bare.target.ref, run_id, wait, waiting, what="landing") as lease,
        watched(bare, lease.noting(listen)) as told,
    ):
        landed = Work(warehouse, landing, state, files, bare, told, lease, run_id).done(said)
    landed = replace(landed, seconds=round(time.monotonic() - begun, 3))
    listen(Event(name=landed.outcome, pipeline=bare.name, message=in_words(landed), fields=landed.as_json()))
    return landed

"""Land files in a raw table: find them, take the lease, and publish what they change in one commit."""

from __future__ import annotations

import time
from dataclasses import replace

from freshet.events.bus import new_run_id
from freshet.events.event import Listener
from freshet.events.kinds import Committed, Idle
from freshet.hudi.table import StateReader
from freshet.landing.files import find_files
from freshet.landing.outcome import Landed, Landing, in_words
from freshet.landing.plan import bare_spec
from freshet.landing.work import Work
from freshet.project.load.warehouse import Warehouse
from freshet.project.syntax.column_text import parse_columns
from freshet.run.watchdog import watched
from freshet.run.write_session import write_session


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
    with (
        # How the table is written follows from the table, which is looked at under the lease.
        write_session(bare, listen, run_id, wait_seconds=wait_seconds, what="landing", clears_lock=False) as session,
        watched(bare, session.listen) as told,
    ):
        landed = Work(warehouse, landing, state, files, bare, told, session, run_id).done(said)
    landed = replace(landed, seconds=round(time.monotonic() - begun, 3))
    told_as = Committed if landed.outcome == "committed" else Idle
    listen(told_as(pipeline=bare.name, message=in_words(landed), result=landed.as_json()))
    return landed

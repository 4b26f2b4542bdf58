"""The end of a migration: compare both tables, note it in the new one, and have the DDL name it, while nobody writes either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from freshet.errors import RetryableError, StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import Phase
from freshet.hudi.table import StateReader, TableState
from freshet.lease.local import backfill_lease
from freshet.migration.files import switch_ddl
from freshet.migration.load import compare
from freshet.migration.plan import compile_verdict
from freshet.migration.prepare import Migration
from freshet.plan.migrated import Note, Verdict, note_of, unseen_writes, verdict_of
from freshet.plan.schema import evolved
from freshet.run.executor import execute
from freshet.run.write_session import WriteSession, write_session
from freshet.sources.hudi.reads import counted

# A run or a chunk of the old table that is at work ends; a load of hours is not to be in vain for it.
_WAIT_SECONDS = 600.0


def settle(migration: Migration, root: str, state: StateReader, listen: Listener, accept: bool) -> Verdict:
    """Put a loaded table in the place of the old one.

    Args:
        migration: The migration.
        root: The project's folder.
        state: Reader of the tables.
        listen: Told what happens.
        accept: Do it though rows differ.

    Returns:
        What the comparison found, now or before this command was killed.

    Raises:
        CheckError: MIGRATION_DIFFERS.
        StateError: NEW_TABLE_GONE, OLD_TABLE_WRITTEN, DDL_CHANGED or DDL_NOT_WRITABLE.
        RetryableError: ALREADY_RUNNING.
    """
    phase = teller(listen, Phase, migration.after.name)
    with _all_held(migration, listen) as session:
        old, new = state.table(migration.old.ref), state.table(migration.after.target.ref)
        note, verdict = note_of(new), verdict_of(new)
        if old is None or new is None or note is None:
            raise StateError(
                "NEW_TABLE_GONE",
                f"{migration.after.name}: another command has deleted {migration.after.target.ref.path} or "
                f"{migration.old.ref.path} since this one began.",
                "The files are as they were.",
                f"See what stands: freshet migrate {migration.after.name} --dry-run",
            )
        if not accept:
            _refuse_unseen(migration, old, note)
        if verdict is None:
            words = "comparing the new table with the old one"
            listen(Phase(pipeline=migration.after.name, message=words, unit="step", number=2, of=2))
            found = compare(migration, state, phase, accept)
            verdict = Verdict(found.in_words(), not found.agrees)
            record(migration, new, verdict, state, session)
        if migration.texts[0] != migration.texts[1]:
            switch_ddl(root, migration.spec, *migration.texts, migration.location)
    return verdict


def record(migration: Migration, new: TableState, verdict: Verdict, state: StateReader, session: WriteSession) -> None:
    """Have the new table say that it was compared; runs are refused until it does, where the files name it already."""
    spec = evolved(migration.after, new)
    plan = compile_verdict(spec, new, verdict)
    execute(plan, spec, migration.project.root, migration.project.env, state, session, new_run_id(), lambda words: None)


@contextmanager
def _all_held(migration: Migration, listen: Listener) -> Iterator[WriteSession]:
    seconds = max(migration.after.lease_wait_seconds, _WAIT_SECONDS)
    with ExitStack() as stack:
        try:
            # In the order of a backfill, whose chunks take the table's own lease under that of the backfill.
            for table, lease in (
                (migration.old.ref, backfill_lease(migration.old.ref)),
                (migration.old.ref, migration.old.ref),
                (migration.after.target.ref, migration.after.target.ref),
            ):
                session = stack.enter_context(
                    write_session(
                        migration.after,
                        listen,
                        new_run_id(),
                        wait_seconds=seconds,
                        table=table,
                        lease=lease,
                        what="migration",
                        clears_lock=False,
                    )
                )
        except RetryableError as error:
            raise RetryableError(
                error.code, error.message, migration.stays, "Run the same command again.", **error.details
            ) from error
        yield session


def _refuse_unseen(migration: Migration, old: TableState, note: Note) -> None:
    found = unseen_writes(old, note)
    if found:
        name = migration.after.name
        raise StateError(
            "OLD_TABLE_WRITTEN",
            f"{name}: {counted(len(found), 'commit')} came to {old.ref.path} after the load of "
            f"{migration.after.target.ref.path} was planned, "
            f"last at {found[-1]}, that no run reads again, such as of a backfill, a "
            "replay or another writer: the new table lacks what they wrote.",
            migration.stays,
            f"Load it anew: freshet migrate {name} --abandon, then the same command; or do without: freshet migrate {name} "
            "--accept-differences",
            commits=list(found),
        )

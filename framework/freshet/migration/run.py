"""Give a table a successor: loaded beside it, compared with it, and put in its place by one change of the DDL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from freshet.errors import FreshetError, StateError
from freshet.events.event import Listener
from freshet.events.kinds import Phase
from freshet.hudi.table import StateReader
from freshet.migration.plan import is_bulk
from freshet.migration.prepare import Migration
from freshet.plan.stages import Plan


@dataclass(frozen=True, kw_only=True)
class MigrationResult:
    """What a migration has done.

    Args:
        pipeline: The pipeline.
        before, after: Base paths of both tables.
        compared: What the comparison found, in words.
        differs: True where they differ, and that was accepted.
        switched: True where the DDL names the new table now by this command.
    """

    pipeline: str
    before: str
    after: str
    compared: str
    differs: bool
    switched: bool

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return dict(vars(self))


def migrate(migration: Migration, root: str, state: StateReader, listen: Listener, accept: bool) -> MigrationResult:
    """Load the new table, compare it with the old one, and have the DDL name it.

    What is done already, by the new table's own account, is not done again: the same command goes on where it was killed.

    Args:
        migration: What is to be done.
        root: The project's folder.
        state: Reader of the tables.
        listen: Told what happens.
        accept: Switch though rows differ.

    Raises:
        CheckError: MIGRATION_DIFFERS.
        StateError: What the load is refused for, QUARANTINE_NOT_EMPTY, OLD_TABLE_WRITTEN, DDL_CHANGED or DDL_NOT_WRITABLE.
        RetryableError: ALREADY_RUNNING.
        FreshetError: The load failed.
    """
    # PySpark costs a second to import, and a refusal needs none of it.
    from freshet.migration.load import load
    from freshet.migration.settle import settle

    _load_missing(migration, state, listen, load)
    found = settle(migration, root, state, listen, accept)
    return MigrationResult(
        pipeline=migration.spec.name,
        before=migration.old.ref.path,
        after=migration.after.target.ref.path,
        compared=found.words,
        differs=found.differs,
        switched=migration.texts[0] != migration.texts[1],
    )


def _load_missing(
    migration: Migration,
    state: StateReader,
    listen: Listener,
    load: Callable[[Migration, StateReader, Listener, Callable[[], Plan]], None],
) -> None:
    # Of one that is loaded by a bulk insert the index may be missing still.
    follows = migration.after.index.is_global and (migration.copy or is_bulk(migration.after))
    if migration.loaded and not follows:
        return
    if not migration.loaded:
        listen(Phase(pipeline=migration.spec.name, message="loading the new table", unit="step", number=1, of=2))
    try:
        load(migration, state, listen, lambda: migration.plan(state))
    except FreshetError as error:
        if error.code == "INDEX_OF_ANOTHER_TABLE":
            raise StateError(
                error.code,
                error.message,
                error.effect,
                "An index table in HBase belongs to one table: name another one for "
                f"the new table, hoodie.index.hbase.table in {migration.spec.file}; the old table keeps its own.",
                **error.details,
            ) from error
        raise

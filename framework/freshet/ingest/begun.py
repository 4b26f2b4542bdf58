"""Where the capture of a database begins, or goes on: the tables that are new to it, gone, or loaded from a backup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from freshet.databases.model import Base, Change, DbTable
from freshet.databases.source import DatabaseSource
from freshet.errors import StateError
from freshet.ingest.backups import begin
from freshet.ingest.landing import Landing, Record, Standing
from freshet.ingest.stopping import why_stopped

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A table that is captured.

    Args:
        table: As the catalogue has it.
        groups: Columns that change together, by name, as its pipeline has them.
        leave_out: Columns whose values no file may have.
        has_backup: True where it is loaded from a backup, and not copied.
        place: The place in the log that the backup names; None where it names none yet.
    """

    table: DbTable
    groups: Mapping[str, Collection[str]]
    leave_out: frozenset[str] = frozenset()
    has_backup: bool = False
    place: Base | None = None

    def without(self, change: Change) -> Change:
        """Return a change without the columns that are left out."""
        if not self.leave_out:
            return change
        row = {name: value for name, value in change.row.items() if name not in self.leave_out}
        return replace(change, row=row, left_out=tuple(name for name in change.left_out if name not in self.leave_out))


def begun(source: DatabaseSource, landing: Landing, wanted: Mapping[str, Wanted], tell: Tell) -> Record:
    """Return how far the tables were captured, new ones among them from here on.

    Args:
        source: The database.
        landing: Where its changes land.
        wanted: Its tables, by their names.
        tell: Told in words what takes time.

    Raises:
        StateError: ANOTHER_DATABASE, LOG_KEPT_ALREADY, LOG_LOST, BACKUP_TOO_OLD, BACKUP_NOT_OF_LOG.
    """
    record, identity = landing.record(), source.identity()
    named = {name: one.place for name, one in wanted.items() if one.place is not None}
    if record is None or (record.number < 0 and record.identity != identity):
        if source.keeps_log() and not named:
            raise StateError(
                "LOG_KEPT_ALREADY",
                f"something of that name keeps the log of {identity} already, and {landing.root} holds no record of it.",
                "Nothing was captured.",
                "Name another one by 'slot:' in the ingest's file; or drop it, if nobody reads it any more.",
            )
        record = Record(identity=identity)
        if not named:
            # Said before it is made: what is found after a kill is then known to be of this folder.
            landing.keep(record)
    if record.identity != identity:
        raise StateError(
            "ANOTHER_DATABASE",
            f"{landing.root} has the changes of {record.identity}, and this is {identity}.",
            "Nothing was captured.",
            "Name another folder by 'into:' for another database.",
        )
    record = landing.settle(record)
    tables = {name: one.table for name, one in wanted.items()}
    if record.number < 0:
        tell(f"beginning to keep the log, for {len(tables)} tables")
        first, bases = begin(source, tables, named)
        record = replace(record, position=first.position, number=first.number)
        new = tables
    else:
        for name, standing in record.tables.items():
            if not standing.stopped and (why := why_stopped(standing, tables.get(name))):
                record = record.with_table(name, replace(standing, stopped=why))
        going = [table for name, table in tables.items() if name in record.tables and not record.tables[name].stopped]
        source.check(place_of(record), going)
        new = {name: table for name, table in tables.items() if name not in record.tables}
        bases = dict.fromkeys(new, source.add(new.values())) if new else {}
    for name, table in new.items():
        landing.prepare(name)
        base, columns = bases[name], [column.name for column in table.columns]
        standing = Standing(base=base.number, columns=columns, table=table.number)
        if wanted[name].has_backup:
            standing = replace(standing, done=True, backup=base.position)
        record = record.with_table(name, standing)
    landing.keep(record)
    return record


def place_of(record: Record) -> Base:
    """Return up to where the log was captured."""
    return Base(position=record.position, number=record.number)

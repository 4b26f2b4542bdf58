"""Capture a database into a folder: a copy of each table, then its log from where the copy began.

A copy is made in pieces, each a query of its own, while the database is written to. That is right because the log has every
change since before the first piece, and a copy's rows count as older than all of these: what changed since is in the log, and
wins. So a copy needs no snapshot that is held open, and goes on where it was when it was ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freshet.databases.model import Base, Change, DbTable, Emptied, End, Shape, Transaction
from freshet.databases.source import DatabaseSource
from freshet.errors import StateError
from freshet.ingest.backups import begin
from freshet.ingest.events import of_change, of_copy
from freshet.ingest.landing import Landing, Record, Standing, Step

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


@dataclass(kw_only=True)
class Captured:
    """What was captured.

    Args:
        copied: Rows of copies, by table.
        changed: Events of the log, by table.
        position, number: Up to where in the log.
        stopped: Tables that are not captured any further, each with the reason.
        columns: Every column that the database was seen to have, by table.
        standings: How far each table was captured.
    """

    copied: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    position: str = ""
    number: int = -1
    stopped: dict[str, str] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much is read at a time.

    Args:
        rows: Rows of a piece of a copy.
        messages: Messages of the log, and the rest of their last transaction.
    """

    rows: int = 50_000
    messages: int = 200_000


def capture(
    source: DatabaseSource,
    landing: Landing,
    wanted: Sequence[Wanted],
    tell: Tell,
    bounds: Bounds = Bounds(),
) -> Captured:
    """Capture what is new; to be called by whoever holds the folder.

    Args:
        source: The database.
        landing: Where its changes land.
        wanted: Its tables.
        tell: Told in words what takes time.
        bounds: How much is read at a time.

    Raises:
        StateError: LOG_LOST, ANOTHER_DATABASE, LOG_KEPT_ALREADY, BACKUP_TOO_OLD, BACKUP_NOT_OF_LOG.
    """
    done = Captured()
    by_name = {one.table.full_name: one for one in wanted}
    record = _begun(source, landing, by_name, tell)
    for name, one in by_name.items():
        record = _copy(source, landing, record, one, done, tell, bounds) if name in record.tables else record
    upto = source.now()
    if upto.number < record.number:
        raise StateError(
            "LOG_LOST",
            f"the log of {record.identity} ends at {upto.position}, before {record.position}, up to which it was captured: it "
            "was begun anew.",
            "What was captured before stays.",
            "Copy the tables anew: docs/guides/databases.md, 'Copy a table anew'.",
        )
    while record.number < upto.number:
        before = record.number
        record = _read_log(source, landing, record, upto, by_name, done, bounds)
        source.release(_at(record))
        if record.number == before:
            break
    # Also what an earlier command captured that was killed before this.
    source.release(_at(record))
    done.position, done.number, done.standings = record.position, record.number, record.tables
    done.stopped = {name: one.stopped for name, one in record.tables.items() if one.stopped}
    done.columns = {name: one.columns for name, one in record.tables.items()}
    return done


def _begun(source: DatabaseSource, landing: Landing, wanted: Mapping[str, Wanted], tell: Tell) -> Record:
    record, identity = landing.record(), source.identity()
    named = {name: one.place for name, one in wanted.items() if one.place is not None}
    if record is None:
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
            if name not in tables and not standing.stopped:
                why = "it was left out of the ingest's file, and what changed since is in no file"
                record = record.with_table(name, replace(standing, stopped=why))
        source.check(_at(record), [table for name, table in tables.items() if name in record.tables])
        new = {name: table for name, table in tables.items() if name not in record.tables}
        bases = dict.fromkeys(new, source.add(new.values())) if new else {}
    for name, table in new.items():
        base, has_backup = bases[name], wanted[name].has_backup
        standing = Standing(base=base.number, columns=[column.name for column in table.columns])
        if has_backup:
            standing = replace(standing, done=True, backup=base.position)
        record = record.with_table(name, standing)
    landing.keep(record)
    return record


def _copy(
    source: DatabaseSource, landing: Landing, record: Record, one: Wanted, done: Captured, tell: Tell, bounds: Bounds
) -> Record:
    table, name = one.table, one.table.full_name
    if not record.tables[name].done:
        tell(f"copying {name}" + (f", from piece {record.tables[name].pieces + 1} on" if record.tables[name].pieces else ""))
    while not (standing := record.tables[name]).done and not standing.stopped:
        rows, last = source.piece(table, standing.copied, bounds.rows)
        step, millis = Step(landing, f"{standing.base:020d}-copy-{standing.pieces + 1:08d}"), int(time.time() * 1000)
        for row in rows:
            step.write(name, of_copy(row, standing.base, millis, source.kind, table.key))
        after = replace(
            standing,
            copied=last if last is not None else standing.copied,
            pieces=standing.pieces + bool(rows),
            done=len(rows) < bounds.rows,
            columns=sorted({*standing.columns, *(column.name for column in table.columns)}),
        )
        record = landing.publish(record.with_table(name, after), step)
        done.copied[name] = done.copied.get(name, 0) + len(rows)
    return record


def _read_log(
    source: DatabaseSource,
    landing: Landing,
    record: Record,
    upto: Base,
    wanted: Mapping[str, Wanted],
    done: Captured,
    bounds: Bounds,
) -> Record:
    keys = {name: wanted[name].table.key for name in record.tables if name in wanted}
    # Named by where it begins: its end is known when it is written.
    step = Step(landing, f"{record.number:020d}")
    transaction, end = Transaction(number=0, millis=0), _at(record)
    tables = dict(record.tables)
    try:
        for told in source.changes(end, upto, bounds.messages, keys):
            match told:
                case Transaction():
                    transaction = told
                case Change(table=name):
                    if not tables[name].stopped:
                        one = wanted[name]
                        step.write(name, of_change(one.without(told), transaction, source.kind, one.table.key, one.groups))
                case Shape(table=name, columns=columns):
                    tables[name] = replace(tables[name], columns=sorted({*tables[name].columns, *columns}))
                case Emptied(table=name, words=words):
                    why = f"the table was {words} (at {transaction.number}), which no change of a row says"
                    tables[name] = replace(tables[name], stopped=tables[name].stopped or why)
                case End(position=position, number=number):
                    end = Base(position=position, number=number)
    except BaseException:
        step.discard()
        raise
    for name, count in step.events.items():
        done.changed[name] = done.changed.get(name, 0) + count
    return landing.publish(replace(record, position=end.position, number=end.number, tables=tables), step)


def _at(record: Record) -> Base:
    return Base(position=record.position, number=record.number)

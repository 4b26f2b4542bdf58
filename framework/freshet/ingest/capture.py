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
from freshet.errors import RetryableError, StateError
from freshet.ingest.events import of_change, of_copy
from freshet.ingest.landing import Landing, Record, Standing, Step
from freshet.ingest.stopping import Stopping, why_stopped

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A table that is captured.

    Args:
        table: As the catalogue has it.
        groups: Columns that change together, by name, as its pipeline has them.
        leave_out: Columns whose values no file may have.
    """

    table: DbTable
    groups: Mapping[str, Collection[str]]
    leave_out: frozenset[str] = frozenset()

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
        position: Up to where in the log.
        stopped: Tables that are not captured any further, each with the reason.
        columns: Every column that the database was seen to have, by table.
    """

    copied: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    position: str = ""
    stopped: dict[str, str] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)


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
        StateError: LOG_LOST, ANOTHER_DATABASE, LOG_KEPT_ALREADY.
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
    # What an earlier command captured that was killed before it said so: else it would be given again, and be all that is.
    source.release(_at(record))
    while record.number < upto.number:
        before = record.number
        record = _read_log(source, landing, record, upto, by_name, done, bounds)
        source.release(_at(record))
        if record.number == before:
            break
    done.position = record.position
    done.stopped = {name: one.stopped for name, one in record.tables.items() if one.stopped}
    done.columns = {name: one.columns for name, one in record.tables.items()}
    return done


def _begun(source: DatabaseSource, landing: Landing, wanted: Mapping[str, Wanted], tell: Tell) -> Record:
    record, identity = landing.record(), source.identity()
    if record is None or (record.number < 0 and record.identity != identity):
        if source.keeps_log():
            raise StateError(
                "LOG_KEPT_ALREADY",
                f"something of that name keeps the log of {identity} already, and {landing.root} holds no record of it.",
                "Nothing was captured.",
                "Name another one by 'slot:' in the ingest's file; or drop it, if nobody reads it any more.",
            )
        # Said before it is made: what is found after a kill is then known to be of this folder.
        record = Record(identity=identity)
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
        base = source.begin(tables.values(), again=True)
        record = replace(record, position=base.position, number=base.number)
        new = tables
    else:
        for name, standing in record.tables.items():
            if not standing.stopped and (why := why_stopped(standing, tables.get(name))):
                record = record.with_table(name, replace(standing, stopped=why))
        going = [table for name, table in tables.items() if name in record.tables and not record.tables[name].stopped]
        source.check(_at(record), going)
        new = {name: table for name, table in tables.items() if name not in record.tables}
        base = source.add(new.values()) if new else _at(record)
    for name, table in new.items():
        landing.prepare(name)
        columns = [column.name for column in table.columns]
        record = record.with_table(name, Standing(base=base.number, columns=columns, table=table.number))
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
    end, tables, is_open = _at(record), dict(record.tables), False
    stopping = Stopping(tables=tables)
    try:
        for told in source.changes(end, upto, bounds.messages, keys):
            match told:
                case Transaction():
                    stopping.begins(told)
                    is_open = True
                case Change(table=name):
                    if not stopping.passes_over(name):
                        one, of = wanted[name], stopping.transaction
                        step.write(name, of_change(one.without(told), of, source.kind, one.table.key, one.groups))
                case Shape(table=name, columns=columns):
                    if not stopping.passes_over(name):
                        tables[name] = replace(tables[name], columns=sorted({*tables[name].columns, *columns}))
                case Emptied():
                    stopping.empties(told)
                case End(position=position, number=number):
                    end = Base(position=position, number=number)
                    stopping.ends(told)
                    is_open = False
        if is_open:
            # Its changes would be in the files twice, and for a while in part.
            raise RetryableError(
                "DATABASE_UNREACHABLE",
                f"the log of {record.identity} ended within the transaction {stopping.transaction.number}.",
                "Nothing of it was captured; what was captured before stays.",
                "Check that the server runs, and run the same command again.",
            )
    except BaseException:
        step.discard()
        raise
    for name, count in step.events.items():
        done.changed[name] = done.changed.get(name, 0) + count
    return landing.publish(replace(record, position=end.position, number=end.number, tables=tables), step)


def _at(record: Record) -> Base:
    return Base(position=record.position, number=record.number)

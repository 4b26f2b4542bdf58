"""Capture a database into a folder: a copy of each table, then its log from where the copy began.

A copy is made in pieces, each a query of its own, while the database is written to. That is right because the log has every
change since before the first piece, and a copy's rows count as older than all of these: what changed since is in the log, and
wins. So a copy needs no snapshot that is held open, and goes on where it was when it was ended.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from freshet.databases.model import Base, Change, Emptied, End, Shape, Transaction
from freshet.databases.source import DatabaseSource
from freshet.errors import RetryableError, StateError
from freshet.ingest.begun import Tell, Wanted, begun, place_of
from freshet.ingest.events import of_change, of_copy
from freshet.ingest.landing import Landing, Record, Standing, Step
from freshet.ingest.stopping import Stopping


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
    record = begun(source, landing, by_name, tell)
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
    source.release(place_of(record))
    while record.number < upto.number:
        before = record.number
        record = _read_log(source, landing, record, upto, by_name, done, bounds)
        source.release(place_of(record))
        if record.number == before:
            break
    done.position, done.number, done.standings = record.position, record.number, record.tables
    done.stopped = {name: one.stopped for name, one in record.tables.items() if one.stopped}
    done.columns = {name: one.columns for name, one in record.tables.items()}
    return done


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
    end, tables, is_open = place_of(record), dict(record.tables), False
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

"""MariaDB's binary log by GTID: read up to a place, by mysql-replication, within bounds that it lacks itself."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any

from freshet.databases.address import Address
from freshet.databases.driver import driver
from freshet.databases.mariadb.connection import failing, settings_of
from freshet.databases.mariadb.statements import changes_rows, emptied_by
from freshet.databases.mariadb.values import NO_DATE, Kind, as_json
from freshet.databases.model import Base, Change, Emptied, End, Shape, Told, Transaction
from freshet.errors import FreshetError, RetryableError, foreign_text

#: So often the server says that it is there, and so long its silence may last.
_HEARTBEAT_SECONDS, _SILENCE_SECONDS = 10, 60
#: Flags of a transaction's beginning: it is one statement; it is prepared, to be committed later by somebody else.
_ALONE, _PREPARED = 1, 64
#: Why a value is none, in the words of mysql-replication.
_NO_DATES = ("out of date range", "out of datetime range", "out of datetime2 range")
_EMPTY_SET, _LEFT_OUT = "empty set", "cols bitmap"
#: Kinds of events whose bytes are compressed.
_COMPRESSED = range(165, 172)


def number_of(position: str) -> int:
    """Return the number of a GTID such as ``0-1-42``.

    Raises:
        FreshetError: DATABASE_UNFIT where it is of several domains, or of none.
    """
    parts = [one.strip() for one in position.split(",") if one.strip()]
    if len(parts) != 1:
        why = (
            "nothing was written to its log yet"
            if not parts
            else f"its log has {len(parts)} domains ({position}), whose order no number tells"
        )
        raise FreshetError(
            "DATABASE_UNFIT", f"{why}.", "Nothing was captured.", "Let one domain write: gtid_domain_id; and write a row."
        )
    return int(parts[0].split("-")[2])


class Binlog:
    """The binary log of a server.

    Args:
        address: The database.
        name: Of who reads it: the server tells its readers apart by a number that is made of it.
    """

    def __init__(self, address: Address, name: str) -> None:
        self._address = address
        self._number = 0x4000_0000 + zlib.crc32(f"{name}@{address}".encode()) % 0x3FFF_FFFF

    def changes(
        self, after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]], kinds: Mapping[str, Mapping[str, Kind]]
    ) -> Generator[Told, None, None]:
        """Give what the log has between two places.

        Args:
            after: Up to here it was captured.
            upto: The transaction to end with.
            most: So many rows, and the rest of their transaction.
            wanted: By table the columns of its key; others are passed over.
            kinds: What of their types values depend on, by table and column.
        """
        events = driver("pymysqlreplication.event")
        rows = driver("pymysqlreplication.row_event")
        stream = self._open(after, events, rows)
        try:
            with failing(self._address):
                yield from _Reading(self._address, wanted, kinds, after).told(stream, upto, most, events, rows)
        finally:
            stream.close()

    def _open(self, after: Base, events: Any, rows: Any) -> Any:
        opened = 0

        def connect(**settings: Any) -> Any:
            nonlocal opened
            opened += 1
            if opened > 2:
                # It would begin again for ever, with a connection of its own for the log and one for questions.
                raise _ended(self._address)
            return driver("pymysql").connect(**settings)

        # With blocking=False the server may end a long log before its end.
        return driver("pymysqlreplication").BinLogStreamReader(
            connection_settings={**settings_of(self._address), "read_timeout": _SILENCE_SECONDS},
            server_id=self._number,
            blocking=True,
            is_mariadb=True,
            auto_position=after.position,
            slave_heartbeat=_HEARTBEAT_SECONDS,
            annotate_rows_event=False,
            verify_checksum=True,
            pymysql_wrapper=connect,
            # What it does not know it would pass over, such as compressed rows, and nobody would say that they are missing.
            filter_non_implemented_events=False,
            only_events=[
                *(events.MariadbGtidEvent, events.QueryEvent, events.XidEvent, events.XAPrepareEvent),
                *(events.NotImplementedEvent, events.BeginLoadQueryEvent),
                *(rows.WriteRowsEvent, rows.UpdateRowsEvent, rows.DeleteRowsEvent),
            ],
        )


class _Reading:
    def __init__(
        self, address: Address, wanted: Mapping[str, Collection[str]], kinds: Mapping[str, Mapping[str, Kind]], after: Base
    ) -> None:
        self._address, self._schema, self._wanted, self._kinds = address, address.database, wanted, kinds
        self._tables = {name.removeprefix(f"{self._schema}."): name for name in wanted}
        self._shapes: dict[str, tuple[str, ...]] = {}
        self._domain = after.position.split("-")[0]
        self._last, self._within, self._changed = after.number, 0, False

    def told(self, stream: Any, upto: Base, most: int, events: Any, rows: Any) -> Iterator[Told]:
        gtid, alone, seen = "", False, 0
        for event in stream:
            ends = False
            if isinstance(event, events.MariadbGtidEvent):
                gtid, alone = event.gtid, bool(event.flags & _ALONE)
                self._begin(event)
                yield Transaction(number=event.gtid_seq_no, millis=event.timestamp * 1000)
            elif isinstance(event, events.QueryEvent):
                word = event.query.strip().upper()
                if word.startswith("ROLLBACK") and self._changed:
                    raise _unfit("its log has rows that were rolled back, by one that wrote to tables without transactions")
                if word != "BEGIN":
                    yield from self._statement(event)
                ends = alone or word in ("COMMIT", "ROLLBACK")
            elif isinstance(event, events.XidEvent):
                ends = True
            elif not isinstance(event, (rows.WriteRowsEvent, rows.UpdateRowsEvent, rows.DeleteRowsEvent)):
                why = "compressed: log_bin_compress was on" if event.event_type in _COMPRESSED else "which is not read"
                raise _unfit(f"its log has an event of the kind {event.event_type}, {why}, and rows may be missing")
            elif event.schema == self._schema and event.table in self._tables:
                self._changed = True
                for change in self._changes(event, rows):
                    seen += 1
                    yield change
            else:
                self._within += 1
            if ends and gtid:
                yield End(position=gtid, number=self._last)
                if self._last >= upto.number or seen >= most:
                    return
        raise _ended(self._address)

    def _begin(self, event: Any) -> None:
        if str(event.domain_id) != self._domain:
            raise _unfit(
                f"its log has a transaction of the domain {event.domain_id}, and those of {self._domain} were captured"
            )
        if event.flags & _PREPARED:
            raise _unfit("its log has a transaction of XA, which is prepared here and committed elsewhere")
        if event.gtid_seq_no <= self._last:
            raise _unfit(f"its log goes back: {event.gtid} comes after {self._last}")
        self._last, self._within, self._changed = event.gtid_seq_no, 0, False

    def _statement(self, event: Any) -> Iterator[Told]:
        current = event.schema.decode("utf-8", "replace")
        if changes_rows(event.query, self._schema, current):
            raise _unfit("its log has a statement that changes rows and not the rows: binlog_format was not ROW")
        for name in emptied_by(event.query, self._schema, self._tables, current):
            yield Emptied(table=self._tables[name], words="truncated, replaced or taken away")

    def _changes(self, event: Any, rows: Any) -> Iterator[Told]:
        name = self._tables[event.table]
        columns = tuple(column.name for column in event.columns)
        if not all(columns):
            raise _unfit("its log does not tell the names of columns: binlog_row_metadata was not FULL")
        if self._shapes.get(name) != columns:
            self._shapes[name] = columns
            yield Shape(table=name, columns=columns)
        key = self._wanted[name]
        try:
            found = event.rows
        except Exception as error:  # of bytes that it does not know mysql-replication raises what it likes
            raise _unfit(f"its log has rows of {name} that cannot be read: {foreign_text(error)}") from error
        for row in found:
            self._within += 1
            if isinstance(event, rows.UpdateRowsEvent):
                old = self._values(event.table, row["before_values"], row["before_none_sources"])
                new = self._values(event.table, row["after_values"], row["after_none_sources"])
                if any(old[one] != new[one] for one in key):
                    yield Change(table=name, row={one: old[one] for one in key}, deleted=True, within=self._within)
                yield Change(table=name, row=new, within=self._within)
                continue
            values = self._values(event.table, row["values"], row["none_sources"])
            if isinstance(event, rows.DeleteRowsEvent):
                yield Change(table=name, row={one: values[one] for one in key}, deleted=True, within=self._within)
            else:
                yield Change(table=name, row=values, within=self._within)

    def _values(self, table: str, values: Mapping[str, Any], nothing: Mapping[str, str]) -> dict[str, Any]:
        kinds, found = self._kinds.get(table, {}), {}
        for name, value in values.items():
            why = nothing.get(name) if value is None else None
            kind = kinds.get(name, Kind(name=""))
            if why == _LEFT_OUT:
                raise _unfit("its log leaves values out: binlog_row_image was not FULL")
            if why in _NO_DATES:
                value = NO_DATE
            elif why == _EMPTY_SET:
                value = ""
            elif isinstance(value, bytes) and kind.is_text:
                raise _unfit(f"its log has {table}.{name} in a character set that is not read")
            found[name] = as_json(kind, value)
        return found


def _ended(address: Address) -> FreshetError:
    return RetryableError(
        "DATABASE_UNREACHABLE",
        f"MariaDB at {address} ended the connection while its log was read.",
        "What was captured before stays.",
        "Check that the server runs, and run the same command again.",
    )


def _unfit(why: str) -> FreshetError:
    return FreshetError(
        "DATABASE_UNFIT",
        f"MariaDB cannot be captured: {why}.",
        "What was captured before stays.",
        "docs/guides/databases.md says what the server needs; then copy the tables anew, into another folder.",
    )

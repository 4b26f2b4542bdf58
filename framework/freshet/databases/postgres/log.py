"""PostgreSQL's log by a slot: read up to a place, and let go of only when what was read is safe.

Nothing is held open between two readings: the slot keeps the log. What a slot gives are whole transactions, in the order in
which they were committed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping

from freshet.databases.model import Base, End, Told
from freshet.databases.postgres.catalogue import type_names
from freshet.databases.postgres.connection import Connection
from freshet.databases.postgres.told import lsn, told_by
from freshet.errors import FreshetError, RetryableError, StateError

_POLL_SECONDS = 0.1
_STAYS = "Nothing was captured; what was captured before stays."


class Slot:
    """A replication slot with its publication, both of one name.

    Args:
        connection: The database.
        name: Of both.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name

    def stands(self) -> bool:
        """Say whether the slot is there."""
        return bool(self._connection.rows("SELECT 1 FROM pg_replication_slots WHERE slot_name = %s", (self.name,)))

    def identity(self) -> str:
        """Return what tells this database from every other."""
        ((system, database),) = self._connection.rows(
            "SELECT (SELECT system_identifier FROM pg_control_system())::text, current_database()"
        )
        return f"{system}/{database}"

    def drop(self) -> None:
        """Drop the slot; what it kept of the log is lost."""
        self._connection.rows("SELECT pg_drop_replication_slot(%s)", (self.name,))

    def check(self, position: int, tables: Collection[tuple[str, str]]) -> None:
        """Refuse a slot that does not keep the log from a position on.

        Args:
            position: Up to where it was captured.
            tables: Schema and name of each that is captured.

        Raises:
            StateError: LOG_LOST.
        """
        found = self._connection.rows(
            "SELECT wal_status, confirmed_flush_lsn - '0/0'::pg_lsn, plugin, database = current_database() "
            "FROM pg_replication_slots WHERE slot_name = %s",
            (self.name,),
        )
        if not found:
            raise _lost(self.name, "is gone")
        ((status, flushed, plugin, ours),) = found
        if plugin != "pgoutput" or not ours:
            raise _lost(self.name, "is another one by now: it is not of this database, or not of pgoutput")
        if status == "lost" or flushed is None:
            raise _lost(self.name, "was given up by the server: it had to keep more of the log than max_slot_wal_keep_size")
        if int(flushed) > position:
            raise _lost(self.name, f"was moved on by somebody else, to {lsn(int(flushed))}, and {lsn(position)} was captured")
        away = sorted(set(tables) - self._published())
        if away:
            raise _lost(self.name, f"is of a publication that does not have {'.'.join(away[0])} any more")
        self._refuse_parts()

    def make(self, tables: Collection[tuple[str, str]], wait_seconds: float) -> Base:
        """Make publication and slot; the log is kept from here on.

        Args:
            tables: Schema and name of each.
            wait_seconds: How long transactions that are open now may take.

        Raises:
            RetryableError: OPEN_TRANSACTIONS.
        """
        # Before the slot: of changes that were made before its publication nothing could be told.
        self.publish(tables)
        # The server would wait for them, too, and as long as they take.
        self.wait_for_open(wait_seconds)
        ((at,),) = self._connection.rows(
            "SELECT lsn - '0/0'::pg_lsn FROM pg_create_logical_replication_slot(%s, 'pgoutput')", (self.name,)
        )
        self.wait_for_open(wait_seconds)
        return Base(position=lsn(int(at)), number=int(at))

    def publish(self, tables: Collection[tuple[str, str]]) -> None:
        """Let the publication have these tables, and make it where there is none."""
        quoted = self._connection.quoted
        missing = ", ".join(quoted(*table) for table in sorted(set(tables) - self._published()))
        if not self._connection.rows("SELECT 1 FROM pg_publication WHERE pubname = %s", (self.name,)):
            self._connection.rows(f"CREATE PUBLICATION {quoted(self.name)}" + (f" FOR TABLE {missing}" if missing else ""))
        elif missing:
            self._connection.rows(f"ALTER PUBLICATION {quoted(self.name)} ADD TABLE {missing}")
        self._refuse_parts()

    def _refuse_parts(self) -> None:
        """Refuse a publication, such as one that somebody else made, that leaves out changes, rows or columns."""
        whole = self._connection.rows(
            # Of rows and columns only PostgreSQL 15 knows.
            "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate AND NOT EXISTS (SELECT 1 FROM pg_publication_rel r "
            "WHERE r.prpubid = p.oid AND (to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)) "
            "FROM pg_publication p WHERE pubname = %s",
            (self.name,),
        )
        if whole != [(True,)]:
            raise FreshetError(
                "DATABASE_UNFIT",
                f"the publication {self.name} leaves out some changes, rows or columns.",
                _STAYS,
                "Drop it, and let it be made anew; or make it for whole tables, without WHERE, columns and publish =.",
            )

    def _published(self) -> set[tuple[str, str]]:
        sql = "SELECT schemaname::text, tablename::text FROM pg_publication_tables WHERE pubname = %s"
        return {(schema, name) for schema, name in self._connection.rows(sql, (self.name,))}

    def add(self, tables: Collection[tuple[str, str]], wait_seconds: float) -> Base:
        """Let the log have more tables from here on; see ``make``."""
        self.publish(tables)
        # Before the wait: what has committed up to here a copy has to see, and whatever is in the log later is newer than it.
        base = self.now()
        # One that was open has not told its changes from before, and may commit after a copy has been made.
        self.wait_for_open(wait_seconds)
        return base

    def now(self) -> Base:
        """Return the end of the log."""
        ((at,),) = self._connection.rows("SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn")
        return Base(position=lsn(int(at)), number=int(at))

    def wait_for_open(self, seconds: float) -> None:
        """Wait until every transaction has ended that is open now: what it does, a copy made afterwards sees or the log has.

        A transaction that stands in the log before a place need not be visible yet: it may still wait for a standby.

        Raises:
            RetryableError: OPEN_TRANSACTIONS.
        """
        ((mine,),) = self._connection.rows("SELECT pg_current_xact_id()::text::bigint")
        deadline = time.monotonic() + seconds
        while True:
            ((oldest,),) = self._connection.rows("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
            if int(oldest) > int(mine):
                return
            if time.monotonic() >= deadline:
                raise RetryableError(
                    "OPEN_TRANSACTIONS",
                    f"a transaction has been open for more than {seconds:g} s, and a copy of tables has to see how it ends.",
                    "No table was copied.",
                    "Look for it in pg_stat_activity by xact_start, end it, and run the same command again.",
                )
            time.sleep(_POLL_SECONDS)

    def changes(self, after: int, upto: int, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        """Give what the log has between two places, and leave it there.

        Args:
            after: Transactions that end up to here were captured.
            upto: Where to end; the last transaction may go beyond.
            most: So many messages, and the rest of their last transaction.
            wanted: By table the columns of its key; others are passed over.
        """
        types = type_names(self._connection)
        rows = self._connection.each(
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s, %s, 'proto_version', '1', 'publication_names', %s)",
            (self.name, lsn(upto), most, self._connection.quoted(self.name)),
        )
        count, end = 0, after

        def counted() -> Iterator[bytes]:
            nonlocal count
            for (data,) in rows:
                count += 1
                yield bytes(data)

        for one in told_by(counted(), after, types, wanted):
            end = one.number if isinstance(one, End) else end
            yield one
        # Without a bound on the messages all was read that begins before ``upto``.
        if count < most and end < upto:
            yield End(position=lsn(upto), number=upto)

    def release(self, upto: int) -> None:
        """Let the server forget the log up to a place."""
        self._connection.rows(
            "SELECT pg_replication_slot_advance(slot_name, %s) FROM pg_replication_slots "
            "WHERE slot_name = %s AND confirmed_flush_lsn < %s",
            (lsn(upto), self.name, lsn(upto)),
        )


def _lost(name: str, why: str) -> FreshetError:
    return StateError(
        "LOG_LOST",
        f"the replication slot {name} {why}: changes since the last capture may be missing.",
        _STAYS,
        "Copy the tables anew: name another slot and another folder in the ingest's file, and read them with "
        "`freshet run NAME --full-refresh`.",
        slot=name,
    )

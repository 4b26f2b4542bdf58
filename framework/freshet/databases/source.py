"""What capturing asks of a database, whichever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from freshet.databases.address import Address
from freshet.databases.mariadb.source import MariaDbSource
from freshet.databases.model import Base, DbTable, Told
from freshet.databases.postgres.source import PostgresSource


class DatabaseSource(Protocol):
    """A database from which changes are captured."""

    #: What ``_event.source`` says.
    kind: str

    def tables(self) -> tuple[DbTable, ...]:
        """Return every table that is the users' own, in order."""

    def identity(self) -> str:
        """Return what tells this database from every other."""

    def keeps_log(self) -> bool:
        """Say whether something of this name keeps the log already."""

    def begin(self, tables: Collection[DbTable], again: bool) -> Base:
        """Let the log be kept from here on; what an attempt before has made is made anew where ``again`` is true."""

    def begin_from(self, place: Base, tables: Collection[DbTable]) -> None:
        """Refuse a log that has not been kept since a place that backups of these tables name."""

    def add(self, tables: Collection[DbTable]) -> Base:
        """Let the log have more tables, from here on."""

    def check(self, position: Base, tables: Collection[DbTable]) -> None:
        """Refuse a log that is not kept from a position on, of these tables."""

    def now(self) -> Base:
        """Return the end of the log."""

    def piece(self, table: DbTable, after: Sequence[Any] | None, most: int) -> tuple[list[dict[str, Any]], list[Any] | None]:
        """Return the next rows of a table in the order of its key, and the last one's key."""

    def changes(self, after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        """Give what the log has between two places."""

    def release(self, upto: Base) -> None:
        """Let the server forget the log up to a place."""

    def close(self) -> None:
        """Close what is open."""


def open_source(address: Address, name: str, wait_seconds: float) -> DatabaseSource:
    """Open a database.

    Args:
        address: Where it is.
        name: Of what keeps its log.
        wait_seconds: How long transactions that are open may take.

    Raises:
        RetryableError: DATABASE_UNREACHABLE.
        FreshetError: DATABASE_DRIVER_MISSING, DATABASE_DENIED, or DATABASE_UNFIT.
    """
    if address.kind == "postgresql":
        return PostgresSource(address, name, wait_seconds)
    return MariaDbSource(address, name)

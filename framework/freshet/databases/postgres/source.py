"""PostgreSQL as what changes are captured from; see ``databases.source``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from freshet.databases.address import Address
from freshet.databases.model import Base, DbTable, Told
from freshet.databases.postgres.backup import hold_slot
from freshet.databases.postgres.catalogue import tables_of, type_names
from freshet.databases.postgres.connection import Connection
from freshet.databases.postgres.log import Slot
from freshet.databases.postgres.values import as_json
from freshet.errors import FreshetError


class PostgresSource:
    """A PostgreSQL.

    Args:
        address: The database.
        name: Of its slot and its publication.
        wait_seconds: How long transactions that are open may take.
    """

    kind = "postgresql"

    def __init__(self, address: Address, name: str, wait_seconds: float) -> None:
        self._connection, self._wait = Connection(address), wait_seconds
        self._slot = Slot(self._connection, name)
        self._types: dict[int, str] | None = None

    def tables(self) -> tuple[DbTable, ...]:
        """See ``databases.source``."""
        return tables_of(self._connection)

    def identity(self) -> str:
        """See ``databases.source``."""
        return self._slot.identity()

    def keeps_log(self) -> bool:
        """See ``databases.source``."""
        return self._slot.stands()

    def begin(self, tables: Collection[DbTable], again: bool) -> Base:
        """See ``databases.source``."""
        ((level,),) = self._connection.rows("SHOW wal_level")
        if level != "logical":
            raise FreshetError(
                "DATABASE_UNFIT",
                f"PostgreSQL's wal_level is {level}, and its log has changes of rows by 'logical' alone.",
                "Nothing was captured.",
                "Set wal_level = logical in postgresql.conf, and start the server anew.",
            )
        if again and self._slot.stands():
            self._slot.drop()
        return self._slot.make(_names(tables), self._wait)

    def begin_from(self, place: Base, tables: Collection[DbTable]) -> None:
        """See ``databases.source``: the slot that stands is taken over."""
        hold_slot(self._connection, self._slot, place, _names(tables))

    def add(self, tables: Collection[DbTable]) -> Base:
        """See ``databases.source``."""
        return self._slot.add(_names(tables), self._wait)

    def check(self, position: Base, tables: Collection[DbTable]) -> None:
        """See ``databases.source``."""
        self._slot.check(position.number, _names(tables))

    def now(self) -> Base:
        """See ``databases.source``."""
        return self._slot.now()

    def piece(self, table: DbTable, after: Sequence[Any] | None, most: int) -> tuple[list[dict[str, Any]], list[Any] | None]:
        """See ``databases.source``; values come as the texts that the log has of them."""
        quoted = self._connection.quoted
        if self._types is None:
            self._types = type_names(self._connection)
        names = [column.name for column in table.columns]
        kinds = dict(
            self._connection.rows(
                "SELECT attname::text, atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
                "AND NOT attisdropped",
                (quoted(table.schema, table.name),),
            )
        )
        # One that was dropped since the catalogue was read.
        names = [name for name in names if name in kinds]
        # With the table's name: alone, a name would be that of the text that is selected, and texts have another order.
        key = ", ".join(f"t.{quoted(name)}" for name in table.key)
        # By the function that the log writes values with, too: a cast to text cuts blanks, and adds to addresses. With its
        # schema: anybody may have made one of that name. A row of which a field is null is not "not null", but distinct.
        written = "pg_catalog.format(pg_catalog.chr(37) || 's', {0})"
        values = ", ".join(
            f"CASE WHEN {one} IS DISTINCT FROM NULL THEN {written.format(one)} END" for one in (f"t.{quoted(n)}" for n in names)
        )
        # The parameters are texts, of which PostgreSQL makes the columns' own types.
        # Where there are parameters a percent sign of a name is written twice.
        here, key, values = (
            text.replace("%", "%%") if after is not None else text for text in (quoted(table.schema, table.name), key, values)
        )
        behind = f" WHERE ({key}) > ({', '.join(['%s'] * len(table.key))})" if after is not None else ""
        sql = f"SELECT {values} FROM {here} t{behind} ORDER BY {key} LIMIT {int(most)}"
        found = self._connection.rows(sql, tuple(after or ()))
        rows = [
            {name: as_json(self._types.get(kinds[name], ""), text) for name, text in zip(names, row, strict=True)}
            for row in found
        ]
        last = [str(found[-1][names.index(name)]) for name in table.key] if found else None
        return rows, last

    def changes(self, after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        """See ``databases.source``."""
        return self._slot.changes(after.number, upto.number, most, wanted)

    def release(self, upto: Base) -> None:
        """See ``databases.source``."""
        self._slot.release(upto.number)

    def close(self) -> None:
        """See ``databases.source``."""
        self._connection.close()


def _names(tables: Collection[DbTable]) -> list[tuple[str, str]]:
    return [(table.schema, table.name) for table in tables]

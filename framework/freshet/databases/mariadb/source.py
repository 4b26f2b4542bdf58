"""MariaDB as what changes are captured from; see ``databases.source``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Any

from freshet.databases.address import Address
from freshet.databases.backup import not_of_log, too_old
from freshet.databases.driver import driver
from freshet.databases.mariadb.catalogue import kinds_of, tables_of
from freshet.databases.mariadb.connection import Connection, failing, quoted, settings_of
from freshet.databases.mariadb.log import Binlog, number_of
from freshet.databases.mariadb.values import Kind, as_json
from freshet.databases.model import Base, DbTable, Told
from freshet.errors import FreshetError, StateError

_NEEDED = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "log_bin_compress": "OFF",
}


class MariaDbSource:
    """A MariaDB.

    Args:
        address: The database.
        name: Of who reads its log.
    """

    kind = "mariadb"

    def __init__(self, address: Address, name: str) -> None:
        self._address, self._connection = address, Connection(address)
        self._binlog = Binlog(address, name)
        ((version,),) = self._connection.rows("SELECT VERSION()")
        if "MariaDB" not in str(version):
            self.close()
            raise FreshetError(
                "DATABASE_UNFIT",
                f"the server at {address} is no MariaDB but {version}: its GTIDs are others, and nobody has tried it.",
                "Nothing was read or written.",
                "Let Debezium on Kafka Connect capture it into topics, and read these by `format: changelog` with `adapter: "
                "debezium`: docs/guides/changelog.md.",
            )

    def tables(self) -> tuple[DbTable, ...]:
        """See ``databases.source``."""
        return tables_of(self._connection)

    def identity(self) -> str:
        """See ``databases.source``: another server of the same replication has the same transactions."""
        domain = self._connection.variable("gtid_binlog_pos").split("-")[0]
        return f"mariadb, domain {domain}, {self._address.database}"

    def keeps_log(self) -> bool:
        """See ``databases.source``: the log is kept by time, for everybody."""
        return False

    def begin(self, tables: Collection[DbTable], again: bool) -> Base:
        """See ``databases.source``."""
        self._refuse_parts()
        return self.add(tables)

    def begin_from(self, place: Base, tables: Collection[DbTable]) -> None:
        """See ``databases.source``: that its log is gone the server says itself, when it is read."""
        self._refuse_parts()
        now = self.now()
        if place.position.split("-")[0] != now.position.split("-")[0] or place.number > now.number:
            raise not_of_log(place.position, f"the log of this server ends with {now.position}")
        if place.number < now.number:
            try:
                with closing(self._binlog.changes(place, now, 1, {}, {})) as told:
                    next(told)
            except StateError as lost:
                raise too_old(place.position, lost.message.rstrip(".")) from lost

    def _refuse_parts(self) -> None:
        """Refuse a server whose log does not have whole rows with their names."""
        for name, value in _NEEDED.items():
            if (found := self._connection.variable(name)) != value:
                raise FreshetError(
                    "DATABASE_UNFIT",
                    f"MariaDB's {name} is {found or 'not known'}, and its log has whole rows by {value} alone.",
                    "Nothing was captured.",
                    f"Set {name.replace('_', '-')}={value} in the server's settings.",
                )
        if self._connection.variable("gtid_slave_pos") and self._connection.variable("log_slave_updates") != "ON":
            raise FreshetError(
                "DATABASE_UNFIT",
                "MariaDB replicates, or has replicated, from another server, and log_slave_updates is OFF: its own log lacks "
                "what comes from there.",
                "Nothing was captured.",
                "Set log-slave-updates=ON in the server's settings, or capture from the other server.",
            )

    def add(self, tables: Collection[DbTable]) -> Base:
        """See ``databases.source``: the place that a consistent snapshot names, whose transactions everybody sees.

        The log's own end would not do: a transaction is in the log before it can be seen.
        """
        with failing(self._address):
            snapshot = driver("pymysql").connect(**settings_of(self._address))
            try:
                with snapshot.cursor() as cursor:
                    cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
                    cursor.execute("SHOW STATUS LIKE 'binlog_snapshot%'")
                    told = {name.lower(): value for name, value in cursor.fetchall()}
                    at = (told.get("binlog_snapshot_file", ""), int(told.get("binlog_snapshot_position") or 0))
                    cursor.execute("SELECT BINLOG_GTID_POS(%s, %s)", at)
                    ((position,),) = cursor.fetchall()
            finally:
                snapshot.close()
        return Base(position=str(position or ""), number=number_of(str(position or "")))

    def check(self, position: Base, tables: Collection[DbTable]) -> None:
        """See ``databases.source``: that its log is gone the server says itself, when it is read."""
        self._refuse_parts()

    def now(self) -> Base:
        """See ``databases.source``."""
        position = self._connection.variable("gtid_binlog_pos")
        return Base(position=position, number=number_of(position))

    def piece(self, table: DbTable, after: Sequence[Any] | None, most: int) -> tuple[list[dict[str, Any]], list[Any] | None]:
        """See ``databases.source``."""
        kinds = kinds_of(self._connection).get(table.name, {})
        names = [column.name for column in table.columns if column.name in kinds]
        # Where there are parameters a percent sign of a name is written twice.
        mark = "%%" if after is not None else "%"
        first, here = (quoted(*one).replace("%", mark) for one in ((table.key[0],), (table.schema, table.name)))
        key = ", ".join(map(quoted, table.key)).replace("%", mark)
        chosen = ", ".join(_chosen(name, kinds[name]) for name in names).replace("%", mark)
        # By the first one alone it finds where to begin: by all of them at once it would read the table from its beginning.
        behind = f" WHERE {first} >= %s AND ({key}) > ({', '.join(['%s'] * len(table.key))})" if after is not None else ""
        sql = f"SELECT {chosen} FROM {here}{behind} ORDER BY {key} LIMIT {int(most)}"
        # A text would be compared with a number as one with a point, which has seventeen digits.
        values = [
            Decimal(one) if kinds[name].name == "decimal" else one for name, one in zip(table.key, after or (), strict=False)
        ]
        found = self._connection.rows(sql, (*values[:1], *values))
        rows = [{name: as_json(kinds[name], value) for name, value in zip(names, row, strict=True)} for row in found]
        return rows, [rows[-1][name] for name in table.key] if rows else None

    def changes(self, after: Base, upto: Base, most: int, wanted: Mapping[str, Collection[str]]) -> Iterator[Told]:
        """See ``databases.source``."""
        return self._binlog.changes(after, upto, most, wanted, kinds_of(self._connection))

    def release(self, upto: Base) -> None:
        """See ``databases.source``: the server forgets its log by itself."""

    def close(self) -> None:
        """See ``databases.source``."""
        self._connection.close()


def _chosen(name: str, kind: Kind) -> str:
    # As a text a FLOAT has six digits, and the log has all of it.
    return f"CAST({quoted(name)} AS DOUBLE)" if kind.name == "float" else quoted(name)

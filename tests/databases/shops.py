"""A database of one test, with what its statements are in the words of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg2
import pymysql

from freshet.databases.address import Address
from freshet.databases.source import DatabaseSource, open_source


class Shop:
    """A database.

    Args:
        server: Where it is made.
        name: Its name, and that of what keeps its log.
    """

    kind = ""
    #: The schema of its tables.
    schema = ""
    big = "text"

    def __init__(self, server: Address, name: str, *, stands: bool = False) -> None:
        self.name, self.address = name, replace(server, database=name)
        self._server = server
        if not stands:
            self._on_server(f"create database {name}")
        self._open = self.connect()

    def again(self) -> Shop:
        """Return it with a connection of its own, as after the server's restart."""
        return type(self)(self._server, self.name, stands=True)

    def connect(self) -> Any:
        """Return a connection of one's own, which commits by itself."""
        raise NotImplementedError

    def _on_server(self, sql: str) -> None:
        raise NotImplementedError

    def run(self, *statements: str) -> None:
        """Run statements, each a transaction."""
        with self._open.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, sql: str) -> Sequence[Any]:
        """Return what a query gives."""
        with self._open.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def source(self) -> DatabaseSource:
        """Open it as what changes are captured from."""
        return open_source(self.address, self.name, 30.0)

    def close(self) -> None:
        """Drop it."""
        self._open.close()


class PostgresShop(Shop):
    """A PostgreSQL."""

    kind, schema = "postgresql", "public"

    def connect(self) -> Any:
        """See ``Shop``."""
        at = self.address
        found = psycopg2.connect(host=at.host, port=at.port, user=at.user, dbname=at.database)
        found.autocommit = True
        return found

    def _on_server(self, sql: str) -> None:
        at = self._server
        found = psycopg2.connect(host=at.host, port=at.port, user=at.user, dbname=at.database)
        found.autocommit = True
        with found.cursor() as cursor:
            cursor.execute(sql)
        found.close()

    def close(self) -> None:
        """See ``Shop``."""
        self.run("select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = current_database()")
        super().close()
        self._on_server(f"drop database {self.name} with (force)")


class MariaDbShop(Shop):
    """A MariaDB."""

    kind = "mariadb"
    big = "longtext"

    @property
    def schema(self) -> str:  # type: ignore[override]
        """See ``Shop``."""
        return self.name

    def connect(self) -> Any:
        """See ``Shop``."""
        at = self.address
        return pymysql.connect(host=at.host, port=at.port, user=at.user, database=at.database, autocommit=True)

    def _on_server(self, sql: str) -> None:
        at = self._server
        with pymysql.connect(host=at.host, port=at.port, user=at.user) as found, found.cursor() as cursor:
            cursor.execute(sql)

    def close(self) -> None:
        """See ``Shop``."""
        super().close()
        self._on_server(f"drop database {self.name}")

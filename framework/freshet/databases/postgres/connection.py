"""A connection to PostgreSQL, in the session that values' texts depend on; what fails there in freshet's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from freshet.databases.address import Address
from freshet.databases.driver import driver
from freshet.databases.postgres.values import SESSION
from freshet.errors import FreshetError, RetryableError, foreign_text

_CONNECT_SECONDS = 10
#: A statement that takes longer is ended: a dead server must not hold a capture for ever.
_STATEMENT = "15min"
#: Of a log or a copy that is read: rows come this many at a time.
_AT_A_TIME = 2_000
_DENIED = ("28", "42501", "3D000")
#: The slot is read by somebody, such as a command that was killed a moment ago; a statement took too long; a lock is held.
_FOR_NOW = ("55006", "57014", "55P03", "40")
#: While it connects the driver tells no code.
_DENIED_WORDS = re.compile(r"password|authentication failed|pg_hba|(?:database|role) .* does not exist")


class Connection:
    """One connection; each statement is a transaction of its own.

    Args:
        address: The database.

    Raises:
        RetryableError: DATABASE_UNREACHABLE.
        FreshetError: DATABASE_DRIVER_MISSING, DATABASE_DENIED.
    """

    def __init__(self, address: Address) -> None:
        self._driver = driver("psycopg2")
        self._address = address
        with self._failing():
            self._open: Any = self._driver.connect(
                host=address.host,
                port=address.port,
                user=address.user,
                dbname=address.database,
                password=address.password or None,
                connect_timeout=_CONNECT_SECONDS,
                application_name="freshet",
                client_encoding="UTF8",
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
                options=f"-c statement_timeout={_STATEMENT}",
            )
            self._open.autocommit = True
            for name, value in SESSION.items():
                self.rows("SELECT set_config(%s, %s, false)", (name, value))

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; none for one that has none."""
        with self._failing(), self._open.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def each(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query and give its rows one by one, as they come from the server: they need not fit into memory."""
        with self._failing():
            self._open.autocommit = False
            try:
                with self._open.cursor() as cursor:
                    # A long log takes as long as it takes until its first row comes.
                    cursor.execute("SET LOCAL statement_timeout = 0")
                with self._open.cursor(name="freshet") as cursor:
                    cursor.itersize = _AT_A_TIME
                    cursor.execute(sql, values)
                    yield from cursor
            finally:
                if not self._open.closed:
                    self._open.rollback()
                    self._open.autocommit = True

    def quoted(self, *names: str) -> str:
        """Return a name as SQL has it, of its parts."""
        return ".".join('"' + name.replace('"', '""') + '"' for name in names)

    def close(self) -> None:
        """Close it."""
        self._open.close()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except self._driver.Error as error:
            raise self._in_words(error) from error

    def _in_words(self, error: Any) -> FreshetError:
        code, said = str(error.pgcode or ""), foreign_text(error)
        where, effect = f"PostgreSQL at {self._address}", "What was captured before stays."
        if code.startswith(_DENIED) or (not code and _DENIED_WORDS.search(said)):
            return FreshetError(
                "DATABASE_DENIED", f"{where} refuses: {said}", effect, "Correct the user, its rights, or password."
            )
        if code.startswith(_FOR_NOW):
            remedy = "Run the same command again; where it stays so, look in pg_stat_activity who is in the way."
            return RetryableError("DATABASE_UNREACHABLE", f"{where} cannot do it for now: {said}", effect, remedy)
        if not code or code.startswith(("08", "57", "53")):
            remedy = "Check the address and that the server runs, and run the same command again."
            return RetryableError("DATABASE_UNREACHABLE", f"{where} does not answer: {said}", effect, remedy)
        return FreshetError(
            "DATABASE_FAILED", f"{where} says: {said}", effect, "Mend what it says, and run the same command.", sqlstate=code
        )

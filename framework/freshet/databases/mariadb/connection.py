"""A connection to MariaDB, in a session by UTC; what fails there in freshet's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from freshet.databases.address import Address
from freshet.databases.driver import driver
from freshet.errors import FreshetError, RetryableError, StateError, foreign_text

_CONNECT_SECONDS, _READ_SECONDS = 10, 300
_DENIED = (1044, 1045, 1049, 1142, 1143, 1227, 1698)
#: Of MariaDB itself, where it ends or refuses for now; those of the client begin at 2000.
_LATER = (1040, 1053, 1077, 1205, 1213)
_LOST = 1236
_EFFECT = "What was captured before stays."


def settings_of(address: Address) -> dict[str, Any]:
    """Return what a connection is opened with."""
    return {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "password": address.password,
        "database": address.database,
        "charset": "utf8mb4",
        "connect_timeout": _CONNECT_SECONDS,
        "read_timeout": _READ_SECONDS,
        "write_timeout": _READ_SECONDS,
        # By a mode of the server's, texts of a fixed length would come filled with blanks, which the log does not have.
        "init_command": "SET time_zone = '+00:00', sql_mode = '', sql_quote_show_create = 1",
    }


@contextmanager
def failing(address: Address) -> Iterator[None]:
    """Turn what the driver raises into an error for people.

    Raises:
        RetryableError: DATABASE_UNREACHABLE.
        StateError: LOG_LOST.
        FreshetError: DATABASE_DENIED or DATABASE_FAILED.
    """
    errors = driver("pymysql").err
    try:
        yield
    except (errors.MySQLError, OSError) as error:
        raise _in_words(address, error) from error


def _in_words(address: Address, error: Exception) -> FreshetError:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    where, said = f"MariaDB at {address}", foreign_text(error)
    if code == _LOST:
        return StateError(
            "LOG_LOST",
            f"{where} does not have the log from where the last capture ended: {said}",
            _EFFECT,
            "Copy the tables anew: name another folder in the ingest's file, and read them with "
            "`freshet run NAME --full-refresh`.",
        )
    if code in _DENIED:
        return FreshetError(
            "DATABASE_DENIED", f"{where} refuses: {said}", _EFFECT, "Correct the user, its rights, or password."
        )
    if code >= 2000 or code in _LATER or isinstance(error, OSError):
        remedy = "Check the address and that the server runs, and run the same command again."
        return RetryableError("DATABASE_UNREACHABLE", f"{where} does not answer: {said}", _EFFECT, remedy)
    return FreshetError("DATABASE_FAILED", f"{where} says: {said}", _EFFECT, "Mend what it says, and run the same command.")


class Connection:
    """One connection; each statement is a transaction of its own.

    Args:
        address: The database.

    Raises:
        RetryableError: DATABASE_UNREACHABLE.
        FreshetError: DATABASE_DRIVER_MISSING, DATABASE_DENIED.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        with failing(address):
            self._open: Any = driver("pymysql").connect(**settings_of(address), autocommit=True)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; none for one that has none."""
        with failing(self.address), self._open.cursor() as cursor:
            cursor.execute(sql, tuple(values) or None)
            return list(cursor.fetchall())

    def variable(self, name: str) -> str:
        """Return a variable of the server; empty where it has none of the name."""
        found = self.rows("SHOW GLOBAL VARIABLES LIKE %s", (name,))
        return str(found[0][1]) if found else ""

    def close(self) -> None:
        """Close it."""
        self._open.close()


def quoted(*names: str) -> str:
    """Return a name as SQL has it, of its parts."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)

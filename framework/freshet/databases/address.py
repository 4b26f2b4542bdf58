"""The address of a database, without its password: that is told apart, so that no file and no message has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from freshet.errors import FreshetError

Kind = Literal["postgresql", "mariadb"]
_KINDS: dict[str, tuple[Kind, int]] = {
    "postgresql": ("postgresql", 5432),
    "postgres": ("postgresql", 5432),
    "mysql": ("mariadb", 3306),
    "mariadb": ("mariadb", 3306),
}
_EFFECT = "Nothing was read or written."


@dataclass(frozen=True, kw_only=True)
class Address:
    """A database of a server.

    Args:
        kind: Which database it is.
        host, port: The server.
        user: Who asks.
        database: Its name.
        password: Of the user; empty where none is needed.
    """

    kind: Kind
    host: str
    port: int
    user: str
    database: str
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}://{quote(self.user, safe='')}@{host}:{self.port}/{quote(self.database, safe='')}"


def read_address(text: str, password: str = "") -> Address:
    """Read an address such as ``postgresql://user@host:5432/shop``.

    Args:
        text: The address.
        password: The user's password.

    Raises:
        FreshetError: BAD_ADDRESS; the message never has what stands in a password's place.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _bad("its host or port cannot be read") from None
    if parts.scheme not in _KINDS:
        raise _bad("it begins with neither postgresql:// nor mysql://")
    if parts.password is not None:
        raise _bad("it has a password in it, which would stand in files, histories of shells and lists of processes")
    if parts.query or parts.fragment:
        raise _bad("options behind a '?' are not read")
    kind, usual = _KINDS[parts.scheme]
    database = unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not parts.username or not database or "/" in database:
        raise _bad("it has to name a user, a host and one database")
    return Address(
        kind=kind,
        host=parts.hostname,
        port=port or usual,
        user=unquote(parts.username),
        database=database,
        password=password,
    )


def _bad(why: str) -> FreshetError:
    return FreshetError(
        "BAD_ADDRESS",
        f"the address of the database cannot be used: {why}.",
        _EFFECT,
        "Write postgresql://USER@HOST:5432/DATABASE or mysql://USER@HOST:3306/DATABASE, and the password into the environment.",
    )

"""Places in a database's log: as texts, as numbers that grow, and as the reference keys of what changed there. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")
_GTID = re.compile(r"([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})")
_DIGITS = 20
_MOST = 2**64


@dataclass(frozen=True, kw_only=True)
class LogPlace:
    """A place in the log of a database.

    Args:
        kind: Whose log it is: what ``_event.source`` says.
        text: In the database's own words: an LSN of PostgreSQL, a GTID of MariaDB.
        number: The same as a number that grows.
    """

    kind: Literal["postgresql", "mariadb"]
    text: str
    number: int


def read_place(text: str) -> LogPlace:
    """Read an LSN such as ``0/1A2B3C4`` or a GTID such as ``0-1-42``.

    Args:
        text: What a person, or a backup, says.

    Raises:
        ValueError: It is neither, in words.
    """
    text = text.strip()
    if found := _LSN.fullmatch(text):
        high, low = (int(part, 16) for part in found.groups())
        return LogPlace(kind="postgresql", text=f"{high:X}/{low:X}", number=(high << 32) + low)
    if (found := _GTID.fullmatch(text)) and int(found[3]) < _MOST:
        domain, server, number = map(int, found.groups())
        return LogPlace(kind="mariadb", text=f"{domain}-{server}-{number}", number=number)
    raise ValueError("it is neither an LSN of PostgreSQL, such as 0/1A2B3C4, nor one GTID of MariaDB, such as 0-1-42")


def reference_key(number: int, within: int) -> str:
    """Return a reference key, a text that compares as its numbers do.

    Args:
        number: Of the transaction in the log; of a copy or a backup that of the place from which on the log is read.
        within: The change's place in its transaction, from one on; zero of a copy's rows, which are older than all changes.
    """
    return f"{number:0{_DIGITS}d}.{within:0{_DIGITS}d}"

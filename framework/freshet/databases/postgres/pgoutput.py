"""PostgreSQL's logical replication messages (pgoutput, protocol version 1), decoded from their bytes.

https://www.postgresql.org/docs/15/protocol-logicalrep-message-formats.html. No library that is kept decodes them: psycopg hands
them out as they come. Pure: bytes in, values out.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

#: Microseconds between 1970 and 2000, from which PostgreSQL counts.
_EPOCH = 946_684_800_000_000


class Unchanged:
    """The place of a large value that an update left as it was: the log does not have it."""


UNCHANGED: Final = Unchanged()
Value = str | None | Unchanged


@dataclass(frozen=True)
class Begin:
    """A transaction begins: the LSN of its commit, and when it was committed, in milliseconds since 1970."""

    final_lsn: int
    millis: int


@dataclass(frozen=True)
class Commit:
    """A transaction ends: where the log goes on behind it."""

    end_lsn: int


@dataclass(frozen=True)
class Relation:
    """What a table looks like from here on.

    Args:
        id: By which changes name it.
        schema, name: Its name.
        identity: Its replica identity: ``d``, ``n``, ``f`` or ``i``.
        columns: Each name with its type's OID and whether it is of the replica identity.
    """

    id: int
    schema: str
    name: str
    identity: str
    columns: tuple[tuple[str, int, bool], ...]


@dataclass(frozen=True)
class Row:
    """A row was inserted, updated or deleted.

    Args:
        relation: The table's id.
        old: Its values before; None where they are not told.
        old_is_key: True where of ``old`` only the replica identity counts.
        new: Its values after; None where it was deleted.
    """

    relation: int
    old: tuple[Value, ...] | None
    old_is_key: bool
    new: tuple[Value, ...] | None


@dataclass(frozen=True)
class Truncate:
    """Tables were emptied."""

    relations: tuple[int, ...]


Message = Begin | Commit | Relation | Row | Truncate


def decode(data: bytes) -> Message | None:
    """Return a message; None for one that says nothing of rows: an origin, a type, a message of the user's own.

    Args:
        data: The message.

    Raises:
        ValueError: When it is of no known kind, or ends too early or too late.
    """
    reader = _Reader(data)
    try:
        kind = reader.letter()
        found = _decoded(kind, reader)
    except (struct.error, IndexError) as error:
        raise ValueError(f"a message of pgoutput ends too early: {data[:40].hex()}") from error
    if kind not in "OYM" and reader.at != len(data):
        raise ValueError(f"a message of pgoutput has {len(data) - reader.at} bytes that nothing reads: {data[:40].hex()}")
    return found


def _decoded(kind: str, reader: _Reader) -> Message | None:
    match kind:
        case "B":
            final, at, _ = reader.unpack(">QqI")
            return Begin(final, (at + _EPOCH) // 1000)
        case "C":
            _, _, end, _ = reader.unpack(">BQQq")
            return Commit(end)
        case "R":
            (relation,) = reader.unpack(">I")
            schema, name = reader.text(), reader.text()
            identity = reader.letter()
            (count,) = reader.unpack(">H")
            return Relation(relation, schema, name, identity, tuple(reader.column() for _ in range(count)))
        case "I":
            (relation,) = reader.unpack(">I")
            reader.expect("N")
            return Row(relation, None, False, reader.tuple())
        case "U":
            (relation,) = reader.unpack(">I")
            old, is_key = None, False
            mark = reader.letter()
            if mark in "KO":
                old, is_key = reader.tuple(), mark == "K"
                mark = reader.letter()
            if mark != "N":
                raise ValueError(f"an update of pgoutput has the part {mark!r}")
            return Row(relation, old, is_key, reader.tuple())
        case "D":
            (relation,) = reader.unpack(">I")
            mark = reader.letter()
            if mark not in "KO":
                raise ValueError(f"a delete of pgoutput has the part {mark!r}")
            return Row(relation, reader.tuple(), mark == "K", None)
        case "T":
            count, _ = reader.unpack(">IB")
            return Truncate(tuple(reader.unpack(">I")[0] for _ in range(count)))
        case "O" | "Y" | "M":
            return None
        case _:
            raise ValueError(f"pgoutput has a message of the unknown kind {kind!r}")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def unpack(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return found

    def letter(self) -> str:
        found = chr(self.data[self.at])
        self.at += 1
        return found

    def expect(self, wanted: str) -> None:
        if (found := self.letter()) != wanted:
            raise ValueError(f"a message of pgoutput has the part {found!r} where {wanted!r} belongs")

    def text(self) -> str:
        end = self.data.index(b"\0", self.at) if b"\0" in self.data[self.at :] else len(self.data) + 1
        if end > len(self.data):
            raise IndexError
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def column(self) -> tuple[str, int, bool]:
        (flags,) = self.unpack(">B")
        name = self.text()
        kind, _ = self.unpack(">Ii")
        return name, kind, bool(flags & 1)

    def tuple(self) -> tuple[Value, ...]:
        (count,) = self.unpack(">H")
        return tuple(self._value() for _ in range(count))

    def _value(self) -> Value:
        kind = self.letter()
        if kind == "n":
            return None
        if kind == "u":
            return UNCHANGED
        if kind != "t":
            raise ValueError(f"pgoutput has a value of the unknown kind {kind!r}")
        (size,) = self.unpack(">I")
        if self.at + size > len(self.data):
            raise IndexError
        found = self.data[self.at : self.at + size].decode()
        self.at += size
        return found

"""What is known of a database: its tables as its catalogue tells them, and changes of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freshet.types.columns import DataType


@dataclass(frozen=True, kw_only=True)
class DbColumn:
    """One column of a table.

    Args:
        name: Its name.
        declared: Its type in the database's own words.
        type: The type that a column of the lake has for it, so that no value loses anything.
        note: What a person should know of that type; empty where there is nothing.
        nullable: False where the database refuses nulls.
        large: True where the log may leave its value out as unchanged.
        base: The type's own name, as the catalogue has it; ``enum`` for any enum of PostgreSQL's. Empty for what is made of
            others, such as a composite type.
        digits: Of a time without a zone, how many digits stand behind its seconds; -1 where that is not known.
    """

    name: str
    declared: str
    type: DataType
    note: str = ""
    nullable: bool = True
    large: bool = False
    base: str = ""
    digits: int = -1


@dataclass(frozen=True, kw_only=True)
class DbTable:
    """One table.

    Args:
        schema: The schema of PostgreSQL, or the database of MariaDB, that it is in.
        name: Its name there.
        columns: In order.
        key: Columns of its primary key; empty where it has none.
        number: What tells it from another table that gets its name; zero where the log itself tells of that.
        computed: Names of columns that the database computes and the log leaves out; they are not among the others.
        whole_rows: True where the log has the whole row before a change, and not its key alone.
        refused: Why its changes cannot be captured; empty where they can.
    """

    schema: str
    name: str
    columns: tuple[DbColumn, ...]
    key: tuple[str, ...]
    number: int = 0
    computed: tuple[str, ...] = ()
    whole_rows: bool = False
    refused: str = ""

    @property
    def full_name(self) -> str:
        """Return ``schema.table``."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of one row, as the log has it.

    Args:
        table: ``schema.table``.
        row: Values as JSON has them, by column; of a delete the key's at least.
        deleted: The row is gone.
        within: Its place in its transaction, from one on.
        left_out: Columns whose values the log left out as unchanged.
        error: Why no event can be made of it; empty where one can.
    """

    table: str
    row: Mapping[str, Any]
    deleted: bool = False
    within: int
    left_out: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """How a transaction's changes are ordered and timed; told before them.

    Args:
        number: Its place in the log: greater than those of all transactions that committed before it.
        millis: When it was committed, in milliseconds since 1970.
    """

    number: int
    millis: int


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a transaction; what came since the last one is whole.

    Args:
        position: Where to go on after it, in the source's own words.
        number: The same as a number that grows.
    """

    position: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Columns that a table has from here on, as the log tells them.

    Args:
        table: ``schema.table``.
        columns: Their names.
    """

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Emptied:
    """A table was truncated, or dropped: no change of a row says so.

    Args:
        table: ``schema.table``.
        words: What happened.
    """

    table: str
    words: str = field(default="truncated")


Told = Transaction | Change | Shape | Emptied | End


@dataclass(frozen=True, kw_only=True)
class Base:
    """A place of the log from which on a table's changes are captured.

    Args:
        position: In the source's own words.
        number: The same as a number that grows: of all that commits later it is less.
    """

    position: str
    number: int

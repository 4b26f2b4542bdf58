"""What is known of a column of a relation within a SQL: which columns of the tables its value comes from, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

#: The main source, as the SQL's parser sees ``<SRC>``.
SRC = "src"
#: Stands for a table in ``Base`` where nobody knows which one it is.
UNKNOWN = "?"
#: Stands for a column in ``Base`` where a value follows from which rows a table has.
ROWS = "*"
#: Stands for a column in ``Base`` where a value follows from a row of a list of constants.
LIST = "list"
#: What stands for <SRC_INSTANT> in the text that is parsed, lower case; and for its table in ``Base``.
INSTANT = "src_instant"
#: Marks a row that the source deleted, or that the target shall.
FLAG = "_hoodie_is_deleted"
#: Column of a table: the table's name in the SQL and the column's, lower case.
Base = tuple[str, str]
#: On what it hangs that a value tells a column's values apart: on the text of a TIMESTAMP, or on the text or the JSON of what
#: may be one; or on values that hold none of some characters. The column; and these.
Assumed = tuple[Literal["text_of_moment", "text_of_untold", "json_of_untold", "no_separators"], Base, str]


@dataclass(frozen=True, kw_only=True)
class Col:
    """A column.

    Args:
        of: Columns of tables from which the value is computed.
        same: Columns of tables, or expressions over them: whichever row of such a table has a part in a row of the relation,
            holds this value there. By these a result falls into pieces.
        text: The value as an expression over the main source's row, in one spelling; empty where it is none.
        keeps: Columns of tables of which two values never become one value here.
        rises: Column of a table in the order of which the value rises; None where it is not known.
        bare: Column of a table that is handed on as it is.
        constant: Its SQL literal; empty where it is none.
        fixed: Number of the list of constants that it is one of, as the first column of ``stack``; 0 for none.
        among: The constants of that list.
        instant: True for ``<SRC_INSTANT>``.
        flags: True where it is true of every row that the source deleted.
        present: The outer join that makes it null where it finds nothing; 0 for none.
        absent: Outer joins of which it is true that they found nothing.
        zero: The outer join that makes it 0 where it finds nothing; 0 for none.
        number: True for the number of a row within its window.
        sure: True where it is never null.
        moments: Of ``keeps``: those that are a TIMESTAMP here, whose text depends on the session's time zone.
        untold: Of ``keeps``: those of whose type here nobody says whether it is one.
        lost: Columns that it does not keep because it has milliseconds of a moment.
        nested: True for a struct, whose text does not tell where a field ends.
        assumes: What ``keeps`` takes for granted of columns.
    """

    of: frozenset[Base] = frozenset()
    same: frozenset[Base] = frozenset()
    text: str = ""
    keeps: frozenset[Base] = frozenset()
    rises: Base | None = None
    bare: Base | None = None
    constant: str = ""
    fixed: int = 0
    among: frozenset[str] = frozenset()
    instant: bool = False
    flags: bool = False
    present: int = 0
    absent: frozenset[int] = frozenset()
    zero: int = 0
    number: bool = False
    sure: bool = False
    moments: frozenset[Base] = frozenset()
    untold: frozenset[Base] = frozenset()
    lost: frozenset[Base] = frozenset()
    nested: bool = False
    assumes: frozenset[Assumed] = frozenset()


def of_list(number: int) -> Base:
    """Return what a value follows from that is another one for each row of a list of constants."""
    return (f"{number}()", LIST)


def lists_in(bases: Iterable[Base]) -> frozenset[int]:
    """Return the lists of constants that a value follows from, by their numbers."""
    return frozenset(int(table.removesuffix("()")) for table, column in bases if column == LIST)


def of_table(table: str, column: str, *, image_of_source: bool = False, sure: bool = False, moment: bool | None = None) -> Col:
    """Return the column of a table as it is read.

    Args:
        table: The table's name in the SQL.
        column: The column.
        image_of_source: True for the source as it was before.
        sure: True where it is never null.
        moment: Whether it is a TIMESTAMP; None where nobody says.
    """
    base = (table, column)
    source = table == SRC or image_of_source
    keeps = frozenset([(SRC, column) if image_of_source else base])
    return Col(
        of=frozenset([(SRC, column) if image_of_source else base]),
        same=frozenset([base]),
        text=column if source else "",
        keeps=keeps,
        moments=keeps if moment else frozenset(),
        untold=keeps if moment is None else frozenset(),
        rises=base,
        bare=base,
        flags=table == SRC and column == FLAG,
        sure=sure,
    )


def computed(parts: Iterable[Col], text: str = "") -> Col:
    """Return what is known of a value that is computed from others.

    Args:
        parts: Those.
        text: See ``Col.text``; taken where all of them have one.
    """
    found = list(parts)
    known = all(part.text or part.constant for part in found)
    return Col(of=frozenset().union(*(part.of for part in found)), text=text if known and found else "")


def instant() -> Col:
    """Return <SRC_INSTANT>, which is another one in each run."""
    return Col(of=frozenset([(INSTANT, ROWS)]), instant=True)


def unknown(name: str) -> Col:
    """Return a column of which nothing is known."""
    return Col(of=frozenset([(UNKNOWN, name)]))

"""What is known of a relation within a SQL: which rows of it a run sees, and what one of them stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from freshet.verdict.columns import ROWS, SRC, Base, Col, of_table
from freshet.verdict.result import Finding

Kind = Literal["full", "delta", "before", "mixed"]


@dataclass(frozen=True, kw_only=True)
class Held:
    """A relation is whole for some values of its columns alone.

    Args:
        columns: The columns, by their keys in the relation; None for one that was left out on the way.
        texts: What of the main source's rows the values are, column by column; several where either will do.
        images: Of which images of the source's rows: ``new``, ``old``.
        by: ``partition`` where the read is narrowed to them, ``keys`` where a join is.
        tables: The tables that the values come from.
    """

    columns: tuple[str | None, ...]
    texts: tuple[frozenset[str], ...]
    images: frozenset[str]
    by: Literal["partition", "keys"]
    tables: frozenset[str] = frozenset()

    @property
    def told(self) -> set[str]:
        """Return the expressions over the source's row that its values are."""
        return {text for texts in self.texts for text in texts}


#: Begins the key of a column of ``Held`` that a subquery holds equal to the query around it, however it groups its rows.
TIED = "\0."
#: Begins the key of an expression by which a join narrows a relation.
HIDDEN = "\4."
# Columns that no star shows.
UNSEEN = ("\2", "\4", "\6")


#: A column of a table, and one of an input over the source's own table: whatever of the first table a row of a relation
#: hangs on stands in it with a row of the second that holds the same.
Bound = tuple[Base, Base]


@dataclass(frozen=True, kw_only=True)
class Owed:
    """A change in a table changes rows of a relation: something must bring them into the run.

    Args:
        table: The table, by its name in the SQL.
        links: Pairs of its column and of what the main source's rows have there, which say what rows; never null.
        within: The same, and those of null too.
        beside: Of all tables of the join the same pairs, with the tables' names.
        bound: See ``Bound``.
        line, column: Where the SQL names it.
    """

    table: str
    links: frozenset[tuple[str, str]]
    within: frozenset[tuple[str, str]]
    beside: frozenset[tuple[str, tuple[str, str]]] = frozenset()
    bound: frozenset[Bound] = frozenset()
    file: str
    line: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What an outer join looks up.

    Args:
        tables: The tables that have a part in it.
        links: Pairs of a table's column and of what the main source's rows have there, by which it finds rows.
        nulls: True where null finds null.
    """

    tables: frozenset[str]
    links: frozenset[tuple[Base, str]]
    nulls: bool


@dataclass(frozen=True, kw_only=True)
class Tie:
    """An equality by which a subquery hangs on the query around it: a value of that one, and one of the subquery's."""

    outer: Col
    outer_key: str | None
    inner: Col
    inner_key: str | None


@dataclass(frozen=True, kw_only=True)
class Rel:
    """A relation.

    Args:
        kind: ``full``: all its rows, as far as ``held`` says; ``delta``: the rows of what changed in the main source;
            ``before``:
            the main source's rows of before; ``mixed``: a union of such, in ``parts``.
        cols: Its columns, by ``alias.name`` within a query and by name outside of it.
        wide: Tables of which the columns are not known and all are here, by alias; the empty alias outside of a query.
        merged: Names that a USING has made one of two columns, each with the key of the one that counts.
        images: Tables that are the source as it was before.
        tables: Every table that has a part in it.
        unit: ``delta``: what one row stands for, as texts over the main source's row.
        seen: ``delta``: which images of the source's rows it holds: ``new``, ``old``.
        held: ``full``: see ``Held``.
        unique: Sets of columns of which no two rows have the same values.
        several: ``delta``: lists of constants of which each unit has a row for each; see ``Col.fixed``.
        many: ``delta``: tables and functions of which one unit may find several rows.
        one_group: ``delta``: True where all rows of the source are one group, which any change touches.
        always: ``full``: True where it has one row whatever its tables hold.
        filtered: ``full``: True where rows may be left out that the tables have.
        places: ``delta``: the source's columns of which a change is a deleted row and a new one.
        kept_by: ``delta``: what decides, for ever, which rows of the source it has; empty where it has all of them.
        conditions: ``delta``: the same as expressions over the source's row.
        dead: ``delta``: True where rows that the source deleted are among them.
        only_dead: ``delta``: True where no others are.
        twice: ``delta``: True where a row that went to another partition is here as it was, too.
        doubled: ``delta``: The finding where one unit has as many rows as a union gave it, and they are put together.
        perhaps: ``delta``: True where nobody says whether rows go to other partitions.
        assumed: True where the result is right only if none does.
        pending: What is wrong where these rows are published.
        emptied: What is wrong even where the rows of one unit are put together: a unit may have none.
        owed: See ``Owed``.
        outer: What outer joins look up, by the joins' numbers.
        parts: ``mixed``: what the union is of.
        ties: By what a subquery hangs on the query around it.
        open_ties: True where it hangs on it by more than these.
        bound: ``full``: see ``Bound``.
        plain: The table that it is, row by row; empty where it is more or less than a table.
        loose: Tables that have a part in it twice, so that one column of them says nothing of the other rows.
        broken: True where something is wrong already, so that nothing more is to be said of it.
    """

    kind: Kind = "full"
    cols: Mapping[str, Col] = field(default_factory=dict)
    wide: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    merged: Mapping[str, str] = field(default_factory=dict)
    images: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    unit: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    held: tuple[Held, ...] = ()
    unique: frozenset[frozenset[str]] = frozenset()
    several: frozenset[int] = frozenset()
    many: frozenset[str] = frozenset()
    one_group: bool = False
    always: bool = False
    filtered: bool = False
    places: frozenset[str] = frozenset()
    kept_by: frozenset[Base] = frozenset()
    conditions: frozenset[str] = frozenset()
    dead: bool = False
    only_dead: bool = False
    twice: bool = False
    doubled: tuple[Finding, ...] = ()
    perhaps: bool = False
    assumed: bool = False
    pending: tuple[Finding, ...] = ()
    emptied: tuple[Finding, ...] = ()
    owed: tuple[Owed, ...] = ()
    outer: Mapping[int, Looked] = field(default_factory=dict)
    parts: tuple[Rel, ...] = ()
    ties: tuple[Tie, ...] = ()
    open_ties: bool = False
    bound: frozenset[Bound] = frozenset()
    plain: str = ""
    loose: frozenset[str] = frozenset()
    broken: bool = False

    def get(self, key: str) -> Col | None:
        """Return a column by its key, or None where there is none."""
        if key in self.cols:
            return self.cols[key]
        alias, _, name = key.rpartition(".")
        tables = self.wide.get(alias, ())
        found = [of_table(table, name, image_of_source=table in self.images) for table in tables]
        if len(found) != 1:
            return Col(of=frozenset().union(*(col.of for col in found))) if found else None
        return replace(found[0], same=found[0].same - {base for base in found[0].same if base[0] in self.loose})

    @property
    def aliases(self) -> set[str]:
        """Return the names by which a query knows what it is joined from."""
        return {key.rpartition(".")[0] for key in self.cols} | set(self.wide)

    @property
    def of_rows(self) -> frozenset[Base]:
        """Return what a value follows from that tells which rows the other tables have."""
        return frozenset((table, ROWS) for table in self.tables if table != SRC)

    @property
    def of_many(self) -> frozenset[Base]:
        """Return what a value follows from that tells how many rows one unit has."""
        return frozenset((name, ROWS) for name in self.many)

    def keys_of(self, name: str) -> list[str]:
        """Return the keys that an unqualified name may mean."""
        if name in self.merged:
            return [self.merged[name]]
        found = [key for key in self.cols if key.rpartition(".")[2] == name]
        return found or [f"{alias}.{name}" if alias else name for alias in self.wide]

    def aliased(self, alias: str) -> Rel:
        """Return the relation as a query's FROM names it."""

        def renamed(key: str | None) -> str | None:
            return None if key is None else f"{alias}.{key.rpartition('.')[2]}"

        return replace(
            self,
            cols={f"{alias}.{name.rpartition('.')[2]}": col for name, col in self.cols.items()},
            wide={alias: tables} if (tables := tuple(t for some in self.wide.values() for t in some)) else {},
            merged={},
            unique=frozenset(frozenset(f"{alias}.{n.rpartition('.')[2]}" for n in one) for one in self.unique),
            held=tuple(replace(h, columns=tuple(renamed(c) for c in h.columns)) for h in self.held),
            ties=(),
            open_ties=False,
        )


def is_tied_key(key: str | None) -> bool:
    """Say whether a column of ``Held`` is one that a subquery holds equal to the query around it."""
    return key is not None and key.startswith(TIED)


def is_unique(rel: Rel, keys: Iterable[str | None]) -> bool:
    """Say whether no two rows of a relation have the same values in these columns."""
    named = {key for key in keys if key}
    constant = {key for key, col in rel.cols.items() if col.constant}
    return any(one <= named | constant for one in rel.unique)

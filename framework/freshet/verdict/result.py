"""What is said of a pipeline: whether its increments equal a recompute, why not, and into which pieces its result falls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["exact", "exact_if", "inexact"]


@dataclass(frozen=True, kw_only=True)
class Example:
    """The smallest change that makes the target differ from a recompute.

    Args:
        table: The table that changes, by the name that the SQL uses; ``SRC`` for the main source.
        change: What becomes of one row of it.
        before, after: The row's columns that matter, each with a SQL literal; empty where there is no row.
        recompute: What a recompute holds then.
        target: What the target holds.
    """

    table: str
    change: Literal["insert", "update", "delete", "run"]
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    recompute: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One reason why increments may differ from a recompute.

    Args:
        code: Stable name.
        file: File, relative to the project.
        line, column: Its place, both from 1.
        message: What is wrong.
        hint: What to write instead.
        subject: What it is about: the input, or a column; ``accepts`` may name it.
        example: The smallest change that goes wrong; None where it is only not known.
        accepted: Why the author accepts it; empty where nobody does.
        stops: True where nothing can be said of the rows behind it, so that what else is wrong with them is not found.
    """

    code: str
    file: str
    line: int
    column: int = 1
    message: str
    hint: str = ""
    subject: str = ""
    example: Example | None = None
    accepted: str = ""
    stops: bool = False


@dataclass(frozen=True, kw_only=True)
class ScopeColumn:
    """One column by which the result falls into pieces that nothing outside of them changes.

    Args:
        name: Column of the result.
        carried: The column that holds the same value, by the table's name in the SQL; a table without one is left out.
    """

    name: str
    carried: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The pieces into which the result of a pipeline's SQL falls.

    Args:
        columns: They, together, name one piece; empty where there is none.
        why_none: Why there is none; empty where there is one.
    """

    columns: tuple[ScopeColumn, ...] = ()
    why_none: str = ""


@dataclass(frozen=True, kw_only=True)
class Granted:
    """Something of a table that the files do not tell, and that a run holds against the table.

    Args:
        table: The table, by the name that the SQL uses.
        fact: What is taken for granted: these are the record key or the ordering field; the record key says in which
            partition a row lies, so that none goes to another one; these are never null; none of these is a TIMESTAMP; the
            table keeps change data. Of ``no_separators`` no run can tell: none of these holds the characters in ``without``.
        columns: The columns that it is about.
        without: See ``no_separators``.
    """

    table: str
    fact: Literal["record_key", "ordering", "rows_stay", "never_null", "no_moments", "records_changes", "no_separators"]
    columns: tuple[str, ...]
    without: str = ""


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """A column that a SQL gives another name by writing that behind it, without AS."""

    column: str
    alias: str
    file: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Output:
    """The columns of a SQL's result.

    Args:
        names: Their names, lower case; empty for one that Spark names by its text.
        renamed: Those that stand before another name.
    """

    names: tuple[str, ...]
    renamed: tuple[Renamed, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the increments of a pipeline equal a recompute.

    Args:
        kind: ``exact``; ``exact_if`` what the author accepts does not happen; ``inexact``.
        findings: Why not, accepted ones included, by place.
        scope: The pieces of the result.
        granted: What of the tables is taken for granted.
        unused: Codes that the author accepts and that nothing was found of.
        not_asked: Questions that could not be asked, because of the findings that stop the analysis; in words.
        output: The result's columns; None where they are not sure.
    """

    kind: Kind
    findings: tuple[Finding, ...] = ()
    scope: Scope = Scope(why_none="nothing is known of it")
    granted: tuple[Granted, ...] = ()
    unused: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
    output: Output | None = None

"""What a check says, typed and frozen: the rules that a batch must keep before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["fail", "warn", "drop"]
Scope = Literal["batch", "partitions", "table"]
Evolution = Literal["nothing", "add_columns", "widen"]


@dataclass(frozen=True, kw_only=True)
class SqlRule:
    """A query over the table as it would stand after the commit, and what it must give.

    Args:
        query: One SELECT with ``<TABLE_NAME>``.
        expect: The one value that it must give, as a SQL literal; empty for a comparison with before.
        compare: ``unchanged`` or ``changed``: the result after against the result before the commit; empty for a value.
        scope: What ``<TABLE_NAME>`` holds: the batch, the partitions that the commit touches, or the whole table.
    """

    query: str
    expect: str
    compare: Literal["", "unchanged", "changed"]
    scope: Scope


@dataclass(frozen=True)
class RowRule:
    """A SQL condition that is true for a bad row."""

    where: str


@dataclass(frozen=True)
class MalformedRule:
    """A value that the target's column cannot hold, or a null where none may be."""


@dataclass(frozen=True)
class UniqueRule:
    """No two rows with the same values.

    Args:
        columns: The columns together.
        within: ``batch``, or ``table``: the whole table as it would stand after the commit.
    """

    columns: tuple[str, ...]
    within: Literal["batch", "table"]


@dataclass(frozen=True)
class ReferenceRule:
    """Every value is found in another table; a null refers to nothing and passes.

    Args:
        table: Name of the other table.
        path: Its base path.
        columns: Pairs of the batch's column and the other table's.
    """

    table: str
    path: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FreshnessRule:
    """The newest value of a time column is not older than so many seconds."""

    column: str
    within_seconds: int


@dataclass(frozen=True)
class VolumeRule:
    """Rows of the batch against the median of the last commits.

    Args:
        last: How many of the pipeline's commits are looked at.
        at_least, at_most: Share of the median, 0.5 for half; None where there is no bound.
    """

    last: int
    at_least: float | None
    at_most: float | None


@dataclass(frozen=True)
class SuiteRule:
    """Expectations of Great Expectations, by GX's own names.

    Args:
        expectations: Each ``{"type": "expect_...", "kwargs": {...}}``.
    """

    expectations: tuple[Mapping[str, Any], ...]


Rule = SqlRule | RowRule | MalformedRule | UniqueRule | ReferenceRule | FreshnessRule | VolumeRule | SuiteRule


@dataclass(frozen=True, kw_only=True)
class CheckSpec:
    """One check of a pipeline.

    Args:
        name: Its name, one of a kind in the pipeline.
        severity: ``fail`` publishes nothing, ``warn`` says so, ``drop`` sends the bad rows to the quarantine.
        line: Line in the pipeline's YAML.
        rule: What is checked.
        most_rows, most_share: ``drop``: more bad rows than this, or a larger share of the batch, fail the run; None: no limit.
        deletes: ``drop``: the older row that stands under a dropped row's key is deleted, and not left published.
    """

    name: str
    severity: Severity
    line: int
    rule: Rule
    most_rows: int | None = None
    most_share: float | None = None
    # Not in the text of a check, by which a pipeline's logic is told: those that do not ask for it keep theirs.
    deletes: bool = field(default=False, repr=False)


_KINDS: Mapping[type[Any], str] = {
    SqlRule: "sql",
    RowRule: "where",
    MalformedRule: "malformed",
    UniqueRule: "unique",
    ReferenceRule: "references",
    FreshnessRule: "freshness",
    VolumeRule: "volume",
    SuiteRule: "expectations",
}


def kind_of(rule: Rule) -> str:
    """Return the key by which the YAML names the rule."""
    return _KINDS[type(rule)]

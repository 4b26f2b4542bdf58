"""The shape of a pipeline's checks in its YAML."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from freshet.project.shape.strategies import Duration, Model, Name, OneOrMore

_LIMIT = re.compile(r"(\d{1,12})|(\d{1,3}(?:\.\d+)?)\s*%")
_SHARE = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*%")
_HINT = "Write for instance 100, or 1%."


def limit_of(value: int | str | None) -> tuple[int | None, float | None]:
    """Return a limit such as ``100`` or ``1%`` as rows and as a share."""
    if value is None:
        return None, None
    match = _LIMIT.fullmatch(str(value).strip())
    if match is None:
        return None, None
    return (int(match[1]), None) if match[1] else (None, float(match[2]) / 100)


def share_of(value: str | None) -> float | None:
    """Return a share such as ``50%`` as 0.5."""
    match = _SHARE.fullmatch((value or "").strip())
    return float(match[1]) / 100 if match else None


def _limit(value: int | str) -> int | str:
    if limit_of(value) == (None, None):
        raise ValueError(f"BAD_VALUE|a limit is a number of rows or a percentage.|{_HINT}")
    return value


def _share(value: str) -> str:
    if share_of(value) is None:
        raise ValueError("BAD_VALUE|a share is a percentage.|Write for instance 50%.")
    return value


Limit = Annotated[int | str, AfterValidator(_limit)]
Share = Annotated[str, AfterValidator(_share)]
Value = bool | int | float | str | None


class Compared(Model):
    """The result of a query against the result before the commit."""

    result: Literal["unchanged", "changed"] = Field(
        description="unchanged: the query gives the same before and after the commit; changed: it does not.",
    )


class Reference(Model):
    """Where the values of a batch must be found."""

    table: Name = Field(description="Table as database.table.")
    columns: Annotated[dict[str, Name], Field(min_length=1)] = Field(
        description="The batch's column to the other table's column.",
    )


class Freshness(Model):
    """How old the newest row of a batch may be."""

    column: Name = Field(description="Column with a timestamp or a date.")
    within: Duration = Field(description="How old the newest value may be when the run checks it, such as 6h.")


class Volume(Model):
    """Rows of a batch against the last commits."""

    last: int = Field(20, ge=1, le=1000, description="How many of the pipeline's commits the median is of.")
    at_least: Share | None = Field(None, description="Least share of the median, such as 50%.")
    at_most: Share | None = Field(None, description="Largest share of the median, such as 300%.")


class Check(Model):
    """One check: a name, a severity, and one rule."""

    name: Name = Field(description="Name in reports, one of a kind in the pipeline.")
    severity: Literal["fail", "warn", "drop"] = Field(
        "fail",
        description="fail publishes nothing; warn says so; drop sends the bad rows to the quarantine table.",
    )
    limit: Limit | None = Field(
        None,
        description="severity: drop: more bad rows than this fail the run instead: a number, or a percentage.",
    )
    on_drop: Literal["keep", "delete"] = Field(
        "keep",
        description="severity: drop: what becomes of the older row that stands in the table under a dropped row's key: "
        "keep leaves it published; delete deletes it with the same commit.",
    )
    sql: Name | None = Field(None, description="A query over <TABLE_NAME>, the table as it would stand after the commit.")
    expect: Value | Compared = Field(None, description="sql: the value that the query must give, or {result: unchanged}.")
    scope: Literal["batch", "partitions", "table"] | None = Field(
        None,
        description="sql: what <TABLE_NAME> holds: the batch alone, the partitions that the commit touches (default), "
        "or the whole table.",
    )
    where: Name | None = Field(None, description="A SQL condition that is true for a bad row.")
    malformed: Literal[True] | None = Field(
        None,
        description="Values that the target's column cannot hold, and nulls where none may be, are this check's matter; "
        "texts are then cast to the column's type.",
    )
    unique: OneOrMore | None = Field(None, description="Columns whose values together stand only once.")
    within: Literal["batch", "table"] | None = Field(None, description="unique: in the batch (default) or in the table.")
    references: Reference | None = Field(None, description="Values that must be found in another table.")
    freshness: Freshness | None = Field(None, description="How old the newest row of a batch may be.")
    volume: Volume | None = Field(None, description="Rows of a batch against the last commits.")
    expectations: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = Field(
        None,
        description="Expectations by their names in Great Expectations, each {expect_...: {column: ..., ...}}.",
    )
    suite: Name | None = Field(None, description="A suite file exported from Great Expectations, relative to the project.")


#: The keys of which a check has exactly one.
RULES = ("sql", "where", "malformed", "unique", "references", "freshness", "volume", "expectations", "suite")

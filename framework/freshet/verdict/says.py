"""What is said of each reason: the code, the words, the smallest change that goes wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from freshet.verdict.columns import INSTANT, SRC
from freshet.verdict.relation import Rel
from freshet.verdict.result import Example, Finding
from freshet.verdict.site import Site

_FLAG = "Keep the row and mark it: '<the source's _hoodie_is_deleted> OR NOT (<condition>) AS _hoodie_is_deleted'"
#: The main source, as findings and examples name it.
SHOWN = "SRC"
SHOWN_INSTANT = "<SRC_INSTANT>"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What is said of a reason, wherever it stands; see ``Finding``."""

    code: str
    message: str
    hint: str = ""
    subject: str = ""
    example: Example | None = None

    def at(self, site: Site, node: exp.Expr) -> Finding:
        """Return it at a place."""
        subject = SHOWN if self.subject == SRC else self.subject
        example = self.example and replace(self.example, table=SHOWN if self.example.table == SRC else self.example.table)
        return site.finding(self.code, node, self.message, self.hint, subject, example)


def shown(table: str) -> str:
    """Return a table's name as the SQL's author knows it."""
    return "<SRC>" if table == SRC else SHOWN_INSTANT if table == INSTANT else table


def simple(code: str, message: str, hint: str, subject: str = "", example: Example | None = None) -> Said:
    """Return what stands in one place alone."""
    return Said(code=code, message=message, hint=hint, subject=subject, example=example)


def rows_filtered(clause: str, condition: str, table: str, before: Mapping[str, str], after: Mapping[str, str]) -> Said:
    """A condition on changed rows."""
    return Said(
        code="ROWS_FILTERED",
        message=f"{clause} {condition}: a row that was published and for which this is no longer true is not in the result, "
        "so that "
        "nothing takes it out of the target.",
        hint=f"{_FLAG}.",
        example=Example(
            table=table,
            change="update",
            before=before,
            after=after,
            recompute="does not hold the row",
            target="keeps the row as it was published",
        ),
    )


def not_deterministic(function: str) -> Said:
    """Values that another run does not give."""
    return Said(
        code="NOT_DETERMINISTIC",
        message=f"{function} gives another value in another run.",
        hint="Take the value from a column of the source; <SRC_INSTANT> orders the rows of runs.",
        subject=function,
        example=Example(table=SRC, change="run", recompute="has the value of the recompute's time", target="has an older one"),
    )


def order_is_open(function: str) -> Said:
    """Values that depend on the order of rows."""
    return Said(
        code="ORDER_IS_OPEN",
        message=f"{function} depends on the order of rows that nothing fixes: another run may give another value.",
        hint="Order by columns that no two rows have in common, or take min, max, min_by, max_by; sort a collected list.",
        subject=function,
    )


def rows_limited(clause: str) -> Said:
    """LIMIT and the like."""
    return Said(
        code="ROWS_LIMITED",
        message=f"{clause} takes of the rows that changed what it would take of all.",
        hint="Publish all rows, and limit where they are read.",
        subject=clause,
        example=Example(
            table=SRC, change="insert", recompute="holds as many rows as the limit", target="holds as many for each run"
        ),
    )


def set_operation(word: str, table: str) -> Said:
    """EXCEPT and INTERSECT with changed rows; of another table's rows where one is named."""
    drops: Literal["insert", "delete"] = "insert" if word == "EXCEPT" else "delete"
    example = Example(table=table, change=drops, recompute="does not hold the row", target="keeps the row as it was published")
    return Said(
        code="SET_OPERATION_OF_PART",
        message=f"{word} compares changed rows alone.",
        hint="Join with the other table instead, and mark the rows that are not wanted: '... AS _hoodie_is_deleted'.",
        subject=word,
        example=example if table else None,
    )


def before_as_data() -> Said:
    """The rows of before, used for more than which groups are touched."""
    return Said(
        code="BEFORE_AS_DATA",
        message="An input with 'as_of: checkpoint' is used for more than which groups the changed rows were in: a recompute "
        "has no rows there.",
        hint="Semi-join it with <SRC> by the source's record key, and take from it only the columns that name a group.",
    )


def not_analysed(what: str) -> Said:
    """What this analysis does not know."""
    return Said(
        code="NOT_ANALYSED",
        message=f"Of {what} freshet cannot say whether its increments equal a recompute.",
        hint="Write it in a simpler way, or accept it with the reason why it is exact.",
    )


def of_hudi(column: str) -> Said:
    """A column that Hudi or Spark adds to each table."""
    return Said(
        code="NOT_ANALYSED",
        message=f"{column} says where or when Hudi wrote a row, which changes without the row; no run hands it to the SQL, "
        "which fails at it.",
        hint="Leave it out. The time of a run is <SRC_INSTANT>; what identifies a row are the columns of its record key.",
        subject=column,
    )


def first_table(rel: Rel) -> str:
    """Return the name of a table that has a part in a relation, the main source's where there is no other."""
    named = sorted(table for table in rel.tables - rel.images if table != SRC)
    return named[0] if named else SRC

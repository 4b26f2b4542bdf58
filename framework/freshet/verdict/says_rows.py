"""What is said of functions that make several rows of one, or none."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.verdict.columns import SRC, Col
from freshet.verdict.result import Example
from freshet.verdict.says import Said


def fan_out_of(function: str) -> Said:
    """One row becomes as many as a value says."""
    return Said(
        code="FAN_OUT",
        message=f"{function} makes several rows of one: when it makes fewer the next time, the others stay published.",
        hint="Make the same rows each time, those without content too, as by 'stack' with constants; or publish the value as "
        "it is.",
        subject=function,
        example=Example(
            table=SRC,
            change="update",
            before={"elements": "2"},
            after={"elements": "1"},
            recompute="holds one row",
            target="holds two rows",
        ),
    )


def no_row_of(function: str) -> Said:
    """A row of which nothing is made."""
    return Said(
        code="ROWS_FILTERED",
        message=f"{function} gives no row for a value that is empty or null: a row that was published and has come to that is "
        "not in the result, so that nothing takes it out of the target.",
        hint="Write LATERAL VIEW OUTER, or explode_outer, so that each row of <SRC> gives one at least.",
        subject=function,
    )


def no_row_of_null(col: Col) -> Said:
    """A row that UNPIVOT leaves out."""
    own = {col.bare[1]: "1"} if col.bare is not None and col.bare[0] == SRC else {}
    return Said(
        code="ROWS_FILTERED",
        message="UNPIVOT gives no row for a value that is null: a row that was published and whose value has become null is "
        "not in the result, so that nothing takes it out of the target.",
        hint="Write UNPIVOT INCLUDE NULLS, and mark the rows that are not wanted.",
        subject="unpivot",
        example=Example(
            table=SRC,
            change="update",
            before=own,
            after=dict.fromkeys(own, "NULL"),
            recompute="does not hold the row",
            target="keeps the row as it was published",
        )
        if own
        else None,
    )


def no_window(after: Mapping[str, str]) -> Said:
    """Rows that have no window of time."""
    return Said(
        code="ROWS_FILTERED",
        message="window() gives no row where the time is null: a row that was published and whose time has become null is not "
        "in the result, so that nothing takes it out of the target.",
        hint="Compute the window's start, as by date_trunc('HOUR', at), which is null then; or declare the time NOT NULL in "
        "its table's DDL.",
        subject="window",
        example=Example(
            table=SRC,
            change="update",
            before=dict.fromkeys(after, "'2026-01-01'"),
            after=after,
            recompute="does not hold the row",
            target="keeps the row as it was published",
        )
        if after
        else None,
    )

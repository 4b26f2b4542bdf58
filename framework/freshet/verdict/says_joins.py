"""What is said of joins, and of the tables that they look up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from freshet.verdict.columns import SRC
from freshet.verdict.relation import Held, Owed, Rel
from freshet.verdict.result import Example
from freshet.verdict.says import Said, first_table, shown
from freshet.verdict.texts import is_name

if TYPE_CHECKING:
    from freshet.verdict.pairs import Pair


def partner_decides(side: str, right: Rel, left: Rel, pairs: Iterable[Pair]) -> Said:
    """A row is published only where another table has one, or has none."""
    subject, what = first_table(right), "has a row for it" if side == "semi" else "has no row for it"
    return Said(
        code="PARTNER_DECIDES_ROWS",
        message=f"A row is published only where {shown(subject)} {what}; when that changes, the published row stays.",
        hint=f"LEFT JOIN {shown(subject)}, and mark the row where it is not wanted: '<the source's _hoodie_is_deleted> OR "
        "<its key> IS NULL "
        "AS _hoodie_is_deleted'.",
        subject=subject,
        example=Example(
            table=subject,
            change="delete" if side == "semi" else "insert",
            before=_linked(pairs) if side == "semi" else {},
            after={} if side == "semi" else _linked(pairs),
            recompute="does not hold the row",
            target="keeps the row as it was published",
        ),
    )


def inner_join_drops(right: Rel, left: Rel, pairs: Iterable[Pair]) -> Said:
    """An inner join with another table."""
    subject = first_table(right)
    return Said(
        code="INNER_JOIN_DROPS",
        message=f"The inner join drops a row of which the partner in {shown(subject)} is gone or has changed its key; what "
        "was published stays.",
        hint=f"LEFT JOIN {shown(subject)}, and mark the row that has no partner: '<the source's _hoodie_is_deleted> OR <its "
        "key> IS NULL "
        "AS _hoodie_is_deleted'.",
        subject=subject,
        example=Example(
            table=subject,
            change="update" if subject == SRC else "delete",
            before={} if subject == SRC else _linked(pairs),
            recompute="does not hold the row",
            target="keeps the row as it was published",
        ),
    )


def list_decides(pairs: Iterable[Pair], *, sure: bool) -> Said:
    """An inner join with a list of constants."""
    listed = {
        pair.left.bare[1]: min(pair.right.among)
        for pair in pairs
        if pair.left.bare is not None and pair.left.bare[0] == SRC and pair.right.among
    }
    return Said(
        code="INNER_JOIN_DROPS",
        message="The inner join drops a row for which the list of constants has nothing any more, as the row has changed; what "
        "was published stays.",
        hint="LEFT JOIN the list, and mark the row that finds nothing: '<the source's _hoodie_is_deleted> OR <the list's "
        "column> IS NULL AS _hoodie_is_deleted'.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            before=listed,
            after=dict.fromkeys(listed, "NULL"),
            recompute="does not hold the row",
            target="keeps the row as it was published",
        )
        if sure and listed
        else None,
    )


def fan_out_of_join(right: Rel, left: Rel, pairs: Iterable[Pair]) -> Said:
    """A join that finds several rows."""
    subject = first_table(right)
    return Said(
        code="FAN_OUT",
        message=f"The join may find several rows of {shown(subject)} for one: when it finds fewer the next time, the others "
        "stay published.",
        hint=f"Aggregate {shown(subject)} by the columns that join it, or let a pipeline of its own publish its rows.",
        subject=subject,
        example=Example(
            table=subject,
            change="delete",
            before=_linked(pairs),
            recompute="does not hold that row",
            target="keeps the row as it was published",
        ),
    )


def outer_join_of_part() -> Said:
    """The changed rows on the side that may be missing."""
    return Said(
        code="OUTER_JOIN_OF_PART",
        message="An outer join looks up changed rows alone: every other row finds nothing, and is published as if <SRC> had "
        "none for it.",
        hint="Begin with <SRC>, and LEFT JOIN the other table.",
        subject=SRC,
    )


def absence_from_part() -> Said:
    """Rows that are kept where the changed ones have no match."""
    return Said(
        code="ABSENCE_FROM_PART",
        message="A row counts as missing from <SRC> where it only did not change.",
        hint="Read the source's table as an input, and ask that.",
        subject=SRC,
        example=Example(
            table=SRC, change="update", recompute="leaves out what the source has", target="holds what did not change"
        ),
    )


def join_of_parts() -> Said:
    """Changed rows joined with other changed rows."""
    return Said(
        code="GROUP_IN_PART",
        message="<SRC> is joined with itself: of the other rows only those are there that changed in the same run.",
        hint="Read the source's table as an input (snapshot or affected_partitions) for the other side.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            recompute="joins the row with rows that did not change",
            target="has joined it with those that changed in the same run",
        ),
    )


def partitions_in_part(held: Held, right: Rel) -> Said:
    """A table that was read in part, used as if it were whole."""
    subject = first_table(right)
    if held.by == "keys":
        return Said(
            code="GROUP_IN_PART",
            message=f"{shown(subject)} holds only the rows of the groups that changed, and is used for others, too.",
            hint="Join and group by the columns that narrow it.",
            subject=subject,
        )
    columns = ", ".join(c.rpartition(".")[2] for c in held.columns if c) or "the partition"
    return Said(
        code="PARTITIONS_IN_PART",
        message=f"{shown(subject)} is read only in the partitions that <SRC> needs, and is used without {columns} being "
        "equal to what 'on' maps: "
        "rows of other partitions are missing.",
        hint=f"Join and group by {columns}, too, or read {shown(subject)} by snapshot.",
        subject=subject,
    )


def input_does_not_drive(owed: Owed) -> Said:
    """A table of which a change brings nothing into the run."""
    subject = shown(owed.table)
    plain = [(column, text) for column, text in sorted(owed.links) if is_name(column) and is_name(text)]
    links = ", ".join(f"{column}: {text}" for column, text in plain) or "<column>: <column of the source>"
    return Said(
        code="INPUT_DOES_NOT_DRIVE",
        message=f"A change in {shown(subject)} alone brings no row into the run: rows that were published keep what it said "
        "then.",
        hint=f"Let it drive: '{shown(subject)}_changes: {{table: ..., read: incremental, drives: {{{links}}}}}'; or accept "
        "it where it never "
        "changes.",
        subject=subject,
        example=Example(
            table=owed.table,
            change="delete",
            before={column: "'a'" for column, _ in plain},
            recompute="finds no such row any more",
            target="has what it said until its own row changes",
        ),
    )


def lookback_is_bounded(table: str, hours: float) -> Said:
    """Rows of the last hours alone."""
    return Said(
        code="LOOKBACK_IS_BOUNDED",
        message=f"{table} holds what changed within {hours:g} hours: a row that changes later than that after its partner "
        "does not find it.",
        hint=f"Read {table} by affected_partitions or snapshot, and let a second input over the table drive.",
        subject=table,
        example=Example(
            table=SRC,
            change="update",
            recompute=f"finds the row of {table}, however old",
            target=f"has null, where the row of {table} last changed more than {hours:g} hours ago",
        ),
    )


def _linked(pairs: Iterable[Pair]) -> dict[str, str]:
    return {pair.right_key.rpartition(".")[2]: "'a'" for pair in pairs if pair.right_key is not None}

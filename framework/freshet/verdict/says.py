"""What is said of each reason: the code, the words, the smallest change that goes wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from freshet.verdict.columns import SRC, Col
from freshet.verdict.relation import Held, Owed, Rel
from freshet.verdict.result import Example, Finding
from freshet.verdict.site import Site

if TYPE_CHECKING:
    from freshet.verdict.joins import Pair

_FLAG = "Keep the row and mark it: '<the source's _hoodie_is_deleted> OR NOT (<condition>) AS _hoodie_is_deleted'"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What is said of a reason, wherever it stands; see ``Finding``."""

    code: str
    message: str
    hint: str = ""
    subject: str = ""
    example: Example | None = None

    def at(self, site: Site, node: exp.Expression) -> Finding:
        """Return it at a place."""
        return site.finding(self.code, node, self.message, self.hint, self.subject, self.example)


def shown(table: str) -> str:
    """Return a table's name as the SQL's author knows it."""
    return "<SRC>" if table == SRC else table


def rows_filtered(clause: str, condition: str, before: Mapping[str, str], after: Mapping[str, str]) -> Said:
    """A condition on changed rows."""
    return Said(
        code="ROWS_FILTERED",
        message=f"{clause} {condition}: a row that was published and for which this is no longer true is not in the result, so that "
        "nothing takes it out of the target.",
        hint=f"{_FLAG}.",
        example=Example(
            table=SRC,
            change="update",
            before=before,
            after=after,
            recompute="does not hold the row",
            target="keeps the row as it was published",
        ),
    )


def partner_decides(side: str, right: Rel, left: Rel, pairs: Sequence[Pair]) -> Said:
    """A row is published only where another table has one, or has none."""
    subject, what = _first_table(right), "has a row for it" if side == "semi" else "has no row for it"
    return Said(
        code="PARTNER_DECIDES_ROWS",
        message=f"A row is published only where {subject} {what}; when that changes, the published row stays.",
        hint=f"LEFT JOIN {subject}, and mark the row where it is not wanted: '<the source's _hoodie_is_deleted> OR <its key> IS NULL "
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


def inner_join_drops(right: Rel, left: Rel, pairs: Sequence[Pair]) -> Said:
    """An inner join with another table."""
    subject = _first_table(right)
    return Said(
        code="INNER_JOIN_DROPS",
        message=f"The inner join drops a row of which the partner in {subject} is gone or has changed its key; what was published stays.",
        hint=f"LEFT JOIN {subject}, and mark the row that has no partner: '<the source's _hoodie_is_deleted> OR <its key> IS NULL "
        "AS _hoodie_is_deleted'.",
        subject=subject,
        example=Example(
            table=subject,
            change="delete",
            before=_linked(pairs),
            recompute="does not hold the row",
            target="keeps the row as it was published",
        ),
    )


def fan_out_of_join(right: Rel, left: Rel, pairs: Sequence[Pair]) -> Said:
    """A join that finds several rows."""
    subject = _first_table(right)
    return Said(
        code="FAN_OUT",
        message=f"The join may find several rows of {subject} for one: when it finds fewer the next time, the others stay published.",
        hint=f"Aggregate {subject} by the columns that join it, or let a pipeline of its own publish its rows.",
        subject=subject,
        example=Example(
            table=subject,
            change="delete",
            before=_linked(pairs),
            recompute="does not hold that row",
            target="keeps the row as it was published",
        ),
    )


def fan_out_of(function: str) -> Said:
    """One row becomes as many as a value says."""
    return Said(
        code="FAN_OUT",
        message=f"{function} makes several rows of one: when it makes fewer the next time, the others stay published.",
        hint="Make the same rows each time, those without content too, as by 'stack' with constants; or publish the value as it is.",
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


def outer_join_of_part() -> Said:
    """The changed rows on the side that may be missing."""
    return Said(
        code="OUTER_JOIN_OF_PART",
        message="An outer join looks up changed rows alone: every other row finds nothing, and is published as if <SRC> had none for it.",
        hint="Begin with <SRC>, and LEFT JOIN the other table.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            recompute="has joined every row with its partner",
            target="has null in the rows of which the partner did not change",
        ),
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


def group_in_part(groups: str, unit: str, what: str = "aggregate") -> Said:
    """An aggregate or a window over a group that is not whole."""
    code = "WINDOW_IN_PART" if what == "window" else "GROUP_IN_PART"
    by = f" by {groups}" if groups else ""
    return Said(
        code=code,
        message=f"The {what}{by} sees only the rows that changed, not the whole group.",
        hint="Read the source's table as an input with 'read: affected_partitions' (or snapshot), take from <SRC> only which groups it "
        "touches, and aggregate the input's rows of these: freshet init --pattern daily_aggregate.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            recompute="has the group of all its rows",
            target="has the group of the one row that changed",
        ),
    )


def partitions_in_part(held: Held, right: Rel) -> Said:
    """A table that was read in part, used as if it were whole."""
    subject = _first_table(right)
    if held.by == "keys":
        return Said(
            code="GROUP_IN_PART",
            message=f"{subject} holds only the rows of the groups that changed, and is used for others, too.",
            hint="Join and group by the columns that narrow it.",
            subject=subject,
        )
    columns = ", ".join(c.rpartition(".")[2] for c in held.columns if c) or "the partition"
    return Said(
        code="PARTITIONS_IN_PART",
        message=f"{subject} is read only in the partitions that <SRC> needs, and is used without {columns} being equal to what 'on' maps: "
        "rows of other partitions are missing.",
        hint=f"Join and group by {columns}, too, or read {subject} by snapshot.",
        subject=subject,
        example=Example(
            table=subject,
            change="insert",
            recompute="finds the row of another partition",
            target="does not see it",
        ),
    )


def input_does_not_drive(owed: Owed) -> Said:
    """A table of which a change brings nothing into the run."""
    subject = shown(owed.table)
    links = ", ".join(f"{column}: {text}" for column, text in sorted(owed.links)) or "<column>: <column of the source>"
    return Said(
        code="INPUT_DOES_NOT_DRIVE",
        message=f"A change in {subject} alone brings no row into the run: rows that were published keep what it said then.",
        hint=f"Let it drive: '{subject}_changes: {{table: ..., read: incremental, drives: {{{links}}}}}'; or accept it where it never "
        "changes.",
        subject=subject,
        example=Example(
            table=owed.table,
            change="update",
            before={column: "'a'" for column, _ in sorted(owed.links)},
            after={column: "'a'" for column, _ in sorted(owed.links)},
            recompute="has the new values",
            target="has the old values until its own row changes",
        ),
    )


def lookback_is_bounded(table: str, hours: float) -> Said:
    """Rows of the last hours alone."""
    return Said(
        code="LOOKBACK_IS_BOUNDED",
        message=f"{table} holds what changed within {hours:g} hours: a row that changes later than that after its partner does not find it.",
        hint=f"Read {table} by affected_partitions or snapshot, and let a second input over the table drive.",
        subject=table,
        example=Example(
            table=SRC,
            change="update",
            recompute=f"finds the row of {table}, however old",
            target=f"has null, where the row of {table} last changed more than {hours:g} hours ago",
        ),
    )


def group_may_vanish(what: str) -> Said:
    """Groups of which nothing is left."""
    return Said(
        code="GROUP_MAY_VANISH",
        message=f"{what} of which no row is left gives no row, so that nothing takes it out of the target.",
        hint="Begin with the groups that changed, LEFT JOIN what is left of them, and mark those of which nothing is: "
        "'<a column that joins it> IS NULL AS _hoodie_is_deleted'.",
        example=Example(
            table=SRC, change="delete", recompute="does not hold the row", target="keeps the row as it was published"
        ),
    )


def old_group_not_touched(columns: str) -> Said:
    """Rows that move from one group to another."""
    return Said(
        code="OLD_GROUP_NOT_TOUCHED",
        message=f"A row whose {columns} changes leaves a group that <SRC> does not name any more, and that keeps what it had.",
        hint="Add the groups of before: an input over the source's table with 'as_of: checkpoint', semi-joined with <SRC> by the source's "
        "record key.",
        subject=columns,
        example=Example(
            table=SRC,
            change="update",
            before=dict.fromkeys(columns.split(", "), "'a'"),
            after=dict.fromkeys(columns.split(", "), "'b'"),
            recompute="counts the row in the new group alone",
            target="counts it in both",
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


def set_operation(word: str) -> Said:
    """EXCEPT and INTERSECT with changed rows."""
    return Said(
        code="SET_OPERATION_OF_PART",
        message=f"{word} compares changed rows alone.",
        hint="Join with the other table instead, and mark the rows that are not wanted: '... AS _hoodie_is_deleted'.",
        subject=word,
        example=Example(table=SRC, change="update", recompute="compares all rows", target="keeps what was published"),
    )


def before_as_data() -> Said:
    """The rows of before, used for more than which groups are touched."""
    return Said(
        code="BEFORE_AS_DATA",
        message="An input with 'as_of: checkpoint' is used for more than which groups the changed rows were in: a recompute has no rows there.",
        hint="Semi-join it with <SRC> by the source's record key, and take from it only the columns that name a group.",
    )


def not_analysed(what: str) -> Said:
    """What this analysis does not know."""
    return Said(
        code="NOT_ANALYSED",
        message=f"Of {what} freshet cannot say whether its increments equal a recompute.",
        hint="Write it in a simpler way, or accept it with the reason why it is exact.",
    )


def key_may_change(column: str, of: Sequence[str]) -> Said:
    """A record key that follows from what may change."""
    changing = ", ".join(of)
    return Said(
        code="KEY_MAY_CHANGE",
        message=f"{column} is part of the target's record key and follows from {changing}, which may change: the row of the old key stays.",
        hint="Let the record key follow from the source's record key alone.",
        subject=column,
        example=Example(
            table=SRC,
            change="update",
            before={one.rpartition(".")[2]: "'a'" for one in of},
            after={one.rpartition(".")[2]: "'b'" for one in of},
            recompute="holds the row under its new key alone",
            target="holds it under both",
        ),
    )


def keys_may_collide(missing: Sequence[str], key: Sequence[str]) -> Said:
    """Two rows of the source that write one row."""
    return Said(
        code="KEYS_MAY_COLLIDE",
        message=f"The target's record key ({', '.join(key)}) does not hold {', '.join(missing)}, by which the source tells rows apart: two of "
        "its rows write one row, and when one of them goes, the other does not come back.",
        hint="Take the whole record key of the source into the target's, or aggregate by the target's.",
        subject=", ".join(missing),
        example=Example(
            table=SRC,
            change="delete",
            before=dict.fromkeys(missing, "'a'"),
            recompute="holds the row of the other",
            target="holds no row",
        ),
    )


def ordering_may_go_back(column: str, col: Col | None, known: str) -> Said:
    """An ordering value that need not rise."""
    from_what = ", ".join(sorted(f"{shown(t)}.{c}" for t, c in col.of)) if col is not None and col.of else "another value"
    instead = f"the source's ordering field{f' ({known})' if known else ''}"
    return Said(
        code="ORDERING_MAY_GO_BACK",
        message=f"The ordering field {column} follows from {from_what}: where it goes back, the older row wins.",
        hint=f"Take {instead} for one row of the source, or <SRC_INSTANT>.",
        subject=column,
        example=Example(
            table=SRC,
            change="update",
            before={column: "2"},
            after={column: "1"},
            recompute="has the new values",
            target="keeps the old ones",
        ),
    )


def deletes_stay(why: str) -> Said:
    """Deletes that do not reach the target."""
    return Said(
        code="DELETES_STAY",
        message=f"A row that the source deletes stays in the target: {why}.",
        hint="Declare '_hoodie_is_deleted BOOLEAN' in the DDL and select it (docs/reading.md, \"Deletes\"); or accept it where the source "
        "never deletes.",
        subject=SRC,
        example=Example(
            table=SRC, change="delete", recompute="does not hold the row", target="keeps the row as it was published"
        ),
    )


def simple(code: str, message: str, hint: str, subject: str = "", example: Example | None = None) -> Said:
    """Return what stands in one place alone."""
    return Said(code=code, message=message, hint=hint, subject=subject, example=example)


def _first_table(rel: Rel) -> str:
    named = sorted(table for table in rel.tables if table != SRC)
    return named[0] if named else "<SRC>"


def _linked(pairs: Sequence[Pair]) -> dict[str, str]:
    return {pair.right_key.rpartition(".")[2]: "'a'" for pair in pairs if pair.right_key is not None}

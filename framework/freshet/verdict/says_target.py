"""What is said of groups, and of what the target makes of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from freshet.verdict.columns import FLAG, ROWS, SRC, UNKNOWN, Base, Col
from freshet.verdict.result import Example
from freshet.verdict.says import Said, shown, simple
from freshet.verdict.texts import columns_of, is_name


def group_in_part(groups: str, unit: str, what: str = "aggregate") -> Said:
    """An aggregate or a window over a group that is not whole."""
    code = "WINDOW_IN_PART" if what == "window" else "GROUP_IN_PART"
    by = f" by {groups}" if groups else ""
    return Said(
        code=code,
        message=f"The {what}{by} sees only the rows that changed, not the whole group.",
        hint="Read the source's table as an input with 'read: affected_partitions' (or snapshot), take from <SRC> only which "
        "groups it "
        "touches, and aggregate the input's rows of these: freshet init --pattern daily_aggregate.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            recompute="has the group of all its rows",
            target="has the group of the one row that changed",
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


def old_group_not_touched(texts: Sequence[str]) -> Said:
    """Rows that move from one group to another."""
    columns = ", ".join(texts)
    # Of an expression: a column that it is computed from.
    moving = sorted({name for text in texts for name in ([text] if is_name(text) else columns_of(text))})
    return Said(
        code="OLD_GROUP_NOT_TOUCHED",
        message=f"A row whose {columns} changes leaves a group that <SRC> does not name any more, and that keeps what it had.",
        hint="Add the groups of before: an input over the source's table with 'as_of: checkpoint', semi-joined with <SRC> by "
        "the source's "
        "record key.",
        subject=columns,
        example=Example(
            table=SRC,
            change="update",
            before=dict.fromkeys(moving, "'a'"),
            after=dict.fromkeys(moving, "'b'"),
            recompute="counts the row in the new group alone",
            target="counts it in both",
        ),
    )


def key_may_change(column: str, of: Sequence[Base], keys: Iterable[Base]) -> Said:
    """A record key that follows from what may change."""
    told = [name for table, name in of if table == UNKNOWN]
    told += [
        f"the rows of {shown(table)}" if name == ROWS else f"{shown(table)}.{name}" for table, name in of if table != UNKNOWN
    ]
    real = [(table, name) for table, name in of if table != UNKNOWN and not table.endswith("()") and name != ROWS]
    changing = [name for table, name in real if table == real[0][0] and name != FLAG]
    # A row's key does not change: the row goes.
    stays = bool(real) and {(real[0][0], name) for name in changing} <= set(keys)
    return Said(
        code="KEY_MAY_CHANGE",
        message=f"{column} is part of the target's record key and follows from {', '.join(told)}, which may change: the row "
        "of the old "
        "key stays.",
        hint="Let the record key follow from the source's record key alone.",
        subject=column,
        example=Example(
            table=real[0][0] if real else SRC,
            change="delete" if stays else "update",
            before=dict.fromkeys(changing, "'a'"),
            after={} if stays else dict.fromkeys(changing, "'b'"),
            recompute="holds the row under its new key alone",
            target="holds it under both",
        ),
    )


def keys_may_collide(missing: Sequence[str], key: Sequence[str]) -> Said:
    """Two rows of the source that write one row."""
    return Said(
        code="KEYS_MAY_COLLIDE",
        message=f"The target's record key ({', '.join(key)}) does not hold {', '.join(missing)}, by which the source tells "
        "rows apart: two of "
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


def moments_may_collide(missing: Sequence[str], key: Sequence[str], zone: str) -> Said:
    """Two moments that are one in the target's record key."""
    columns = ", ".join(missing)
    why = f"in the time zone {zone} an hour of autumn comes twice" if zone else "JSON has milliseconds of a moment"
    return Said(
        code="KEYS_MAY_COLLIDE",
        message=f"The target's record key ({', '.join(key)}) has {columns} of the source's as a text, and {why}: two of its "
        "rows may write one row.",
        hint=f"Take the moment as a number, unix_micros({missing[0]}), which is the same everywhere.",
        subject=columns,
    )


def ordering_may_go_back(column: str, col: Col | None, known: str, of_rows: bool) -> Said:
    """An ordering value that need not rise."""
    from_what = ", ".join(sorted(f"{shown(t)}.{c}" for t, c in col.of)) if col is not None and col.of else "another value"
    instead = f"the source's ordering field{f' ({known})' if known else ''}"
    rises = col is not None and (SRC, known) in col.of
    example = Example(
        table=SRC,
        change="update" if of_rows else "delete",
        before={column: "2"} if of_rows and not rises else {},
        after={column: "1"} if of_rows and not rises else {},
        recompute="has the new values",
        target="keeps the old ones",
    )
    return Said(
        code="ORDERING_MAY_GO_BACK",
        message=f"The ordering field {column} follows from {from_what}: where it goes back, the older row wins.",
        hint=f"Take {instead} for one row of the source, or <SRC_INSTANT>.",
        subject=column,
        example=example,
    )


def deletes_stay(why: str) -> Said:
    """Deletes that do not reach the target."""
    return Said(
        code="DELETES_STAY",
        message=f"A row that the source deletes stays in the target: {why}.",
        hint="Declare '_hoodie_is_deleted BOOLEAN' in the DDL and select it (docs/reading.md, \"Deletes\"); or accept it "
        "where the source "
        "never deletes.",
        subject=SRC,
        example=Example(
            table=SRC, change="delete", recompute="does not hold the row", target="keeps the row as it was published"
        ),
    )


def deletes_not_read(not_recorded: bool) -> Said:
    """An increment without the rows that the source deletes.

    Args:
        not_recorded: True where no setting of the pipeline would show them.
    """
    if not not_recorded:
        return deletes_stay("the increment is read without deletes")
    return replace(
        deletes_stay("its table keeps no change data, so that no increment shows what it deletes"),
        hint="Make the source's table anew with hoodie.table.cdc.enabled=true, which it has from its first commit or never; or "
        "accept it where the source never deletes.",
    )


def named_twice() -> Said:
    """Groups that a union names more than once."""
    return Said(
        code="FAN_OUT",
        message="UNION ALL names a group once for each of its rows that changed: what is put together of the group's rows "
        "takes each of them as often.",
        hint="Write UNION, which names each group once.",
        subject="union",
    )


def moved_row_is_here_twice(what: str) -> Said:
    """Rows of one key that are put together, one of them as it was in another partition."""
    return Said(
        code="MOVED_ROW_TWICE",
        message="A row of the source that went to another partition is in <SRC> twice, deleted where it was and as it is "
        f"now: {what} puts "
        "the two together.",
        hint="Take the rows of <SRC> one by one: it holds one row for each key, and the deleted one of a row that moved is "
        "left out by the write.",
        subject=SRC,
        example=Example(
            table=SRC,
            change="update",
            recompute="knows the row as it is now alone",
            target="has taken the row as it was in the other partition, too",
        ),
    )


def only_old_rows() -> Said:
    """Rows of before that are published as they were."""
    return Said(
        code="BEFORE_AS_DATA",
        message="The rows of before are published with the values that they had then: a recompute has no rows of before.",
        hint="Take from the rows of before only the columns that name a group.",
        subject=SRC,
        example=Example(table=SRC, change="update", recompute="has the new values", target="has the old ones"),
    )


def overwrites_with_part() -> Said:
    """Partitions that are replaced by a part of their rows."""
    return simple(
        "OVERWRITES_WITH_PART",
        "insert_overwrite replaces whole partitions, and the result holds only the rows that changed, or part of them.",
        "Read the source's table with affected_partitions as an input, and publish its rows.",
        example=Example(
            table=SRC,
            change="update",
            recompute="holds the partition's other rows",
            target="has lost the rows of the partition that did not change",
        ),
    )


def partition_may_empty() -> Said:
    """Partitions of which no row is left."""
    return simple(
        "PARTITION_MAY_EMPTY",
        "A partition of which no row is left is not in the result, and is not replaced.",
        "Use upsert with _hoodie_is_deleted; or accept it where no partition is ever emptied.",
        example=Example(
            table=SRC, change="delete", recompute="has no row in the partition", target="keeps the partition's rows"
        ),
    )

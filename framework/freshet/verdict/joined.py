"""The columns of a join's result, and what is known of them whatever its sides are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from freshet.verdict import says
from freshet.verdict.columns import ROWS, SRC, Base, Col
from freshet.verdict.pairs import Joining, lefts
from freshet.verdict.relation import Looked, Rel, is_unique
from freshet.verdict.texts import is_name

_NUMBERS = count(1)


def together(left: Rel, right: Rel, how: Joining, *, keep_right: bool) -> Rel:
    """Return both sides' columns, in the left side's kind of relation.

    Args:
        left, right: The sides.
        how: The join.
        keep_right: False where the right side only decides.
    """
    by_left: dict[str, list[Col]] = {}
    by_right: dict[str, list[Col]] = {}
    # Of tables whose columns are not known those are listed that something is known of now.
    left_cols, right_cols = dict(left.cols), dict(right.cols)
    for pair in how.pairs:
        if pair.left_key is not None:
            left_cols.setdefault(pair.left_key, pair.left)
            if not pair.null_safe:
                by_left.setdefault(pair.left_key, []).append(pair.right)
        if pair.right_key is not None:
            right_cols.setdefault(pair.right_key, pair.right)
            if not pair.null_safe:
                by_right.setdefault(pair.right_key, []).append(pair.left)
    cols: dict[str, Col] = {}
    for key, col in left_cols.items():
        if how.side == "full":
            cols[key] = _maybe_null(col, left, right)
        else:
            cols[key] = replace(col, same=_same(col.same, by_left.get(key, []), left.tables, right.tables))
    outer = dict(left.outer)
    number = 0
    if how.side == "left" and not right.always:
        number = next(_NUMBERS)
        links = frozenset((base, pair.left.text) for pair in how.pairs for base in _bases(pair.right) if pair.left.text)
        outer[number] = Looked(tables=right.tables, links=links, nulls=any(pair.null_safe for pair in how.pairs))
    decides = frozenset[Base]()
    if not right.tables:
        # What of a list of constants a row finds follows from the row alone.
        decides = decides.union(*(pair.left.of for pair in how.pairs), {(SRC, ROWS)} if how.more else ())
    if keep_right:
        outer.update(right.outer)
        for key, col in right_cols.items():
            if how.side == "inner":
                cols[key] = replace(col, same=_same(col.same, by_right.get(key, []), right.tables, left.tables))
            else:
                found = _maybe_null(col, right, left)
                cols[key] = replace(found, of=found.of | decides, present=number)
    one = not keep_right or how.finds_one(right)
    unique = left.unique if one and how.side != "full" else frozenset(a | b for a in left.unique for b in right.unique)
    if how.side == "inner" and is_unique(left, lefts(how.pairs)):
        unique |= right.unique
    return replace(
        left,
        cols=cols,
        wide={**left.wide, **(right.wide if keep_right else {})},
        merged={},
        images=left.images | right.images,
        tables=left.tables | right.tables,
        unique=unique,
        outer=outer,
        plain="",
        always=left.always and right.always and how.side in ("left", "full"),
        # What is there twice over says nothing of the other rows of that table.
        loose=left.loose | right.loose | (left.tables & right.tables),
    )


def broken(left: Rel, right: Rel, how: Joining, said: says.Said) -> Rel:
    """Return a join of which nothing more is to be said than this."""
    how.site.stop(how.finding(said))
    return replace(together(left, right, how, keep_right=True), kind="delta", broken=True)


def _maybe_null(col: Col, rel: Rel, other: Rel) -> Col:
    """Return a column of a side that may find nothing."""
    same = frozenset(base for base in col.same if base[0] not in other.tables)
    return Col(of=col.of | rel.of_rows, same=same, bare=col.bare)


def _bases(col: Col) -> frozenset[Base]:
    if col.bare is not None:
        return frozenset([col.bare])
    # An expression over one table's rows says of which it is one.
    told = frozenset(base for base in col.same if base[0] != SRC and not is_name(base[1]))
    return told if len(told) == 1 else frozenset()


def _same(own: frozenset[Base], others: Sequence[Col], tables: frozenset[str], of_others: frozenset[str]) -> frozenset[Base]:
    theirs = frozenset().union(*(col.same for col in others)) if others else frozenset[Base]()
    kept = {base for base in own if base[0] not in of_others or base in theirs}
    return frozenset(kept | {base for base in theirs if base[0] not in tables or base in own})

"""What a join makes of what is known of its two sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.columns import SRC, Base, Col
from freshet.verdict.facts import Question
from freshet.verdict.relation import Held, Owed, Rel, merged_images
from freshet.verdict.result import Finding, Granted
from freshet.verdict.site import Site

_NUMBERS = count(1)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two values that a join holds equal, left and right, each with its column's key where it is one."""

    left: Col
    right: Col
    left_key: str | None
    right_key: str | None
    null_safe: bool = False

    def swapped(self) -> Pair:
        """Return the pair for the sides in the other order."""
        return Pair(
            left=self.right, right=self.left, left_key=self.right_key, right_key=self.left_key, null_safe=self.null_safe
        )


@dataclass(frozen=True, kw_only=True)
class Joining:
    """A join, and where it stands.

    Args:
        side: ``inner``, ``left``, ``full``, ``semi`` or ``anti``; a right one comes with its sides swapped.
        pairs: What it holds equal.
        more: True where it says more than that.
        node: Its place.
    """

    side: str
    pairs: Sequence[Pair]
    more: bool
    node: exp.Expression
    site: Site
    question: Question
    granted: list[Granted]

    def swapped(self) -> Joining:
        """Return the join for the sides in the other order."""
        return replace(self, pairs=[pair.swapped() for pair in self.pairs])

    def finding(self, said: says.Said) -> Finding:
        """Return what is said of it, at its place."""
        return said.at(self.site, self.node)


def join(left: Rel, right: Rel, how: Joining) -> Rel:
    """Return the relation that a join gives.

    Args:
        left, right: Its sides; ``how`` may find more about them.
        how: The join.
    """
    if left.broken or right.broken:
        return replace(_together(left, right, how, keep_right=True), kind="delta", broken=True)
    kinds = (left.kind, right.kind)
    if "mixed" in kinds:
        return _broken(left, right, how, says.not_analysed("a join with a union of changed and of other rows"))
    if "before" in kinds:
        return _with_before(left, right, how)
    if kinds == ("full", "full"):
        return _full(left, right, how)
    if how.side == "full":
        return _broken(left, right, how, says.outer_join_of_part())
    if kinds == ("delta", "delta"):
        return _own(left, right, how)
    if kinds == ("delta", "full"):
        if how.side == "inner" and not _finds_one(right, how) and _unique(left, [p.left_key for p in how.pairs]):
            return _narrowed(right, left, how.swapped())
        return _lookup(left, right, how)
    if how.side in ("semi", "inner") and not (how.side == "inner" and _unique(left, [p.left_key for p in how.pairs])):
        if how.side == "semi" or _unique(right, [p.right_key for p in how.pairs]):
            return _narrowed(left, right, how)
    if how.side == "inner":
        return _lookup(right, left, how.swapped())
    if how.side == "anti":
        return _broken(left, right, how, says.absence_from_part())
    return _broken(left, right, how, says.outer_join_of_part())


def _lookup(left: Rel, right: Rel, how: Joining) -> Rel:
    """Changed rows, each with what it finds in another table."""
    pending, owed = list(left.pending), list(left.owed)
    for held in right.held:
        if not _whole_for(held, left, how.pairs):
            pending.append(how.finding(says.partitions_in_part(held, right)))
    line, column = how.site.place(how.node)
    for table in sorted(right.tables):
        if table == SRC or table in right.images:
            # These only narrowed it to the groups that are looked up here.
            continue
        links = frozenset(
            (base[1], pair.left.text)
            for pair in how.pairs
            for base in pair.right.same
            if base[0] == table and pair.left.text and not pair.null_safe
        )
        owed.append(Owed(table=table, links=links, file=how.site.file, line=line, column=column))
    owed += right.owed
    own = right.tables and all(how.question.is_source(table) for table in right.tables) and not right.filtered
    if how.side == "anti" and own and right.plain and _links(how.pairs) >= set(how.question.key_of(SRC)) and left.dead:
        # What the source's table has no more.
        return replace(left, only_dead=True, pending=tuple(pending))
    if how.side in ("semi", "anti"):
        pending.append(how.finding(says.partner_decides(how.side, right, left, how.pairs)))
        return replace(_together(left, right, how, keep_right=False), pending=tuple(pending), owed=tuple(owed))
    one = _finds_one(right, how, grant=True)
    if how.side == "inner" and right.tables:
        pending.append(how.finding(says.inner_join_drops(right, left, how.pairs)))
    if not one:
        if right.tables:
            pending.append(how.finding(says.fan_out_of_join(right, left, how.pairs)))
    return replace(_together(left, right, how, keep_right=True), pending=tuple(pending), owed=tuple(owed))


def _narrowed(left: Rel, right: Rel, how: Joining) -> Rel:
    """All rows of a table that belong to what changed."""
    found = _together(left, right, how, keep_right=how.side == "inner")
    texts = [(pair.left_key, pair.right.text) for pair in how.pairs if pair.right.text]
    if how.more or not texts or len(texts) < len(how.pairs):
        found = replace(found, pending=(*found.pending, how.finding(says.not_analysed("a join that narrows a table"))))
    held = Held(
        columns=tuple(key for key, _ in texts),
        texts=tuple(frozenset([text]) for _, text in texts),
        images=right.seen,
        by="keys",
        tables=right.tables,
    )
    return replace(
        found,
        kind="full",
        unit=frozenset(),
        seen=frozenset(),
        held=(*left.held, held),
        filtered=left.filtered,
        pending=(*left.pending, *right.pending),
        owed=(*left.owed, *right.owed),
        dead=False,
    )


def _own(left: Rel, right: Rel, how: Joining) -> Rel:
    """Changed rows with others of their own kind."""
    same_unit = right.unit <= _links(how.pairs) and bool(right.unit)
    if not same_unit:
        return _broken(left, right, how, says.join_of_parts())
    pending = list(left.pending)
    if how.side == "inner":
        pending += right.pending
    elif how.side in ("semi", "anti"):
        pending.append(how.finding(says.partner_decides(how.side, right, left, how.pairs)))
    found = _together(left, right, how, keep_right=how.side in ("inner", "left"))
    if how.side in ("inner", "left") and not _unique(right, [p.right_key for p in how.pairs]):
        pending.append(how.finding(says.fan_out_of_join(right, left, how.pairs)))
    return replace(found, pending=tuple(pending), owed=(*left.owed, *right.owed), seen=left.seen, unit=left.unit)


def _full(left: Rel, right: Rel, how: Joining) -> Rel:
    found = _together(left, right, how, keep_right=how.side not in ("semi", "anti"))
    held, pending = list(left.held), [*left.pending, *right.pending]
    for one in right.held:
        pairs = {pair.right_key: pair.left_key for pair in how.pairs}
        if how.side == "inner":
            held.append(one)
        elif any(column is None or pairs.get(column) is None for column in one.columns):
            pending.append(how.finding(says.partitions_in_part(one, right)))
        else:
            held.append(replace(one, columns=tuple(pairs[c] for c in one.columns)))
    if how.side == "full" and (left.held or right.held):
        pending.append(how.finding(says.outer_join_of_part()))
    return replace(
        found,
        kind="full",
        held=tuple(dict.fromkeys(held)),
        filtered=left.filtered or right.filtered or how.side in ("inner", "semi", "anti"),
        pending=tuple(pending),
        owed=(*left.owed, *right.owed),
    )


def _with_before(left: Rel, right: Rel, how: Joining) -> Rel:
    if how.side == "inner" and left.kind == "delta":
        left, right, how = right, left, how.swapped()
    by_key = set(how.question.key_of(SRC)) <= _links(how.pairs) and bool(how.question.key_of(SRC))
    if left.kind == "before" and right.kind == "delta" and how.side in ("semi", "inner") and by_key and not how.more:
        found = _together(left, right, how, keep_right=how.side == "inner")
        pending = list(right.pending)
        # Of a row that went to another partition there is a deleted one in the increment, which names the old one.
        pending += [
            how.finding(says.partitions_in_part(held, left))
            for held in left.held
            if not all(column is not None and column.rpartition(".")[2] in texts for column, texts in _by_column(held))
        ]
        unit = frozenset(how.question.key_of(SRC))
        return replace(found, kind="delta", unit=unit, seen=frozenset(["old"]), held=(), pending=tuple(pending), dead=False)
    return _broken(left, right, how, says.before_as_data())


def _by_column(held: Held) -> list[tuple[str | None, frozenset[str]]]:
    return list(zip(held.columns, held.texts, strict=True))


def _whole_for(held: Held, left: Rel, pairs: Sequence[Pair]) -> bool:
    if held.by == "keys" and not left.seen <= held.images:
        return False
    by_right = {pair.right_key: pair for pair in pairs if pair.right_key is not None}
    return all(
        column is not None and column in by_right and by_right[column].left.text in texts for column, texts in _by_column(held)
    )


def _links(pairs: Sequence[Pair]) -> set[str]:
    """Return the texts over the source's row that both sides have equal."""
    return {pair.left.text for pair in pairs if pair.left.text and pair.left.text == _source_text(pair.right)}


def _source_text(col: Col) -> str:
    # An input over the source's own table has the source's columns.
    return col.text or (col.bare[1] if col.bare is not None else "")


def _unique(rel: Rel, keys: Sequence[str | None]) -> bool:
    constant = {key for key, col in rel.cols.items() if col.constant}
    return any(one <= ({key for key in keys if key} | constant) for one in rel.unique)


def _finds_one(right: Rel, how: Joining, grant: bool = False) -> bool:
    keys = [pair.right_key for pair in how.pairs]
    if _unique(right, keys):
        return True
    table = right.plain
    if not table or how.question.key_of(table) or not keys or None in keys:
        return False
    if grant:
        columns = tuple(sorted(key.rpartition(".")[2] for key in keys if key))
        how.granted.append(Granted(table=table, fact="record_key", columns=columns))
    return True


def _together(left: Rel, right: Rel, how: Joining, *, keep_right: bool) -> Rel:
    """Return both sides' columns, and what is known of them whatever the sides are."""
    # What the right side holds twice over says nothing of the other rows of that table.
    twice = left.tables & right.tables
    cols: dict[str, Col] = {}
    by_left: dict[str, list[Col]] = {}
    by_right: dict[str, list[Col]] = {}
    materialised_left, materialised_right = dict(left.cols), dict(right.cols)
    for pair in how.pairs:
        if pair.left_key is not None:
            materialised_left.setdefault(pair.left_key, pair.left)
            if not pair.null_safe:
                by_left.setdefault(pair.left_key, []).append(pair.right)
        if pair.right_key is not None:
            materialised_right.setdefault(pair.right_key, pair.right)
            if not pair.null_safe:
                by_right.setdefault(pair.right_key, []).append(pair.left)
    keeps_left = how.side != "full"
    for key, col in materialised_left.items():
        other = by_left.get(key, []) if keeps_left else []
        cols[key] = replace(col, same=_same(col.same, other, left.tables, right.tables))
    number = 0
    outer = dict(left.outer)
    if how.side == "left":
        number = next(_NUMBERS)
        outer[number] = right
    if keep_right:
        outer.update(right.outer)
        for key, col in materialised_right.items():
            other = by_right.get(key, []) if how.side == "inner" else []
            same = _same(col.same, other, right.tables, left.tables) if how.side == "inner" else frozenset[Base]()
            sure = key in by_right or col.never_null
            held = replace(
                col, same=same, present=number if number and sure else 0, text=col.text if how.side == "inner" else ""
            )
            cols[key] = replace(held, fixed=col.fixed and how.side == "inner")
    one = _unique(right, [pair.right_key for pair in how.pairs]) or not keep_right or _finds_one(right, how)
    both = frozenset(a | b for a in left.unique for b in right.unique)
    unique = left.unique if one and how.side != "full" else both
    if how.side == "inner" and _unique(left, [pair.left_key for pair in how.pairs]):
        unique |= right.unique
    return replace(
        left,
        cols=cols,
        wide={**left.wide, **(right.wide if keep_right else {})},
        images=merged_images((left, right)),
        tables=left.tables | right.tables,
        unique=unique,
        outer=outer,
        plain="",
        loose=left.loose | right.loose | twice,
    )


def _same(own: frozenset[Base], others: Sequence[Col], tables: frozenset[str], of_others: frozenset[str]) -> frozenset[Base]:
    theirs = frozenset().union(*(col.same for col in others)) if others else frozenset[Base]()
    kept = {base for base in own if base[0] not in of_others or base in theirs}
    return frozenset(kept | {base for base in theirs if base[0] not in tables or base in own})


def _broken(left: Rel, right: Rel, how: Joining, said: says.Said) -> Rel:
    how.site.found.append(how.finding(said))
    return replace(_together(left, right, how, keep_right=True), kind="delta", broken=True)

"""What a join makes of what is known of its two sides."""

from __future__ import annotations

from dataclasses import replace

from freshet.verdict import says, says_joins
from freshet.verdict.columns import SRC, Base, lists_in
from freshet.verdict.groups import depends_on, named_by_some
from freshet.verdict.joined import broken, together
from freshet.verdict.own import of_each, own, with_before
from freshet.verdict.pairs import Joining, lefts
from freshet.verdict.relation import HIDDEN, Bound, Held, Owed, Rel, is_unique


def join(left: Rel, right: Rel, how: Joining) -> Rel:
    """Return the relation that a join gives.

    Args:
        left, right: Its sides; ``how`` may find more about them.
        how: The join.
    """
    if left.broken or right.broken:
        return replace(together(left, right, how, keep_right=True), kind="delta", broken=True)
    kinds = (left.kind, right.kind)
    if "mixed" in kinds:
        return broken(left, right, how, says.not_analysed("a join with a union of changed and of other rows"))
    if "before" in kinds:
        return with_before(left, right, how)
    if kinds == ("full", "full"):
        return _full(left, right, how)
    if how.side == "full":
        return broken(left, right, how, says_joins.outer_join_of_part())
    if kinds == ("delta", "delta"):
        return own(left, right, how)
    if kinds == ("delta", "full"):
        if how.side == "inner" and not how.finds_one(right) and is_unique(left, lefts(how.pairs)) and how.links:
            return _narrowed(right, left, how.swapped())
        return _lookup(left, right, how)
    if how.side == "semi" or (how.side == "inner" and is_unique(right, [p.right_key for p in how.pairs]) and how.pairs):
        return _narrowed(left, right, how)
    if how.side == "inner":
        return _lookup(right, left, how.swapped())
    if how.side == "anti":
        return broken(left, right, how, says_joins.absence_from_part())
    return broken(left, right, how, says_joins.outer_join_of_part())


def _lookup(left: Rel, right: Rel, how: Joining) -> Rel:
    """Changed rows, each with what it finds in another table."""
    pending, owed = [*left.pending, *right.pending], list(left.owed)
    pending += [
        how.finding(says_joins.partitions_in_part(held, right)) for held in right.held if not _whole_for(held, left, how)
    ]
    line, column = how.site.place(how.node)
    # What drives leaves out what is null.
    nulls = {pair.left.text for pair in how.pairs if pair.null_safe}
    beside = frozenset((b[0], (b[1], pair.left.text)) for pair in how.pairs for b in pair.right.same if pair.left.text)
    for table in sorted(right.tables):
        if table == SRC or table in right.images:
            # These only narrowed it to the groups that are looked up here.
            continue
        links = frozenset(link for of, link in beside if of == table)
        owed.append(
            Owed(
                table=table,
                links=frozenset(link for link in links if link[1] not in nulls),
                within=links,
                beside=beside,
                bound=right.bound,
                file=how.site.file,
                line=line,
                column=column,
            )
        )
    owed += right.owed
    key = set(how.question.key_of(SRC))
    itself = bool(right.plain) and how.question.is_source(right.plain) and not right.filtered
    if how.side == "anti" and itself and left.dead and of_each(how, key):
        # What the source's table has no more.
        flag = frozenset([(SRC, "_hoodie_is_deleted")])
        conditions = left.conditions | {"_hoodie_is_deleted"}
        return replace(
            left, only_dead=True, twice=False, kept_by=left.kept_by | flag, conditions=conditions, pending=tuple(pending)
        )
    if how.side in ("semi", "anti"):
        pending.append(how.finding(says_joins.partner_decides(how.side, right, left, how.pairs)))
        return replace(together(left, right, how, keep_right=False), pending=tuple(pending), owed=tuple(owed))
    one = how.finds_one(right, grant=True)
    if how.side == "inner" and right.tables and not (right.always and not how.pairs and not how.more):
        pending.append(how.finding(says_joins.inner_join_drops(right, left, how.pairs)))
    found = together(left, right, how, keep_right=True)
    if how.side == "inner" and not right.tables and (how.pairs or how.more):
        asked = frozenset[Base]().union(*(pair.left.of for pair in how.pairs))
        if how.more or any(depends_on(pair.left, left) for pair in how.pairs):
            pending.append(how.finding(says_joins.list_decides(how.pairs, sure=not how.more)))
        found = replace(
            found, kept_by=left.kept_by | asked, conditions=left.conditions | {f"{how.site.file} {how.site.place(how.node)}"}
        )
    if not one and right.tables:
        pending.append(how.finding(says_joins.fan_out_of_join(right, left, how.pairs)))
        found = replace(found, many=found.many | right.tables)
    elif not one:
        found = _times_constants(found, right)
    return replace(found, pending=tuple(pending), owed=tuple(owed))


def _times_constants(found: Rel, right: Rel) -> Rel:
    """Rows that are joined with a list of constants: the same for each."""
    lists = frozenset(number for col in right.cols.values() for number in lists_in(col.of))
    return replace(found, several=found.several | (lists or frozenset([-1])))


def _narrowed(left: Rel, right: Rel, how: Joining) -> Rel:
    """All rows of a table that belong to what changed."""
    found = together(left, right, how, keep_right=how.side == "inner")
    hidden = {id(pair): f"{HIDDEN}{number}" for number, pair in enumerate(how.pairs) if pair.left_key is None}
    found = replace(found, cols={**found.cols, **{hidden[id(p)]: p.left for p in how.pairs if id(p) in hidden}})
    texts = [(pair.left_key or hidden[id(pair)], pair.right.text) for pair in how.pairs if pair.right.text]
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
        pending=(*found.pending, *right.pending, *named_by_some(right, [text for _, text in texts], how.site, how.node)),
        kept_by=frozenset(),
        conditions=frozenset(),
        owed=(*left.owed, *right.owed),
        dead=False,
        twice=False,
    )


def _full(left: Rel, right: Rel, how: Joining) -> Rel:
    found = together(left, right, how, keep_right=how.side not in ("semi", "anti"))
    held, pending = list(left.held), [*left.pending, *right.pending]
    for one in right.held:
        pairs = {pair.right_key: pair.left_key for pair in how.pairs}
        if how.side == "inner":
            held.append(one)
        elif any(column is None or pairs.get(column) is None for column in one.columns):
            pending.append(how.finding(says_joins.partitions_in_part(one, right)))
        else:
            held.append(replace(one, columns=tuple(pairs[c] for c in one.columns)))
    if how.side == "full" and (left.held or right.held):
        pending.append(how.finding(says_joins.outer_join_of_part()))
    return replace(
        found,
        kind="full",
        bound=_bound(left, right, how, found),
        held=tuple(dict.fromkeys(held)),
        filtered=left.filtered or right.filtered or how.side in ("inner", "semi", "anti"),
        pending=tuple(pending),
        owed=(*left.owed, *right.owed),
    )


def _whole_for(held: Held, left: Rel, how: Joining) -> bool:
    if not left.seen <= held.images:
        return False
    by_right = {pair.right_key: pair for pair in how.pairs if pair.right_key is not None}
    return all(
        column is not None and column in by_right and by_right[column].left.text in texts
        for column, texts in zip(held.columns, held.texts, strict=True)
    )


def _bound(left: Rel, right: Rel, how: Joining, found: Rel) -> frozenset[Bound]:
    """Return which tables of a join stand with which rows of the source's own table."""
    own = how.question.is_source
    new = set[Bound]()
    for pair in how.pairs if how.side != "full" else ():
        for one, other in ((pair.left, pair.right), *([(pair.right, pair.left)] if how.side == "inner" else [])):
            new |= {(b, a) for a in one.same if own(a[0]) for b in other.same if not own(b[0]) and not pair.null_safe}
    # Of a table that is there twice over it is not known which of the two is meant.
    return frozenset(two for two in new | left.bound | right.bound if not {base[0] for base in two} & found.loose)

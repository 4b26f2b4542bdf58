"""What a union makes of what is known of its two sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from sqlglot import exp

from freshet.verdict import says, says_target
from freshet.verdict.columns import FLAG, SRC, Col, of_list
from freshet.verdict.groups import named_by_some, with_a_name
from freshet.verdict.literals import all_apart
from freshet.verdict.relation import Held, Rel
from freshet.verdict.result import Finding
from freshet.verdict.site import Site
from freshet.verdict.texts import tells_dead

_NUMBERS = count(1_000_000)


def new_list() -> int:
    """Return a number for a list of constants; see ``Col.fixed``."""
    return next(_NUMBERS)


def united(left: Rel, right: Rel, site: Site, node: exp.Expr) -> Rel:
    """Return the relation of the rows of two, column by column in their order.

    Args:
        left, right: The relations.
        site, node: Its place.
    """
    if left.broken or right.broken or not _aligned(left, right):
        if not (left.broken or right.broken):
            site.stop(says.not_analysed("a union of '*' over tables whose columns are not known").at(site, node))
        return replace(left, kind="delta", broken=True)
    names = list(left.cols)
    renamed = _renamed(right, names)
    other = renamed.cols
    cols = {name: _both(left.cols[name], other[name], left, right) for name in names}
    together = replace(
        left,
        cols=cols,
        tables=left.tables | right.tables,
        images=left.images | right.images,
        pending=(*left.pending, *right.pending),
        emptied=(*left.emptied, *right.emptied),
        owed=(*left.owed, *right.owed),
        outer={**left.outer, **right.outer},
        unique=frozenset(),
        merged={},
        plain="",
        bound=frozenset(),
        always=False,
        filtered=left.filtered or right.filtered,
        loose=left.loose | right.loose,
        many=left.many | right.many,
        several=left.several | right.several,
        twice=left.twice or right.twice,
        doubled=left.doubled or right.doubled,
        kept_by=left.kept_by | right.kept_by,
        conditions=left.conditions | right.conditions,
        places=left.places & right.places,
        perhaps=left.perhaps or right.perhaps,
        assumed=left.assumed or right.assumed,
    )
    apart = [name for name in names if _differ(left.cols[name], other[name])]
    if left.kind == right.kind == "full":
        held = _common(left, renamed, names)
        if held is None:
            site.stop(says.not_analysed("a union of tables that are narrowed in different ways").at(site, node))
            return replace(together, kind="delta", broken=True)
        unique = frozenset(a | b | {name} for a in left.unique for b in renamed.unique for name in apart)
        return replace(together, held=held, unique=unique)
    if left.kind == right.kind == "delta":
        if left.unit == right.unit and left.seen == right.seen:
            return _of_one_unit(left, renamed, together, apart, site, node)
        found = _of_groups(left, names)
        if left.seen | right.seen == {"old", "new"} and found and found == _of_groups(renamed, names):
            named = [one for side in (left, right) for one in named_by_some(side, found, site, node)]
            if not named and left.conditions != right.conditions:
                said = says_target.group_may_vanish("A group that only the rows of before, or of now, name")
                # By which change it shows depends on which side leaves out more.
                named = [replace(said, example=None).at(site, node)]
            return replace(
                together,
                unit=frozenset(found),
                seen=left.seen | right.seen,
                doubled=(says_target.named_twice().at(site, node),),
                pending=(*with_a_name(_but_deletes(left, right), found), *named),
                kept_by=frozenset(),
                conditions=frozenset(),
                places=frozenset(),
                dead=False,
                twice=False,
            )
    if "before" in (left.kind, right.kind) or (left.kind == right.kind == "delta" and left.seen != right.seen):
        site.stop(says.before_as_data().at(site, node))
        return replace(together, kind="delta", broken=True)
    return replace(together, kind="mixed", parts=(*(left.parts or (left,)), *(renamed.parts or (renamed,))))


def _but_deletes(left: Rel, right: Rel) -> tuple[Finding, ...]:
    """Return what is wrong with either side; the group of a deleted row is named by its row of before, too."""
    new, old = (left, right) if right.seen == {"old"} else (right, left)
    passed = "old" in old.seen and "new" in new.seen and not any(one.code == "DELETES_STAY" for one in old.pending)
    return (*(one for one in new.pending if not (passed and one.code == "DELETES_STAY")), *old.pending)


def _of_one_unit(left: Rel, right: Rel, together: Rel, apart: Sequence[str], site: Site, node: exp.Expr) -> Rel:
    """Two rows of one unit, told apart by a constant."""
    if _one_of_two(left, right):
        return _live_and_dead(left, right, together)
    number = new_list()
    cols = dict(together.cols)
    for name, col in cols.items():
        if not col.text:
            cols[name] = replace(col, of=col.of | {of_list(number)})
    for name in apart:
        cols[name] = replace(cols[name], fixed=number, among=_among(left.cols[name]) | _among(right.cols[name]))
    before = {col.fixed for name in apart for col in (left.cols[name], right.cols[name])}
    alone = bool(apart) or left.only_dead != right.only_dead
    unique = frozenset(a | b | {name} for a in left.unique for b in right.unique for name in apart)
    return replace(
        together,
        cols=cols,
        several=(together.several - before) | ({number} if apart else set()),
        unique=unique,
        dead=left.dead or right.dead,
        only_dead=left.only_dead and right.only_dead,
        pending=together.pending if alone else (*together.pending, _collides(site, node)),
    )


def _one_of_two(left: Rel, right: Rel) -> bool:
    """Say whether each row of the source is on one side alone: the deleted ones on one, the others on the other."""
    dead, live = (left, right) if left.only_dead else (right, left)
    sure = dead.kept_by == {(SRC, FLAG)} and all(tells_dead(one) for one in dead.conditions)
    return dead.only_dead and sure and not live.dead and not live.only_dead


def _live_and_dead(left: Rel, right: Rel, together: Rel) -> Rel:
    dead, live = (left, right) if left.only_dead else (right, left)
    names = dict(zip(dead.cols, together.cols, strict=True))
    cols = dict(together.cols)
    for col, name in ((col, names[key]) for key, col in dead.cols.items()):
        # Of the rows that are marked here only the deleted ones are those of the source that it deleted.
        flags = cols[name].flags or col.flags or col.constant.upper() == "TRUE"
        same = cols[name].text or cols[name].constant or cols[name].instant
        # What the two sides say differently follows from whether the row was deleted.
        cols[name] = replace(cols[name], flags=flags, of=cols[name].of | (frozenset() if same else {(SRC, FLAG)}))
    passed = not any(one.code == "DELETES_STAY" for one in dead.pending)
    pending = (*(one for one in live.pending if not (passed and one.code == "DELETES_STAY")), *dead.pending)
    return replace(
        together, cols=cols, pending=pending, kept_by=live.kept_by, conditions=live.conditions, dead=True, only_dead=False
    )


def _differ(one: Col, other: Col) -> bool:
    left, right = _among(one), _among(other)
    return bool(left and right) and not left & right and all_apart(left | right)


def _among(col: Col) -> frozenset[str]:
    return col.among or (frozenset([col.constant]) if col.constant else frozenset())


def _of_groups(rel: Rel, names: Sequence[str]) -> tuple[str, ...]:
    texts = tuple(rel.cols[name].text for name in names)
    return texts if all(texts) else ()


def _collides(site: Site, node: exp.Expr) -> Finding:
    return says.simple(
        "KEYS_MAY_COLLIDE",
        "Both sides of the union make a row of one row of the source, and nothing tells the two apart.",
        "Give each side a constant of its own, and take it into the record key.",
        "union",
    ).at(site, node)


def _both(one: Col, other: Col, left: Rel, right: Rel) -> Col:
    same = {base for base in one.same if base[0] not in right.tables or base in other.same}
    same |= {base for base in other.same if base[0] not in left.tables or base in one.same}
    if left.seen != right.seen and left.kind == right.kind == "delta":
        # A recompute has no rows of before.
        same = set(other.same if left.seen == {"old"} else one.same)
    equal = one.constant == other.constant
    return Col(
        of=one.of | other.of,
        same=frozenset(same),
        text=one.text if one.text == other.text else "",
        keeps=one.keeps & other.keeps if one.text == other.text else frozenset(),
        rises=one.rises if one.rises == other.rises else None,
        bare=one.bare if one.bare == other.bare else None,
        constant=one.constant if equal else "",
        instant=one.instant and other.instant,
        flags=one.flags and other.flags,
        absent=one.absent & other.absent,
    )


def _aligned(left: Rel, right: Rel) -> bool:
    return not left.wide and not right.wide and len(left.cols) == len(right.cols)


def _renamed(rel: Rel, names: Sequence[str]) -> Rel:
    new = dict(zip(rel.cols, names, strict=True))
    return replace(
        rel,
        cols={new[key]: col for key, col in rel.cols.items()},
        unique=frozenset(frozenset(new[key] for key in one) for one in rel.unique if one <= set(new)),
        held=tuple(replace(h, columns=tuple(new.get(c) if c is not None else None for c in h.columns)) for h in rel.held),
    )


def _common(left: Rel, right: Rel, names: Sequence[str]) -> tuple[Held, ...] | None:
    if not left.held and not right.held:
        return ()
    same = left.held == right.held
    return left.held if same and all(column in names for one in left.held for column in one.columns) else None

"""What aggregation, DISTINCT, windows, conditions and unions make of what is known of a relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.columns import SRC, Col
from freshet.verdict.facts import Question
from freshet.verdict.predicates import values_for
from freshet.verdict.relation import Held, Rel
from freshet.verdict.result import Finding
from freshet.verdict.site import Site

_FLAG = (SRC, "_hoodie_is_deleted")


def filtered(rel: Rel, condition: exp.Expression, col: Col, clause: str, site: Site) -> Rel:
    """Return a relation of the rows for which a condition holds.

    Args:
        rel: The relation.
        condition: One condition of those that must all hold.
        col: Its value.
        clause: ``WHERE``, ``HAVING`` or ``QUALIFY``.
        site: Its statement.
    """
    if rel.kind in ("full", "before") or rel.broken:
        return replace(rel, filtered=True)
    if col.of == {_FLAG}:
        if col.flags:
            return replace(rel, only_dead=True)
        said = says.deletes_stay("this condition drops the rows that are marked as deleted")
        return replace(rel, dead=False, pending=(*rel.pending, said.at(site, condition)))
    if depends_on(col, rel):
        words = " ".join(condition.sql("spark", comments=False).replace("`SRC`", "<SRC>").split())
        said = says.rows_filtered(
            clause, words, values_for(condition, rel, holds=True), values_for(condition, rel, holds=False)
        )
        return replace(rel, pending=(*rel.pending, said.at(site, condition)))
    return rel


def depends_on(col: Col, rel: Rel) -> list[str]:
    """Return what a value follows from besides what one row of a relation of changed rows stands for."""
    if col.text in rel.unit or col.constant or col.fixed:
        return []
    return sorted(f"{says.shown(table)}.{column}" for table, column in col.of if table != SRC or column not in rel.unit)


def grouped(rel: Rel, keys: Sequence[str | None], cols: Mapping[str, Col], site: Site, node: exp.Expression) -> Rel:
    """Return a relation of groups.

    Args:
        rel: The relation before.
        keys: The columns of the groups, by their keys in the result; None for one that is not in the result.
        cols: The result's columns; those of groups as they were before.
        site, node: Its place.
    """
    groups = [key for key in keys if key is not None]
    whole = None not in keys
    unique = rel.unique if not whole else frozenset([frozenset(groups)])
    result = replace(rel, cols=dict(cols), wide={}, unique=unique if whole else frozenset(), plain="", filtered=rel.filtered)
    if rel.broken:
        return result
    if rel.kind == "before":
        site.found.append(says.before_as_data().at(site, node))
        return replace(result, broken=True)
    if rel.kind == "mixed":
        site.found.append(says.not_analysed("an aggregation over a union of changed and of other rows").at(site, node))
        return replace(result, broken=True, kind="delta")
    if rel.kind == "full":
        return replace(
            result, held=tuple(_kept(one, cols) for one in rel.held), pending=(*rel.pending, *_cut(rel, cols, site, node))
        )
    texts = {cols[key].text for key in groups if cols[key].text}
    if rel.unit and rel.unit <= texts:
        # Every group is of one row of the source.
        return replace(result, unique=frozenset([frozenset(groups)]), pending=_without_fan_out(rel.pending))
    if all(key in groups for key in cols):
        # Which groups there are, and nothing else about them.
        return replace(result, unit=frozenset(texts), pending=rel.pending, dead=False)
    said = says.group_in_part(", ".join(groups), ", ".join(sorted(rel.unit)))
    site.found.append(said.at(site, node))
    return replace(result, broken=True)


def windowed(rel: Rel, partition: Sequence[str | None], texts: set[str], site: Site, node: exp.Expression) -> Rel:
    """Return a relation of which a window looks at rows of the same partition.

    Args:
        rel: The relation.
        partition: The window's partition columns, by their keys; None for expressions.
        texts: What they are over the source's row.
        site, node: Its place.
    """
    if rel.broken:
        return rel
    keys = {key for key in partition if key is not None}
    explicit = {**{key: col for key in keys if (col := rel.get(key)) is not None}, **rel.cols}
    # What lies outside of a row's partition has no part in it; what lies within has.
    cols = {key: col if key in keys else replace(col, same=frozenset()) for key, col in explicit.items()}
    result = replace(rel, cols=cols, loose=rel.loose | rel.tables)
    if rel.kind == "full":
        cut = [one for one in rel.held if not {c for c in one.columns} <= keys]
        if cut:
            return replace(result, pending=(*rel.pending, *(says.partitions_in_part(one, rel).at(site, node) for one in cut)))
        return result
    if rel.kind == "delta" and rel.unit and rel.unit <= texts:
        return result
    names = ", ".join(sorted(key.rpartition(".")[2] for key in keys))
    site.found.append(says.group_in_part(names, ", ".join(sorted(rel.unit)), "window").at(site, node))
    return replace(result, broken=True)


def united(left: Rel, right: Rel, question: Question, site: Site, node: exp.Expression) -> Rel:
    """Return the relation of the rows of two, column by column in their order."""
    if left.broken or right.broken or not _aligned(left, right):
        if not (left.broken or right.broken):
            site.found.append(says.not_analysed("a union of '*' over tables whose columns are not known").at(site, node))
        return replace(left, kind="delta", broken=True)
    names = list(left.cols)
    other = dict(zip(names, right.cols.values(), strict=True))
    cols = {name: _both(left.cols[name], other[name], left, right) for name in names}
    together = replace(
        left,
        cols=cols,
        tables=left.tables | right.tables,
        images=left.images | right.images,
        pending=(*left.pending, *right.pending),
        owed=(*left.owed, *right.owed),
        outer={**left.outer, **right.outer},
        unique=frozenset(),
        plain="",
        filtered=left.filtered or right.filtered,
        loose=left.loose | right.loose,
    )
    renamed = replace(right, cols=other)
    apart = [name for name in names if left.cols[name].constant != other[name].constant and cols[name].fixed]
    if left.kind == right.kind == "full":
        held = _common(left, renamed, names)
        if held is None:
            site.found.append(says.not_analysed("a union of tables that are narrowed in different ways").at(site, node))
            return replace(together, broken=True)
        unique = frozenset(frozenset([*a, *apart]) for a in left.unique for b in right.unique if apart and len(a) == len(b))
        return replace(together, held=held, unique=unique)
    if left.kind == right.kind == "delta":
        if left.unit == right.unit:
            # Two rows of one unit, told apart by a constant.
            fixed = {name: replace(cols[name], fixed=True) if name in apart else cols[name] for name in names}
            same = left.seen != right.seen and not apart
            alone = bool(apart) or same or (left.only_dead != right.only_dead)
            pending = together.pending if alone else (*together.pending, _collides(site, node))
            return replace(
                together,
                cols=fixed,
                seen=left.seen | right.seen,
                dead=left.dead or right.dead,
                only_dead=left.only_dead and right.only_dead,
                pending=pending,
            )
        if "old" in left.seen | right.seen and _of_groups(left, names) == _of_groups(renamed, names):
            return replace(together, unit=frozenset(_of_groups(left, names)), seen=left.seen | right.seen, dead=False)
    return replace(together, kind="mixed", parts=(*(left.parts or (left,)), *(renamed.parts or (renamed,))))


def _of_groups(rel: Rel, names: Sequence[str]) -> tuple[str, ...]:
    texts = tuple(rel.cols[name].text for name in names)
    return texts if all(texts) else ()


def _collides(site: Site, node: exp.Expression) -> Finding:
    return says.simple(
        "KEYS_MAY_COLLIDE",
        "Both sides of the union make a row of one row of the source, and nothing tells the two apart.",
        "Give each side a constant of its own, and take it into the record key.",
        "union",
    ).at(site, node)


def _both(one: Col, other: Col, left: Rel, right: Rel) -> Col:
    same = {base for base in one.same if base[0] not in right.tables or base in other.same}
    same |= {base for base in other.same if base[0] not in left.tables}
    if left.seen != right.seen and left.kind == right.kind == "delta":
        # A recompute has no rows of before.
        same = set(other.same if left.seen == {"old"} else one.same)
    constants = bool(one.constant and other.constant) and one.constant != other.constant
    return Col(
        of=one.of | other.of,
        same=frozenset(same),
        text=one.text if one.text == other.text else "",
        keeps=one.keeps & other.keeps,
        rises=one.rises if one.rises == other.rises else None,
        bare=one.bare if one.bare == other.bare else None,
        constant=one.constant if one.constant == other.constant else "",
        fixed=constants,
        instant=one.instant and other.instant,
        flags=one.flags and other.flags,
        absent=one.absent & other.absent,
    )


def _aligned(left: Rel, right: Rel) -> bool:
    return not left.wide and not right.wide and len(left.cols) == len(right.cols)


def _common(left: Rel, right: Rel, names: Sequence[str]) -> tuple[Held, ...] | None:
    if not left.held and not right.held:
        return ()
    same = left.held == right.held
    return left.held if same and all(column in names for one in left.held for column in one.columns) else None


def _cut(rel: Rel, cols: Mapping[str, Col], site: Site, node: exp.Expression) -> list[Finding]:
    return [says.partitions_in_part(one, rel).at(site, node) for one in rel.held if None in _kept(one, cols).columns]


def _kept(held: Held, cols: Mapping[str, Col]) -> Held:
    return replace(held, columns=tuple(column if column in cols else None for column in held.columns))


def _without_fan_out(pending: Sequence[Finding]) -> tuple[Finding, ...]:
    # Whatever rows one became, they are one again.
    return tuple(one for one in pending if one.code != "FAN_OUT")

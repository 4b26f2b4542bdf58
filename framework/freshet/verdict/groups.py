"""What conditions, aggregation, DISTINCT and windows make of what is known of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from freshet.verdict import says, says_joins, says_target
from freshet.verdict.columns import INSTANT, LIST, SRC, Base, Col, lists_in
from freshet.verdict.names import key_of
from freshet.verdict.predicates import values_for
from freshet.verdict.relation import Held, Rel, is_tied_key
from freshet.verdict.result import Finding
from freshet.verdict.site import Site
from freshet.verdict.texts import CALL, tells_live

_FLAG = (SRC, "_hoodie_is_deleted")


def filtered(rel: Rel, condition: exp.Expr, col: Col, clause: str, site: Site) -> Rel:
    """Return a relation of the rows for which a condition holds.

    Args:
        rel: The relation.
        condition: One condition of those that must all hold.
        col: Its value.
        clause: ``WHERE``, ``HAVING`` or ``QUALIFY``.
        site: Its statement.
    """
    if rel.kind != "delta" and any(table == INSTANT for table, _ in col.of):
        # Rows come and go with the time, and nothing that changes says so.
        site.found.append(says.not_deterministic(says.SHOWN_INSTANT).at(site, condition))
    if rel.kind in ("full", "before") or rel.broken:
        return replace(rel, filtered=True, always=False, unique=rel.unique | _fixed(rel, condition))
    if rel.kind == "mixed":
        site.stop(says.not_analysed("a condition on a union of changed and of other rows").at(site, condition))
        return replace(rel, broken=True, kind="delta")
    if col.of == {_FLAG} and clause == "WHERE":
        if col.flags:
            return replace(
                rel, only_dead=True, twice=False, kept_by=rel.kept_by | col.of, conditions=rel.conditions | {col.text}
            )
        said = says_target.deletes_stay("this condition drops the rows that are marked as deleted")
        return replace(rel, dead=rel.dead and not tells_live(col.text), pending=(*rel.pending, said.at(site, condition)))
    if any(table == INSTANT for table, _ in col.of):
        said = says.not_deterministic(says.SHOWN_INSTANT)
        return replace(rel, pending=(*rel.pending, said.at(site, condition)), kept_by=rel.kept_by | col.of)
    if of := depends_on(col, rel):
        words = " ".join(condition.sql("spark", comments=False).replace("`SRC`", "<SRC>").split())
        real = [table for table, _ in of if table == SRC or table in rel.tables]
        table = real[0] if real else SRC
        before, after = (values_for(condition, rel, holds) if set(real) == {table} else {} for holds in (True, False))
        # What identifies a row does not change.
        both = before and after and all(before[name] == after[name] for name in set(before) & rel.unit)
        said = says.rows_filtered(clause, words, table, before if both else {}, after if both else {})
        # A row that is deleted does not change.
        said = replace(said, example=None) if rel.only_dead else said
        return replace(rel, pending=(*rel.pending, said.at(site, condition)))
    # Two conditions of which it is not known what they ask are never the same.
    asked = col.text or f"{site.file} {site.place(condition)}"
    return replace(rel, kept_by=rel.kept_by | col.of, conditions=rel.conditions | {asked})


def _fixed(rel: Rel, condition: exp.Expr) -> frozenset[frozenset[str]]:
    """Return what tells rows apart where a condition leaves of each column one value: of a row number, or by a text."""
    if not isinstance(condition, exp.EQ) or not isinstance(condition.right, exp.Literal):
        return frozenset()
    key = key_of(condition.left, rel)
    col = rel.get(key) if key is not None else None
    if col is None or not (col.number or condition.right.is_string):
        return frozenset()
    return frozenset(one - {key} for one in rel.unique if key in one)


def depends_on(col: Col, rel: Rel) -> list[Base]:
    """Return what a value follows from besides what one row of a relation of changed rows stands for."""
    if col.text in rel.unit or col.constant or col.fixed:
        return []
    own = {(SRC, column) for column in rel.unit | rel.places}
    return sorted(base for base in col.of if base not in own and base[1] != LIST)


def alone(rel: Rel, cols: Mapping[str, Col], groups: Sequence[str]) -> bool:
    """Say whether each group of a relation of changed rows is of one unit."""
    return rel.kind == "delta" and bool(rel.unit) and rel.unit <= {cols[key].text for key in groups if key in cols}


def grouped(rel: Rel, keys: Sequence[str | None], cols: Mapping[str, Col], site: Site, node: exp.Expr) -> Rel:
    """Return a relation of groups.

    Args:
        rel: The relation before.
        keys: The columns of the groups, by their keys in the result; None for one that is not in the result.
        cols: The result's columns; those of groups as they were before.
        site, node: Its place.
    """
    groups = [key for key in keys if key is not None]
    whole = None not in keys
    unique = frozenset([frozenset(groups)]) if whole else frozenset[frozenset[str]]()
    result = replace(rel, cols=dict(cols), wide={}, merged={}, unique=unique, plain="")
    if rel.broken:
        return result
    if rel.kind == "before":
        site.stop(says.before_as_data().at(site, node))
        return replace(result, broken=True)
    if rel.kind == "mixed":
        site.stop(says.not_analysed("an aggregation over a union of changed and of other rows").at(site, node))
        return replace(result, broken=True, kind="delta")
    if rel.kind == "full":
        result = replace(result, always=not keys, filtered=rel.filtered and bool(keys))
        return replace(
            result, held=tuple(_kept(one, cols) for one in rel.held), pending=(*rel.pending, *_cut(rel, cols, site, node))
        )
    distinct = all(key in groups for key in cols)
    if alone(rel, cols, groups):
        return _by_unit(rel, result, groups, whole, distinct, site, node)
    if distinct and whole and all(cols[key].text or cols[key].constant for key in groups):
        # Which groups there are, and nothing else about them.
        unit = frozenset(cols[key].text for key in groups if cols[key].text)
        pending = (*with_a_name(rel.pending, unit), *named_by_some(rel, unit, site, node))
        result = replace(result, unit=unit, places=frozenset(), pending=pending, kept_by=frozenset(), one_group=not unit)
        result = replace(result, conditions=frozenset())
        return replace(result, dead=False, twice=False, doubled=(), several=frozenset(), many=frozenset())
    names = ", ".join(groups)
    site.stop(says_target.group_in_part(names, ", ".join(sorted(rel.unit))).at(site, node))
    return replace(result, broken=True)


def named_by_some(rel: Rel, texts: Iterable[str], site: Site, node: exp.Expr) -> list[Finding]:
    """Return what is wrong where only some of a group's rows name it: a group that has others left is named by none.

    Args:
        rel: The rows.
        texts: What names a group.
        site, node: Its place.
    """
    decides = {column if table == SRC else f"{table}.{column}" for table, column in rel.kept_by if column != LIST}
    # Whether a delete shows it, or only a row that leaves its group, depends on which rows of the source are left out.
    said = replace(says_target.group_may_vanish("A group of rows that a condition leaves out"), example=None)
    return [] if decides <= set(texts) else [said.at(site, node)]


def with_a_name(pending: Iterable[Finding], texts: Iterable[str]) -> tuple[Finding, ...]:
    """Return what is wrong with rows that name groups: that some have no window of time is not, where that is the name.

    Args:
        pending: What is wrong with the rows.
        texts: What names a group.
    """
    by_window = any(text.startswith(f"{CALL}(") for text in texts)
    return tuple(one for one in pending if not (by_window and (one.code, one.subject) == ("ROWS_FILTERED", "window")))


def _by_unit(rel: Rel, result: Rel, groups: Sequence[str], whole: bool, distinct: bool, site: Site, node: exp.Expr) -> Rel:
    """Every group is of one row of the source, or of the rows that were made of it."""
    told = [result.cols[key] for key in groups]
    several = rel.several & {number for col in told for number in (col.fixed, *lists_in(col.of))}
    still = {table for col in told for table, _ in col.of} & rel.many
    apart = whole and not still
    pending = rel.pending
    if whole and not still:
        pending = (*(one for one in pending if one.code != "FAN_OUT"), *rel.emptied)
        result = replace(result, emptied=())
    pending = pending if distinct else (*pending, *rel.doubled)
    # With its partition among the groups a row that moved is in two of them.
    distinct = distinct or (bool(rel.places) and rel.places <= {col.text for col in told})
    if rel.twice and not distinct:
        pending = (*pending, says_target.moved_row_is_here_twice("this aggregation").at(site, node))
    return replace(
        result,
        doubled=(),
        pending=pending,
        several=several if whole else rel.several,
        many=frozenset(still) if whole else rel.many,
        assumed=rel.assumed or (rel.perhaps and not distinct),
        unique=result.unique if apart else frozenset(),
    )


def windowed(rel: Rel, partition: Sequence[str | None], texts: set[str], site: Site, node: exp.Expr) -> Rel:
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
    result = replace(rel, cols=cols, loose=rel.loose | rel.tables, bound=frozenset())
    if rel.kind == "full":
        cut = [one for one in rel.held if not {column for column in one.columns if not is_tied_key(column)} <= keys]
        said = [says_joins.partitions_in_part(one, rel).at(site, node) for one in cut]
        return replace(result, pending=(*rel.pending, *said))
    if rel.kind == "delta" and rel.unit and rel.unit <= texts:
        result = replace(result, pending=(*rel.pending, *rel.doubled))
        if rel.twice:
            said = [says_target.moved_row_is_here_twice("this window").at(site, node)]
            return replace(result, pending=(*result.pending, *said))
        return replace(result, assumed=rel.assumed or rel.perhaps)
    names = ", ".join(sorted(key.rpartition(".")[2] for key in keys))
    site.stop(says_target.group_in_part(names, ", ".join(sorted(rel.unit)), "window").at(site, node))
    return replace(result, broken=True)


def _cut(rel: Rel, cols: Mapping[str, Col], site: Site, node: exp.Expr) -> list[Finding]:
    return [says_joins.partitions_in_part(one, rel).at(site, node) for one in rel.held if None in _kept(one, cols).columns]


def _kept(held: Held, cols: Mapping[str, Col]) -> Held:
    return replace(held, columns=tuple(c if c in cols or is_tied_key(c) else None for c in held.columns))

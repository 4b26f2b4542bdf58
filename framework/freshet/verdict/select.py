"""What a SELECT makes of what is known of its FROM: conditions, rows from functions, groups, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.columns import Col
from freshet.verdict.functions import aggregates, makes_rows, open_order_in, within
from freshet.verdict.groups import alone, filtered, grouped
from freshet.verdict.lookups import is_tied, tie
from freshet.verdict.names import is_instant, key_of
from freshet.verdict.predicates import conjuncts
from freshet.verdict.projection import group_keys, is_expression, numbered, projected, starred
from freshet.verdict.relation import TIED, Rel, is_tied_key, is_unique
from freshet.verdict.rows import names_of, rows_of
from freshet.verdict.scan import not_known
from freshet.verdict.steps import Steps, odd
from freshet.verdict.tumbling import by_its_start, with_windows
from freshet.verdict.windows import looked_at

#: Clauses that are followed.
KNOWN = {
    *("expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify", "windows", "distinct", "order"),
    *("limit", "offset", "with_", "hint", "distribute", "sort", "cluster"),
}


@dataclass
class Selection:
    """A SELECT.

    Args:
        walk: The walk that it is met on.
        node: The SELECT.
        views: What its tables' names mean.
        outer: The relation of the query around it.
    """

    walk: Steps
    node: exp.Select
    views: Mapping[str, Rel]
    outer: Rel | None
    items: list[tuple[str, exp.Expr]] = field(default_factory=list)

    def result(self) -> Rel:
        """Return what is known of its rows."""
        node = self.node
        if clause := odd(node, KNOWN):
            return not_known(node, f"a SELECT with {clause.upper()}", self.walk.site)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            return not_known(node, "DISTINCT ON", self.walk.site)
        rel = self._conditions()
        rel = self._columns(rel)
        result = self._grouped_or_not(rel)
        if distinct is not None and result.kind != "mixed":
            result = grouped(result, list(result.cols), result.cols, self.walk.site, node)
        return result

    def _conditions(self) -> Rel:
        node, walk = self.node, self.walk
        from_, where = node.args.get("from_"), node.args.get("where")
        conditions = list(conjuncts(where.this if where is not None else None))
        rel = walk.from_(from_.this, self.views) if from_ is not None else Rel(unique=frozenset([frozenset()]))
        for one in node.args.get("joins") or ():
            rel = walk.join(rel, one, self.views, conditions)
        for one in node.args.get("laterals") or ():
            alias = one.args.get("alias")
            table = (alias.name if alias is not None else "").lower()
            names = [name.name.lower() for name in (alias.args.get("columns") or ())] if alias is not None else []
            rel = rows_of(walk, rel, one.this, [f"{table}.{name}" for name in names], one)
        for condition in conditions:
            walk.look_at(condition, rel)
            if self.outer is not None and is_tied(condition, rel):
                found = tie(condition, rel, self.outer)
                if found is not None and found.inner_key is not None:
                    rel = _narrowed(rel, found.inner_key, f"{TIED}{len(rel.ties)}")
                if any(is_instant(column) for column in condition.find_all(exp.Column)):
                    walk.site.found.append(says.not_deterministic(says.SHOWN_INSTANT).at(walk.site, condition))
                rel = replace(
                    rel,
                    filtered=True,
                    ties=(*rel.ties, *([found] if found is not None else [])),
                    open_ties=rel.open_ties or found is None,
                )
                continue
            partner = walk.partner(rel, condition, self.views)
            if partner is not None:
                rel = replace(partner, ties=rel.ties, open_ties=rel.open_ties)
                continue
            rel = walk.look_up(rel, [condition], self.views)
            rel = filtered(rel, condition, walk.value(condition, rel), "WHERE", walk.site)
        return rel

    def _columns(self, rel: Rel) -> Rel:
        """Gather the columns of the result, and return the relation with the rows and windows that they make."""
        walk = self.walk
        asks = (self.node.args.get(clause) for clause in ("group", "having"))
        rel = with_windows(walk, rel, [*self.node.expressions, *(one for one in asks if one is not None)])
        for item in self.node.expressions:
            if not isinstance(item, exp.Star):
                walk.look_at(item, rel)
            star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
            if isinstance(star, exp.Star):
                self.items += starred(item, star, rel)
                continue
            inner = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
            if makes_rows(inner):
                named = [one.name.lower() for one in item.expressions] if isinstance(item, exp.Aliases) else []
                names = named or ([item.alias.lower()] if item.alias else names_of(inner))
                rel = rows_of(walk, rel, inner, [f"\1.{name}" for name in names], item)
                self.items += [(name, exp.column(name, "\1")) for name in names]
                continue
            self.items.append((item.alias_or_name.lower() or f"_c{len(self.items)}", item))
        parts = [one for _, one in self.items if not isinstance(one, exp.Star)]
        having, qualify, group = (self.node.args.get(clause) for clause in ("having", "qualify", "group"))
        told = [one for one in (having, qualify, group) if one is not None]
        for one in told:
            walk.look_at(one, rel)
        rel = walk.look_up(rel, [*parts, *told], self.views)
        named_windows = {w.name.lower(): w for w in self.node.args.get("windows") or ()}
        for part in (*parts, *told, *(self.node.args.get("windows") or ())):
            walk.look_at(part, rel) if isinstance(part, exp.Window) else None
            for window in within(part):
                if isinstance(window, exp.Window) and window not in named_windows.values():
                    rel = looked_at(walk, rel, window, named_windows)
        return rel

    def _grouped_or_not(self, rel: Rel) -> Rel:
        node, walk = self.node, self.walk
        group, having, qualify = (node.args.get(clause) for clause in ("group", "having", "qualify"))
        cols: dict[str, Col] = {}
        keys: dict[str, str | None] = {}
        seen = rel
        for name, one in self.items:
            # A column's name may be used in those behind it.
            cols[name] = walk.value(one, seen)
            keys[name] = key_of(one, rel)
            if not rel.keys_of(name):
                seen = replace(seen, cols={**seen.cols, f"\2.{name}": cols[name]})
        asks = [one for one in (having, qualify) if one is not None]
        parts = [*(one for _, one in self.items), *asks]
        aggregated = group is not None or any(aggregates(one) for part in parts for one in within(part))
        result = (
            self._grouped(rel, seen, cols, group)
            if aggregated
            else numbered(projected(rel, cols, keys, self.node), rel, self.items, keys)
        )
        for clause, told in (("HAVING", having), ("QUALIFY", qualify)):
            for condition in conjuncts(told.this if told is not None else None):
                col = replace(walk.value(condition, seen), flags=False)
                result = filtered(result, condition, col, clause, walk.site)
        return result

    def _grouped(self, rel: Rel, seen: Rel, cols: Mapping[str, Col], group: exp.Group | None) -> Rel:
        node, walk = self.node, self.walk
        if group is not None and group.args.get("all") is True:
            whole = "all" not in {key.rpartition(".")[2] for key in rel.cols} and "*" not in cols
            group = _every(self.items) if whole else group
        if group is not None and any(group.args.get(kind) for kind in ("cube", "rollup", "grouping_sets", "all", "totals")):
            if rel.kind != "full" or rel.held:
                return not_known(node, "GROUP BY with CUBE, ROLLUP, GROUPING SETS or ALL", walk.site)
            told = {name: Col(of=col.of | rel.of_rows) for name, col in cols.items()}
            return replace(rel, cols=told, wide={}, merged={}, unique=frozenset(), plain="")
        if group is not None:
            by_its_start(group, self.items, rel)
        keys, by = group_keys(group, self.items, rel)
        in_result = [key for key in keys if key is not None]
        by_unit = alone(rel, cols, in_result)
        told = {
            name: col
            if name in keys
            else Col(
                of=col.of,
                constant=col.constant,
                flags=col.flags,
                instant=col.instant,
                rises=col.rises if by_unit else None,
                absent=col.absent if by_unit else frozenset(),
                present=col.present if by_unit else 0,
                zero=col.zero if by_unit else 0,
            )
            for name, col in cols.items()
        }
        held = tuple(
            replace(
                h,
                columns=tuple(
                    c if is_tied_key(c) else next((n for n, i in self.items if n in keys and _is(c, n, i, cols, rel)), None)
                    for c in h.columns
                ),
            )
            for h in rel.held
        )
        self._open_order(rel, by, by_unit)
        return grouped(replace(rel, held=held), keys, told, walk.site, group or node)

    def _open_order(self, rel: Rel, by: Sequence[str | None], by_unit: bool) -> None:
        if rel.broken or (by_unit and not rel.many and not rel.several):
            return
        for part in (*(one for _, one in self.items), self.node.args.get("having")):
            if part is None:
                continue
            for one, name in open_order_in(part):
                self.walk.site.found.append(says.order_is_open(name).at(self.walk.site, one))
            for one in within(part):
                if isinstance(one, exp.ArgMax | exp.ArgMin) and not is_unique(rel, [*by, key_of(one.expression, rel)]):
                    name = "max_by" if isinstance(one, exp.ArgMax) else "min_by"
                    self.walk.site.found.append(says.order_is_open(name).at(self.walk.site, one))


def _every(items: Sequence[tuple[str, exp.Expr]]) -> exp.Group:
    """Return what GROUP BY ALL stands for: each column of the result that aggregates nothing."""
    plain = [item for _, item in items if not any(aggregates(one) for one in within(item))]
    # A number by itself would be a column's place.
    return exp.Group(expressions=[exp.Paren(this=one.copy()) for one in plain])


def _narrowed(rel: Rel, key: str, tied: str) -> Rel:
    """Return a relation of the rows for which a column that narrows it has the value of the query around it."""
    held = (replace(one, columns=tuple(tied if column == key else column for column in one.columns)) for one in rel.held)
    return replace(rel, held=tuple(held))


def _is(key: str | None, name: str, item: exp.Expr, cols: Mapping[str, Col], rel: Rel) -> bool:
    """Say whether a column of the result is what narrows a relation."""
    return key is not None and (key_of(item, rel) == key or is_expression(key, cols[name], rel))

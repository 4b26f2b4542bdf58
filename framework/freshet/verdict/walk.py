"""Walk a query from its tables to its result, and say of each step what is known of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.groups import grouped
from freshet.verdict.relation import Rel
from freshet.verdict.scan import listed, not_known, renamed, table
from freshet.verdict.select import Selection
from freshet.verdict.steps import OF_SUBQUERY, Steps, odd
from freshet.verdict.unions import united
from freshet.verdict.unpivot import unpivoted

_OF_SET = {"this", "expression", "with_", "distinct", "limit", "offset", "order", "distribute", "sort", "cluster"}


@dataclass
class Walk(Steps):
    """The walk over one query."""

    def query(self, node: exp.Expr, views: Mapping[str, Rel], outer: Rel | None = None) -> Rel:
        """Return what is known of a query's result.

        Args:
            node: The query.
            views: What its tables' names mean, besides the pipeline's inputs.
            outer: The relation of the query around it, whose columns it may name.
        """
        views = dict(views)
        with_ = node.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            named = self.query(cte.this, views)
            columns = [one.name.lower() for one in cte.args["alias"].args.get("columns") or ()]
            views[cte.alias.lower()] = renamed(named, columns)
        match node:
            case exp.Subquery() if not odd(node, OF_SUBQUERY):
                found = self.joined_to(self.query(node.this, views, outer), node, views)
            case exp.Table() | exp.Subquery() if len(node.args.get("pivots") or ()) == 1:
                found = self._unpivoted(node, views, outer)
            case exp.Select():
                found = Selection(self, node, views, outer).result()
            case exp.SetOperation() if not odd(node, _OF_SET):
                found = self._set_operation(node, views, outer)
            case exp.Table():
                found = self.joined_to(self.named(table(node, views, self.question, self.site), node), node, views)
            case exp.Values():
                found = listed(node, self.site)
            case _:
                found = not_known(node, f"'{' '.join(node.sql('spark').split())[:40]}'", self.site)
        for clause in ("limit", "offset"):
            told = node.args.get(clause)
            if told is not None and told.expression is not None and told.expression.name.upper() != "ALL":
                self.site.stop(says.rows_limited(clause.upper()).at(self.site, told))
                found = replace(found, kind="delta", broken=True)
        return found

    def _unpivoted(self, node: exp.Expr, views: Mapping[str, Rel], outer: Rel | None) -> Rel:
        """Return a table or subquery with what UNPIVOT makes of it."""
        plain = node.copy()
        plain.set("pivots", None)
        plain.set("joins", None)
        found = self.query(plain, views, outer)
        found = self.named(found, node) if isinstance(node, exp.Subquery) else found
        return self.joined_to(unpivoted(found, node.args["pivots"][0], self.site, node), node, views)

    def _set_operation(self, node: exp.SetOperation, views: Mapping[str, Rel], outer: Rel | None) -> Rel:
        left, right = self.query(node.left, views, outer), self.query(node.right, views, outer)
        if isinstance(node, exp.Union):
            found = united(left, right, self.site, node)
            if node.args.get("distinct") and found.kind != "mixed":
                return grouped(found, list(found.cols), found.cols, self.site, node)
            return found
        if left.kind == right.kind == "full" and not left.held and not right.held:
            together = united(left, right, self.site, node)
            return replace(together, filtered=True, unique=frozenset([frozenset(together.cols)]))
        if not (left.broken or right.broken):
            whole = left.kind == "delta" and right.kind == "full" and not right.held
            table = says.first_table(right) if whole else ""
            self.site.stop(says.set_operation(node.key.upper(), table).at(self.site, node))
        return replace(left, kind="delta", broken=True)

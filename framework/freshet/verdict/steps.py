"""The steps of a walk over a query: what stands in its FROM, joins, subqueries, values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.columns import INSTANT, ROWS, SRC, Col, computed, unknown
from freshet.verdict.functions import unknown_in, volatile_in, within
from freshet.verdict.joins import join
from freshet.verdict.lookups import equal, fixed_key, never_null, pairs_of, partner_of, subqueries, tied
from freshet.verdict.names import is_of, is_of_hudi
from freshet.verdict.pairs import Joining, Pair
from freshet.verdict.predicates import always, conjuncts
from freshet.verdict.question import Question
from freshet.verdict.relation import Rel
from freshet.verdict.result import Granted
from freshet.verdict.scan import not_known, renamed
from freshet.verdict.site import Site
from freshet.verdict.values import value_of

_SIDES = {"LEFT": "left", "RIGHT": "right", "FULL": "full"}
_OF_JOIN = {"this", "on", "using", "side", "kind", "method", "hint"}
_KINDS = ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI")
OF_SUBQUERY = {"this", "alias", "with_", "joins", "limit", "offset", "order"}


@dataclass
class Steps(ABC):
    """What the walk over a query does at each step.

    Args:
        question: What is asked.
        site: The statement.
        granted: Receives what is taken for granted of tables.
        before_keys: Receives the columns by which the source of before is joined with the changed rows.
        inners: What is known of subqueries' values, by ``id``.
    """

    question: Question
    site: Site
    granted: list[Granted] = field(default_factory=list)
    before_keys: set[str] = field(default_factory=set)
    inners: dict[int, Col] = field(default_factory=dict)

    @abstractmethod
    def query(self, node: exp.Expr, views: Mapping[str, Rel], outer: Rel | None = None) -> Rel:
        """Return what is known of a query's result.

        Args:
            node: The query.
            views: What its tables' names mean, besides the pipeline's inputs.
            outer: The relation of the query around it, whose columns it may name.
        """

    def from_(self, node: exp.Expr, views: Mapping[str, Rel]) -> Rel:
        """Return what is known of what stands in a FROM, its columns by ``alias.name``."""
        if isinstance(node, exp.Lateral):
            return not_known(node, "LATERAL", self.site)
        if isinstance(node, exp.Table) or node.args.get("pivots"):
            return self.query(node, views)
        if isinstance(node, exp.Subquery) and not node.alias and isinstance(node.this, exp.Table | exp.Subquery):
            # Parentheses around a join: its tables keep their names.
            return self.query(node, views) if not odd(node, OF_SUBQUERY) else not_known(node, "this subquery", self.site)
        return self.named(self.query(node, views), node)

    def named(self, rel: Rel, node: exp.Expr) -> Rel:
        """Return a relation as a query's FROM names it."""
        alias = (node.alias or (node.name if isinstance(node, exp.Table) else "")).lower()
        told = node.args.get("alias")
        columns = [one.name.lower() for one in told.args.get("columns") or ()] if told else []
        return renamed(rel, columns).aliased(alias)

    def joined_to(self, rel: Rel, node: exp.Expr, views: Mapping[str, Rel]) -> Rel:
        """Return a relation with the joins that hang on a table or on parentheses."""
        for one in node.args.get("joins") or ():
            rel = self.join(rel, one, views)
        for one in node.args.get("laterals") or ():
            rel = not_known(one, "LATERAL VIEW within parentheses", self.site)
        return rel

    def join(self, rel: Rel, node: exp.Join, views: Mapping[str, Rel], where: list[exp.Expr] | None = None) -> Rel:
        """Return a relation with what a JOIN adds.

        Args:
            rel: The relation.
            node: The join.
            views: What names mean.
            where: Conditions of the query's WHERE: those that hold both sides equal are the join's, and taken out of it.
        """
        other = self.from_(node.this, views)
        side, kind, method = (node.side or "").upper(), (node.kind or "").upper(), (node.method or "").upper()
        how = "semi" if kind == "SEMI" else "anti" if kind == "ANTI" else _SIDES.get(side, "inner")
        if odd(node, _OF_JOIN) or method not in ("", "NATURAL") or kind not in _KINDS:
            return not_known(node, "this join", self.site)
        names = [one.name.lower() for one in node.args.get("using") or ()]
        if method == "NATURAL":
            if rel.wide or other.wide:
                return not_known(node, "a NATURAL JOIN of tables whose columns are not known", self.site)
            theirs = {key.rpartition(".")[2] for key in other.cols}
            names = [name for name in dict.fromkeys(key.rpartition(".")[2] for key in rel.cols) if name in theirs]
        pairs, more, merged = [], False, dict[str, tuple[str, str]]()
        for name in names:
            keys = [[k for k in one.keys_of(name) if one.get(k) is not None] for one in (rel, other)]
            if not all(len(found) == 1 for found in keys):
                return not_known(node, f"a join by {name}", self.site)
            left, right = keys[0][0], keys[1][0]
            pairs.append(Pair(left=rel.get(left) or Col(), right=other.get(right) or Col(), left_key=left, right_key=right))
            merged[name] = (left, right)
        conditions = list(conjuncts(node.args.get("on")))
        if how == "inner" and where is not None:
            taken = [one for one in where if equal(one, rel, other) is not None]
            where[:] = [one for one in where if one not in taken]
            conditions += taken
        both = replace(rel, cols={**rel.cols, **other.cols}, wide={**rel.wide, **other.wide})
        for condition in conditions:
            self.look_at(condition, both)
            if always(condition):
                continue
            if any(table == INSTANT for table, _ in self.value(condition, both).of):
                self.site.found.append(says.not_deterministic(says.SHOWN_INSTANT).at(self.site, condition))
            pair = equal(condition, rel, other) or (fixed_key(condition, other) if _tells(condition, other, rel) else None)
            if pair is None and subqueries(condition):
                return not_known(node, "a join by a subquery", self.site)
            more = more or pair is None
            pairs += [self._never_null(pair)] if pair is not None else []
        if {rel.kind, other.kind} == {"before", "delta"}:
            self.before_keys |= {p.left.text for p in pairs if p.left.text and p.left.text == p.right.text}
        before = (rel, other)
        if how == "right":
            found = join(other, rel, self.joining("left", [p.swapped() for p in pairs], more, node))
        else:
            found = join(rel, other, self.joining(how, pairs, more, node))
        return _merged(found, before, merged, how)

    def _never_null(self, pair: Pair) -> Pair:
        # What is part of a record key is not null, so that to compare null-safe is to compare.
        sure = [col.bare for col in (pair.left, pair.right) if col.bare is not None and not col.present]
        keyed = any(column in self.question.key_of(table) for table, column in sure)
        return replace(pair, null_safe=pair.null_safe and not keyed)

    def joining(self, side: str, pairs: Sequence[Pair], more: bool, node: exp.Expr) -> Joining:
        """Return a join, and where it stands."""
        return Joining(
            side=side, pairs=pairs, more=more, node=node, site=self.site, question=self.question, granted=self.granted
        )

    def partner(self, rel: Rel, condition: exp.Expr, views: Mapping[str, Rel]) -> Rel | None:
        """Return the rows that have, or have not, a partner in a subquery: by IN or EXISTS; None for another condition."""
        side, inner = partner_of(condition)
        if inner is None:
            return None
        select = inner.this if isinstance(inner, exp.Subquery) else inner
        found = self.query(select, views, rel)
        pairs, more = pairs_of(condition, rel, found, self.inner)
        if side == "anti" and isinstance(condition.find(exp.In, exp.Exists), exp.In) and not never_null(pairs):
            # One NULL in it, and no row is left: every row hangs on every row.
            pairs = []
        return join(rel, found.aliased("\0"), self.joining(side, pairs, more or found.open_ties, condition))

    def look_up(self, rel: Rel, nodes: Sequence[exp.Expr], views: Mapping[str, Rel]) -> Rel:
        """Return a relation of which each row has looked up the values of the subqueries in some expressions."""
        for one in (found for node in nodes for found in subqueries(node)):
            select = one.this if isinstance(one, exp.Subquery | exp.Exists | exp.Any | exp.All) else one
            select = select.this if isinstance(select, exp.Subquery) else select
            found = self.query(select, views, rel)
            told, pairs = computed(found.cols.values()).of | found.of_rows, tied(found)
            if found.tables <= {SRC}:
                # What it finds of a list of constants, or of the changed rows, follows from the row around it.
                told = told.union(*(pair.left.of for pair in pairs), {(SRC, ROWS)} if found.open_ties or found.tables else ())
            self.inners[id(one)] = Col(of=told) if told else unknown("subquery")
            if isinstance(one.parent, exp.In):
                asked, more = pairs_of(one.parent, rel, found, self.inner)
                # Where a value may be null it hangs on every row.
                pairs = pairs if more or not never_null(asked) else asked
            keys = frozenset(p.right_key for p in pairs if p.right_key is not None)
            # It finds one row, or none.
            single = replace(found.aliased("\0"), cols={}, wide={}, unique=frozenset([keys]))
            rel = join(rel, single, self.joining("left", pairs, found.open_ties, one))
        return rel

    def inner(self, node: exp.Expr) -> Col:
        """Return what is known of a subquery's value that was looked up."""
        one = node.args["query"] if isinstance(node, exp.In) else node
        return self.inners.get(id(one), unknown("subquery"))

    def value(self, node: exp.Expr, rel: Rel) -> Col:
        """Return what is known of an expression's value."""
        return value_of(node, rel, self.inner)

    def look_at(self, node: exp.Expr, rel: Rel) -> None:
        """Say what of an expression gives another value in another run, or is a function or column that nobody knows.

        Args:
            node: The expression.
            rel: The relation that its columns are of.
        """
        for one, name in volatile_in(node):
            self.site.found.append(says.not_deterministic(name).at(self.site, one))
        for column in within(node):
            if isinstance(column, exp.Column) and is_of_hudi(column, rel):
                name = "_metadata" if "_metadata" in (part.name.lower() for part in column.parts) else column.name.lower()
                self.site.found.append(says.of_hudi(name).at(self.site, column))
        for call in unknown_in(node):
            said = says.not_analysed(f"the function {call.name}, which is none of Spark's that freshet knows,")
            self.site.found.append(said.at(self.site, call))


def odd(node: exp.Expr, known: set[str]) -> str:
    """Return a clause of a node that is not among the known ones; empty where there is none."""
    return next((clause for clause, told in node.args.items() if told and clause not in known), "")


def _tells(condition: exp.Expr, other: Rel, rel: Rel) -> bool:
    return all(is_of(column, other) and (column.table or not is_of(column, rel)) for column in condition.find_all(exp.Column))


def _merged(found: Rel, sides: tuple[Rel, Rel], merged: Mapping[str, tuple[str, str]], how: str) -> Rel:
    """Return a join's result in which a name of both sides is one column."""
    known, cols = dict[str, str](), dict(found.cols)
    for name, (left, right) in merged.items():
        known[name] = right if how == "right" else left
        if how == "full":
            both = [col for key in (left, right) if (col := found.get(key)) is not None]
            known[name] = f"\3.{name}"
            cols[known[name]] = replace(computed(both), same=frozenset().union(*(col.same for col in both)))
    for side in sides:
        for name, key in side.merged.items():
            known.setdefault(name, key)
    return replace(found, cols=cols, merged=known)

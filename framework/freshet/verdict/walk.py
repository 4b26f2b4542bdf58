"""Walk a query from its tables to its result, and say of each step what is known of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.columns import SRC, Col, computed, of_table
from freshet.verdict.facts import Question
from freshet.verdict.groups import filtered, grouped, united, windowed
from freshet.verdict.joins import Joining, Pair, join
from freshet.verdict.predicates import conjuncts
from freshet.verdict.relation import Held, Rel
from freshet.verdict.result import Granted
from freshet.verdict.site import Site
from freshet.verdict.values import key_of, open_order_in, resolve, text_of, value_of, volatile_in

_SIDES = {"LEFT": "left", "RIGHT": "right", "FULL": "full"}
_OF_ROWS = (exp.Explode, exp.Posexplode, exp.ExplodeOuter, exp.PosexplodeOuter, exp.Inline, exp.Stack)


@dataclass
class Walk:
    """The walk over one query.

    Args:
        question: What is asked.
        site: The statement.
        granted: Receives what is taken for granted of tables.
        before_keys: Receives the columns by which the source of before is joined with the changed rows.
    """

    question: Question
    site: Site
    granted: list[Granted] = field(default_factory=list)
    before_keys: set[str] = field(default_factory=set)

    def query(self, node: exp.Expression, views: Mapping[str, Rel], outer: Rel | None = None) -> Rel:
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
            views[cte.alias.lower()] = _renamed(named, columns)
        match node:
            case exp.Subquery():
                found = self.query(node.this, views, outer)
            case exp.Select():
                found = self._select(node, views, outer)
            case exp.Union():
                left, right = self.query(node.left, views, outer), self.query(node.right, views, outer)
                found = united(left, right, self.question, self.site, node)
                if node.args.get("distinct") and found.kind != "mixed":
                    found = grouped(found, list(found.cols), found.cols, self.site, node)
            case exp.Except() | exp.Intersect():
                found = self._set_operation(node, views, outer)
            case exp.Table():
                found = self._table(node, views)
            case exp.Values():
                found = self._values(node)
            case _:
                found = self._unknown(node, f"'{node.key}'")
        for clause in ("limit", "offset"):
            if node.args.get(clause) is not None:
                self.site.found.append(says.rows_limited(clause.upper()).at(self.site, node.args[clause]))
                found = replace(found, broken=True)
        return found

    def _unknown(self, node: exp.Expression, what: str) -> Rel:
        self.site.found.append(says.not_analysed(what).at(self.site, node))
        return Rel(kind="delta", broken=True)

    def _set_operation(self, node: exp.SetOperation, views: Mapping[str, Rel], outer: Rel | None) -> Rel:
        left, right = self.query(node.left, views, outer), self.query(node.right, views, outer)
        if left.kind == right.kind == "full" and not left.held and not right.held:
            together = united(left, right, self.question, self.site, node)
            return replace(together, filtered=True, unique=frozenset([frozenset(together.cols)]))
        if not (left.broken or right.broken):
            self.site.found.append(says.set_operation(node.key.upper()).at(self.site, node))
        return replace(left, broken=True)

    def _values(self, node: exp.Values) -> Rel:
        names = [one.name.lower() for one in node.args["alias"].args.get("columns") or ()] if node.args.get("alias") else []
        rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in node.expressions]
        names = names or [f"col{number}" for number in range(1, len(rows[0]) + 1)]
        cols, unique = {}, set()
        for at, name in enumerate(names):
            values = [row[at].sql("spark") for row in rows]
            apart = len(set(values)) == len(values)
            cols[name] = Col(fixed=apart)
            unique |= {frozenset([name])} if apart else set()
        return Rel(cols=cols, unique=frozenset(unique))

    def _table(self, node: exp.Table, views: Mapping[str, Rel]) -> Rel:
        name = ".".join(part.name for part in node.parts).lower()
        if isinstance(node.this, exp.Func):
            return self._unknown(node, f"the table function {node.this.sql('spark')[:40]}")
        for clause in ("sample", "pivots", "version", "when"):
            if node.args.get(clause):
                return self._unknown(node, f"a table with {clause.upper()}")
        if name in views:
            return views[name]
        one = self.question.inputs.get(name)
        if one is None:
            return self._unknown(node, f"the table {name}, which is no input,")
        facts, image = self.question.of(name), one.as_of == "checkpoint" and self.question.is_source(name)
        key = self.question.key_of(name)
        cols = {column.lower(): of_table(name, column.lower(), image_of_source=image) for column in facts.columns}
        held = ()
        if one.read == "affected_partitions":
            held = (
                Held(
                    columns=tuple(column.lower() for column, _ in one.on),
                    texts=tuple(frozenset(text_of(text) for text in texts) for _, texts in one.on),
                    images=frozenset(["new", "old"]),
                    by="partition",
                    tables=frozenset([SRC]),
                ),
            )
        if one.read == "incremental":
            said = says.lookback_is_bounded(name, one.lookback_seconds / 3600)
            self.site.found.append(said.at(self.site, node))
        return Rel(
            kind="before" if image else "full",
            cols=cols,
            wide={} if cols else {"": (name,)},
            images=frozenset([name]) if image else frozenset(),
            tables=frozenset([name]),
            held=held,
            unique=frozenset([frozenset(key)]) if key else frozenset(),
            plain=name,
            broken=one.read == "incremental" and False,
        )

    def _from(self, node: exp.Expression, views: Mapping[str, Rel]) -> Rel:
        lateral = isinstance(node, exp.Lateral)
        found = self._unknown(node, "LATERAL") if lateral else self.query(node, views)
        alias = (node.alias or (node.name if isinstance(node, exp.Table) else "")).lower()
        columns = [one.name.lower() for one in (node.args["alias"].args.get("columns") or ())] if node.args.get("alias") else []
        found = _renamed(found, columns).aliased(alias)
        # A table in parentheses holds its own joins.
        for one in node.args.get("joins") or () if not isinstance(node, exp.Subquery) else ():
            found = self._join(found, one, views)
        return found

    def _select(self, node: exp.Select, views: Mapping[str, Rel], outer: Rel | None) -> Rel:
        self._values_of_chance(node)
        from_ = node.args.get("from_")
        rel = self._from(from_.this, views) if from_ is not None else Rel(unique=frozenset([frozenset()]))
        for one in node.args.get("joins") or ():
            rel = self._join(rel, one, views)
        for one in node.args.get("laterals") or ():
            rel = self._lateral(rel, one)
        seen = replace(rel, cols={**outer.cols, **rel.cols}, wide={**outer.wide, **rel.wide}) if outer is not None else rel
        where = node.args.get("where")
        for condition in conjuncts(where.this if where is not None else None):
            if outer is not None and any(rel.get(k) is None for c in condition.find_all(exp.Column) for k in resolve(c, seen)):
                # What ties a subquery to the query around it is a join's condition; see ``_partner``.
                continue
            rel = self._condition(rel, condition, "WHERE", views)
        return self._project(node, rel, views)

    def _condition(self, rel: Rel, condition: exp.Expression, clause: str, views: Mapping[str, Rel]) -> Rel:
        side, inner = _partner_of(condition)
        if inner is not None:
            return self._partner(rel, condition, inner, side, views)
        if condition.find(exp.Subquery):
            col = value_of(condition, rel, lambda one: self._inner(rel, one, views))
            return filtered(rel, condition, replace(col, constant="", text=""), clause, self.site)
        return filtered(rel, condition, self._value(condition, rel, views), clause, self.site)

    def _partner(self, rel: Rel, condition: exp.Expression, inner: exp.Expression, side: str, views: Mapping[str, Rel]) -> Rel:
        """Return the rows that have, or have not, a partner in a subquery: by IN or EXISTS."""
        select = inner.this if isinstance(inner, exp.Subquery) else inner
        found = self.query(select, views, rel).aliased("\0")
        pairs, more = [], False
        tested = condition.this.this if isinstance(condition, exp.Not) else condition.this
        if isinstance(tested, exp.In) or isinstance(condition, exp.In):
            one = condition if isinstance(condition, exp.In) else tested
            values = one.this.expressions if isinstance(one.this, exp.Tuple) else [one.this]
            for value, key in zip(values, list(found.cols), strict=False):
                pairs.append(self._pair(value, rel, found, key, views))
        pairs += self._ties(select, rel, found, views)
        return join(rel, found, self._joining(side, pairs, more, condition))

    def _ties(self, select: exp.Expression, rel: Rel, found: Rel, views: Mapping[str, Rel]) -> list[Pair]:
        """Return the equalities by which a subquery hangs on the query around it."""
        if not isinstance(select, exp.Select) or select.args.get("from_") is None:
            return []
        own = self._from(select.args["from_"].this, views)
        where = select.args.get("where")
        pairs = []
        for condition in conjuncts(where.this if where is not None else None):
            if not isinstance(condition, exp.EQ):
                continue
            for mine, theirs in ((condition.left, condition.right), (condition.right, condition.left)):
                inside = isinstance(mine, exp.Column) and any(own.get(k) is not None for k in resolve(mine, own))
                outside = all(any(rel.get(k) is not None for k in resolve(c, rel)) for c in theirs.find_all(exp.Column))
                if inside and outside and theirs.find(exp.Column):
                    key = key_of(mine, own)
                    col = value_of(mine, own, lambda one: Col())
                    left = value_of(theirs, rel, lambda one: Col())
                    pairs.append(Pair(left=left, right=col, left_key=key_of(theirs, rel), right_key=key))
                    break
        return pairs

    def _pair(self, value: exp.Expression, rel: Rel, found: Rel, key: str, views: Mapping[str, Rel]) -> Pair:
        right = found.get(key) or Col()
        return Pair(left=self._value(value, rel, views), right=right, left_key=key_of(value, rel), right_key=key)

    def _inner(self, rel: Rel, node: exp.Expression, views: Mapping[str, Rel]) -> Col:
        """Return what is known of a subquery's value, which each row of a relation looks up."""
        select = node.this if isinstance(node, exp.Subquery | exp.Exists) else node.args["query"].this
        found = self.query(select, views, rel).aliased("\0")
        if found.broken:
            return Col()
        if found.kind != "full":
            self.site.found.append(says.group_in_part("", "").at(self.site, node))
        pairs = self._ties(select, rel, found, views)
        self._looked_up.append((found, pairs, node))
        return Col(of=frozenset().union(*(col.of for col in found.cols.values())) if found.cols else frozenset())

    def _value(self, node: exp.Expression, rel: Rel, views: Mapping[str, Rel]) -> Col:
        return value_of(node, rel, lambda one: self._inner(rel, one, views))

    _looked_up: list[tuple[Rel, list[Pair], exp.Expression]] = field(default_factory=list)

    def _join(self, rel: Rel, node: exp.Join, views: Mapping[str, Rel]) -> Rel:
        other = self._from(node.this, views)
        side, kind = (node.side or "").upper(), (node.kind or "").upper()
        how = "semi" if kind == "SEMI" else "anti" if kind == "ANTI" else _SIDES.get(side, "inner")
        if (node.method or "").upper() == "NATURAL":
            return join(rel, other, self._joining("full", [], True, node))
        pairs, more = [], False
        for name in node.args.get("using") or ():
            keys = [[k for k in one.keys_of(name.name.lower()) if one.get(k) is not None] for one in (rel, other)]
            if all(keys):
                left, right = keys[0][0], keys[1][0]
                pairs.append(Pair(left=rel.get(left) or Col(), right=other.get(right) or Col(), left_key=left, right_key=right))
        for condition in conjuncts(node.args.get("on")):
            pair = self._equal(condition, rel, other)
            more = more or pair is None
            pairs += [pair] if pair is not None else []
        if {rel.kind, other.kind} == {"before", "delta"}:
            self.before_keys |= {p.left.text for p in pairs if p.left.text and p.left.text == p.right.text}
        if how == "right":
            return join(other, rel, self._joining("left", [p.swapped() for p in pairs], more, node))
        return join(rel, other, self._joining(how, pairs, more, node))

    def _equal(self, condition: exp.Expression, rel: Rel, other: Rel) -> Pair | None:
        if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
            return None
        for one, two in ((condition.left, condition.right), (condition.right, condition.left)):
            if _within(one, rel, other) and _within(two, other, rel):
                left, right = value_of(one, rel, lambda n: Col()), value_of(two, other, lambda n: Col())
                return Pair(
                    left=left,
                    right=right,
                    left_key=key_of(one, rel),
                    right_key=key_of(two, other),
                    null_safe=isinstance(condition, exp.NullSafeEQ),
                )
        return None

    def _joining(self, side: str, pairs: Sequence[Pair], more: bool, node: exp.Expression) -> Joining:
        return Joining(
            side=side, pairs=pairs, more=more, node=node, site=self.site, question=self.question, granted=self.granted
        )

    def _lateral(self, rel: Rel, node: exp.Lateral) -> Rel:
        alias = node.args.get("alias")
        table = (alias.name if alias is not None else "").lower()
        names = [one.name.lower() for one in (alias.args.get("columns") or ())] if alias is not None else []
        return self._rows_of(rel, node.this, [f"{table}.{name}" for name in names], node)

    def _rows_of(self, rel: Rel, function: exp.Expression, keys: Sequence[str], node: exp.Expression) -> Rel:
        """Return a relation of which each row became several, by a function that gives rows."""
        cols, fixed = dict(rel.cols), False
        parts = [self._value(one, rel, {}) for one in function.iter_expressions()]
        base = Col(of=computed(parts).of)
        if isinstance(function, exp.Stack) and function.this.is_int:
            rows, values = int(function.this.name), function.expressions
            width = -(-len(values) // rows)
            for at, key in enumerate(keys):
                column = [self._value(one, rel, {}) for one in values[at::width]]
                apart = all(one.constant for one in column) and len({one.constant for one in column}) == rows
                cols[key] = Col(of=computed(column).of, fixed=apart, constant="")
                fixed = fixed or apart
        else:
            array = function.this
            listed = isinstance(array, exp.Array) and all(isinstance(one, exp.Literal) for one in array.expressions)
            apart = listed and len({one.sql() for one in array.expressions}) == len(array.expressions)
            for key in keys:
                cols[key] = replace(base, fixed=apart)
            fixed = apart
        told = frozenset(key for key in keys if cols[key].fixed)
        result = replace(rel, cols=cols, plain="", unique=frozenset(one | told for one in rel.unique) if fixed else frozenset())
        if fixed or rel.kind != "delta" or rel.broken:
            return result
        said = says.fan_out_of(function.sql_name().lower() if isinstance(function, exp.Func) else "LATERAL VIEW")
        return replace(result, pending=(*rel.pending, said.at(self.site, node)))

    def _project(self, node: exp.Select, rel: Rel, views: Mapping[str, Rel]) -> Rel:
        named = {w.name.lower(): w for w in node.args.get("windows") or ()}
        items, wide, cols = [], {}, dict[str, Col]()
        group = node.args.get("group")
        self._looked_up = []
        for item in node.expressions:
            star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
            if isinstance(star, exp.Star):
                only = item.table.lower() if isinstance(item, exp.Column) else None
                left_out = {one.name.lower() for one in star.args.get("except_") or star.args.get("except") or ()}
                for key in rel.cols:
                    if (only is None or key.rpartition(".")[0] == only) and key.rpartition(".")[2] not in left_out:
                        items.append(
                            (key.rpartition(".")[2], exp.column(key.rpartition(".")[2], key.rpartition(".")[0] or None))
                        )
                wide = {**wide, **{a: t for a, t in rel.wide.items() if only is None or a == only}}
                continue
            inner = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
            if isinstance(inner, _OF_ROWS):
                names = (
                    [one.name.lower() for one in item.expressions]
                    if isinstance(item, exp.Aliases)
                    else [item.alias.lower() or "col"]
                )
                rel = self._rows_of(rel, inner, [f"\1.{name}" for name in names], item)
                items += [(name, exp.column(name, "\1")) for name in names]
                continue
            items.append((item.alias_or_name.lower() or f"_c{len(items)}", item))
        for window in node.find_all(exp.Window):
            if isinstance(window.parent, exp.Select) or window.find_ancestor(exp.Select) is not node:
                continue
            rel = self._window(rel, window, named)
        aggregated = group is not None or any(_aggregates(one) for _, one in items)
        values = {name: self._value(one, rel, views) for name, one in items}
        for found, pairs, at in self._looked_up:
            # A scalar subquery is a left join that finds one row.
            one = replace(found, unique=frozenset([frozenset(key for p in pairs if (key := p.right_key) is not None)]))
            rel = join(rel, one, self._joining("left", pairs, False, at))
        keys = {name: key_of(one, rel) for name, one in items}
        for name, one in items:
            source = rel.get(key) if (key := keys[name]) is not None and not isinstance(one, exp.Star) else None
            cols[name] = source if source is not None else values[name]
        result = self._grouped(node, rel, items, cols, group) if aggregated else _projected(rel, cols, keys, wide)
        having, qualify = node.args.get("having"), node.args.get("qualify")
        for clause, conditions in (("HAVING", having), ("QUALIFY", qualify)):
            for condition in conjuncts(conditions.this if conditions is not None else None):
                col = self._value(condition, rel, views)
                result = filtered(result, condition, replace(col, flags=False, text=""), clause, self.site)
        if node.args.get("distinct") is not None and result.kind != "mixed":
            result = grouped(result, list(result.cols), result.cols, self.site, node)
        return result

    def _grouped(
        self,
        node: exp.Select,
        rel: Rel,
        items: Sequence[tuple[str, exp.Expression]],
        cols: Mapping[str, Col],
        group: exp.Group | None,
    ) -> Rel:
        if group is not None and any(group.args.get(kind) for kind in ("cube", "rollup", "grouping_sets", "all")):
            if rel.kind != "full" or rel.held:
                return self._unknown(node, "GROUP BY with CUBE, ROLLUP, GROUPING SETS or ALL")
            return replace(rel, cols={n: Col(of=c.of) for n, c in cols.items()}, wide={}, unique=frozenset(), plain="")
        by_text = {_plain(one): name for name, one in items}
        keys: list[str | None] = []
        for one in group.expressions if group is not None else ():
            if isinstance(one, exp.Literal) and one.is_int and int(one.name) <= len(items):
                keys.append(items[int(one.name) - 1][0])
                continue
            key = key_of(one, rel)
            same = [name for name, item in items if key is not None and key_of(item, rel) == key]
            alias = [name for name, _ in items if key is None and isinstance(one, exp.Column) and one.name.lower() == name]
            keys.append(next(iter([*same, *alias]), by_text.get(_plain(one))))
        told = {
            name: col if name in keys else Col(of=col.of, flags=col.flags, never_null=col.never_null)
            for name, col in cols.items()
        }
        held = tuple(
            replace(h, columns=tuple(next((n for n, i in items if n in keys and key_of(i, rel) == c), None) for c in h.columns))
            for h in rel.held
        )
        return grouped(replace(rel, held=held), keys, told, self.site, group or node)

    def _window(self, rel: Rel, window: exp.Window, named: Mapping[str, exp.Expression]) -> Rel:
        alias = window.args.get("alias")
        told = named.get(alias.name.lower(), window) if alias is not None else window
        partition = told.args.get("partition_by") or []
        cols = [value_of(one, rel, lambda n: Col()) for one in partition]
        keys = [key_of(one, rel) for one in partition]
        order = told.args.get("order")
        ranked = isinstance(
            window.this,
            exp.RowNumber
            | exp.Lead
            | exp.Lag
            | exp.FirstValue
            | exp.LastValue
            | exp.First
            | exp.Last
            | exp.NthValue
            | exp.Ntile,
        )
        ordered = {key_of(one.this, rel) for one in order.expressions} if order is not None else set()
        if ranked and rel.kind == "full" and not rel.broken:
            named_keys = {key for key in (*keys, *ordered) if key is not None}
            if not any(one <= named_keys for one in rel.unique):
                name = window.this.sql_name().lower() if isinstance(window.this, exp.Func) else "The window"
                self.site.found.append(says.order_is_open(name).at(self.site, window))
        return windowed(rel, keys, {col.text for col in cols if col.text}, self.site, window)

    def _values_of_chance(self, node: exp.Select) -> None:
        for part in (*node.expressions, *(node.args.get(c) for c in ("where", "having", "qualify", "group"))):
            if part is None:
                continue
            for one, name in volatile_in(part):
                self.site.found.append(says.not_deterministic(name).at(self.site, one))
            for one, name in open_order_in(part):
                self.site.found.append(says.order_is_open(name).at(self.site, one))


def _projected(rel: Rel, cols: Mapping[str, Col], keys: Mapping[str, str | None], wide: Mapping[str, tuple[str, ...]]) -> Rel:
    names: dict[str, str] = {}
    for name, key in keys.items():
        if key is not None:
            names.setdefault(key, name)
    for alias in wide:
        for one in (*rel.unique, *(frozenset(c for c in h.columns if c is not None) for h in rel.held)):
            names.update({key: key.rpartition(".")[2] for key in one if key.rpartition(".")[0] == alias})
    unique = frozenset(frozenset(names[k] for k in one) for one in rel.unique if all(k in names for k in one))
    held = tuple(replace(h, columns=tuple(names.get(c) if c is not None else None for c in h.columns)) for h in rel.held)
    tables = tuple(table for some in wide.values() for table in some)
    return replace(rel, cols=dict(cols), wide={"": tables} if tables else {}, unique=unique, held=held)


def _renamed(rel: Rel, columns: Sequence[str]) -> Rel:
    if not columns or len(columns) != len(rel.cols) or rel.wide:
        return rel
    names = dict(zip(rel.cols, columns, strict=True))
    return replace(
        rel,
        cols={names[key]: col for key, col in rel.cols.items()},
        unique=frozenset(frozenset(names[k] for k in one) for one in rel.unique),
        held=tuple(replace(h, columns=tuple(names[c] if c is not None else None for c in h.columns)) for h in rel.held),
    )


def _partner_of(condition: exp.Expression) -> tuple[str, exp.Expression | None]:
    negated = isinstance(condition, exp.Not)
    inner = condition.this if negated else condition
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.In) and inner.args.get("query") is not None:
        return ("anti" if negated else "semi"), inner.args["query"]
    if isinstance(inner, exp.Exists) and isinstance(inner.this, exp.Select | exp.Subquery):
        return ("anti" if negated else "semi"), inner.this
    return "", None


def _within(node: exp.Expression, rel: Rel, other: Rel) -> bool:
    columns = list(node.find_all(exp.Column))
    for column in columns:
        first = column.parts[0].name.lower()
        if column.table and first in other.aliases and first not in rel.aliases:
            return False
        here = any(key in rel.cols or rel.get(key) is not None for key in resolve(column, rel))
        told = any(key in other.cols for key in resolve(column, other))
        if not here or (not column.table and told and not any(key in rel.cols for key in resolve(column, rel))):
            return False
    return bool(columns)


def _aggregates(node: exp.Expression) -> bool:
    return any(
        not isinstance(one.parent, exp.Window) and one.find_ancestor(exp.Subquery) is None for one in node.find_all(exp.AggFunc)
    )


def _plain(node: exp.Expression) -> str:
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    return node.sql("spark", normalize=True, comments=False).lower()

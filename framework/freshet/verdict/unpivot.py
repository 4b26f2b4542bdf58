"""UNPIVOT: columns become rows, as many for each row, but for those of null."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from freshet.verdict import says_rows
from freshet.verdict.columns import Col, computed, of_list
from freshet.verdict.literals import all_apart
from freshet.verdict.names import key_of
from freshet.verdict.relation import Rel
from freshet.verdict.scan import not_known
from freshet.verdict.site import Site
from freshet.verdict.unions import new_list

_ALIAS = "\5"
_KNOWN = {"this", "expressions", "fields", "unpivot", "include_nulls", "alias", "default_on_null", "value_columns_first"}


def unpivoted(rel: Rel, pivot: exp.Pivot, site: Site, node: exp.Expr) -> Rel:
    """Return a relation of which some columns became rows.

    Args:
        rel: The relation, its columns by ``alias.name``.
        pivot: The UNPIVOT.
        site: The statement.
        node: The table or subquery that it stands behind.
    """
    if rel.broken:
        return rel
    fields = pivot.args.get("fields") or []
    one = fields[0] if len(fields) == 1 else None
    odd = [clause for clause, told in pivot.args.items() if told and clause not in _KNOWN]
    if not pivot.args.get("unpivot") or not isinstance(one, exp.In) or len(pivot.expressions) != 1 or odd:
        return not_known(node, "a table with PIVOTS", site)
    if rel.wide or rel.kind == "mixed":
        return not_known(node, "an UNPIVOT of rows whose columns are not known", site)
    rows = [_listed(told.this if isinstance(told, exp.PivotAlias) else told) for told in one.expressions]
    keys = [[key_of(column, rel) for column in row] for row in rows]
    names = [told.name.lower() for told in _listed(pivot.expressions[0])]
    if any(len(row) != len(names) or None in row for row in keys) or not keys:
        return not_known(node, "this UNPIVOT", site)
    labels = [_label(told, row) for told, row in zip(one.expressions, rows, strict=True)]
    gone = {key for row in keys for key in row if key is not None}
    number, told = new_list(), [[rel.cols[key] for key in row if key is not None] for row in keys]
    apart = all_apart(labels)
    named = f"{_ALIAS}.{one.this.name.lower()}"
    kept = {key: col for key, col in rel.cols.items() if key not in gone}
    kept[named] = Col(
        of=frozenset([of_list(number)]), fixed=number if apart else 0, among=frozenset(labels) if apart else frozenset()
    )
    for at, name in enumerate(names):
        kept[f"{_ALIAS}.{name}"] = Col(of=computed(row[at] for row in told).of | {of_list(number)})
    found = replace(
        rel,
        cols=kept,
        plain="",
        unique=frozenset(one | {named} for one in rel.unique if apart and not one & gone),
        several=rel.several | {number},
        held=tuple(replace(h, columns=tuple(None if c in gone else c for c in h.columns)) for h in rel.held),
    )
    if not pivot.args.get("include_nulls") and not all(any(col.sure for col in row) for row in told):
        if rel.kind == "delta":
            said = says_rows.no_row_of_null(rel.cols[keys[0][0] or ""]).at(site, pivot)
            found = replace(found, pending=(*found.pending, said))
        found = replace(found, filtered=True, always=False)
    alias = pivot.args.get("alias")
    return found.aliased(alias.name.lower()) if alias is not None and alias.name else found


def _listed(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _label(node: exp.Expr, row: list[exp.Expr]) -> str:
    name = node.args["alias"].name if isinstance(node, exp.PivotAlias) else "_".join(column.name for column in row)
    return exp.Literal.string(name).sql("spark")

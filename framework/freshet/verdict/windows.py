"""Window functions: which rows they look at, and whether the order among these is fixed."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from freshet.verdict import says
from freshet.verdict.functions import name_of
from freshet.verdict.groups import windowed
from freshet.verdict.names import key_of
from freshet.verdict.relation import Rel, is_unique
from freshet.verdict.steps import Steps

# Of rows that come at one place the order decides; others, as rank and sum, are the same for all of them or take all.
_BY_ROW = (exp.RowNumber, exp.Lead, exp.Lag, exp.FirstValue, exp.LastValue, exp.First, exp.Last, exp.NthValue, exp.Ntile)
_COLLECTED = (exp.ArrayAgg, exp.ArrayUniqueAgg, exp.GroupConcat, exp.AnyValue, exp.ArgMax, exp.ArgMin)


def looked_at(walk: Steps, rel: Rel, window: exp.Window, named: Mapping[str, exp.Expr]) -> Rel:
    """Return a relation of which a window function looks at rows.

    Args:
        walk: The walk.
        rel: The relation.
        window: The function with its window.
        named: The query's named windows.
    """
    alias = window.args.get("alias")
    told = named.get(alias.name.lower(), window) if alias is not None else window
    partition = told.args.get("partition_by") or []
    order = told.args.get("order") or window.args.get("order")
    spec = told.args.get("spec") or window.args.get("spec")
    cols = [walk.value(one, rel) for one in partition]
    keys = [key_of(one, rel) for one in partition]
    texts = {col.text for col in cols if col.text}
    function = window.this
    while isinstance(function, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        function = function.this
    by_row = isinstance(function, (*_BY_ROW, *_COLLECTED)) or (spec is not None and _by_row(spec))
    one_row = rel.kind == "delta" and bool(rel.unit) and rel.unit <= texts and not (rel.many or rel.several or rel.twice)
    result = windowed(rel, keys, texts, walk.site, window)
    if by_row and not result.broken and not one_row:
        ordered = [key_of(one.this, rel) for one in order.expressions] if order is not None else []
        if not is_unique(rel, [*keys, *ordered]):
            walk.site.found.append(says.order_is_open(name_of(function)).at(walk.site, window))
    return result


def _by_row(spec: exp.Expr) -> bool:
    """Say whether a frame counts rows, and is not all of them."""
    ends = (spec.args.get("start"), spec.args.get("end"))
    return spec.args.get("kind") == "ROWS" and ends != ("UNBOUNDED", "UNBOUNDED")

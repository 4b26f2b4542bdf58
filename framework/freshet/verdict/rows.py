"""Functions that make several rows of one: stack, explode and the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from freshet.verdict import says_rows
from freshet.verdict.columns import ROWS, Col, computed, of_list
from freshet.verdict.functions import name_of
from freshet.verdict.literals import all_apart
from freshet.verdict.relation import Rel
from freshet.verdict.steps import Steps
from freshet.verdict.unions import new_list

_OUTER = (exp.ExplodeOuter, exp.PosexplodeOuter)


def rows_of(walk: Steps, rel: Rel, function: exp.Expr, keys: Sequence[str], node: exp.Expr) -> Rel:
    """Return a relation of which each row became several.

    Args:
        walk: The walk.
        rel: The relation.
        function: What makes the rows.
        keys: The keys of the columns that it gives.
        node: Its place.
    """
    walk.look_at(function, rel)
    cols, number = dict(rel.cols), new_list()
    many = f"{name_of(function)}()"
    if (fields := _of_json(function)) is not None:
        # One row for each, of nulls where there is nothing to find.
        cols.update({key: walk.value(field, rel) for key, field in zip(keys, fields, strict=False)})
        return replace(rel, cols=cols, plain="")
    told = _constants(function, len(keys))
    if told is None:
        parts = [walk.value(one, rel) for one in function.iter_expressions()]
        of = computed(parts).of | {(many, ROWS)}
        cols.update({key: Col(of=of) for key in keys})
        of_changed = rel.kind == "delta" and not rel.broken
        said = says_rows.fan_out_of(name_of(function)).at(walk.site, node)
        gone = says_rows.no_row_of(name_of(function)).at(walk.site, node)
        emptied = (gone,) if of_changed and not (isinstance(function, _OUTER) or _is_outer(node, function)) else ()
        return replace(
            rel,
            cols=cols,
            plain="",
            unique=frozenset(),
            many=rel.many | {many},
            pending=(*rel.pending, said) if of_changed else rel.pending,
            emptied=(*rel.emptied, *emptied),
            filtered=True,
        )
    apart = []
    for key, column in zip(keys, told, strict=False):
        values = [walk.value(one, rel) for one in column]
        literals = frozenset(one.constant for one in values)
        if all(literals) and len(literals) == len(column) and all_apart(literals):
            apart.append(key)
            cols[key] = Col(of=frozenset([of_list(number)]), fixed=number, among=literals)
        else:
            cols[key] = Col(of=computed(values).of | {of_list(number)})
    if apart or max((len(column) for column in told), default=0) <= 1:
        unique = frozenset(one | {key} for one in rel.unique for key in apart) if apart else rel.unique
        several = rel.several | ({number} if apart else set())
        return replace(rel, cols=cols, plain="", unique=unique, several=several)
    # As many rows each time, and nothing that tells them apart.
    for key in keys:
        cols[key] = replace(cols[key], of=cols[key].of | {(many, ROWS)})
    said = says_rows.fan_out_of(name_of(function)).at(walk.site, node)
    pending = (*rel.pending, said) if rel.kind == "delta" and not rel.broken else rel.pending
    return replace(rel, cols=cols, plain="", unique=frozenset(), many=rel.many | {many}, pending=pending)


def names_of(function: exp.Expr) -> list[str]:
    """Return the names that Spark gives the columns of a function that makes rows, where the SQL gives none."""
    fields = _of_json(function)
    return ["col"] if fields is None else [f"c{number}" for number in range(len(fields))]


def _of_json(function: exp.Expr) -> list[exp.Expr] | None:
    """Return the columns of ``json_tuple``, each as a function of its own; None for another function."""
    if not isinstance(function, exp.Anonymous) or function.name.lower() != "json_tuple" or len(function.expressions) < 2:
        return None
    text, *fields = function.expressions
    return [exp.Anonymous(this="field_of_json", expressions=[text.copy(), field.copy()]) for field in fields]


def _is_outer(node: exp.Expr, function: exp.Expr) -> bool:
    told = isinstance(node, exp.Lateral) and bool(node.args.get("outer"))
    return told or (isinstance(function, exp.Anonymous) and function.name.lower().endswith("_outer"))


def _constants(function: exp.Expr, width: int) -> list[list[exp.Expr]] | None:
    """Return the columns' values of a function that gives the same number of rows each time; None for another one."""
    if isinstance(function, exp.Stack) and function.this.is_int and int(function.this.name) > 0:
        rows, values = int(function.this.name), function.expressions
        each = -(-len(values) // rows)
        return [values[at::each] for at in range(each)] if each * rows == len(values) else None
    array = function.this
    if isinstance(function, exp.Explode) and isinstance(array, exp.VarMap) and width == 2:
        # Of two entries with one key a map keeps one, or fails.
        keys, values = (array.args[part].expressions for part in ("keys", "values"))
        return [keys, values] if keys and all_apart(one.sql("spark") for one in keys) else None
    if isinstance(function, exp.Posexplode) and isinstance(array, exp.Array) and width == 2 and array.expressions:
        return [[exp.Literal.number(at) for at in range(len(array.expressions))], array.expressions]
    if isinstance(function, exp.Inline) and isinstance(array, exp.Array) and array.expressions:
        fields = [_fields(one) for one in array.expressions]
        return [list(column) for column in zip(*fields, strict=True)] if {len(one) for one in fields} == {width} else None
    if type(function) in (exp.Explode, exp.ExplodeOuter) and isinstance(array, exp.Array) and width == 1 and array.expressions:
        return [array.expressions]
    return None


def _fields(node: exp.Expr) -> list[exp.Expr]:
    if not isinstance(node, exp.Struct):
        return []
    return [one.expression if isinstance(one, exp.PropertyEQ) else one for one in node.expressions]

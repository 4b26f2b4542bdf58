"""Values for which a condition holds, and for which it does not: what an example is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from freshet.verdict.columns import Col
from freshet.verdict.names import column_of
from freshet.verdict.relation import Rel

_Kinds = dict[type[exp.Expr], type[exp.Expr]]
_OPPOSITE: _Kinds = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
_MIRRORED: _Kinds = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ, exp.NEQ: exp.NEQ}


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that must all hold."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    elif node is not None:
        yield node


def always(condition: exp.Expr) -> bool:
    """Say whether a condition is no condition: ``TRUE``, or a constant that equals itself."""
    if isinstance(condition, exp.EQ):
        return isinstance(condition.left, exp.Literal) and condition.left == condition.right
    return isinstance(condition, exp.Boolean) and bool(condition.this)


def values_for(node: exp.Expr, rel: Rel, holds: bool) -> Mapping[str, str]:
    """Return a value for each column of a simple condition that makes it true, or not true.

    Args:
        node: The condition.
        rel: The relation that its columns are of.
        holds: Whether it shall be true.

    Returns:
        SQL literals by column; empty where the condition is not simple.
    """
    match node:
        case exp.Paren():
            return values_for(node.this, rel, holds)
        case exp.Not():
            return values_for(node.this, rel, not holds)
        case exp.And():
            left, right = values_for(node.left, rel, holds), values_for(node.right, rel, True)
            return {**left, **right} if left and right and not set(left) & set(right) else {}
        case exp.Or():
            left, right = values_for(node.left, rel, holds), values_for(node.right, rel, False)
            return {**left, **right} if left and right and not set(left) & set(right) else {}
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ() | exp.NEQ():
            kind: type[exp.Expr] = type(node)
            column, literal = node.left, node.right
            if isinstance(literal, exp.Column):
                column, literal, kind = literal, column, _MIRRORED[kind]
            name = _name(column, rel)
            if not name:
                return {}
            found = _compared(kind if holds else _OPPOSITE[kind], literal)
            return {name: found} if found else {}
        case exp.Is() if isinstance(node.expression, exp.Null):
            name = _name(node.this, rel)
            return {name: "NULL" if holds else "'x'"} if name else {}
        case exp.In() if node.expressions:
            name = _name(node.this, rel)
            found = _compared(exp.EQ, node.expressions[0]) if holds else "NULL"
            return {name: found} if name and found else {}
        case exp.Column():
            name = _name(node, rel)
            return {name: "true" if holds else "false"} if name else {}
    return {}


def _name(node: exp.Expr, rel: Rel) -> str:
    if not isinstance(node, exp.Column):
        return ""
    col: Col = column_of(node, rel)
    return col.bare[1] if col.bare else ""


def _compared(kind: type[exp.Expr], literal: exp.Expr) -> str:
    sign = -1 if isinstance(literal, exp.Neg) else 1
    inner = literal.this if isinstance(literal, exp.Neg) else literal
    if isinstance(inner, exp.Boolean):
        same = inner.sql("spark").lower()
        return same if kind is exp.EQ else ("false" if same == "true" else "true")
    if not isinstance(inner, exp.Literal):
        return ""
    if inner.is_string:
        text = inner.name
        other: dict[type[exp.Expr], str] = {exp.GT: text + "1", exp.LT: text[:-1], exp.NEQ: text + "_"}
        if kind is exp.LT and not text:
            return ""
        return "'" + other.get(kind, text).replace("'", "''") + "'"
    try:
        number = sign * int(inner.name)
    except ValueError:
        return ""
    steps: dict[type[exp.Expr], int] = {exp.EQ: 0, exp.GTE: 0, exp.LTE: 0, exp.GT: 1, exp.LT: -1, exp.NEQ: 1}
    step = steps[kind]
    return str(number + step)

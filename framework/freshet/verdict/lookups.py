"""How subqueries and joins hang on the rows around them: which values they hold equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from freshet.verdict.columns import Col
from freshet.verdict.names import is_of, key_of, resolve
from freshet.verdict.pairs import Pair
from freshet.verdict.relation import TIED, Rel, Tie
from freshet.verdict.values import value_of


def equal(condition: exp.Expr, rel: Rel, other: Rel) -> Pair | None:
    """Return the values of two relations that a condition holds equal; None where it says something else."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return None
    for one, two in ((condition.left, condition.right), (condition.right, condition.left)):
        if _within(one, rel, other) and _within(two, other, rel):
            return Pair(
                left=value_of(one, rel, _nothing),
                right=value_of(two, other, _nothing),
                left_key=key_of(one, rel),
                right_key=key_of(two, other),
                null_safe=isinstance(condition, exp.NullSafeEQ),
            )
    return None


def fixed_key(condition: exp.Expr, other: Rel) -> Pair | None:
    """Return the column that a condition holds equal to a constant; None where it says something else."""
    if isinstance(condition, exp.EQ):
        for one, two in ((condition.left, condition.right), (condition.right, condition.left)):
            key = key_of(one, other)
            if key is not None and isinstance(two, exp.Literal):
                return Pair(left=Col(constant=two.sql("spark")), right=other.get(key) or Col(), left_key=None, right_key=key)
    return None


def tie(condition: exp.Expr, rel: Rel, outer: Rel) -> Tie | None:
    """Return the equality by which a condition within a subquery ties it to the query around it; None for another one."""
    if not isinstance(condition, exp.EQ):
        return None
    for mine, theirs in ((condition.left, condition.right), (condition.right, condition.left)):
        columns = list(theirs.find_all(exp.Column))
        inside = all(is_of(one, rel) for one in mine.find_all(exp.Column)) and mine.find(exp.Column) is not None
        if inside and columns and all(not is_of(one, rel) and is_of(one, outer) for one in columns):
            return Tie(
                outer=value_of(theirs, outer, _nothing),
                outer_key=key_of(theirs, outer),
                inner=value_of(mine, rel, _nothing),
                inner_key=key_of(mine, rel),
            )
    return None


def tied(found: Rel) -> list[Pair]:
    """Return what ties a subquery to the query around it, as a join's pairs."""
    return [
        Pair(left=one.outer, right=one.inner, left_key=one.outer_key, right_key=f"{TIED}{number}")
        for number, one in enumerate(found.ties)
    ]


def partner_of(condition: exp.Expr) -> tuple[str, exp.Expr | None]:
    """Return how a condition asks for a partner, ``semi`` or ``anti``, and the subquery; None where it does not."""
    negated, inner = False, condition
    while isinstance(inner, exp.Paren | exp.Not):
        negated = negated != isinstance(inner, exp.Not)
        inner = inner.this
    if isinstance(inner, exp.In) and inner.args.get("query") is not None and not inner.this.find(exp.Query):
        return ("anti" if negated else "semi"), inner.args["query"]
    if isinstance(inner, exp.Exists) and isinstance(inner.this, exp.Query):
        return ("anti" if negated else "semi"), inner.this
    return "", None


def pairs_of(condition: exp.Expr, rel: Rel, found: Rel, inner: Callable[[exp.Expr], Col]) -> tuple[list[Pair], bool]:
    """Return what IN or EXISTS holds equal, and whether it says more."""
    pairs, one = tied(found), condition.find(exp.In, exp.Exists)
    if not isinstance(one, exp.In):
        return pairs, False
    values = one.this.expressions if isinstance(one.this, exp.Tuple) else [one.this]
    keys = list(found.cols)
    if len(values) != len(keys) or found.wide:
        return pairs, True
    for value, key in zip(values, keys, strict=True):
        left = value_of(value, rel, inner)
        pairs.append(Pair(left=left, right=found.cols[key], left_key=key_of(value, rel), right_key=f"\0.{key}"))
    return pairs, False


def never_null(pairs: Iterable[Pair]) -> bool:
    """Say whether nothing that IN compares is null: then it asks for equal values alone, and so does NOT IN."""
    return all(pair.left.sure and pair.right.sure for pair in pairs)


def subqueries(node: exp.Expr) -> list[exp.Expr]:
    """Return the subqueries of an expression, those within others left out."""
    if isinstance(node, exp.Query | exp.Exists):
        return [node]
    return [found for one in node.iter_expressions() for found in subqueries(one)]


def is_tied(condition: exp.Expr, rel: Rel) -> bool:
    """Say whether a condition names columns of the query around it."""
    if isinstance(condition, exp.Query):
        return False
    if isinstance(condition, exp.Column):
        return not is_of(condition, rel)
    return any(is_tied(one, rel) for one in condition.iter_expressions())


def _nothing(node: exp.Expr) -> Col:
    return Col(of=frozenset([("?", "subquery")]))


def _within(node: exp.Expr, rel: Rel, other: Rel) -> bool:
    columns = list(node.find_all(exp.Column))
    if node.find(exp.Query):
        return False
    for column in columns:
        first = column.parts[0].name.lower()
        if len(column.parts) > 1 and first in other.aliases and first not in rel.aliases:
            return False
        if not is_of(column, rel):
            return False
        listed = any(key in rel.cols for key in resolve(column, rel))
        told = any(key in other.cols for key in resolve(column, other))
        if len(column.parts) == 1 and not listed and (told or other.wide):
            return False
    return bool(columns)

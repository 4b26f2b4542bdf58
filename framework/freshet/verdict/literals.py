"""Constants of a SQL, and which of them are sure to differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BITS = {exp.DataType.Type.SMALLINT: 16, exp.DataType.Type.INT: 32, exp.DataType.Type.BIGINT: 64}
Value = tuple[str, str | Decimal]


def all_apart(literals: Iterable[str]) -> bool:
    """Say whether no two of some constants are one value, whatever type Spark finds for them all.

    Args:
        literals: They, as SQL. Of an expression, and of more than one kind it is never sure: ``1`` and ``'1'`` are one.
    """
    values = [_value(one) for one in literals]
    sure = [one for one in values if one is not None]
    return len(sure) == len(values) == len(set(sure)) and len({kind for kind, _ in sure}) == 1


@lru_cache(maxsize=4096)
def _value(literal: str) -> Value | None:
    try:
        return _of(sqlglot.parse_one(literal, dialect=Spark))
    except sqlglot.errors.SqlglotError:
        return None


def _of(node: exp.Expr) -> Value | None:
    match node:
        case exp.Paren():
            return _of(node.this)
        case exp.Boolean():
            return "boolean", str(node.this)
        case exp.Literal() if node.is_string:
            return "string", node.name
        case exp.Literal():
            # What is written with an exponent is a double, in which two numbers may be one.
            return ("number", Decimal(node.name)) if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", node.name) else None
        case exp.Neg():
            inner = _of(node.this)
            return ("number", -inner[1]) if inner is not None and isinstance(inner[1], Decimal) else None
        case exp.Cast():
            return _cast(_of(node.this), node.to)
    return None


def _cast(inner: Value | None, to: exp.DataType) -> Value | None:
    """Return what a cast makes of a constant, where that is sure."""
    if inner is None:
        return None
    kind, value = inner
    if kind == "string" and to.this == exp.DataType.Type.TEXT:
        return inner
    if kind == "string" and to.this == exp.DataType.Type.DATE and _DAY.fullmatch(str(value)):
        return "date", str(value)
    if isinstance(value, Decimal) and to.this in _BITS and value == value.to_integral_value():
        return inner if abs(value) < 2 ** (_BITS[to.this] - 1) else None
    return None

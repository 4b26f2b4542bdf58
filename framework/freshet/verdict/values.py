"""What is known of the value of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from freshet.verdict.columns import ROWS, Base, Col, computed, unknown
from freshet.verdict.functions import aggregates, makes_rows
from freshet.verdict.kept import NOTHING, as_fields, as_json, as_one_text, as_text
from freshet.verdict.names import column_of
from freshet.verdict.relation import Rel
from freshet.verdict.texts import spelled

_SAME_FLAG = (exp.Max, exp.Min, exp.LogicalOr, exp.LogicalAnd, exp.AnyValue, exp.First, exp.Last)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_ONE_OF_ONE = (exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last)
# Of nulls alone they are null.
_NULL_OF_NULLS = (exp.Max, exp.Min, exp.Sum, exp.Avg, exp.AnyValue)
# Two texts that differ never give one of these.
_DIGESTS = (exp.MD5, exp.SHA2)
_FIELDS = (exp.Struct, exp.PropertyEQ)
_RISING = {
    *(exp.DataType.Type.BIGINT, exp.DataType.Type.DOUBLE, exp.DataType.Type.DECIMAL),
    *(
        exp.DataType.Type.TIMESTAMP,
        exp.DataType.Type.TIMESTAMPTZ,
        exp.DataType.Type.TIMESTAMPLTZ,
        exp.DataType.Type.TIMESTAMPNTZ,
        exp.DataType.Type.DATE,
    ),
}

# The time of a number of seconds and the like, and the other way around; too large a number fails.
_TIMES = {
    *("timestamp_seconds", "timestamp_millis", "timestamp_micros", "unix_seconds", "unix_millis", "unix_micros"),
}

Inner = Callable[[exp.Expr], Col]


def value_of(node: exp.Expr, rel: Rel, inner: Inner) -> Col:
    """Return what is known of an expression's value.

    Args:
        node: The expression.
        rel: The relation that its columns are of.
        inner: Asked for the value of a subquery.
    """
    match node:
        case exp.Alias() | exp.Paren():
            return value_of(node.this, rel, inner)
        case exp.Column():
            return column_of(node, rel)
        case exp.Literal() | exp.Null() | exp.Boolean() | exp.Neg(this=exp.Literal()):
            return Col(constant=node.sql("spark"))
        case exp.Star():
            return Col()
        case exp.Query() | exp.Exists() | exp.Any() | exp.All():
            return inner(node)
        case exp.In() if node.args.get("query"):
            return computed([value_of(node.this, rel, inner), inner(node)])
        case exp.Window():
            return _window(node, rel, inner)
    below = node.flatten() if isinstance(node, exp.DPipe) else _below(node)
    parts = [value_of(one, rel, inner) for one in below]
    if aggregates(node):
        return _aggregate(node, parts, rel)
    if makes_rows(node):
        return Col(of=computed(parts).of | computed([unknown("rows")]).of)
    found = replace(computed(parts, _text(node, rel)), same=_same(node, rel))
    if parts and all(part.constant for part in parts):
        return Col(constant=node.sql("spark"))
    return _of_row(node, parts, found)


def _window(node: exp.Window, rel: Rel, inner: Inner) -> Col:
    parts = [value_of(one, rel, inner) for one in _below(node)]
    texts = {col.text for one in node.args.get("partition_by") or () if (col := value_of(one, rel, inner)).text}
    alone = rel.kind == "delta" and bool(rel.unit) and rel.unit <= texts and not (rel.many or rel.several)
    if alone and isinstance(node.this, _RANKS):
        # One row of one.
        return Col()
    return Col(of=computed(parts).of | rel.of_rows | rel.of_many, number=isinstance(node.this, exp.RowNumber))


def _aggregate(node: exp.Expr, parts: list[Col], rel: Rel) -> Col:
    flags = isinstance(node, _SAME_FLAG) and any(part.flags for part in parts)
    rises = parts[0].rises if isinstance(node, _ONE_OF_ONE) and parts else None
    found = parts[0].present if parts else 0
    return Col(
        of=computed(parts).of | rel.of_rows | rel.of_many,
        flags=flags,
        rises=rises,
        present=found if isinstance(node, _NULL_OF_NULLS) else 0,
        zero=found if isinstance(node, exp.Count) else 0,
    )


def _of_row(node: exp.Expr, parts: list[Col], found: Col) -> Col:
    if not parts:
        return found
    first = parts[0]
    match node:
        case exp.Cast():
            text = node.to.this == exp.DataType.Type.TEXT
            return replace(
                found,
                # Two numbers or times never have one text; two texts may be one number.
                **vars(as_text(first) if text else NOTHING),
                sure=first.sure and text,
                rises=first.rises if node.to.this in _RISING else None,
                flags=first.flags,
                instant=first.instant and node.to.this == exp.DataType.Type.BIGINT,
            )
        case exp.Div() if isinstance(node.expression, exp.Literal) and node.expression.is_int and int(node.expression.name):
            return replace(found, rises=first.rises)
        case exp.TimestampTrunc():
            return replace(found, rises=first.rises)
        case exp.Anonymous() if node.name.lower() in _TIMES:
            return replace(found, rises=first.rises)
        case exp.Concat() | exp.DPipe():
            return replace(found, **vars(as_one_text(node, parts)))
        case exp.JSONFormat() if len(parts) > 1:
            # What its options say of how a date is written may leave out a part of it.
            return found
        case exp.UnixMicros():
            # Of a text that is no moment's in one spelling two may be one number.
            return replace(found, keeps=first.moments, assumes=first.assumes, rises=first.rises)
        case exp.JSONFormat():
            return replace(found, **vars(as_json(first)))
        case exp.Or():
            absent = frozenset().union(*(part.absent for part in parts))
            return replace(found, flags=any(part.flags for part in parts), absent=absent)
        case exp.And():
            absent = frozenset[int].intersection(*(part.absent for part in parts))
            return replace(found, flags=all(part.flags for part in parts), absent=absent)
        case exp.Coalesce() if first.sure:
            return first
        case exp.Coalesce():
            zero = first.present if len(parts) == 2 and parts[1].constant == "0" else 0
            return replace(found, flags=first.flags, absent=first.absent, zero=zero)
        case exp.EQ() if len(parts) == 2 and "0" in (parts[0].constant, parts[1].constant):
            zero = parts[0].zero or parts[1].zero
            return replace(found, absent=frozenset([zero]) if zero else frozenset())
        case exp.Is() if isinstance(node.expression, exp.Null):
            return replace(found, absent=frozenset([first.present]) if first.present else frozenset())
        case exp.EQ() | exp.Is() | exp.NullSafeEQ() if isinstance(node.expression, exp.Boolean) and node.expression.this:
            return replace(found, flags=first.flags, absent=first.absent)
        case exp.If() if isinstance(node.args["true"], exp.Boolean) and node.args["true"].this:
            return replace(found, flags=first.flags, absent=first.absent)
        case exp.Case() if node.this is None and isinstance(next(_below(node)), exp.If):
            return replace(found, flags=first.flags or _marks_each(node, parts), absent=first.absent)
        case _ if isinstance(node, _DIGESTS):
            return replace(found, **vars(as_text(first)))
        case _ if isinstance(node, _FIELDS):
            return replace(found, **vars(as_fields(parts, nested=isinstance(node, exp.Struct))))
    return found


def _marks_each(node: exp.Case, parts: list[Col]) -> bool:
    """Say whether whatever holds, the value is true of a row that the source deleted."""
    ways = [one.args["true"] for one in node.args.get("ifs") or ()]
    if node.args.get("default") is None:
        return False
    other = parts[-1]
    told = [isinstance(one, exp.Boolean) and bool(one.this) for one in ways]
    return bool(told) and all(told) and other.flags


def _text(node: exp.Expr, rel: Rel) -> str:
    texts: dict[int, str] = {}
    for column in node.find_all(exp.Column):
        col = column_of(column, rel)
        if not col.text and not col.constant:
            return ""
        texts[id(column)] = col.text or col.constant
    if not texts or node.find(exp.Query, exp.AggFunc, exp.Window):
        return ""
    return spelled(node, texts)


def _same(node: exp.Expr, rel: Rel) -> frozenset[Base]:
    """Return an expression over the columns of one table as that table's, for each of whose rows it has this value."""
    cols = {id(column): column_of(column, rel) for column in node.find_all(exp.Column)}
    tables = {table for col in cols.values() for table, _ in col.of}
    if len(tables) != 1 or node.find(exp.Query, exp.Window) or any(aggregates(one) or makes_rows(one) for one in node.walk()):
        return frozenset()
    texts = {}
    for key, col in cols.items():
        # Where an outer join found nothing its columns are null, and no row of the table holds that.
        held = sorted(name for table, name in col.same if table in tables)
        if not held or col.present or any(name == ROWS for _, name in col.of):
            return frozenset()
        texts[key] = held[0]
    return frozenset([(tables.pop(), spelled(node, texts))])


def _below(node: exp.Expr) -> Iterator[exp.Expr]:
    for one in node.iter_expressions():
        if isinstance(one, exp.DataType | exp.Identifier | exp.Var | exp.WindowSpec):
            continue
        yield one

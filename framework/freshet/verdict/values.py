"""What is known of the value of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.spark import Spark

from freshet.verdict.columns import Col, computed
from freshet.verdict.relation import Rel

#: What stands for <SRC_INSTANT> in the text that is parsed, lower case.
INSTANT = "src_instant"

_VOLATILE_NODES = (
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentDatetime,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
_VOLATILE_NAMES = {
    *("now", "curdate", "current_timestamp", "current_date", "localtimestamp", "current_user", "user", "current_database"),
    *("rand", "random", "randn", "uuid", "shuffle", "monotonically_increasing_id", "spark_partition_id"),
    *("input_file_name", "input_file_block_start", "input_file_block_length", "version", "java_method", "reflect"),
}
# Which row's value they return depends on the order in which rows come.
_OPEN_ORDER = {"first", "first_value", "last", "last_value", "any_value", "collect_list", "array_agg"}
_SORTED = (exp.ArraySort, exp.ArraySize)
_SAME_FLAG = (exp.Max, exp.LogicalOr, exp.AnyValue, exp.First, exp.Last)

Inner = Callable[[exp.Expression], Col]


def value_of(node: exp.Expression, rel: Rel, inner: Inner) -> Col:
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
        case exp.Literal() | exp.Null() | exp.Boolean():
            return Col(constant=node.sql("spark"))
        case exp.Neg(this=exp.Literal()):
            return Col(constant=node.sql("spark"))
        case exp.Subquery() | exp.Exists():
            return inner(node)
        case exp.In() if node.args.get("query"):
            return computed([value_of(node.this, rel, inner), inner(node)])
        case exp.Window():
            # Its value follows from other rows.
            parts = [value_of(one, rel, inner) for one in _below(node)]
            return Col(of=computed(parts).of)
        case exp.AggFunc():
            parts = [value_of(one, rel, inner) for one in _below(node)]
            flags = isinstance(node, _SAME_FLAG) and any(part.flags for part in parts)
            return Col(of=computed(parts).of, flags=flags, never_null=isinstance(node, exp.Count))
    parts = [value_of(one, rel, inner) for one in _below(node)]
    found = computed(parts, _text(node, rel))
    if parts and all(part.constant for part in parts):
        return Col(constant=node.sql("spark"))
    if isinstance(node, exp.Cast) and parts:
        as_text = node.to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
        return replace(
            found,
            # Two numbers or times never have one text; two texts may be one number.
            keeps=parts[0].keeps if as_text else frozenset(),
            rises=None if as_text else parts[0].rises,
            flags=parts[0].flags,
            instant=parts[0].instant,
        )
    if isinstance(node, exp.Or):
        absent = frozenset().union(*(part.absent for part in parts))
        return replace(found, flags=any(part.flags for part in parts), absent=absent)
    if isinstance(node, exp.Coalesce) and parts:
        return replace(found, flags=parts[0].flags, absent=parts[0].absent)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null) and parts:
        return replace(found, absent=frozenset([parts[0].present]) if parts[0].present else frozenset())
    if isinstance(node, exp.EQ | exp.Is) and isinstance(node.expression, exp.Boolean) and node.expression.this and parts:
        return replace(found, flags=parts[0].flags)
    return found


def resolve(node: exp.Column, rel: Rel) -> list[str]:
    """Return the keys of a relation's columns that a name may mean; one where it is clear."""
    name = node.name.lower()
    parts = [part.name.lower() for part in node.parts]
    if len(parts) > 1:
        # A field of a struct is written as a column of a table is.
        for at in range(len(parts) - 1):
            key = f"{parts[at]}.{parts[at + 1]}"
            if rel.get(key) is not None:
                return [key]
        return rel.keys_of(parts[0])
    return rel.keys_of(name)


def column_of(node: exp.Column, rel: Rel) -> Col:
    """Return what is known of a column that an expression names."""
    if node.name.lower() == INSTANT and not node.table:
        return Col(instant=True)
    keys = resolve(node, rel)
    found = [col for key in keys if (col := rel.get(key)) is not None]
    if len(found) == 1:
        name = keys[0].rpartition(".")[2]
        parts = [part.name.lower() for part in node.parts]
        # What stands behind the column's name is a field of a struct.
        field = parts[parts.index(name) + 1 :] if name in parts and parts[-1] != name else []
        return computed(found, ".".join([found[0].text, *field])) if field else found[0]
    return computed(found)


def key_of(node: exp.Expression, rel: Rel) -> str | None:
    """Return the key of the column that an expression is, or None for one that is more."""
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column) or (node.name.lower() == INSTANT and not node.table):
        return None
    keys = resolve(node, rel)
    found = [key for key in keys if rel.get(key) is not None]
    return found[0] if len(found) == 1 and found[0].rpartition(".")[2] == node.parts[-1].name.lower() else None


def volatile_in(node: exp.Expression) -> Iterator[tuple[exp.Expression, str]]:
    """Yield the calls within a query of which two runs may give two values, each with the function's name."""
    for one in node.walk():
        if isinstance(one, _VOLATILE_NODES):
            yield one, one.sql_name().lower() if isinstance(one, exp.Func) else one.key
        elif isinstance(one, exp.Anonymous) and one.name.lower() in _VOLATILE_NAMES:
            yield one, one.name.lower()
        elif isinstance(one, exp.Func) and one.sql_name().lower() in _VOLATILE_NAMES:
            yield one, one.sql_name().lower()
        elif isinstance(one, exp.UnixToTime | exp.TsOrDsToTimestamp) and one.this is None:
            yield one, "unix_timestamp"


def open_order_in(node: exp.Expression) -> Iterator[tuple[exp.Expression, str]]:
    """Yield the aggregations whose value depends on the order in which rows come, each with the function's name."""
    for one in node.walk():
        if isinstance(one, exp.AggFunc) and isinstance(one.parent, exp.Window):
            continue
        name = one.sql_name().lower() if isinstance(one, exp.AggFunc) else ""
        collected = isinstance(one, exp.ArrayAgg | exp.ArrayUniqueAgg)
        if (name in _OPEN_ORDER or collected) and not isinstance(one.parent, _SORTED):
            yield one, name


def text_of(text: str) -> str:
    """Return an expression over the main source, as a YAML has it, in the spelling of ``Col.text``."""
    import sqlglot

    try:
        node = sqlglot.parse_one(text, dialect=Spark)
    except sqlglot.errors.SqlglotError:
        return ""
    return _spelled(node, {})


def _text(node: exp.Expression, rel: Rel) -> str:
    texts: dict[int, str] = {}
    for column in node.find_all(exp.Column):
        col = column_of(column, rel)
        if not col.text and not col.constant:
            return ""
        texts[id(column)] = col.text or col.constant
    if not texts or node.find(exp.Subquery, exp.AggFunc, exp.Window):
        return ""
    return _spelled(node, texts)


def _spelled(node: exp.Expression, texts: dict[int, str]) -> str:
    if not texts:
        return node.sql("spark", normalize=True, normalize_functions="lower", comments=False).replace("`", "").lower()
    parents = {id(c): c for c in node.find_all(exp.Column)}
    if id(node) in texts:
        return texts[id(node)]
    swapped = node.copy()
    for copied, original in zip(swapped.find_all(exp.Column), parents.values(), strict=True):
        copied.replace(exp.Var(this=texts[id(original)]))
    return _spelled(swapped, {})


def _below(node: exp.Expression) -> Iterator[exp.Expression]:
    for one in node.iter_expressions():
        if isinstance(one, exp.DataType | exp.Identifier | exp.Var | exp.WindowSpec):
            continue
        yield one

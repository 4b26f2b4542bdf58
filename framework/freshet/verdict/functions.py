"""What kinds of functions there are in Spark SQL: which give chance, which aggregate, which make rows, which are unknown."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

_VOLATILE_NODES = (
    exp.CurrentDate,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentDatetime,
    exp.CurrentUser,
    exp.Rand,
    exp.Randn,
    exp.Uuid,
)
_VOLATILE_NAMES = {
    *("now", "curdate", "current_timestamp", "current_date", "localtimestamp", "current_user", "user", "session_user"),
    *(
        "current_database",
        "current_schema",
        "current_catalog",
        "current_timezone",
        "rand",
        "random",
        "randn",
        "uuid",
        "shuffle",
    ),
    *("monotonically_increasing_id", "spark_partition_id", "randstr", "uniform", "version", "java_method", "reflect"),
    *("input_file_name", "input_file_block_start", "input_file_block_length", "try_reflect"),
}
# Which row's value they return depends on the order in which rows come.
_OPEN_ORDER = {
    *("first", "first_value", "last", "last_value", "any_value", "collect_list", "array_agg", "listagg", "string_agg"),
    *(
        "mode",
        "approx_percentile",
        "percentile_approx",
        "approx_quantile",
        "histogram_numeric",
        "array_unique_agg",
        "group_concat",
    ),
}
# What a literal of a date or a timestamp may say instead of one.
_DAYS = ("now", "today", "yesterday", "tomorrow")
_BARE = ("current_timestamp", "current_date", "localtimestamp", "now")
_SORTED = (exp.ArraySort, exp.ArraySize, exp.ArrayContains)
_SHOWN = {"array_unique_agg": "collect_set", "group_concat": "listagg", "approx_quantile": "percentile_approx"}
# Those of Spark's that the parser has no class for.
_AGGREGATES = {
    *(
        "every",
        "some",
        "std",
        "mean",
        "try_avg",
        "try_sum",
        "product",
        "histogram_numeric",
        "count_min_sketch",
        "hll_sketch_agg",
    ),
    *("hll_union_agg", "bitmap_construct_agg", "bitmap_or_agg", "kll_sketch_agg", "percentile_cont", "percentile_disc"),
}
_MAKE_ROWS = {"inline_outer", "json_tuple", "variant_explode", "variant_explode_outer", "stack", "inline", "flatten_outer"}
_OF_A_ROW = {
    *("aes_decrypt", "aes_encrypt", "array_repeat", "array_union", "arrays_overlap", "assert_true", "bin", "bround", "btrim"),
    *("cardinality", "conv", "crc32", "date_part", "datepart", "days", "e", "expm1", "find_in_set", "forall", "format_number"),
    *("from_csv", "get", "hash", "hll_sketch_estimate", "hll_union", "hours", "hypot", "isnotnull", "isnull", "log1p", "mask"),
    *("json_array_length", "make_date", "make_dt_interval", "make_timestamp_ltz", "make_timestamp_ntz", "make_ym_interval"),
    *("map_concat", "map_entries", "map_filter", "map_values", "map_zip_with", "months", "octet_length", "pmod", "positive"),
    *("printf", "raise_error", "regexp", "schema_of_csv", "schema_of_json", "sentences", "shiftrightunsigned", "struct"),
    *("timestamp_micros", "timestamp_millis", "timestamp_seconds", "to_csv", "to_timestamp_ltz", "to_timestamp_ntz"),
    *("to_varchar", "transform_keys", "transform_values", "try_aes_decrypt", "try_to_binary", "try_to_number", "try_divide"),
    *(
        "try_to_timestamp",
        "try_add",
        "try_subtract",
        "try_multiply",
        "url_decode",
        "url_encode",
        "weekday",
        "xpath",
        "xxhash64",
    ),
    *("xpath_boolean", "xpath_double", "xpath_float", "xpath_int", "xpath_long", "xpath_number", "xpath_short", "xpath_string"),
    *(
        "years",
        "zip_with",
        "char",
        "array_prepend",
        "map_contains_key",
        "try_element_at",
        "elt",
        "bit_get",
        "getbit",
        "equal_null",
    ),
    *(
        "unix_micros",
        "unix_millis",
        "unix_seconds",
        "date_from_unix_date",
        "to_number",
        "to_char",
        "luhn_check",
        "typeof",
        "negative",
    ),
}
_KNOWN = _OF_A_ROW | _AGGREGATES | _MAKE_ROWS | _VOLATILE_NAMES | _OPEN_ORDER
_ROWS = (exp.Explode, exp.Posexplode, exp.ExplodeOuter, exp.PosexplodeOuter, exp.Inline, exp.Stack, exp.Unnest)


def name_of(node: exp.Expr) -> str:
    """Return a function's name as SQL has it, lower case."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key


def aggregates(node: exp.Expr) -> bool:
    """Say whether a node is an aggregation over a group's rows."""
    if isinstance(node.parent, exp.Window) and node.parent.this is node:
        return False
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES)


def makes_rows(node: exp.Expr) -> bool:
    """Say whether a node is a function that makes several rows of one."""
    return isinstance(node, _ROWS) or (isinstance(node, exp.Anonymous) and node.name.lower() in _MAKE_ROWS)


def within(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield an expression's nodes, subqueries' left out."""
    yield node
    for one in node.iter_expressions():
        if not isinstance(one, exp.Query):
            yield from within(one)


def unknown_in(node: exp.Expr) -> Iterator[exp.Anonymous]:
    """Yield the calls of functions that Spark does not have by itself, or that are not known here."""
    for one in within(node):
        if isinstance(one, exp.Anonymous) and one.name.lower() not in _KNOWN:
            yield one


def volatile_in(node: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the calls of which two runs may give two values, each with the function's name."""
    for one in within(node):
        name = name_of(one) if isinstance(one, exp.Func) else ""
        if isinstance(one, _VOLATILE_NODES) or name in _VOLATILE_NAMES:
            yield one, name
        elif isinstance(one, exp.Anonymous) and one.name.lower() == "aes_encrypt" and not _is_fixed(one):
            yield one, "aes_encrypt"
        elif isinstance(one, exp.Cast) and isinstance(one.this, exp.Literal) and one.this.name.strip().lower() in _DAYS:
            yield one, one.this.name.strip().lower()
        elif isinstance(one, exp.Column) and not one.table and one.name.lower() in _BARE:
            yield one, one.name.lower()


def _is_fixed(call: exp.Anonymous) -> bool:
    """Say whether an encryption has no vector of chance: it is given, or the mode takes none."""
    mode = call.expressions[2].name.upper() if len(call.expressions) > 2 else ""
    return len(call.expressions) > 4 or mode == "ECB"


def open_order_in(node: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the aggregations whose value depends on the order in which rows come, each with the function's name."""
    for one in within(node):
        if not aggregates(one):
            continue
        name = name_of(one)
        # A comparison of one's own may take two values for one.
        sorted_ = isinstance(one.parent, _SORTED) and not one.parent.args.get("expression")
        if name in _OPEN_ORDER and not (sorted_ or isinstance(one.parent, exp.ArrayContains)):
            yield one, _SHOWN.get(name, name)

"""Pipelines that hypothesis draws, over tables of one shape: rows, joins, groups, versions, right ones and wrong ones.

Those for real tables read by look-back and by affected partitions, too, and join three inputs; their conditions on keys are by
what is left of a number divided by 8, so that many histories stand side by side, each with numbers of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.unit.verdict.case import Case

Inputs = dict[str, dict[str, Any]]
_DELETED = "s._hoodie_is_deleted"
_CONDITIONS = ("v > 1", "id > 1", "id <> 2", "a = g", "v IS NOT NULL", "day = 1", "g < 2")


#: Of the pipelines for real tables: the columns of each table.
TABLES = {
    "d": "id* g x updated_at^",
    "t": "t_id* g x updated_at^",
    "e": "e_id* g day/! x updated_at^",
}
_WORLDS = ("v > 1", "id % 8 > 1", "id % 8 <> 2", "a = g", "v IS NOT NULL", "day = 1", "g % 8 < 2")


@st.composite
def real_pipelines(draw: st.DrawFn) -> Case:
    """Draw a pipeline for real tables, whose group keys are never null; ``of`` in its head says what kind it is."""
    kinds = (_of_real_rows, _of_real_rows, _of_groups, _of_groups, _of_versions, _of_union, _of_partitions, _of_owned)
    kind = draw(st.sampled_from(kinds))
    inputs: Inputs = {}
    target, sql = kind(draw, inputs)
    for plain, world in zip(_CONDITIONS, _WORLDS, strict=True):
        sql = sql.replace(plain, world) if plain != world and "WHERE" in sql else sql
    place = draw(st.sampled_from(("", "/!"))) or ("/!" if any("on" in one and one.get("of") for one in inputs.values()) else "")
    head: dict[str, Any] = {
        "source": f"id* g! a v day{place or '!'} updated_at^",
        "inputs": inputs,
        "target": f"{target} at^ _hoodie_is_deleted",
        "expect": "",
        "why": "",
        "of": kind.__name__,
    }
    if kind is _of_partitions:
        head |= {"target": f"{target} at^", "operation": "insert_overwrite"}
    elif kind is _of_owned:
        strategy = draw(st.sampled_from(("merge", "full_outer_join")))
        head |= {"target": f"{target} at^", "format": "cdc", "write": {"strategy": strategy, "columns": ["x", "v"]}}
    return Case(name="drawn.sql", text=sql, head=head)


def _of_owned(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw columns that the pipeline owns; they become null where the row is deleted."""
    text, value, _ = draw(st.sampled_from((_by_snapshot, _by_partitions)))(draw, inputs, 0)
    return "id* x v", "\n".join(
        (f"SELECT s.id, coalesce({value}, 0) AS x, s.v, s.updated_at AS at, {_DELETED}", "FROM <SRC> s", text)
    )


def _of_partitions(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw sums of whole partitions, which replace them."""
    inputs["rows"] = {"of": "SRC", "on": {"day": "day"}}
    source = _mostly(draw, ("rows",), ("<SRC>",))
    kept = draw(st.sampled_from(("", " WHERE v > 1", " WHERE id % 8 > 1")))
    value = "count(*) AS n, sum(v) AS total, <SRC_INSTANT> AS at"
    named = "CREATE OR REPLACE TEMPORARY VIEW changed AS SELECT id FROM <SRC>;\n"
    return "g* day*/ n total", f"{named}SELECT g, day, {value}\nFROM {source}{kept}\nGROUP BY g, day"


def _of_real_rows(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw a row for each, with what up to three other tables have for it, each read in a way of its own."""
    ways = draw(st.lists(st.sampled_from((_by_snapshot, _by_partitions, _by_lookback)), min_size=1, max_size=3))
    ways = [way for way in ways if way is not _by_lookback] if draw(st.integers(0, 3)) else ways
    joins = [way(draw, inputs, number) for number, way in enumerate(ways)]
    nulls = [f"{_DELETED} OR {null}" for _, _, null in joins]
    mark = _mostly(draw, (_DELETED, f"{_DELETED} OR NOT (s.v > 1)", *nulls), ("false", "NOT (s.v > 1)"))
    order = _mostly(draw, ("<SRC_INSTANT>", "s.updated_at"), ("1", "-s.updated_at"))
    values = " + ".join(f"coalesce({value}, 0)" for _, value, _ in joins) or "0"
    where = _mostly(draw, ("", "", "\nWHERE s.id % 8 > 1"), [f"\nWHERE s.{one}" for one in _WORLDS])
    line = draw(st.sampled_from(("", "", ", explode(array(1, 2)) AS line")))
    sql = "\n".join(
        (
            f"SELECT s.id{line}, {values} AS x, s.v, {order} AS at, {mark} AS _hoodie_is_deleted",
            "FROM <SRC> s",
            *(text for text, _, _ in joins),
        )
    )
    return "id* line* x v" if line else "id* x v", sql + where


def _by_snapshot(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    text, value, null = _looked_up(draw, inputs, number)
    return text, value or "s.a", null or "false"


def _by_partitions(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join with the sums of a table's groups, of which only the partitions are read that <SRC> needs."""
    alias = f"j{number}"
    inputs["e"] = {"columns": TABLES["e"], "on": {"day": "day"}}
    drives = _mostly(draw, ({"day": "day", "g": "g"}, {"day": "day"}), ({}, {"g": "a"}))
    if drives:
        inputs["e_new"] = {"of": "e", "drives": drives}
    by = _mostly(draw, ((" AND {0}.day = s.day", ", day"),), (("", ""),))
    how = _mostly(draw, ("LEFT JOIN",), ("JOIN",))
    inner = f"(SELECT g{by[1]}, sum(x) AS x FROM e GROUP BY g{by[1]})"
    return f"{how} {inner} {alias} ON {alias}.g = s.g{by[0].format(alias)}", f"{alias}.x", f"{alias}.g IS NULL"


def _by_lookback(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join with what changed of late in a table, which drives or does not."""
    alias = f"j{number}"
    inputs["late"] = {"of": "d", "read": "incremental"}
    inputs.setdefault("d", {"columns": TABLES["d"]})
    return f"LEFT JOIN late {alias} ON {alias}.id = s.a", f"{alias}.x", f"{alias}.id IS NULL"


def _mostly(draw: st.DrawFn, right: Sequence[Any], wrong: Sequence[Any]) -> Any:
    """Draw what is right, and what may be wrong one time in eight."""
    return draw(st.sampled_from(wrong if draw(st.integers(0, 7)) == 7 else right))


@st.composite
def pipelines(draw: st.DrawFn) -> Case:
    """Draw a pipeline: some two in five are exact."""
    place = draw(st.sampled_from(("", "/", "/!")))
    kind = draw(st.sampled_from((_of_rows, _of_rows, _of_rows, _of_groups, _of_groups, _of_versions, _of_union)))
    inputs: Inputs = {}
    target, sql = kind(draw, inputs)
    if any("on" in one for one in inputs.values()):
        place = place or "/"
    head = {
        "source": f"id* g a v day{place} updated_at^",
        "inputs": inputs,
        "target": f"{target} at^ _hoodie_is_deleted",
        "expect": "",
        "why": "",
    }
    return Case(name="drawn.sql", text=sql, head=head)


def _looked_up(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join: its text, a column that it gives, and what is null where it finds nothing."""
    alias, how = f"j{number}", _mostly(draw, ("LEFT JOIN",), ("JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "RIGHT JOIN"))
    column = draw(st.sampled_from(("id", "g", "a")))
    by, table = draw(st.sampled_from((("id", "d"), ("g", "t"), ("g", "rows"))))
    columns = {"d": "id* g x updated_at^", "t": "t_id* g x updated_at^"}
    inputs.setdefault(table, {"columns": columns[table]} if table in columns else {"of": "SRC"})
    inner = "d"
    if table != "d":
        summed = "v" if table == "rows" else "x"
        kept = draw(st.sampled_from(("", f" WHERE {summed} > 1")))
        inner = f"(SELECT g, sum({summed}) AS x FROM {table}{kept} GROUP BY g)"
        inner = _mostly(draw, (inner,), (f"(SELECT g, {summed} AS x FROM {table})",))
    drives = _mostly(draw, (column,), ("", "a", "g"))
    if drives:
        inputs[f"{table}_new{number}"] = {"of": "SRC" if table == "rows" else table, "drives": {by: drives}}
    more = draw(st.sampled_from(("", "", "", f" AND {alias}.x > 1", " AND s.v > 1")))
    equal = _mostly(draw, ("=",), ("<=>", "<"))
    gives = how not in ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
    text = f"{how} {inner} {alias} ON {alias}.{by} {equal} s.{column}{more}"
    return text, f"{alias}.x" if gives else "", f"{alias}.{by} IS NULL" if gives else ""


def _of_rows(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    joins = [_looked_up(draw, inputs, number) for number in range(draw(st.sampled_from((0, 1, 1, 2))))]
    nulls = [f"{_DELETED} OR {null}" for _, _, null in joins if null]
    mark = _mostly(
        draw, (_DELETED, f"{_DELETED} OR NOT (s.v > 1)", *nulls), ("false", "NOT (s.v > 1)", f"{_DELETED} AND s.v > 1")
    )
    key = _mostly(draw, ("s.id", "s.id", "cast(s.id AS string)"), ("s.g", "s.id % 2", "coalesce(s.a, s.id)"))
    order = _mostly(draw, ("<SRC_INSTANT>", "s.updated_at", "1"), ("s.v", "-s.updated_at"))
    line = draw(st.sampled_from(("", "", "", ", explode(array(1, 2)) AS line")))
    line = line and _mostly(draw, (line,), (", explode(array(1, s.v)) AS line",))
    value = next((value for _, value, _ in joins if value), "s.a")
    where = _mostly(draw, ("", "", "", "\nWHERE s.id > 1"), [f"\nWHERE s.{one}" for one in _CONDITIONS])
    distinct = draw(st.sampled_from(("", "", "", "DISTINCT ")))
    listed = draw(st.sampled_from(("", "", "", _listed(draw))))
    if listed and draw(st.booleans()):
        value = "l.name"
    sql = "\n".join(
        (
            f"SELECT {distinct}{key} AS id{line}, coalesce({value}, -1) AS x, s.v, {order} AS at, {mark} AS _hoodie_is_deleted",
            "FROM <SRC> s",
            *(text for text, _, _ in joins),
            *([listed] if listed else []),
        )
    )
    keyed = _mostly(draw, ("id* line* x v",), ("id* x v",)) if line else "id* x v"
    return keyed, sql + where


def _listed(draw: st.DrawFn) -> str:
    """Draw a join with constants, or with some of the changed rows themselves."""
    how = _mostly(draw, ("LEFT JOIN",), ("JOIN", "LEFT SEMI JOIN", "CROSS JOIN"))
    by = draw(st.sampled_from(("a", "id", "g")))
    rows = draw(
        st.sampled_from(
            (
                "(VALUES (1, 5), (2, 6)) AS l(code, name)",
                "(SELECT id AS code, v AS name FROM <SRC> WHERE v > 1) l",
                "(SELECT 1 AS code, 2 AS name) l",
            )
        )
    )
    return f"{how} {rows}" if how == "CROSS JOIN" else f"{how} {rows} ON l.code = s.{'id' if 'SRC' in rows else by}"


def _beside_rows(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw what the rows of a group are joined with, and what of it is summed."""
    if draw(st.sampled_from((True, False, False))):
        column, other = draw(st.sampled_from((("a", "g"), ("v", "a"))))
        inputs["d"] = {"columns": "id* g x updated_at^"}
        drives = _mostly(draw, (column,), ("", other))
        if drives:
            inputs["d_new"] = {"of": "d", "drives": {"id": drives}}
        how = _mostly(draw, ("LEFT JOIN", "JOIN"), ("LEFT ANTI JOIN", "LEFT SEMI JOIN"))
        again = _mostly(draw, ("",), (f" LEFT JOIN d e ON e.id = r.{other}", f" LEFT JOIN rows p ON p.id = r.{other}"))
        return f"{how} d ON d.id = r.{column}{again}", "d.x" if "SEMI" not in how and "ANTI" not in how else "r.v"
    return "", "r.v"


def _of_groups(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    group = draw(st.sampled_from((("g",), ("g", "day"), ("day",), ("a",), ("id",))))
    on: dict[str, Any] = draw(st.sampled_from(({}, {}, {"on": {"day": "day"}} if "day" in group else {})))
    on = _mostly(draw, (on,), ({"on": {"day": "day"}},))
    inputs["rows"] = {"of": "SRC", **on}
    inputs["before"] = {"of": "SRC", "as_of": "checkpoint", **on}
    condition = _mostly(draw, ("",), [f" WHERE {one}" for one in _CONDITIONS])
    by = _mostly(
        draw,
        ("c.id = b.id",),
        ("c.id = b.id AND c.day = b.day", "c.id = b.id AND c.day <=> b.day", "c.g = b.g", "c.id = b.id AND c.v = b.v"),
    )
    both = _mostly(draw, ("UNION",), ("UNION ALL",))
    old = f"\n  {both}\n  SELECT {', '.join(f'b.{one}' for one in group)} FROM before b LEFT SEMI JOIN <SRC> c ON {by}"
    old = _mostly(draw, (old,), ("",))
    narrow = draw(st.sampled_from(("", f"LEFT SEMI JOIN t ON {' AND '.join(f't.{one} = r.{one}' for one in group)}")))
    counted = draw(st.sampled_from(("", "", "WHERE r.v > 1", "WHERE r.id > 1")))
    looked_up, summed = _beside_rows(draw, inputs)
    joined = " AND ".join(f"s.{one} = t.{one}" for one in _mostly(draw, (group,), (group[:1],)))
    how = _mostly(draw, ("LEFT JOIN",), ("JOIN", "FULL JOIN", "RIGHT JOIN"))
    flag = _mostly(
        draw,
        (f"s.{group[0]} IS NULL", "s.n IS NULL", "s.total IS NULL"),
        ("false", "s.n > 1", "coalesce(s.n, 0) = 0", "coalesce(s.n, 1) = 0"),
    )
    of_rows = ", ".join(f"r.{one}" for one in group)
    sql = "\n".join(
        (
            f"WITH t AS (\n  SELECT {'' if old else 'DISTINCT '}{', '.join(group)} FROM <SRC>{condition}{old}\n), s AS (",
            f"  SELECT {of_rows}, count(*) AS n, sum({summed}) AS total",
            f"  FROM rows r {narrow} {looked_up} {counted}\n  GROUP BY {of_rows}\n)",
            f"SELECT {', '.join(f't.{one}' for one in group)}, s.n, s.total, <SRC_INSTANT> AS at, {flag} AS _hoodie_is_deleted",
            f"FROM t\n{how} s ON {joined}",
        )
    )
    return " ".join(f"{one}*" for one in group) + " n total", sql


def _of_versions(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    inputs["rows"] = {"of": "SRC"}
    by, narrowed = _mostly(draw, (("id", "id"),), (("g", "g"), ("g", "id"), ("id", "g")))
    gone = _mostly(
        draw, ("WHERE c._hoodie_is_deleted",), ("WHERE NOT c._hoodie_is_deleted", "", "WHERE c._hoodie_is_deleted AND c.v > 1")
    )
    sql = "\n".join(
        (
            "WITH c AS (SELECT id, g, v, _hoodie_is_deleted FROM <SRC>)",
            f"SELECT h.id, row_number() OVER (PARTITION BY h.{by} ORDER BY h.id) AS x, h.v, <SRC_INSTANT> AS at,",
            "       false AS _hoodie_is_deleted",
            f"FROM rows h\nLEFT SEMI JOIN c ON c.{narrowed} = h.{narrowed}\nUNION ALL",
            f"SELECT c.id, 0 AS x, c.v, <SRC_INSTANT> AS at, true AS _hoodie_is_deleted\nFROM c\n{gone}",
        )
    )
    return "id* x v", sql


def _of_union(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    one, other = _mostly(draw, (("1", "2"),), (("1", "1"), ("1", "g")))
    how = draw(st.sampled_from(("UNION ALL", "UNION")))
    where = _mostly(draw, ("", " WHERE id > 1"), (" WHERE v > 1", " WHERE a IS NOT NULL"))
    sql = "\n".join(
        (
            f"SELECT id, {one} AS line, v, updated_at AS at, _hoodie_is_deleted FROM <SRC>\n{how}",
            f"SELECT id, {other} AS line, a AS v, updated_at AS at, _hoodie_is_deleted FROM <SRC>{where}",
        )
    )
    return _mostly(draw, ("id* line* v",), ("id* line v",)), sql

"""Pipelines that hypothesis draws, over tables of one shape: rows, joins, groups, versions, right ones and wrong ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.unit.verdict.case import Case

COLUMNS = ("id", "g", "a", "v", "day")
_DELETED = "s._hoodie_is_deleted"
_JOINS = ("LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
_CONDITIONS = ("v > 1", "id > 1", "id <> 2", "a = g", "v IS NOT NULL", "day = 1", "g < 2 OR v = 1")


@st.composite
def pipelines(draw: st.DrawFn) -> Case:
    """Draw a pipeline: about every other one is exact."""
    place = draw(st.sampled_from(("", "/")))
    source = f"id* g a v day{place} updated_at^"
    kind = draw(st.sampled_from((_of_rows, _of_rows, _of_rows, _of_groups, _of_groups, _of_versions, _of_union)))
    inputs: dict[str, dict[str, Any]] = {}
    target, sql = kind(draw, inputs)
    head = {"source": source, "inputs": inputs, "target": f"{target} at^ _hoodie_is_deleted", "expect": "", "why": ""}
    return Case(name="drawn.sql", text=sql, head=head)


def _looked_up(draw: st.DrawFn, inputs: dict[str, dict[str, Any]], number: int) -> tuple[str, str, str]:
    """Draw a join: its text, a column that it gives, and what is null where it finds nothing."""
    alias, how = f"j{number}", draw(st.sampled_from(_JOINS))
    column = draw(st.sampled_from(("id", "g", "a")))
    by, table = draw(st.sampled_from((("id", "d"), ("g", "t"), ("g", "rows"))))
    inputs.setdefault(
        table, {"of": "SRC"} if table == "rows" else {"columns": f"{'id' if table == 'd' else 't_id'}* g x updated_at^"}
    )
    if table == "d":
        inner, value = "d", "x"
    else:
        kept = draw(st.sampled_from(("", f" WHERE {'v' if table == 'rows' else 'x'} > 1")))
        inner, value = f"(SELECT g, sum({'v' if table == 'rows' else 'x'}) AS x FROM {table}{kept} GROUP BY g)", "x"
    drives = draw(st.sampled_from((column, column, column, "", "a")))
    if drives:
        inputs[f"{table}_new{number}"] = {"of": "SRC" if table == "rows" else table, "drives": {by: drives}}
    more = draw(st.sampled_from(("", "", "", f" AND {alias}.x > 1", " AND s.v > 1")))
    text = f"{how} {inner} {alias} ON {alias}.{by} = s.{column}{more}"
    gives = how in ("LEFT JOIN", "JOIN")
    return text, f"{alias}.{value}" if gives else "", f"{alias}.{by} IS NULL" if gives else ""


def _of_rows(draw: st.DrawFn, inputs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    joins = [_looked_up(draw, inputs, number) for number in range(draw(st.sampled_from((0, 1, 1, 2))))]
    where = draw(st.sampled_from(("", "", "", *_CONDITIONS)))
    marks = [_DELETED, _DELETED, _DELETED, "false", f"NOT (s.{draw(st.sampled_from(_CONDITIONS[:3]))})"]
    marks += [f"{_DELETED} OR NOT (s.v > 1)", *(f"{_DELETED} OR {null}" for _, _, null in joins if null)]
    key = draw(st.sampled_from(("s.id", "s.id", "s.id", "s.id", "s.g", "cast(s.id AS string)")))
    values = [value for _, value, _ in joins if value] or ["s.a"]
    order = draw(st.sampled_from(("<SRC_INSTANT>", "s.updated_at", "s.updated_at", "s.v")))
    line = draw(st.sampled_from(("", "", "", "1, 2", "1, s.v")))
    lined = f", explode(array({line})) AS line" if line else ""
    text = "\n".join(text for text, _, _ in joins)
    sql = (
        f"SELECT {key} AS id{lined}, coalesce({values[0]}, -1) AS x, s.v, {order} AS at,"
        f" {draw(st.sampled_from(marks))} AS _hoodie_is_deleted\nFROM <SRC> s\n{text}"
    )
    if where:
        sql += "\nWHERE " + " OR ".join(f"s.{one}" for one in where.split(" OR "))
    if draw(st.booleans()) and draw(st.booleans()):
        sql = sql.replace("SELECT ", "SELECT DISTINCT ", 1)
    return ("id* line* x v" if line and draw(st.booleans()) else "id* x v"), sql


def _of_groups(draw: st.DrawFn, inputs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    group = draw(st.sampled_from((("g",), ("g", "day"), ("day",), ("a",), ("id",))))
    on = draw(st.sampled_from(({}, {}, {"on": {"day": "day"}})))
    inputs["rows"] = {"of": "SRC", **on}
    inputs["before"] = {"of": "SRC", "as_of": "checkpoint", **draw(st.sampled_from(({}, on)))}
    names = ", ".join(group)
    of_before = ", ".join(f"b.{one}" for one in group)
    condition = draw(st.sampled_from(("", "", "", "", *_CONDITIONS[:3])))
    kept = f" WHERE {condition}" if condition else ""
    by = draw(st.sampled_from(("c.id = b.id", "c.id = b.id", "c.id = b.id", "c.id = b.id AND c.day = b.day", "c.g = b.g")))
    before = f"\n  UNION\n  SELECT {of_before} FROM before b LEFT SEMI JOIN <SRC> c ON {by}"
    before = draw(st.sampled_from((before, before, before, "")))
    narrow = draw(st.sampled_from(("", f"LEFT SEMI JOIN t ON {' AND '.join(f't.{one} = r.{one}' for one in group)}")))
    counted = draw(st.sampled_from(("", "", "WHERE r.v > 1", "WHERE r.id > 1")))
    joined = " AND ".join(f"s.{one} = t.{one}" for one in draw(st.sampled_from((group, group, group, group[:1]))))
    how = draw(st.sampled_from(("LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "JOIN")))
    flag = draw(st.sampled_from((f"s.{group[0]} IS NULL", f"s.{group[0]} IS NULL", "s.n IS NULL", "s.total IS NULL", "false")))
    distinct = "" if before else "DISTINCT "
    sql = (
        f"WITH t AS (\n  SELECT {distinct}{names} FROM <SRC>{kept}{before}\n), s AS (\n"
        f"  SELECT {', '.join(f'r.{one}' for one in group)}, count(*) AS n, sum(r.v) AS total FROM rows r {narrow} {counted}\n"
        f"  GROUP BY {', '.join(f'r.{one}' for one in group)}\n)\n"
        f"SELECT {', '.join(f't.{one}' for one in group)}, s.n, s.total, <SRC_INSTANT> AS at, {flag} AS _hoodie_is_deleted\n"
        f"FROM t\n{how} s ON {joined}"
    )
    return " ".join(f"{one}*" for one in group) + " n total", sql


def _of_versions(draw: st.DrawFn, inputs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    inputs["rows"] = {"of": "SRC"}
    by, narrowed = draw(st.sampled_from((("id", "id"), ("g", "g"), ("g", "id"))))
    gone = draw(st.sampled_from(("WHERE c._hoodie_is_deleted", "WHERE c._hoodie_is_deleted", "WHERE NOT c._hoodie_is_deleted")))
    sql = (
        "WITH c AS (SELECT id, g, v, _hoodie_is_deleted FROM <SRC>)\n"
        f"SELECT h.id, row_number() OVER (PARTITION BY h.{by} ORDER BY h.id) AS x, h.v, <SRC_INSTANT> AS at,"
        f" false AS _hoodie_is_deleted\nFROM rows h\nLEFT SEMI JOIN c ON c.{narrowed} = h.{narrowed}\nUNION ALL\n"
        f"SELECT c.id, 0 AS x, c.v, <SRC_INSTANT> AS at, true AS _hoodie_is_deleted\nFROM c\n{gone}"
    )
    return "id* x v", sql


def _of_union(draw: st.DrawFn, inputs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    one, other = draw(st.sampled_from((("1", "2"), ("1", "2"), ("1", "1"), ("1", "g"))))
    how = draw(st.sampled_from(("UNION ALL", "UNION")))
    where = draw(st.sampled_from(("", "", " WHERE id > 1", " WHERE v > 1")))
    sql = (
        f"SELECT id, {one} AS line, v, updated_at AS at, _hoodie_is_deleted FROM <SRC>\n{how}\n"
        f"SELECT id, {other} AS line, a AS v, updated_at AS at, _hoodie_is_deleted FROM <SRC>{where}"
    )
    return draw(st.sampled_from(("id* line* v", "id* line* v", "id* line v"))), sql

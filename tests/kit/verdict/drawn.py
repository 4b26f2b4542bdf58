"""Pipelines that hypothesis draws, over tables of one shape: rows, joins, groups, versions, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.kit.verdict.case import Case

Inputs = dict[str, dict[str, Any]]
DELETED = "s._hoodie_is_deleted"
CONDITIONS = ("v > 1", "id > 1", "id <> 2", "a = g", "v IS NOT NULL", "day = 1", "g < 2")


def mostly(draw: st.DrawFn, right: Sequence[Any], wrong: Sequence[Any]) -> Any:
    """Draw what is right, and what may be wrong one time in eight."""
    return draw(st.sampled_from(wrong if draw(st.integers(0, 7)) == 7 else right))


@st.composite
def pipelines(draw: st.DrawFn) -> Case:
    """Draw a pipeline: some two in five are exact."""
    place = draw(st.sampled_from(("", "/", "/!")))
    kind = draw(st.sampled_from((_of_rows, _of_rows, _of_rows, of_groups, of_groups, of_versions, of_union)))
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


def looked_up(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join: its text, a column that it gives, and what is null where it finds nothing."""
    alias, how = f"j{number}", mostly(draw, ("LEFT JOIN",), ("JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "RIGHT JOIN"))
    column = draw(st.sampled_from(("id", "g", "a")))
    by, table = draw(st.sampled_from((("id", "d"), ("g", "t"), ("g", "rows"))))
    columns = {"d": "id* g x updated_at^", "t": "t_id* g x updated_at^"}
    inputs.setdefault(table, {"columns": columns[table]} if table in columns else {"of": "SRC"})
    inner = "d"
    if table != "d":
        summed = "v" if table == "rows" else "x"
        kept = draw(st.sampled_from(("", f" WHERE {summed} > 1")))
        inner = f"(SELECT g, sum({summed}) AS x FROM {table}{kept} GROUP BY g)"
        inner = mostly(draw, (inner,), (f"(SELECT g, {summed} AS x FROM {table})",))
    drives = mostly(draw, (column,), ("", "a", "g"))
    if drives:
        inputs[f"{table}_new{number}"] = {"of": "SRC" if table == "rows" else table, "drives": {by: drives}}
    more = draw(st.sampled_from(("", "", "", f" AND {alias}.x > 1", " AND s.v > 1")))
    equal = mostly(draw, ("=",), ("<=>", "<"))
    gives = how not in ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
    text = f"{how} {inner} {alias} ON {alias}.{by} {equal} s.{column}{more}"
    return text, f"{alias}.x" if gives else "", f"{alias}.{by} IS NULL" if gives else ""


def _of_rows(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    joins = [looked_up(draw, inputs, number) for number in range(draw(st.sampled_from((0, 1, 1, 2))))]
    nulls = [f"{DELETED} OR {null}" for _, _, null in joins if null]
    mark = mostly(draw, (DELETED, f"{DELETED} OR NOT (s.v > 1)", *nulls), ("false", "NOT (s.v > 1)", f"{DELETED} AND s.v > 1"))
    key = mostly(draw, ("s.id", "s.id", "cast(s.id AS string)"), ("s.g", "s.id % 2", "coalesce(s.a, s.id)"))
    order = mostly(draw, ("<SRC_INSTANT>", "s.updated_at", "1"), ("s.v", "-s.updated_at"))
    line = draw(st.sampled_from(("", "", "", ", explode(array(1, 2)) AS line")))
    line = line and mostly(draw, (line,), (", explode(array(1, s.v)) AS line",))
    value = next((value for _, value, _ in joins if value), "s.a")
    where = mostly(draw, ("", "", "", "\nWHERE s.id > 1"), [f"\nWHERE s.{one}" for one in CONDITIONS])
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
    keyed = mostly(draw, ("id* line* x v",), ("id* x v",)) if line else "id* x v"
    return keyed, sql + where


def _listed(draw: st.DrawFn) -> str:
    """Draw a join with constants, or with some of the changed rows themselves."""
    how = mostly(draw, ("LEFT JOIN",), ("JOIN", "LEFT SEMI JOIN", "CROSS JOIN"))
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
        drives = mostly(draw, (column,), ("", other))
        if drives:
            inputs["d_new"] = {"of": "d", "drives": {"id": drives}}
        how = mostly(draw, ("LEFT JOIN", "JOIN"), ("LEFT ANTI JOIN", "LEFT SEMI JOIN"))
        again = mostly(draw, ("",), (f" LEFT JOIN d e ON e.id = r.{other}", f" LEFT JOIN rows p ON p.id = r.{other}"))
        return f"{how} d ON d.id = r.{column}{again}", "d.x" if "SEMI" not in how and "ANTI" not in how else "r.v"
    return "", "r.v"


def of_groups(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    group = draw(st.sampled_from((("g",), ("g", "day"), ("day",), ("a",), ("id",))))
    on: dict[str, Any] = draw(st.sampled_from(({}, {}, {"on": {"day": "day"}} if "day" in group else {})))
    on = mostly(draw, (on,), ({"on": {"day": "day"}},))
    inputs["rows"] = {"of": "SRC", **on}
    inputs["before"] = {"of": "SRC", "as_of": "checkpoint", **on}
    condition = mostly(draw, ("",), [f" WHERE {one}" for one in CONDITIONS])
    by = mostly(
        draw,
        ("c.id = b.id",),
        ("c.id = b.id AND c.day = b.day", "c.id = b.id AND c.day <=> b.day", "c.g = b.g", "c.id = b.id AND c.v = b.v"),
    )
    both = mostly(draw, ("UNION",), ("UNION ALL",))
    old = f"\n  {both}\n  SELECT {', '.join(f'b.{one}' for one in group)} FROM before b LEFT SEMI JOIN <SRC> c ON {by}"
    old = mostly(draw, (old,), ("",))
    narrow = draw(st.sampled_from(("", f"LEFT SEMI JOIN t ON {' AND '.join(f't.{one} = r.{one}' for one in group)}")))
    counted = draw(st.sampled_from(("", "", "WHERE r.v > 1", "WHERE r.id > 1")))
    looked_up, summed = _beside_rows(draw, inputs)
    joined = " AND ".join(f"s.{one} = t.{one}" for one in mostly(draw, (group,), (group[:1],)))
    how = mostly(draw, ("LEFT JOIN",), ("JOIN", "FULL JOIN", "RIGHT JOIN"))
    flag = mostly(
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


def of_versions(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    inputs["rows"] = {"of": "SRC"}
    by, narrowed = mostly(draw, (("id", "id"),), (("g", "g"), ("g", "id"), ("id", "g")))
    gone = mostly(
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


def of_union(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    one, other = mostly(draw, (("1", "2"),), (("1", "1"), ("1", "g")))
    how = draw(st.sampled_from(("UNION ALL", "UNION")))
    where = mostly(draw, ("", " WHERE id > 1"), (" WHERE v > 1", " WHERE a IS NOT NULL"))
    sql = "\n".join(
        (
            f"SELECT id, {one} AS line, v, updated_at AS at, _hoodie_is_deleted FROM <SRC>\n{how}",
            f"SELECT id, {other} AS line, a AS v, updated_at AS at, _hoodie_is_deleted FROM <SRC>{where}",
        )
    )
    return mostly(draw, ("id* line* v",), ("id* line v",)), sql

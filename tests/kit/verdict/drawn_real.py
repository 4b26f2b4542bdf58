"""Drawn pipelines for real tables: these read by look-back and by affected partitions, too, and join up to three inputs.

Their conditions on keys are by what is left of a number divided by 8, so that many histories stand side by side, each with
numbers of its own.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.kit.verdict.case import Case
from tests.kit.verdict.drawn import CONDITIONS, DELETED, Inputs, looked_up, mostly, of_groups, of_union, of_versions

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
    kinds = (_of_rows, _of_rows, of_groups, of_groups, of_versions, of_union, _of_partitions, _of_owned)
    kind = draw(st.sampled_from(kinds))
    inputs: Inputs = {}
    target, sql = kind(draw, inputs)
    for plain, world in zip(CONDITIONS, _WORLDS, strict=True):
        sql = sql.replace(plain, world) if plain != world and "WHERE" in sql else sql
    place = draw(st.sampled_from(("", "/!"))) or ("/!" if any("on" in one and one.get("of") for one in inputs.values()) else "")
    head: dict[str, Any] = {
        "source": f"id* g! a v day{place or '!'} updated_at^",
        "inputs": inputs,
        "target": f"{target} at^ _hoodie_is_deleted",
        "expect": "",
        "why": "",
        "of": kind.__name__.rpartition("of_")[2],
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
        (f"SELECT s.id, coalesce({value}, 0) AS x, s.v, s.updated_at AS at, {DELETED}", "FROM <SRC> s", text)
    )


def _of_partitions(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw sums of whole partitions, which replace them."""
    inputs["rows"] = {"of": "SRC", "on": {"day": "day"}}
    source = mostly(draw, ("rows",), ("<SRC>",))
    kept = draw(st.sampled_from(("", " WHERE v > 1", " WHERE id % 8 > 1")))
    value = "count(*) AS n, sum(v) AS total, <SRC_INSTANT> AS at"
    named = "CREATE OR REPLACE TEMPORARY VIEW changed AS SELECT id FROM <SRC>;\n"
    return "g* day*/ n total", f"{named}SELECT g, day, {value}\nFROM {source}{kept}\nGROUP BY g, day"


def _of_rows(draw: st.DrawFn, inputs: Inputs) -> tuple[str, str]:
    """Draw a row for each, with what up to three other tables have for it, each read in a way of its own."""
    ways = draw(st.lists(st.sampled_from((_by_snapshot, _by_partitions, _by_lookback)), min_size=1, max_size=3))
    ways = [way for way in ways if way is not _by_lookback] if draw(st.integers(0, 3)) else ways
    joins = [way(draw, inputs, number) for number, way in enumerate(ways)]
    nulls = [f"{DELETED} OR {null}" for _, _, null in joins]
    mark = mostly(draw, (DELETED, f"{DELETED} OR NOT (s.v > 1)", *nulls), ("false", "NOT (s.v > 1)"))
    order = mostly(draw, ("<SRC_INSTANT>", "s.updated_at"), ("1", "-s.updated_at"))
    values = " + ".join(f"coalesce({value}, 0)" for _, value, _ in joins) or "0"
    where = mostly(draw, ("", "", "\nWHERE s.id % 8 > 1"), [f"\nWHERE s.{one}" for one in _WORLDS])
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
    text, value, null = looked_up(draw, inputs, number)
    return text, value or "s.a", null or "false"


def _by_partitions(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join with the sums of a table's groups, of which only the partitions are read that <SRC> needs."""
    alias = f"j{number}"
    inputs["e"] = {"columns": TABLES["e"], "on": {"day": "day"}}
    drives = mostly(draw, ({"day": "day", "g": "g"}, {"day": "day"}), ({}, {"g": "a"}))
    if drives:
        inputs["e_new"] = {"of": "e", "drives": drives}
    by = mostly(draw, ((" AND {0}.day = s.day", ", day"),), (("", ""),))
    how = mostly(draw, ("LEFT JOIN",), ("JOIN",))
    inner = f"(SELECT g{by[1]}, sum(x) AS x FROM e GROUP BY g{by[1]})"
    return f"{how} {inner} {alias} ON {alias}.g = s.g{by[0].format(alias)}", f"{alias}.x", f"{alias}.g IS NULL"


def _by_lookback(draw: st.DrawFn, inputs: Inputs, number: int) -> tuple[str, str, str]:
    """Draw a join with what changed of late in a table, which drives or does not."""
    alias = f"j{number}"
    inputs["late"] = {"of": "d", "read": "incremental"}
    inputs.setdefault("d", {"columns": TABLES["d"]})
    return f"LEFT JOIN late {alias} ON {alias}.id = s.a", f"{alias}.x", f"{alias}.id IS NULL"

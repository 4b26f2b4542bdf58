"""Spark's SQL as SQLite's, the values that its conditions ask for, and tables in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

from freshet.project.model.checks import RowRule
from tests.kit.verdict.case import Case

Row = dict[str, Any]
Key = tuple[Any, ...]
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.NullSafeEQ, exp.Case, exp.If)


class NotModelled(Exception):
    """SQLite has no such thing."""


@cache
def translated(text: str) -> str:
    """Return a statement of Spark's as one of SQLite's; ``:instant`` stands for the source's instant."""
    tree = sqlglot.parse_one(text, dialect="spark")
    for node in list(tree.find_all(exp.Column)):
        if node.name.upper() == "SRC_INSTANT":
            node.replace(exp.Placeholder(this="instant"))
    for values in list(tree.find_all(exp.Values)):
        _listed(values)
    if isinstance(tree, exp.Cache):
        tree = exp.Create(this=tree.this, kind="TABLE", expression=tree.expression)
    for select in list(tree.find_all(exp.Select)):
        unrolled = _unrolled(select)
        if unrolled is not None:
            if select is tree:
                tree = unrolled
            else:
                select.replace(unrolled)
    if isinstance(tree, exp.Create):
        # Made at once: SQLite's views take no values.
        tree.set("kind", "TABLE")
        tree.set("replace", False)
        tree.set("properties", None)
    return tree.sql("sqlite")


def _listed(values: exp.Values) -> None:
    alias = values.args.get("alias")
    names = [one.name for one in alias.args.get("columns") or ()] if alias is not None else []
    if names:
        rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in values.expressions]
        parts = [exp.select(*(exp.alias_(v.copy(), n) for v, n in zip(row, names, strict=False))) for row in rows]
        whole: Any = parts[0]
        for part in parts[1:]:
            whole = exp.union(whole, part, distinct=False)
        values.replace(exp.Subquery(this=whole, alias=exp.TableAlias(this=exp.to_identifier(alias.name))))


def _unrolled(select: exp.Select) -> exp.Expression | None:
    """Return a query of which a list of constants makes several rows, as a union of queries for one row each."""
    for at, item in enumerate(select.expressions):
        inner = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
        if isinstance(inner, exp.Stack):
            values, rows = inner.expressions, int(inner.this.name)
            width = -(-len(values) // rows)
            names = [one.name for one in item.expressions] if isinstance(item, exp.Aliases) else [item.alias]
            parts = []
            for row in range(rows):
                part = select.copy()
                new = [exp.alias_(v.copy(), n) for v, n in zip(values[row * width : row * width + width], names, strict=True)]
                part.set("expressions", [*part.expressions[:at], *new, *part.expressions[at + 1 :]])
                parts.append(part)
            return _all(select, parts)
        if isinstance(inner, exp.Explode) and isinstance(inner.this, exp.Array):
            parts = []
            for value in inner.this.expressions:
                part = select.copy()
                part.expressions[at].replace(exp.alias_(value.copy(), item.alias or "col"))
                parts.append(part)
            return _all(select, parts)
    return None


def _all(select: exp.Select, parts: Sequence[exp.Select]) -> exp.Expression:
    with_ = select.args.get("with_")
    for part in parts:
        part.set("with_", None)
    whole: Any = parts[0]
    for part in parts[1:]:
        whole = exp.union(whole, part, distinct=False, copy=False)
    if with_ is not None:
        whole.set("with_", with_.copy())
    return whole


def domains(case: Case) -> dict[str, list[Any]]:
    """Return the values that each column may take, so that conditions are met and missed."""
    found: dict[str, set[Any]] = {}
    texts = [statement.text for step in case.spec.transform for statement in step.statements]
    for text in (*texts, *(check.rule.where for check in case.spec.checks if isinstance(check.rule, RowRule))):
        tree = sqlglot.parse_one(text, dialect="spark")
        for literal in tree.find_all(exp.Literal):
            node = literal.find_ancestor(*_COMPARED)
            value = literal.name if literal.is_string else int(literal.name) if literal.is_int else None
            if node is None or value is None:
                continue
            for column in node.find_all(exp.Column):
                near = [value] if isinstance(value, str) else [value - 1, value, value + 1]
                found.setdefault(column.name.lower(), set()).update(near)
    return {name: sorted(values, key=str) for name, values in found.items()}


def create(base: sqlite3.Connection, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Make a table of rows."""
    base.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
    marks = ", ".join("?" for _ in columns)
    base.executemany(f'INSERT INTO "{name}" VALUES ({marks})', [[row[c] for c in columns] for row in rows])

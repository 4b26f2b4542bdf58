"""Runs of a pipeline without Spark and Hudi: tables in SQLite, increments by their definition, and a recompute beside them.

An increment is the difference of two versions of the source. SQLite stands in for Spark SQL, so that thousands of histories
take seconds; tests/integration/test_verdicts.py has the same for real tables.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

from freshet.project.model.checks import RowRule, UniqueRule
from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.result import Example
from tests.unit.verdict.case import Case, Table

Row = dict[str, Any]
Key = tuple[Any, ...]
Images = dict[str, dict[Key, Row]]
FLAG = "_hoodie_is_deleted"
SRC = "SRC"
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


@dataclass
class Runs:
    """A pipeline's tables, through a history.

    Args:
        case: The pipeline.
        chance: Draws what happens.
        ties: Draws which of several rows of one key and one ordering value is kept.
        again: How often a row is in an increment that did not change.
    """

    case: Case
    chance: random.Random
    rows: dict[str, dict[Key, Row]] = field(default_factory=dict)
    target: dict[Key, Row] = field(default_factory=dict)
    clock: int = 1000
    log: list[str] = field(default_factory=list)
    ties: random.Random = field(default_factory=lambda: random.Random(0))
    again: float = 0.1
    no_deletes: frozenset[str] = frozenset()
    constant: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.spec: PipelineSpec = self.case.spec
        self.tables: dict[str, Table] = {SRC: self.case.source}
        for name in self.case.inputs:
            self.tables.setdefault(self.case.table_of(name), self.case.input_table(name))
        self.rows = {name: {} for name in self.tables}
        self.values = domains(self.case)
        self.few: list[Any] = self.chance.choice(([1, 2], [1, 2], [1, 2, 3]))
        texts = [s.text for step in self.spec.transform for s in step.statements]
        self.passes_on = self.spec.source.incremental_format == "cdc" or (
            self.spec.source.incremental_format == "auto"
            and any(c.name == FLAG for c in self.spec.target.columns)
            and self.case.head.get("records") is not False
        )
        try:
            self.sql = [translated(text) for text in texts]
        except sqlglot.errors.SqlglotError as error:
            raise NotModelled(str(error)) from error

    def step(self) -> None:
        """Change the tables, and run."""
        before = {name: dict(rows) for name, rows in self.rows.items()}
        for name in self.tables:
            if name not in self.constant or not self.target:
                for _ in range(self.chance.choice((0, 0, 1, 1, 2, 3))):
                    self._change(name)
        self.clock += 10
        self.run(before)

    def _change(self, name: str, kind: str = "") -> None:
        table, rows = self.tables[name], self.rows[name]
        kind = kind or self.chance.choice(("insert", "insert", "update", "update", "update", "delete"))
        self.clock += 1
        if kind == "insert" or not rows:
            row = {column: self._value(column, column in table.never_null) for column in table.columns}
            row[table.ordering] = self.clock
            key = tuple(row[column] for column in table.key)
            rows[key] = row
        elif kind == "update":
            key = self.chance.choice(sorted(rows))
            row = dict(rows[key])
            loose = [c for c in table.columns if c not in table.key and c != table.ordering]
            for column in self.chance.sample(loose, min(len(loose), self.chance.choice((1, 1, 2)))):
                row[column] = self._value(column, column in table.never_null)
            row[table.ordering] = self.clock
            rows[key] = row
        elif name not in self.no_deletes:
            key = self.chance.choice(sorted(rows))
            row = rows.pop(key)
        else:
            return
        self.log.append(f"{kind} {name} {row}")

    def _value(self, column: str, is_key: bool) -> Any:
        known = self.values.get(column, [])
        if any(isinstance(value, str) for value in known):
            return self.chance.choice([*known, "z"] if is_key else [*known, "z", None])
        return self.chance.choice(self.few if is_key else [*self.few, *known, None])

    def run(self, before: Mapping[str, dict[Key, Row]]) -> None:
        """Do one incremental run."""
        changed = self._increment(SRC, before[SRC])
        driven: list[Row] = []
        for one in self.spec.inputs:
            if not one.drives:
                continue
            of = self.case.table_of(one.name)
            images = [
                row
                for image in (before[of], self.rows[of])
                for key, row in image.items()
                if before[of].get(key) != self.rows[of].get(key)
            ]
            named = {tuple(row[c] for c, _ in one.drives) for row in images}
            driven += [
                row
                for row in self.rows[SRC].values()
                if tuple(row[x] for _, x in one.drives) in named and None not in [row[x] for _, x in one.drives]
            ]
        there = {id(row) for row in changed}
        src = [{**row, FLAG: False} for row in changed]
        for row in driven:
            if id(row) not in there:
                src.append({**row, FLAG: False})
                there.add(id(row))
        if self.passes_on:
            for key, row in before[SRC].items():
                now = self.rows[SRC].get(key)
                moved = now is not None and any(now[c] != row[c] for c in self.tables[SRC].partition)
                if now is None or moved:
                    src.append({**row, FLAG: True})
        self.target = published(self.spec, self.target, self._result(src, before[SRC], before), self.ties)

    def recomputed(self) -> dict[Key, Row]:
        """Return what a recompute makes of the tables as they are."""
        src = [{**row, FLAG: False} for row in self.rows[SRC].values()]
        return published(self.spec, {}, self._result(src, {}, None), self.ties)

    def _increment(self, of: str, before: Mapping[Key, Row]) -> list[Row]:
        # A row that was written again as it was is news, too.
        return [row for key, row in self.rows[of].items() if before.get(key) != row or self.chance.random() < self.again]

    def _result(self, src: Sequence[Row], then: Mapping[Key, Row], before: Mapping[str, dict[Key, Row]] | None) -> list[Row]:
        base = sqlite3.connect(":memory:")
        try:
            base.execute("PRAGMA case_sensitive_like = ON")
            columns = [*self.tables[SRC].columns, *([FLAG] if self.passes_on else [])]
            _create(base, "SRC", columns, src)
            for one in self.spec.inputs:
                of = self.case.table_of(one.name)
                rows = list((then if one.as_of == "checkpoint" else self.rows[of]).values())
                if one.read == "incremental" and before is not None:
                    rows = [row for key, row in self.rows[of].items() if before[of].get(key) != row]
                if one.on:
                    for column, texts in one.on:
                        asked = " UNION ".join(
                            f"SELECT {sqlglot.transpile(t, read='spark', write='sqlite')[0]} FROM SRC" for t in texts
                        )
                        wanted = {value for (value,) in base.execute(asked)}
                        if of == SRC and column in texts:
                            # The commits name the partitions that they wrote.
                            wanted |= {r[column] for key, r in then.items() if self.rows[SRC].get(key) != r}
                        rows = [row for row in rows if row[column] in wanted]
                _create(base, one.name, self.tables[of].columns, rows)
            for text in self.sql:
                found = base.execute(text, {"instant": self.clock} if ":instant" in text else {})
                if found.description:
                    names = [one[0].lower() for one in found.description]
                    result = [dict(zip(names, values, strict=True)) for values in found]
                    last = names
            del last
            return result
        except sqlite3.Error as error:
            raise NotModelled(f"{error}: {self.sql}") from error
        finally:
            base.close()


def _create(base: sqlite3.Connection, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    base.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
    marks = ", ".join("?" for _ in columns)
    base.executemany(f'INSERT INTO "{name}" VALUES ({marks})', [[row[c] for c in columns] for row in rows])


def published(spec: PipelineSpec, target: Mapping[Key, Row], batch: Sequence[Row], chance: random.Random) -> dict[Key, Row]:
    """Return a target after a batch was written."""
    result = dict(target)
    names = [c.name.lower() for c in spec.target.columns]
    ordering = spec.target.ordering_field
    rows = _kept(spec, [{name: row[name] for name in names} for row in batch])
    keyed: dict[Key, list[Row]] = {}
    for row in rows:
        keyed.setdefault(tuple(row[c] for c in spec.target.record_key), []).append(row)
    if spec.operation == "insert_overwrite":
        touched = {tuple(row[c] for c in spec.target.partition_by) for row in rows}
        result = {k: r for k, r in result.items() if tuple(r[c] for c in spec.target.partition_by) not in touched}
    for key, several in keyed.items():
        live = [row for row in several if not row.get(FLAG)] or several
        best = max((row[ordering] is not None, row[ordering] or 0) for row in live)
        row = chance.choice([row for row in live if (row[ordering] is not None, row[ordering] or 0) == best])
        old = result.get(key)
        if old is not None and (old[ordering] or 0) > (row[ordering] or 0):
            continue
        if row.get(FLAG) or spec.operation == "delete":
            result.pop(key, None)
        else:
            result[key] = row
    return result


def _kept(spec: PipelineSpec, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no check drops, and those by which the older rows of dropped ones are deleted."""
    if not spec.checks:
        return list(rows)
    base = sqlite3.connect(":memory:")
    _create(base, "batch", list(rows[0]) if rows else [FLAG], rows)
    dropped: dict[int, bool] = {}
    for check in (one for one in spec.checks if one.severity == "drop"):
        match check.rule:
            case RowRule(where):
                condition = sqlglot.transpile(where, read="spark", write="sqlite")[0]
            case UniqueRule(columns, "batch"):
                twice = f"SELECT {columns[0]} FROM batch WHERE NOT coalesce({FLAG}, 0) GROUP BY 1 HAVING count(*) > 1"
                condition = f"{columns[0]} IN ({twice})" if len(columns) == 1 else "false"
            case _:
                raise NotModelled(check.name)
        text = f"SELECT rowid - 1 FROM batch WHERE ({condition}) AND NOT coalesce({FLAG}, 0)"
        for (number,) in base.execute(text).fetchall() if rows else ():
            dropped[number] = dropped.get(number, False) or check.deletes
    base.close()
    deleted = [{**rows[number], FLAG: True} for number, deletes in dropped.items() if deletes]
    return [*(row for number, row in enumerate(rows) if number not in dropped), *deleted]


def same(spec: PipelineSpec, one: Mapping[Key, Row], other: Mapping[Key, Row]) -> bool:
    """Say whether two states of a target are equal but for the ordering field."""
    left, right = (
        {k: {c: v for c, v in r.items() if c not in (spec.target.ordering_field, FLAG)} for k, r in rows.items()}
        for rows in (one, other)
    )
    return left == right


def difference(case: Case, seed: int, steps: int = 6, **told: Any) -> str:
    """Return a history after which the target differs from a recompute; empty where none of its runs makes a difference."""
    runs = Runs(case, random.Random(seed), **told)
    for _ in range(steps):
        runs.log.append("-- run")
        runs.step()
        recomputed = runs.recomputed()
        if not same(runs.spec, runs.target, recomputed):
            return "\n".join([*runs.log, f"target    {list(runs.target.values())}", f"recompute {list(recomputed.values())}"])
    return ""


def made_concrete(case: Case, example: Example, seed: int, steps: int = 3) -> bool:
    """Say whether an example of a change makes a difference, in tables that are drawn.

    Args:
        case: The pipeline.
        example: The example.
        seed: Draws the tables, and of the changed row what the example leaves open.
        steps: Runs before it, after which the target is what a recompute makes.
    """
    runs = Runs(case, random.Random(seed))
    then = _changed(runs, example, steps)
    if then is None:
        return False
    runs.run(then)
    return not same(runs.spec, runs.target, runs.recomputed())


def concrete(case: Case, example: Example, seed: int, steps: int = 3) -> tuple[Images, Images] | None:
    """Return the tables before and after an example's change, where it makes a difference whichever of equal rows are kept.

    Tables of Hudi have no nulls in keys and ordering fields: None where there are such, or no difference.

    Args:
        case, example, seed, steps: See ``made_concrete``.
    """
    runs = Runs(case, random.Random(seed), again=0.0)
    then = _changed(runs, example, steps)
    if then is None or not all(runs.rows.values()):
        return None
    now = {name: dict(image) for name, image in runs.rows.items()}
    kept = [*case.target.key, case.target.ordering]
    first: tuple[dict[Key, Row], ...] = ()
    for tie in range(4):
        runs.ties = random.Random(tie)
        runs.rows = {name: dict(image) for name, image in then.items()}
        runs.target = before = runs.recomputed()
        runs.rows = {name: dict(image) for name, image in now.items()}
        runs.run(then)
        found = (before, runs.target, runs.recomputed())
        first = first or found
        sure = all(same(runs.spec, one, other) for one, other in zip(first, found, strict=True))
        if not sure or same(runs.spec, *found[1:]) or any(r[c] is None for rows in found for r in rows.values() for c in kept):
            return None
    return then, now


def _changed(runs: Runs, example: Example, steps: int) -> Images | None:
    """Draw tables, change a row as an example says, and return the tables as they were; None where there is no row."""
    case = runs.case
    of = SRC if example.table == SRC else case.table_of(next(n for n in case.inputs if n.lower() == example.table))
    for _ in range(steps):
        runs.step()
    rows, table = runs.rows[of], runs.tables[of]
    if not rows:
        return None
    key = runs.chance.choice(sorted(rows))
    before = {column: _literal(text) for column, text in example.before.items() if column in table.columns}
    after = {column: _literal(text) for column, text in example.after.items() if column in table.columns}
    rows[key] = {**rows[key], **{c: v for c, v in before.items() if c not in table.key}}
    runs.target = runs.recomputed()
    then = {name: dict(image) for name, image in runs.rows.items()}
    runs.clock += 10
    # The values that it names for which any other would do are those of the row.
    row = {**rows[key], table.ordering: runs.clock}
    row.update({c: v for c, v in after.items() if c not in table.key and before.get(c) != v})
    if example.change == "delete":
        del rows[key]
    elif example.change == "insert":
        runs._change(of, "insert")
    else:
        if not after or before == after:
            runs._change(of, "update")
        else:
            # What else of the row changes the example leaves open.
            loose = [c for c in table.columns if c not in (*table.key, table.ordering, *after)]
            for column in runs.chance.sample(loose, min(len(loose), runs.chance.choice((0, 1)))):
                row[column] = runs._value(column, column in table.never_null)
            rows[key] = row
    runs.clock += 10
    return then


def _literal(text: str) -> Any:
    if text == "NULL":
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # Of the columns nobody knows the types: a letter stands for any value.
    return {"'a'": 1, "'b'": 2, "'x'": 1}.get(text, text.strip("'") if text.startswith("'") else int(text))

"""Runs of a pipeline without Spark and Hudi: tables in SQLite, increments by their definition, and a recompute beside them.

An increment is the difference of two versions of the source. SQLite stands in for Spark SQL, so that thousands of histories
take seconds; tests/integration/test_verdicts.py has the same for real tables.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot

from freshet.project.model.pipeline import PipelineSpec
from tests.kit.verdict.case import Case, cases
from tests.kit.verdict.published import FLAG, published, same
from tests.kit.verdict.sqlite import Key, NotModelled, Row, create, domains, translated
from tests.kit.verdict.table import Table

Images = dict[str, dict[Key, Row]]
SRC = "SRC"


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
                    self.change(name)
        self.clock += 10
        self.run(before)

    def change(self, name: str, kind: str = "") -> None:
        """Change a row of a table, as ``kind`` says or as is drawn."""
        table, rows = self.tables[name], self.rows[name]
        kind = kind or self.chance.choice(("insert", "insert", "update", "update", "update", "delete"))
        self.clock += 1
        if kind == "insert" or not rows:
            row = {column: self.value(column, column in table.never_null) for column in table.columns}
            row[table.ordering] = self.clock
            key = tuple(row[column] for column in table.key)
            rows[key] = row
        elif kind == "update":
            key = self.chance.choice(sorted(rows))
            row = dict(rows[key])
            loose = [c for c in table.columns if c not in table.key and c != table.ordering]
            for column in self.chance.sample(loose, min(len(loose), self.chance.choice((1, 1, 2)))):
                row[column] = self.value(column, column in table.never_null)
            row[table.ordering] = self.clock
            rows[key] = row
        elif name not in self.no_deletes:
            key = self.chance.choice(sorted(rows))
            row = rows.pop(key)
        else:
            return
        self.log.append(f"{kind} {name} {row}")

    def value(self, column: str, is_key: bool) -> Any:
        """Draw a value of a column."""
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
            create(base, "SRC", columns, src)
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
                create(base, one.name, self.tables[of].columns, rows)
            for text in self.sql:
                found = base.execute(text, {"instant": self.clock} if ":instant" in text else {})
                if found.description:
                    names = [one[0].lower() for one in found.description]
                    result = [dict(zip(names, values, strict=True)) for values in found]
            return result
        except sqlite3.Error as error:
            raise NotModelled(f"{error}: {self.sql}") from error
        finally:
            base.close()


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


def modelled() -> tuple[Case, ...]:
    """Return the cases of the corpus that the model can run."""
    return tuple(case for case in cases() if case.head.get("model") is not False)

"""A recompute of drawn pipelines over real tables, and what it differs by from their targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from freshet.project.syntax.statements import INSTANT_PLACE
from tests.kit.frames import frame
from tests.kit.lake import Lake
from tests.kit.spared import NO_CODEGEN
from tests.kit.verdict.case import Case
from tests.kit.verdict.model import SRC
from tests.kit.verdict.published import FLAG


class Recompute:
    """What the drawn SQL makes of the tables as they are, in a session that compiles no query."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.spark = lake, lake.spark.newSession()
        for key, value in NO_CODEGEN.items():
            self.spark.conf.set(key, value)
        self.read: dict[str, DataFrame] = {}

    def differences(self, cases: Mapping[str, Case], tables: Mapping[str, Mapping[str, str]]) -> dict[str, list[Any]]:
        """Return, by pipeline, the rows that a target has and a recompute lacks, and the other way around."""
        self.read.clear()
        found = {}
        for name, case in cases.items():
            columns = [column for column in case.target.columns if column not in ("at", FLAG)]
            there, made = self._rows(f"derived.{name}", columns), self._made(case, tables[name], columns)
            if write := case.head.get("write"):
                # A row whose owned columns are null is one that this pipeline has deleted.
                owned = [columns.index(column) for column in write["columns"]]
                there, made = (
                    Counter({r: n for r, n in x.items() if any(r[i] is not None for i in owned)}) for x in (there, made)
                )
            if there != made:
                found[name] = [("surplus", *(there - made)), ("missing", *(made - there))]
        return found

    def _made(self, case: Case, tables: Mapping[str, str], columns: Sequence[str]) -> Counter[Any]:
        for view, of in {SRC: SRC, **{one: case.table_of(one) for one in case.inputs}}.items():
            rows = self._table(tables[of])
            rows = rows.where("false") if view in case.inputs and case.inputs[view].get("as_of") else rows
            (rows.selectExpr("*", f"false AS {FLAG}") if view == SRC else rows).createOrReplaceTempView(view)
        texts = [statement.text for step in case.spec.transform for statement in step.statements]
        made = [self.spark.sql(text.replace(INSTANT_PLACE, "0")) for text in texts][-1]
        kept = [*columns, "at", *([FLAG] if FLAG in made.columns else [])]
        best: dict[Any, tuple[Any, ...]] = {}
        for row in made.select(*kept).collect():
            key = tuple(row[column] for column in case.target.key)
            order = (not (FLAG in kept and row[FLAG]), row["at"])
            if key not in best or order > best[key][0]:
                best[key] = order, tuple(row[column] for column in columns)
        return Counter(row for (lives, _), row in best.values() if lives)

    def _rows(self, table: str, columns: Sequence[str]) -> Counter[Any]:
        found = self.spark.read.format("hudi").load(self.lake.path(table))
        return Counter(map(tuple, found.select(*columns).collect()))

    def _table(self, table: str) -> DataFrame:
        """Return a table's rows as they are, read once for all that ask."""
        if table not in self.read:
            found = self.spark.read.format("hudi").load(self.lake.path(table))
            columns = [column for column in found.columns if not column.startswith("_hoodie_")]
            rows = found.select(*columns).collect()
            self.read[table] = frame(self.spark, rows, ", ".join(f"{column} bigint" for column in columns))
        return self.read[table]

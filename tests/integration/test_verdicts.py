"""Verdicts on real tables: after every run of an exact pipeline its target is what its SQL makes of the tables as they are.

The histories of ``tests/unit/verdict`` run in a model; here several pipelines read the same Hudi tables, in one session.
Falls under it: rows inserted, updated to and from what a filter keeps, deleted, moved between groups, inserted again; news in
the source alone, in another table alone, in both, in none.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from tests.kit.lake import Lake
from tests.kit.whole import WHOLE

_TABLES = {
    "raw.rows": "id string, ts bigint, g string, a string, v bigint, day string",
    "raw.dim": "id string, ts bigint, x bigint, day string",
}
_CDC = {"hoodie.table.cdc.enabled": "true"}
_DDL = """\
CREATE TABLE derived.{name} ({columns}, at BIGINT NOT NULL, _hoodie_is_deleted BOOLEAN)
USING hudi
TBLPROPERTIES (primaryKey = '{key}', preCombineField = 'at', type = '{kind}')
"""
_TOUCHED = """\
WITH touched AS (
  SELECT g FROM <SRC>
  UNION
  SELECT b.g FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), sums AS (
  SELECT r.g, count(*) AS n, sum(r.v) AS total FROM rows r LEFT SEMI JOIN touched t ON t.g = r.g WHERE r.v > 1 GROUP BY r.g
)
SELECT t.g, s.n, s.total, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted FROM touched t LEFT JOIN sums s ON s.g = t.g
"""
_DIM = "dim: {table: raw.dim}, dim_new: {table: raw.dim, read: incremental, drives: {id: a}}"
_BEFORE = "rows: {table: raw.rows}, before: {table: raw.rows, as_of: checkpoint}"
#: Each pipeline: its key, the target's columns, the inputs, the SQL.
EXACT: Mapping[str, tuple[str, str, str, str]] = {
    "marked": (
        "id",
        "id STRING NOT NULL, v BIGINT, x BIGINT",
        _DIM,
        "SELECT s.id, s.v, d.x, s.ts AS at, s._hoodie_is_deleted OR NOT (s.v > 1) OR d.id IS NULL AS _hoodie_is_deleted\n"
        "FROM <SRC> s LEFT JOIN dim d ON d.id = s.a",
    ),
    "by_group": ("g", "g STRING NOT NULL, n BIGINT, total BIGINT", _BEFORE, _TOUCHED),
    "lined": (
        "id,line",
        "id STRING NOT NULL, line STRING NOT NULL, v BIGINT",
        "",
        "SELECT id, stack(2, 'v', v, 'w', v * 2) AS (line, v), ts AS at, _hoodie_is_deleted FROM <SRC> WHERE id <> 'k1'",
    ),
    "ranked": (
        "id",
        "id STRING NOT NULL, n INT",
        "rows: {table: raw.rows}, rows_new: {table: raw.rows, read: incremental, drives: {g: g}}",
        "SELECT s.id, r.n, <SRC_INSTANT> AS at, s._hoodie_is_deleted FROM <SRC> s LEFT JOIN (\n"
        "  SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY v, id) AS n FROM rows\n) r ON r.id = s.id AND r.g = s.g",
    ),
}
#: The same with one thing wrong, and the change of its example: rows before, and after.
INEXACT: Mapping[str, tuple[str, str, str, str, str]] = {
    "filtered": (
        "ROWS_FILTERED",
        "id",
        "id STRING NOT NULL, v BIGINT",
        "",
        "SELECT id, v, ts AS at, _hoodie_is_deleted FROM <SRC> WHERE v > 1",
    ),
    "left_group": ("OLD_GROUP_NOT_TOUCHED", "g", "g STRING NOT NULL, n BIGINT, total BIGINT", _BEFORE, ""),
}
_LEFT = _TOUCHED.replace(
    "SELECT g FROM <SRC>\n  UNION\n  SELECT b.g FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id",
    "SELECT DISTINCT g FROM <SRC>",
)


def _write(lake: Lake, name: str, key: str, columns: str, inputs: str, sql: str, accepts: str = "", kind: str = "cow") -> None:
    lake.write_file(f"transformers/{name}.sql", sql)
    lake.write_file(f"ddl/{name}.sql", _DDL.format(name=name, key=key, columns=columns, kind=kind))
    lake.write_file(
        f"pipelines/{name}.yml",
        f"ddl: ddl/{name}.sql\ntransform: transformers/{name}.sql\ninputs: {{{inputs}}}\n{accepts}hoodie:\n"
        f'  hoodie.streamer.source.hoodieincr.path: "{lake.path("raw.rows")}"\n'
        "  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT\n",
    )


class Tables:
    """The raw tables as rows, and as Hudi tables.

    Args:
        lake: The lake.
        chance: Draws what happens.
    """

    def __init__(self, lake: Lake, chance: random.Random) -> None:
        self.lake, self.chance, self.clock = lake, chance, 0
        self.rows: dict[str, dict[str, tuple[Any, ...]]] = {"raw.rows": {}, "raw.dim": {}}

    def put(self, table: str, *rows: tuple[Any, ...]) -> None:
        """Write rows, each without its time, in one commit."""
        batch = []
        for key, *rest in rows:
            self.clock += 1
            batch.append((key, self.clock, *rest))
        self.rows[table].update({row[0]: row for row in batch})
        self.lake.land(batch, table=table, schema=_TABLES[table], **_CDC)

    def take(self, table: str, *keys: str) -> None:
        """Delete rows in one commit."""
        gone = [self.rows[table].pop(key) for key in keys if key in self.rows[table]]
        if gone:
            self.lake.land(gone, "delete", table, _TABLES[table], **_CDC)

    def change(self) -> None:
        """Change some rows of one table or of both, in one commit or two each."""
        of = self.chance
        for table in of.choice((["raw.rows"], ["raw.rows"], ["raw.dim"], ["raw.rows", "raw.dim"])):
            keys = of.sample([f"k{n}" for n in range(1, 5)], of.choice((1, 2)))
            if of.random() < 0.3:
                self.take(table, *keys)
            else:
                self.put(table, *(self.row(table, key) for key in keys))

    def row(self, table: str, key: str) -> tuple[Any, ...]:
        """Return a row that is drawn."""
        of = self.chance
        if table == "raw.dim":
            return (key, of.choice((1, 2, None)), "d1")
        stays = self.rows[table].get(key)
        return (
            key,
            of.choice(("g1", "g2")),
            of.choice(("k1", "k2", None)),
            of.choice((0, 1, 2, 5, None)),
            stays[-1] if stays else "d1",
        )


def _recomputed(lake: Lake, sql: str) -> list[tuple[Any, ...]]:
    """Return what a pipeline's SQL makes of the tables as they are, its deleted rows left out."""
    spark = lake.spark
    names = {"SRC": "raw.rows", "rows": "raw.rows", "dim": "raw.dim", "before": "raw.rows"}
    for view, table in ((view, table) for view, table in names.items() if view in sql):
        found = spark.read.format("hudi").load(lake.path(table))
        found = found.where("false") if view == "before" else found
        (found.selectExpr("*", "false AS _hoodie_is_deleted") if view == "SRC" else found).createOrReplaceTempView(view)
    made = spark.sql(sql.replace("<SRC_INSTANT>", "0").replace("<SRC>", "SRC"))
    kept = [c for c in made.columns if c not in ("at", "_hoodie_is_deleted")]
    return sorted(map(tuple, made.where("NOT coalesce(_hoodie_is_deleted, false)").select(*kept).collect()), key=str)


def _published(lake: Lake, name: str) -> list[tuple[Any, ...]]:
    found = lake.spark.read.format("hudi").load(lake.path(f"derived.{name}"))
    kept = [c for c in found.columns if c not in ("at", "_hoodie_is_deleted") and not c.startswith("_hoodie_")]
    return sorted(map(tuple, found.select(*kept).collect()), key=str)


def _follow(lake: Lake, pipelines: Mapping[str, tuple[str, str, str, str]], seed: int, commits: int) -> None:
    tables = Tables(lake, random.Random(seed))
    tables.put("raw.rows", *(tables.row("raw.rows", f"k{n}") for n in range(1, 4)))
    tables.put("raw.dim", ("k1", 1, "d1"))
    for number, (name, (key, columns, inputs, sql)) in enumerate(pipelines.items()):
        _write(lake, name, key, columns, inputs, sql, kind="mor" if number % 2 else "cow")
    for step in range(commits):
        if step:
            tables.change()
        assert {name: one.error for name, one in lake.run_all().items() if one.error} == {}
        for name, (_, _, _, sql) in pipelines.items():
            assert _published(lake, name) == _recomputed(lake, sql), (name, seed, step, tables.rows)


def test_exact_pipelines_equal_their_recompute_after_every_run(lake: Lake) -> None:
    some = EXACT if WHOLE else {name: EXACT[name] for name in ("marked", "by_group")}
    _follow(lake, some, seed=1, commits=2)


@pytest.mark.parametrize("seed", range(2, 8))
def test_more_histories_of_exact_pipelines(lake: Lake, seed: int) -> None:
    _follow(lake, EXACT, seed, commits=7)


def test_the_example_of_an_inexact_pipeline_makes_a_difference(lake: Lake) -> None:
    """A row goes from what a filter keeps to what it drops, and from one group to another: both targets keep what they had."""
    tables = Tables(lake, random.Random(0))
    tables.put("raw.rows", ("k1", "g1", None, 5, "d1"))
    sqls = {}
    for name, (code, key, columns, inputs, sql) in INEXACT.items():
        sqls[name] = sql or _LEFT
        accepts = f"accepts: [{{code: {code}, why: to see it}}]\n"
        _write(lake, name, key, columns, inputs, sqls[name], accepts)
    assert {name: one.error for name, one in lake.run_all().items() if one.error} == {}
    assert {name: _published(lake, name) == _recomputed(lake, sql) for name, sql in sqls.items()} == dict.fromkeys(sqls, True)
    tables.put("raw.rows", ("k1", "g2", None, -1, "d1"))
    lake.run_all()
    assert {name: _published(lake, name) == _recomputed(lake, sql) for name, sql in sqls.items()} == dict.fromkeys(sqls, False)

"""Verdicts on real tables: after every run of an exact pipeline its target is what its SQL makes of the tables as they are.

The histories of ``tests/unit/verdict`` run in a model; here several pipelines read the same Hudi tables, in one session. A
table holds hundreds of histories at once, each with keys and groups of its own: a run costs what it costs for one.
Falls under it: rows inserted, updated to and from what a filter keeps, deleted, moved between groups, inserted again; news in
the source alone, in another table alone, in both, in none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

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
        "SELECT id, stack(2, 'v', v, 'w', v * 2) AS (line, v), ts AS at, _hoodie_is_deleted FROM <SRC> WHERE id NOT LIKE '%k1'",
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
        histories: How many histories the tables hold.
    """

    def __init__(self, lake: Lake, chance: random.Random, histories: int = 1) -> None:
        self.lake, self.chance, self.histories, self.clock = lake, chance, histories, 0
        self.rows: dict[str, dict[str, tuple[Any, ...]]] = {"raw.rows": {}, "raw.dim": {}}

    def put(self, table: str, *rows: tuple[Any, ...]) -> None:
        """Write rows, each without its time, in one commit."""
        batch = []
        for key, *rest in rows:
            self.clock += 1
            batch.append((key, self.clock, *rest))
        self.rows[table].update({row[0]: row for row in batch})
        if batch:
            self.lake.land(batch, table=table, schema=_TABLES[table], **_CDC)

    def take(self, table: str, *keys: str) -> None:
        """Delete rows in one commit."""
        gone = [self.rows[table].pop(key) for key in keys if key in self.rows[table]]
        if gone:
            self.lake.land(gone, "delete", table, _TABLES[table], **_CDC)

    def begin(self) -> None:
        """Write what each history begins with."""
        every = range(self.histories)
        self.put("raw.rows", *(self.row("raw.rows", history, f"k{n}") for history in every for n in range(1, 4)))
        self.put("raw.dim", *((f"h{history}k1", 1, f"d{history % 3}") for history in every))

    def change(self) -> None:
        """Change some rows of one table or of both in each history: a commit of deletes and one of upserts for each table."""
        of = self.chance
        gone: dict[str, list[str]] = {"raw.rows": [], "raw.dim": []}
        new: dict[str, list[tuple[Any, ...]]] = {"raw.rows": [], "raw.dim": []}
        for history in range(self.histories):
            for table in of.choice((["raw.rows"], ["raw.rows"], ["raw.dim"], ["raw.rows", "raw.dim"])):
                keys = of.sample([f"k{n}" for n in range(1, 5)], of.choice((1, 2)))
                if of.random() < 0.3:
                    gone[table] += [f"h{history}{key}" for key in keys]
                else:
                    new[table] += [self.row(table, history, key) for key in keys]
        for table in of.sample(list(gone), 2):
            self.take(table, *gone[table])
            self.put(table, *new[table])

    def row(self, table: str, history: int, key: str) -> tuple[Any, ...]:
        """Return a row that is drawn."""
        of, own = self.chance, f"h{history}"
        if table == "raw.dim":
            return (own + key, of.choice((1, 2, None)), f"d{history % 3}")
        a = of.choice(("k1", "k2", None))
        return (own + key, own + of.choice(("g1", "g2")), a and own + a, of.choice((0, 1, 2, 5, None)), f"d{history % 3}")


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


def _follow(lake: Lake, pipelines: Mapping[str, tuple[str, str, str, str]], seed: int, commits: int, histories: int) -> None:
    tables = Tables(lake, random.Random(seed), histories)
    tables.begin()
    for number, (name, (key, columns, inputs, sql)) in enumerate(pipelines.items()):
        _write(lake, name, key, columns, inputs, sql, kind="mor" if number % 2 else "cow")
    for step in range(commits):
        if step:
            tables.change()
        assert {name: one.error for name, one in lake.run_all().items() if one.error} == {}
        for name, (_, _, _, sql) in pipelines.items():
            published, recomputed = Counter(_published(lake, name)), Counter(_recomputed(lake, sql))
            assert (published - recomputed, recomputed - published) == (Counter(), Counter()), (name, seed, step)


def test_exact_pipelines_equal_their_recompute_after_every_run(lake: Lake) -> None:
    some = EXACT if WHOLE else {name: EXACT[name] for name in ("marked", "by_group")}
    _follow(lake, some, seed=1, commits=2, histories=50)


def test_a_thousand_histories_of_exact_pipelines(lake: Lake) -> None:
    _follow(lake, EXACT, seed=2, commits=6, histories=1000)


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

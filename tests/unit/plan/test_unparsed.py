"""SQL that cannot be parsed without Spark: what is told of it, and that what Spark takes is not spoken of."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.plan.unparsed import unparsed
from freshet.project.load.project import load_project
from freshet.project.syntax.statements import split_statements

ROOT = Path(__file__).parents[3]
#: Forms that Spark 3.5 takes and that other dialects lack, one of each kind.
OF_SPARK = (
    "SELECT /*+ BROADCAST(a) */ * FROM a TABLESAMPLE (10 PERCENT)",
    "FROM <SRC> SELECT id",
    "FROM <SRC> SELECT TRANSFORM(id) USING 'cat' AS (b)",
    "SELECT * FROM VALUES (1, 2) AS t(a, b)",
    "TABLE <SRC>",
    "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1",
    "CREATE TEMPORARY VIEW v USING parquet OPTIONS (path 'x')",
    "CACHE LAZY TABLE t AS SELECT 1",
    "SET spark.sql.shuffle.partitions = 2; SELECT 1 FROM <SRC>",
    "SET a = this is (no SQL; SELECT 1",
    "SELECT a FROM x CLUSTER BY a",
    "SELECT a FROM x DISTRIBUTE BY b SORT BY c",
    "SELECT * FROM x PIVOT (sum(a) FOR b IN ('c'))",
    "SELECT * FROM x UNPIVOT (v FOR n IN (a, b))",
    "WITH a AS (SELECT 1) SELECT * FROM a LATERAL VIEW OUTER explode(b) t AS c",
    "SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.x = a.x)",
    "SELECT a.*, struct(b AS c) AS d FROM x a LEFT ANTI JOIN y USING (id)",
    "SELECT * EXCEPT (a) FROM x",
    "SELECT stack(2, a, b) AS (c, d) FROM x",
    "SELECT timestamp'2020-01-01', INTERVAL 1 DAY, x'AB', 1L, 2S, 1.5BD, r'\\d', 'a' 'b' FROM x",
    "SELECT a DIV b, a <=> b, !c, ~d, a RLIKE 'b' FROM x",
    "SELECT count(*) FILTER (WHERE a), any_value(a) IGNORE NULLS FROM x",
    "SELECT window.start, window(at, '1 hour'), sum(a) OVER w FROM x GROUP BY window(at, '1 hour') WINDOW w AS (ORDER BY b)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM x",
    "SELECT transform(a, (x, i) -> x + i), map(1, 2)[1], named_struct('a', 1).a, `a-b`.c['d'][0] FROM y",
    "SELECT /* a /* nested */ comment */ 1 AS order FROM <SRC> WHERE n <= <SRC_INSTANT>",
)


@pytest.mark.parametrize("text", OF_SPARK)
def test_what_spark_takes_is_not_spoken_of(text: str) -> None:
    assert list(unparsed(split_statements(text))) == []


def test_no_example_is_spoken_of() -> None:
    steps = [step for spec in load_project(ROOT, environ={}).pipelines for step in spec.transform if step.statements]
    assert len(steps) >= 6
    assert [one for step in steps for one in unparsed(step.statements)] == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("SELECT id\n, amount FRM <SRC>", 2, "unexpected '`SRC`'"),
        ("SELECT 1;\n\nSELECT *\nFROM <SRC> WHERE (a = 1", 4, "expecting )"),
        ("SELECT * FROM <SRC> WHERE a = = 1", 1, "something is missing at '='"),
        ("SELEC a FROM <SRC>", 1, "unexpected 'FROM'"),
        ("SELECT CASE WHEN a THEN b FROM <SRC>", 1, "expected END"),
        ("SELECT a b c FROM <SRC>", 1, "unexpected 'c'"),
        ("SELECT " + "(" * 5000 + "1", 1, ""),
    ],
)
def test_where_it_stops_and_at_what(text: str, line: int, words: str) -> None:
    """The line is the file's, of the statement that is wrong; nothing that anybody writes is a traceback."""
    ((found, said),) = unparsed(split_statements(text))
    assert (found, words in said) == (line, True), said

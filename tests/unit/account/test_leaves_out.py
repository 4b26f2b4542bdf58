"""Which parts of the SQL can leave rows out: more than do rather than fewer, so that the only one that can surely did."""

from __future__ import annotations

import pytest

from freshet.account.leaves_out import leaves_out
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import split_statements
from tests.kit.memory import a_spec


def sql(text: str, file: str = "t.sql") -> TransformSpec:
    return TransformSpec(file=file, kind="sql", statements=split_statements(text))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("SELECT a, b + 1 AS c FROM <SRC>", []),
        ("SELECT s.a, o.b FROM <SRC> s LEFT JOIN other o ON s.a = o.a", []),
        ("SELECT a FROM <SRC> UNION ALL SELECT a FROM other", []),
        ("SELECT a, count(*) FILTER (WHERE b > 1) OVER (PARTITION BY a) AS n FROM <SRC>", []),
        ("SELECT a FROM <SRC> WHERE b > 1", ["WHERE (t.sql:1)"]),
        ("SELECT a, count(DISTINCT b) AS n FROM <SRC> GROUP BY a", ["GROUP BY (t.sql:1)"]),
        ("SELECT max(a) AS a FROM <SRC>", ["an aggregate (t.sql:1)"]),
        ("SELECT DISTINCT a FROM <SRC>", ["DISTINCT (t.sql:1)"]),
        ("SELECT s.a FROM <SRC> s JOIN other o ON s.a = o.a", ["JOIN (t.sql:1)"]),
        ("SELECT a FROM <SRC> s LEFT ANTI JOIN other o ON s.a = o.a", ["LEFT ANTI JOIN (t.sql:1)"]),
        ("SELECT a FROM <SRC> UNION SELECT a FROM other", ["UNION (t.sql:1)"]),
        ("SELECT a, explode(b) AS c FROM <SRC>", ["explode (t.sql:1)"]),
        (
            "CREATE TEMP VIEW v AS SELECT * FROM <SRC> WHERE a > 1;\nSELECT * FROM v LIMIT 3",
            ["WHERE (t.sql:1)", "LIMIT (t.sql:2)"],
        ),
        ("WITH v AS (SELECT * FROM <SRC> WHERE a > 1) SELECT * FROM v WHERE b > 1", ["WHERE (t.sql:1)"] * 2),
    ],
)
def test_parts_of_a_statement(text: str, parts: list[str]) -> None:
    found = leaves_out(a_spec(transform=(sql(text),)))
    assert sorted(found) == sorted(parts)


def test_a_python_step_may_leave_out_anything_unless_it_goes_row_by_row() -> None:
    steps = (sql("SELECT a FROM <SRC>"), TransformSpec(file="t.py", kind="python"))
    assert leaves_out(a_spec(transform=steps)) == ("transform() of t.py",)
    assert leaves_out(a_spec(transform=steps, row_by_row=True)) == ()


def test_a_statement_that_nobody_understands_may_leave_out_anything() -> None:
    assert leaves_out(a_spec(transform=(sql("SELECT ((( FROM <SRC>"),))) == ("a statement that is not analysed (t.sql:1)",)

"""The names that a SQL gives its columns, and what of the DDL is not among them: told without Spark.

The kind: a column that the text shows to be missing, and that a run would find out after its JVM has started; and one that
is said to be missing though Spark finds it, which is worse.
"""

from __future__ import annotations

import pytest

from freshet.cases.missing import missing_columns
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import split_statements
from freshet.types.columns import Atomic, Column
from freshet.verdict.judge import judge
from tests.kit.memory import a_spec, a_table_spec
from tests.kit.verdict.case import Case

_HEAD = {
    "source": "id* a s updated_at^",
    "inputs": {"d": {"columns": "id* x^"}},
    "target": "id* updated_at^ _hoodie_is_deleted",
    "expect": "",
}


def names(text: str, **head: object) -> tuple[str, ...] | None:
    output = Case(name="it.sql", text=text, head={**_HEAD, **head}).verdict.output
    return None if output is None else output.names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT id, a AS b, upper(a), (a), cast(a AS int) FROM <SRC>", ("id", "b", "", "a", "a")),
        ("SELECT id a, s.x, s.y.z FROM <SRC>", ("a", "x", "z")),
        ("SELECT * FROM <SRC>", ("id", "a", "s", "updated_at", "_hoodie_is_deleted")),
        (
            "SELECT t.*, 1 AS n FROM <SRC> t LEFT JOIN d ON d.id = t.a",
            ("id", "a", "s", "updated_at", "_hoodie_is_deleted", "n"),
        ),
        ("SELECT * EXCEPT (a, s, _hoodie_is_deleted) FROM <SRC>", ("id", "updated_at")),
        ("SELECT id FROM <SRC> UNION ALL SELECT a FROM <SRC>", ("id",)),
        ("SELECT id, stack(2, 'a', 1, 'b', 2) AS (k, v), explode(array(1)) FROM <SRC>", ("id", "k", "v", "col")),
        ("SELECT id, json_tuple(a, 'x', 'y') FROM <SRC>", ("id", "c0", "c1")),
        ("SELECT id, window(updated_at, '1 hour') FROM <SRC> GROUP BY 1, 2", ("id", "window")),
        # Grouped of a part: of the rows nothing can be said, of their columns all.
        ("SELECT a, count(*) AS n FROM <SRC> GROUP BY a", ("a", "n")),
        ("SELECT a, count(*) FROM <SRC> GROUP BY a", ("a", "")),
        ("CACHE TABLE c AS SELECT id FROM <SRC>; SELECT id AS x FROM c", ("x",)),
        ("SELECT id AS x FROM <SRC>\n-- next file\nSELECT * FROM <SRC>", ("x",)),
        ("SELECT x AS y FROM (SELECT id AS x FROM <SRC>) LIMIT 1", ("y",)),
    ],
)
def test_names_that_are_sure(text: str, expected: tuple[str, ...]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, s.* FROM <SRC>",
        "SELECT id, posexplode(array(1)) FROM <SRC>",
        "SELECT id, my_rows(a) FROM <SRC>",
        "FROM <SRC> SELECT TRANSFORM(id) USING 'cat' AS (b)",
        "SELECT * FROM <SRC> PIVOT (max(a) FOR s IN (1, 2))",
        "SELECT * FROM nobody_knows",
        "SELECT id FRM <SRC>",
        "SELECT id FROM <SRC>\n-- python step\n",
    ],
)
def test_names_that_are_not(text: str) -> None:
    assert names(text) is None


def test_of_a_table_of_unknown_columns_a_star_says_nothing() -> None:
    assert names("SELECT * FROM <SRC>", facts=False) is None
    assert names("SELECT id, a FROM <SRC>", facts=False) == ("id", "a")


def test_a_missing_comma_is_told_by_its_line() -> None:
    columns = [("id", False), ("amount", True), ("tip", True), ("at", True)]
    target = a_table_spec(
        columns=tuple(Column(name=name, type=Atomic("string"), nullable=nullable) for name, nullable in columns),
        record_key=("id",),
        ordering_field="at",
        partition_by=(),
        column_lines={name: line for line, (name, _) in enumerate(columns, 2)},
    )

    def found(text: str) -> list[tuple[int, str, str]]:
        step = TransformSpec(file="t.sql", kind="sql", statements=split_statements(text))
        spec = a_spec(target=target, inputs=(), transform=(step,))
        return [(one.line, one.code, one.hint) for one in missing_columns([spec], {spec.name: judge(spec, {})})]

    assert found("SELECT id, amount, tip, at FROM <SRC>") == []
    ((line, code, hint),) = found("SELECT id,\n  amount\n  tip,\n  at\nFROM <SRC>")
    assert (line, code, "t.sql:2 has 'amount tip'" in hint, "comma" in hint) == (3, "BATCH_MISMATCH", True, True)
    ((line, _, hint),) = found("SELECT id, amount AS tip, at FROM <SRC>")
    assert (line, "comma" in hint) == (3, False)
    ((line, _, hint),) = found("SELECT id, amount, tips AS tipp, at FROM <SRC>")
    assert (line, hint) == (4, "Did you mean 'tipp'?")

"""Files of test cases: what is accepted, what is refused and at which line, and that what is written reads back the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.cases.case import Case, Shape
from freshet.cases.load import build_cases, check_owners, read_fixture
from freshet.cases.reads import check_reads_of_cases
from freshet.cases.shape import validate_fixture
from freshet.cases.text import case_lines, table_line, text_of, with_case
from freshet.cases.values import RowSet, value_of
from freshet.errors import FreshetError
from freshet.problems import Problems
from freshet.project.load.project import load_project
from freshet.project.syntax.yaml_nodes import MapNode
from freshet.project.syntax.yaml_text import parse_yaml
from freshet.types.columns import Atomic, Column, DataType
from freshet.types.from_sql import parse_type
from tests.kit.project import a_project
from tests.kit.values import VALUES

FILE = "pipelines/tests/payments.yml"
TABLES = 'tables:\n  SRC: {schema: "id string, amount decimal(10,2), updated_at timestamp, n int", key: id}\n'
COLUMNS = (
    Column(name="id", type=Atomic("string")),
    Column(name="amount", type=parse_type("decimal(10,2)")),
    Column(name="at", type=Atomic("timestamp")),
)
Cases = Callable[..., tuple[tuple[Case, ...], list[tuple[str, int, str]]]]


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    """Return a function that loads a file of cases: the cases, and the problems as (file, line, code)."""

    def load(text: str, **files: str) -> tuple[tuple[Case, ...], list[tuple[str, int, str]]]:
        root = a_project(tmp_path, files={FILE: text, **{f"pipelines/tests/{n}.csv": t for n, t in files.items()}})
        problems = Problems()
        spec = load_project(root).pipelines[0]
        content = read_fixture(root, spec, problems)
        made = build_cases(root, spec, content, content.tables, problems) if content else ()
        if content:
            check_reads_of_cases(spec, content, made, content.tables, problems)
        return made, [(p.file, p.line, p.code) for p in problems.found]

    return load


def test_rows_become_typed_values(cases: Cases) -> None:
    (case,), problems = cases(
        TABLES
        + """\
cases:
  a:
    vars: {rate: 5, on: true}
    source_instant: 20260101000000000
    given:
      SRC:
        - {id: 007, AMOUNT: 1.5, updated_at: "2026-01-05T10:00:00+02:00"}
        - {n: null}
    expect:
      rows:
        - {id: "7", amount: 2}
        - {amount: 3}
"""
    )
    assert problems == []
    first, second = case.given["SRC"].rows
    assert first == {"id": "007", "amount": Decimal("1.50"), "updated_at": datetime(2026, 1, 5, 8, tzinfo=timezone.utc)}
    assert second == {"n": None}
    assert case.given["SRC"].columns == ("id", "amount", "updated_at", "n")
    assert case.rows is not None
    assert case.rows.columns == ("id", "amount")
    assert (case.variables, case.source_instant) == ({"rate": "5", "on": "true"}, "20260101000000000")
    assert not case.on_tables


def test_a_target_wants_tables(cases: Cases) -> None:
    made, problems = cases(TABLES + "cases:\n  a: {expect: {target: []}}\n  b: {given: {target: []}, expect: {error: X}}\n")
    assert problems == []
    assert [case.on_tables for case in made] == [True, True]


@pytest.mark.parametrize(
    ("tables", "expect", "problem"),
    [
        ('tables:\n  SRC: {schema: "trip string"}\n', "target: []", (FILE, 2, "KEY_UNKNOWN")),
        ('tables:\n  SRC: {schema: "trip string"}\n', "rows: []", None),
        # A pipeline that keeps its source's key needs not say so.
        ('tables:\n  SRC: {schema: "id string"}\n', "target: []", None),
        ("", "target: []", (FILE, 2, "SCHEMA_UNKNOWN")),
        ("", "rows: []", (FILE, 2, "SCHEMA_UNKNOWN")),
    ],
)
def test_what_a_case_reads_is_known_before_anything_runs(
    cases: Cases,
    tables: str,
    expect: str,
    problem: tuple[str, int, str] | None,
) -> None:
    """Once for a table, whatever number of cases reads it."""
    _, problems = cases(f"{tables}cases:\n  a: {{expect: {{{expect}}}}}\n  b: {{expect: {{{expect}}}}}\n")
    assert problems == ([problem] if problem else [])


def test_rows_may_stand_in_a_csv_file(cases: Cases) -> None:
    text = TABLES + "cases:\n  a: {given: {SRC: rows.csv}, expect: {rows: []}}\n"
    (case,), problems = cases(text, rows='id,amount,updated_at\n"a,b",1.50,2026-01-05 10:00:00\nc,,\n')
    assert problems == []
    assert case.given["SRC"].rows == (
        {"id": "a,b", "amount": Decimal("1.50"), "updated_at": datetime(2026, 1, 5, 10, tzinfo=timezone.utc)},
        # The header names them: where such a row is expected, these nulls are.
        {"id": "c", "amount": None, "updated_at": None},
    )
    _, problems = cases(text, rows="id,amout\na,1\nb,2,3\n")
    assert problems == [("pipelines/tests/rows.csv", 3, "BAD_VALUE"), ("pipelines/tests/rows.csv", 1, "UNKNOWN_COLUMN")]
    _, problems = cases(text.replace("rows.csv", "../rows.csv"))
    assert problems == [(FILE, 4, "PATH_OUTSIDE_PROJECT")]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("cases: {}\n", 3, "WRONG_TYPE"),
        ("cases:\n  a: {}\n", 4, "MISSING_KEY"),
        ("cases:\n  a:\n    expect: {}\n", 5, "MISSING_KEY"),
        ("case:\n  a: {expect: {rows: []}}\n", 3, "UNKNOWN_KEY"),
        ("cases:\n  a:\n    givn: {}\n    expect: {rows: []}\n", 5, "UNKNOWN_KEY"),
        ("cases:\n  a:\n    expect:\n      row: []\n", 6, "UNKNOWN_KEY"),
        ("cases:\n  a:\n    expect: {rows: [], error: X}\n", 5, "BAD_VALUE"),
        ("cases:\n  a:\n    expect:\n      rows: 5\n", 6, "WRONG_TYPE"),
        ("cases:\n  a:\n    source_instant: now\n    expect: {rows: []}\n", 5, "BAD_VALUE"),
        ("cases:\n  a:\n    source_instant: 20260101000000\n    expect: {target: []}\n", 5, "BAD_VALUE"),
        ("cases:\n  a:\n    expect:\n      checks: {nope: failed}\n", 6, "UNKNOWN_CHECK"),
        ("cases:\n  a:\n    given:\n      SRX: []\n    expect: {rows: []}\n", 6, "UNKNOWN_INPUT"),
        ("cases:\n  a:\n    given:\n      SRC:\n        - {idd: 1}\n    expect: {rows: []}\n", 7, "UNKNOWN_COLUMN"),
        (
            "cases:\n  a:\n    given:\n      SRC:\n        - {id: 1}\n        - {n: 1.5}\n    expect: {rows: []}\n",
            8,
            "BAD_VALUE",
        ),
        ("cases:\n  a:\n    given:\n      SRC:\n        - {amount: 1.234}\n    expect: {rows: []}\n", 7, "BAD_VALUE"),
        ("cases:\n  a:\n    given:\n      SRC:\n        - {updated_at: noon}\n    expect: {rows: []}\n", 7, "BAD_VALUE"),
        ("cases:\n  a:\n    given:\n      SRC:\n        - {n: 3000000000}\n    expect: {rows: []}\n", 7, "BAD_VALUE"),
        ("cases:\n  a:\n    expect:\n      rows:\n        - {n: 1}\n", 7, "UNKNOWN_COLUMN"),
        ("cases:\n  a: {expect: {rows: []}}\n  a: {expect: {rows: []}}\n", 5, "DUPLICATE_KEY"),
    ],
)
def test_what_is_wrong_has_its_line(cases: Cases, text: str, line: int, code: str) -> None:
    assert (FILE, line, code) in cases(TABLES + text)[1]


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('SRC: {schema: "id strin"}', "BAD_VALUE"),
        ('SRC: {schema: "id string", key: idd}', "UNKNOWN_COLUMN"),
        ('cities: {schema: "id string"}', "UNKNOWN_INPUT"),
        ('SRC: {shema: "id string"}', "UNKNOWN_KEY"),
    ],
)
def test_declared_tables_are_checked(cases: Cases, table: str, code: str) -> None:
    assert (FILE, 2, code) in cases(f"tables:\n  {table}\ncases:\n  a: {{expect: {{rows: []}}}}\n")[1]


def test_a_table_that_nobody_knows_cannot_be_given(cases: Cases) -> None:
    _, problems = cases("cases:\n  a:\n    given:\n      SRC: []\n    expect: {rows: []}\n")
    assert problems == [(FILE, 4, "SCHEMA_UNKNOWN")]


def test_cases_of_no_pipeline_are_told(tmp_path: Path) -> None:
    root = a_project(tmp_path, files={"pipelines/tests/payment.yml": "", "pipelines/tests/payments.yaml": ""})
    problems = Problems()
    check_owners(root, problems)
    assert [(p.file, p.code) for p in problems.found] == [
        ("pipelines/tests/payment.yml", "UNKNOWN_PIPELINE"),
        ("pipelines/tests/payments.yaml", "BAD_NAME"),
    ]
    assert "'payments'" in problems.found[0].hint
    # And the loader takes none of them for a pipeline.
    assert [p.name for p in load_project(root).pipelines] == ["payments"]


def _read(text: str, kind: DataType) -> Any:
    problems = Problems()
    tree = parse_yaml(f"rows: [{{v: {text}}}]\n", "f.yml", problems)
    assert problems.found == []
    assert isinstance(tree, MapNode)
    return value_of(tree.entries["rows"].items[0].entries["v"], kind)  # type: ignore[union-attr]


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_what_is_written_reads_back_the_same(kind: str, value: object) -> None:
    found = parse_type(kind)
    assert _read(text_of(value, found), found) == value


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_any_text_reads_back_the_same(value: str) -> None:
    assert _read(text_of(value, Atomic("string")), Atomic("string")) == value


def _a_case(name: str) -> list[str]:
    moments = (None, datetime(2026, 1, 5, tzinfo=timezone.utc))
    rows = RowSet(
        ("id", "amount", "at"),
        tuple({"id": "x" * 60 + str(n), "amount": Decimal("1.50"), "at": at} for n, at in enumerate(moments)),
    )
    return case_lines(name, {"SRC": (COLUMNS, rows), "cities": (COLUMNS, RowSet((), ()))}, COLUMNS, rows)


def test_a_new_file_reads_back_the_same(cases: Cases) -> None:
    declared = [table_line("SRC", Shape(columns=COLUMNS, record_key=("id",), ordering="at"))]
    text = with_case(FILE, "", "first", [line for line in _a_case("first") if "cities" not in line], declared)
    assert text.startswith("tables:\n  SRC: {schema: ")
    assert max(map(len, text.splitlines())) <= 128
    (case,), problems = cases(
        text.replace("at: null", "updated_at: null")
        .replace(", at:", ", updated_at:")
        .replace("at timestamp", "updated_at timestamp")
        .replace("ordering: at", "ordering: updated_at")
    )
    assert problems == []
    assert case.given["SRC"].rows[1]["updated_at"] == datetime(2026, 1, 5, tzinfo=timezone.utc)
    assert "updated_at" not in case.given["SRC"].rows[0]
    assert case.rows is not None
    assert case.rows.rows[0]["updated_at"] is None


def test_a_case_is_added_and_the_rest_stays(cases: Cases) -> None:
    before = (
        '# of mine\ntables:\n    SRC: {schema: "id string"}  # kept\n\n# and this\ncases:\n    a:\n        expect: {rows: []}\n'
    )
    text = with_case(FILE, before, "b", _a_case("b"), ['cities: {schema: "x int"}'])
    assert all(line in text for line in before.splitlines())
    assert '\n    cities: {schema: "x int"}\n' in text
    assert "\n    b:\n      given:\n" in text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cases:\n  b: {expect: {rows: []}}\n", "CASE_EXISTS"),
        ("cases: {a: {expect: {rows: []}}}\n", "NOT_APPENDABLE"),
        ("cases:\n  a: {expect: {rows: []}}\ntables: {}\n", "NOT_APPENDABLE"),
    ],
)
def test_a_case_that_cannot_be_added_is_refused(text: str, code: str) -> None:
    with pytest.raises(FreshetError) as found:
        with_case(FILE, text, "b", _a_case("b"), [])
    assert found.value.code == code


def test_the_example_of_the_docs_is_valid() -> None:
    page = (Path(__file__).parents[3] / "docs/tests.md").read_text("utf-8")
    problems = Problems()
    tree = parse_yaml(page.partition("```yaml\n")[2].partition("```")[0], "docs/tests.md", problems)
    assert tree is not None
    content = validate_fixture(tree, problems)
    assert problems.found == []
    assert content is not None
    assert len(content.cases) == 3

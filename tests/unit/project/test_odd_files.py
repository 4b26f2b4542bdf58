"""Files that are no files, quotes that stay open, words of SQL: each is named for what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freshet.errors import SpecError
from freshet.project.load.project import load_project
from tests.kit.project import DDL, a_project
from tests.unit.project.conftest import Check, seen


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize(
    "name",
    [
        "pipelines/payments.yml",
        "configs/base.yml",
        "configs/local.yml",
        "ddl/payments.sql",
        "transformers/payments.sql",
    ],
)
def test_what_is_no_ordinary_file_is_said_to_be_none(tmp_path: Path, name: str, kind: str) -> None:
    """A pipe that would be waited for, a folder: of a pipeline, a config, a DDL, a transformer."""
    root = a_project(tmp_path)
    path = root / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(SpecError) as raised:
        load_project(root, environ={})
    assert {problem.code for problem in raised.value.problems} == {"NOT_A_FILE"}


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("SELECT id, 'x amount, updated_at FROM <SRC>\n", 1),
        ('SELECT id,\n  "x amount, updated_at FROM <SRC>\n', 2),
        ("SELECT id, `x amount, updated_at FROM <SRC>\n", 1),
        ("SELECT id /* a /* nested */ comment\nFROM <SRC>\n", 1),
        ("SELECT id, r'x amount, updated_at FROM <SRC>\n", 1),
        ("SELECT 'a\\' FROM <SRC>\n", 1),
        ("SELECT id FROM <SRC> WHERE a = 'b\\", 1),
        ("SELECT id FROM <SRC> -- it's\nWHERE a = 'b\n", 2),
    ],
)
def test_a_quote_or_comment_that_stays_open(problems_of: Check, sql: str, line: int) -> None:
    """Single and double quotes, names, raw texts, nested comments, an escaped end."""
    assert seen(problems_of({"transformers/payments.sql": sql})) == [("transformers/payments.sql", line, "SQL_UNCLOSED")]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, 'it''s', r'\\', \"a\\\"b\", `a``b` FROM <SRC> -- it's\n",
        "SELECT id /* it's /* \" */ ` */ FROM <SRC> /**/\n",
        "SELECT '' FROM <SRC> -- '\n",
    ],
)
def test_what_is_closed_is_left_alone(problems_of: Check, sql: str) -> None:
    assert problems_of({"transformers/payments.sql": sql}) == []


def test_a_word_of_sql_as_a_column_gets_the_hint_of_backticks(problems_of: Check) -> None:
    text = DDL.format(name="payments").replace("amount", "select")
    (problem,) = problems_of({"ddl/payments.sql": text})
    assert (problem.code, "backtick" in problem.hint) == ("DDL_SYNTAX", True)
    assert problems_of({"ddl/payments.sql": text.replace("select", "`select`")}) == []

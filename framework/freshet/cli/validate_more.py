"""What ``freshet validate`` looks at beside the pipelines: files of test cases, and SQL as far as its text shows."""

from __future__ import annotations

from pathlib import Path

from freshet.cases.load import read_fixture
from freshet.errors import SpecError
from freshet.plan.spark_keys import spark_notices
from freshet.plan.unparsed import sql_notices
from freshet.problems import Problems
from freshet.project.model.pipeline import Project

#: What is said where Spark was not asked.
NOT_DEEP = (
    "  Not looked at: whether each column that the SQL names is there, its type, and the Python steps. With Spark: "
    "freshet validate --deep"
)


def check_cases(project: Project) -> None:
    """Check the structure of the selected pipelines' files of test cases; their rows are looked at when they run.

    Raises:
        SpecError: Every problem of every file.
    """
    problems = Problems()
    for spec in project.pipelines:
        read_fixture(Path(project.root), spec, problems)
    if problems.found:
        raise SpecError(problems.found)


def unparsed_sql(project: Project) -> list[dict[str, str]]:
    """Return what is to be known of SQL that cannot be parsed without Spark."""
    return [{"code": one.code, "message": one.message} for spec in project.pipelines for one in sql_notices(spec)]


def misspelt_settings(project: Project) -> list[dict[str, str]]:
    """Return what is to be known of settings that Spark does not know; of those of all pipelines, once."""
    found = dict.fromkeys(one for spec in project.pipelines for one in spark_notices(spec))
    return [{"code": one.code, "message": one.message} for one in found]


def lines_of(notices: list[dict[str, str]], is_deep: bool) -> list[str]:
    """Return the lines that follow the result for people.

    Args:
        notices: See ``unparsed_sql`` and ``misspelt_settings``.
        is_deep: Whether Spark has analysed the SQL.
    """
    return [*(f"  {one['code']}: {one['message']}" for one in notices), *([] if is_deep else [NOT_DEEP])]

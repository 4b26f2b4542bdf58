"""What Spark and Hudi raise, in freshet's words."""

from __future__ import annotations

import pytest

from freshet.sinks.failures import in_words
from tests.kit.memory import TARGET

RAISED = "org.apache.spark.SparkRuntimeException: FRESHET_REFUSED|OVERFLOW|rides|int|9999999999|trip_id=a|"
GONE = "Caused by: java.io.FileNotFoundException: File file:%s/a.parquet does not exist"
PLANNED = "substring(concat(FRESHET_REFUSED|OVERFLOW|rides|int|, substring(coalesce(cast(rides#1 as string), null), 1, 200), |"


def test_a_value_that_does_not_fit_is_named() -> None:
    error = in_words(TARGET, f"An error occurred.\n: java.lang.RuntimeException\nCaused by: {RAISED}")
    assert (error.code, error.details["column"], error.details["value"], error.details["row"]) == (
        "OVERFLOW", "rides", "9999999999", "trip_id=a")


def test_a_plan_that_holds_the_refusal_is_no_refusal() -> None:
    """Spark shows the plan with errors of its own; what it would have raised was not raised."""
    said = f"[UNRESOLVED_COLUMN] A column with name `at` cannot be resolved.;\n+- Project [CASE WHEN {PLANNED} END]"
    assert in_words(TARGET, f"org.apache.spark.sql.AnalysisException: {said}").code == "WRITE_FAILED"
    assert in_words(TARGET, f"{said}\nCaused by: {RAISED}").code == "OVERFLOW"


@pytest.mark.parametrize(("text", "code"), [
    ("Caused by: org.apache.hudi.exception.HoodieLockException: no lock", "LOCK_NOT_TAKEN"),
    ("Caused by: org.apache.hudi.exception.HoodieWriteConflictException: a conflict", "COMMIT_CONFLICT"),
    (GONE % "/lake/raw/trips", "SOURCE_CHANGED_UNDER_READ"),
    (GONE % TARGET.path, "COMMIT_CONFLICT"),
])
def test_what_may_succeed_later(text: str, code: str) -> None:
    error = in_words(TARGET, f"An error occurred.\n{text}")
    assert (error.code, error.exit_code) == (code, 4)

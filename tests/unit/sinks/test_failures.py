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
        "OVERFLOW",
        "rides",
        "9999999999",
        "trip_id=a",
    )


@pytest.mark.parametrize(
    ("kind", "value", "code", "says"),
    [
        ("date", "23/11/2026", "NOT_OF_TYPE", "yyyy-MM-dd"),
        ("date", "2026-02-30", "NOT_OF_TYPE", "of the calendar"),
        ("timestamp", "23.11.2026 10:00", "NOT_OF_TYPE", "yyyy-MM-dd HH:mm:ss"),
        ("boolean", "yes", "NOT_OF_TYPE", "true or false"),
        ("int", "ten", "NOT_OF_TYPE", "a number is expected"),
        ("decimal(10,2)", "1,50", "NOT_OF_TYPE", "a point before"),
        ("decimal(10,2)", "100000000", "OVERFLOW", "does not fit into decimal(10,2)"),
        ("bigint", "1.5", "OVERFLOW", "does not fit"),
        ("int", " 9e99", "OVERFLOW", "does not fit"),
        ("string", "a\ufffd", "BAD_BYTES", "no UTF-8"),
        ("array<string>", "[a\ufffd]", "BAD_BYTES", "no UTF-8"),
    ],
)
def test_a_value_is_named_for_what_it_is(kind: str, value: str, code: str, says: str) -> None:
    """A text of another form is no number that is too large, and bytes that are no text are neither."""
    error = in_words(TARGET, f"Caused by: x.SparkRuntimeException: FRESHET_REFUSED|OVERFLOW|day|{kind}|{value}|id=a|")
    assert (error.code, says in error.message, error.details["value"]) == (code, True, value), error


def test_a_plan_that_holds_the_refusal_is_no_refusal() -> None:
    """Spark shows the plan with errors of its own; what it would have raised was not raised."""
    said = f"[UNRESOLVED_COLUMN] A column with name `at` cannot be resolved.;\n+- Project [CASE WHEN {PLANNED} END]"
    assert in_words(TARGET, f"org.apache.spark.sql.AnalysisException: {said}").code == "WRITE_FAILED"
    assert in_words(TARGET, f"{said}\nCaused by: {RAISED}").code == "OVERFLOW"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Caused by: org.apache.hudi.exception.HoodieLockException: no lock", "LOCK_NOT_TAKEN"),
        ("Caused by: org.apache.hudi.exception.HoodieWriteConflictException: a conflict", "COMMIT_CONFLICT"),
        (GONE % "/lake/raw/trips", "SOURCE_CHANGED_UNDER_READ"),
        (GONE % TARGET.path, "COMMIT_CONFLICT"),
    ],
)
def test_what_may_succeed_later(text: str, code: str) -> None:
    error = in_words(TARGET, f"An error occurred.\n{text}")
    assert (error.code, error.exit_code) == (code, 4)

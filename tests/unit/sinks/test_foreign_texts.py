"""What other programs raise is shown as one short line that says which table it is about.

Of this kind: exceptions of Java with hundreds of frames, of Spark with the plan behind them, of Python workers with their
traceback, and one-line messages with a whole schema in them; from a read, a transformer, a check, a write or a service.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from freshet.errors import FreshetError, StateError, foreign_text, unforeseen
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.sinks.failures import in_words
from tests.kit.memory import TARGET

FRAMEWORK = Path(__file__).parents[3] / "framework" / "freshet"
EVENTS, CITIES = TableRef("raw.events", "/lake/raw/events"), TableRef("dim.city", "/lake/raw/events_of_cities")
FRAMES = "\n".join(f"\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:{number})" for number in range(60))
SCHEMA = '["null",{"type":"record","name":"BooleanWrapper"},' * 60
CORRUPT = "Caused by: java.lang.RuntimeException: file:{}/d/a.parquet is not a Parquet file. Expected magic number at tail"
JAVA = f"An error occurred while calling o12.save.\n: org.apache.hudi.exception.HoodieException: Failed\n{FRAMES}\n"
WORKER = (
    "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: \n"
    "  An exception was thrown from the Python worker. Please see the stack trace below.\n"
    'Traceback (most recent call last):\n  File "/p/transformers/a.py", line 3, in f\n    return 1 / x\n'
    f"ZeroDivisionError: division by zero\n\n{FRAMES}\n\nDriver stacktrace:\n{FRAMES}"
)
TEXTS = {
    "java": f"{JAVA}Caused by: java.io.IOException: disk full\n{FRAMES}\n\t... 61 more\n",
    "schema": f"{JAVA}Caused by: org.apache.avro.UnresolvedUnionException: Not in union {SCHEMA}: 2026-01-05\n{FRAMES}",
    "lines": f"{JAVA}Caused by: a.b.SchemaException: Dropping is not allowed.\n\n - missing: at, b\nTable: c\n{FRAMES}\n",
    "no cause": JAVA,
    "plan": "[UNRESOLVED_COLUMN] A column `at` cannot be resolved.;\n'Project ['at]\n+- Relation [a#1]" + " x" * 900,
    "debug": f"[X] it failed.\n\nJVM stacktrace:\norg.apache.spark.SparkException\n{FRAMES}",
    "worker": WORKER,
    "empty": "",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("reading", [False, True])
def test_a_message_is_short_and_has_no_trace(name: str, reading: bool) -> None:
    for error in (in_words(TARGET, TEXTS[name], (EVENTS,), reading), unforeseen(RuntimeError(TEXTS[name]), "copy")):
        for shown in (error.message, str(error.details.get("cause", ""))):
            assert len(shown) <= 600
            assert not re.search(r"\n|\bat org\.|Traceback|stacktrace|'Project", shown), shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lines", "SchemaException: Dropping is not allowed. - missing: at, b Table: c"),
        ("java", "IOException: disk full"),
        ("worker", "ZeroDivisionError: division by zero"),
        ("plan", "[UNRESOLVED_COLUMN] A column `at` cannot be resolved."),
        ("debug", "[X] it failed."),
        ("no cause", "HoodieException: Failed"),
        ("empty", "no message"),
    ],
)
def test_what_is_shown_is_where_it_began(name: str, shown: str) -> None:
    assert foreign_text(TEXTS[name]) == shown


@pytest.mark.parametrize(
    ("path", "reading", "code", "table"),
    [
        (EVENTS.path, False, "FILE_CORRUPT", EVENTS.name),
        (EVENTS.path, True, "FILE_CORRUPT", EVENTS.name),
        (CITIES.path, False, "FILE_CORRUPT", CITIES.name),
        (TARGET.path, True, "FILE_CORRUPT", TARGET.name),
        (TARGET.path, False, "FILE_CORRUPT", TARGET.name),
        ("/elsewhere", False, "WRITE_FAILED", EVENTS.name),
        ("/elsewhere", True, "BATCH_FAILED", EVENTS.name),
    ],
)
def test_the_table_that_failed_is_named(path: str, reading: bool, code: str, table: str) -> None:
    """Spark reads a source while it writes the target: whose file it was stands in the causes alone."""
    error = in_words(TARGET, f"{JAVA}{CORRUPT.format(path)}\n{FRAMES}", (EVENTS, CITIES), reading)
    assert error.code == code
    assert table in error.message
    assert (EVENTS.name in error.message) == (table == EVENTS.name)


def test_a_function_of_a_python_step_is_the_users() -> None:
    assert (in_words(TARGET, WORKER).code, in_words(TARGET, WORKER).exit_code) == ("PYTHON_ERROR", 6)


def test_a_table_that_nobody_may_look_at_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: object, path: str) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("freshet.storage.files.LocalStorage.read", refused)
    with pytest.raises(StateError) as error:
        TimelineState().table(TableRef("raw.events", str(tmp_path)))
    assert error.value.code == "STORAGE_REFUSED"
    assert error.value.message.startswith("raw.events ")


def test_no_error_has_an_endless_message() -> None:
    assert len(FreshetError("X", "column " * 1000).message) <= 600


def _shown_raw(path: Path) -> list[str]:
    """Return where a handler of Spark's or Java's exceptions puts their text into words by itself."""
    found = []
    for handler in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
            continue
        if not re.search(r"Py4J|PySpark|Analysis|ParseException|'Exception'", ast.dump(handler.type)):
            continue
        # Looked at, or handed on.
        fine = [
            id(one)
            for node in ast.walk(handler)
            for one in (
                node.comparators
                if isinstance(node, ast.Compare)
                else node.args
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "in_words"
                else ()
            )
        ]
        texts = [
            node
            for node in ast.walk(handler)
            if id(node) not in fine
            and (
                ast.unparse(node) == f"str({handler.name})"
                if isinstance(node, ast.Call)
                else isinstance(node, ast.FormattedValue) and ast.unparse(node.value) == handler.name
            )
        ]
        found += [f"{path.relative_to(FRAMEWORK)}:{node.lineno}" for node in texts]
    return found


#: Processes of their own, without freshet: who asked them puts their answers into words.
APART = ("project/syntax/template_sandbox.py", "storage/remote.py")


def test_every_foreign_text_passes_one_place() -> None:
    modules = [path for path in sorted(FRAMEWORK.rglob("*.py")) if str(path.relative_to(FRAMEWORK)) not in APART]
    assert [place for path in modules for place in _shown_raw(path)] == []

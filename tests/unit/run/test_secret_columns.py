"""Before a batch is held against the DDL, the columns that a Python step has made are looked at: with what they came from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql.types import LongType, StringType, StructType

from freshet.errors import DataError
from freshet.plan.row_parts import enforce_schema_stage
from freshet.project.model.steps import TransformSpec
from freshet.run.steps.check import _refuse_secret_names
from freshet.run.steps.work import Work
from freshet.secrets import REDACTOR
from tests.kit.memory import COLUMNS, a_spec

SECRET = "violetkumquat77"


def rows(*names: str) -> Any:
    schema = StructType()
    for name in names:
        schema = schema.add(name, StructType().add("inner", LongType()) if name == "nested" else StringType())
    return SimpleNamespace(schema=schema, columns=list(names))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None)):
        monkeypatch.setattr(REDACTOR, name, empty)
    REDACTOR.register("S", SECRET)


def refused(root: Path, made: str, *, evolution: str = "add_columns", kind: str = "python", raw: str = "id") -> str:
    (root / "step.py").write_text("def transform(inputs, context): ...\n")
    spec = a_spec(evolution=evolution, transform=(TransformSpec(file="step.py", kind=cast(Any, kind)),))
    work = SimpleNamespace(
        spec=spec,
        root=str(root),
        batch=rows(*(column.name for column in COLUMNS), made),
        source=rows(raw),
        inputs={"SRC": rows(made), "other": rows("x", "nested")},
        plan=SimpleNamespace(window=SimpleNamespace(kind="increment")),
    )
    try:
        _refuse_secret_names(cast(Work, work), enforce_schema_stage(spec))
    except DataError as error:
        return error.code
    return ""


def test_a_column_of_a_python_step_that_holds_a_secret_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, f"x_{SECRET}") == "SECRET_IN_NAME"
    assert refused(tmp_path, "amount_2") == ""


def test_what_came_with_a_table_or_adds_no_column_is_left(tmp_path: Path) -> None:
    """A column of the source is kept there already; what the contract does not let in is refused by its own code."""
    assert refused(tmp_path, f"x_{SECRET}", raw=f"X_{SECRET}") == ""
    assert refused(tmp_path, f"x_{SECRET}", evolution="nothing") == ""
    # What a SQL names is looked at when the files are loaded.
    assert refused(tmp_path, f"x_{SECRET}", kind="sql") == ""

"""Which columns are not compared: those that say when a row was computed, under whatever names they pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.audit.left_out import left_out
from freshet.project.model.steps import TransformSpec
from freshet.project.syntax.statements import split_statements
from freshet.types.columns import Atomic, Column
from tests.kit.memory import COLUMNS, a_spec, a_table_spec


def of(*texts: str) -> tuple[str, ...]:
    steps = tuple(
        TransformSpec(file=f"transformers/{n}.sql", kind="sql", statements=split_statements(text))
        for n, text in enumerate(texts)
    )
    return left_out(a_spec(transform=steps), "/nowhere")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["SELECT trip_id, fare, updated_at FROM <SRC>"], ()),
        (["SELECT trip_id, '<SRC_INSTANT>' AS fare FROM <SRC>"], ()),
        (["SELECT trip_id, fare, <SRC_INSTANT> AS updated_at FROM <SRC>"], ("updated_at",)),
        (
            ["SELECT trip_id, cast(<SRC_INSTANT> AS timestamp) AS updated_at, <SRC_INSTANT> + 1 AS rides FROM <SRC>"],
            ("rides", "updated_at"),
        ),
        (
            ["WITH a AS (SELECT *, <SRC_INSTANT> AS at FROM <SRC>) SELECT trip_id, greatest(at, 0) AS updated_at FROM a"],
            ("updated_at",),
        ),
        (["SELECT trip_id, <SRC_INSTANT> AS at FROM <SRC>", "SELECT trip_id, at AS updated_at FROM <SRC>"], ("updated_at",)),
        (
            ["CREATE TEMPORARY VIEW v AS SELECT trip_id, <SRC_INSTANT> AS x FROM <SRC>; SELECT trip_id, x AS rides FROM v"],
            ("rides",),
        ),
        (
            ["SELECT trip_id, window.start AS rides, <SRC_INSTANT> AS updated_at FROM <SRC> GROUP BY window(at, '1 hour')"],
            ("updated_at",),
        ),
        # Nobody can tell what becomes of it: by the ordering field it comes last.
        (["SELECT t.* FROM (SELECT * FROM <SRC> WHERE fare < <SRC_INSTANT>) t"], ("updated_at",)),
        # What tells rows apart is compared all the same.
        (["SELECT <SRC_INSTANT> AS trip_id, <SRC_INSTANT> AS day, <SRC_INSTANT> AS updated_at FROM <SRC>"], ("updated_at",)),
    ],
)
def test_what_comes_from_the_instant(texts: list[str], expected: tuple[str, ...]) -> None:
    assert of(*texts) == expected


def test_a_python_step_that_asks_for_the_instant(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text("def transform(inputs, context):\n    return context.source_instant\n")
    step = TransformSpec(file="step.py", kind="python")
    assert left_out(a_spec(transform=(step,)), str(tmp_path)) == ("updated_at",)
    (tmp_path / "step.py").write_text("def transform(inputs, context):\n    return inputs['SRC']\n")
    assert left_out(a_spec(transform=(step,)), str(tmp_path)) == ()


def test_the_mark_of_deleted_rows_is_no_value() -> None:
    marked = a_table_spec(columns=(*COLUMNS, Column(name="_hoodie_is_deleted", type=Atomic("boolean"))))
    assert left_out(a_spec(target=marked, transform=()), "/nowhere") == ("_hoodie_is_deleted",)

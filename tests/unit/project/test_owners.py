"""Two pipelines that write one table: each owns columns of its own, or the project is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from tests.kit.project import DDL, PIPELINE, SQL, a_project
from tests.unit.project.conftest import Check

FIRST, SECOND = "pipelines/payments.yml", "pipelines/tips.yml"
TABLE = DDL.format(name="payments").replace("updated_at TIMESTAMP\n", "updated_at TIMESTAMP,\n  tip DECIMAL(10,2)\n")


def owning(name: str, *columns: str) -> str:
    text = PIPELINE.format(name=name, source="events").replace(f"ddl/{name}", "ddl/payments")
    return text + (f"write: {{strategy: merge, columns: [{', '.join(columns)}], ordering: {columns[0]}}}\n" if columns else "")


def files(first: tuple[str, ...], second: tuple[str, ...]) -> dict[str, str | bytes]:
    return {
        "ddl/payments.sql": TABLE,
        FIRST: owning("payments", *first),
        SECOND: owning("tips", *second),
        "transformers/tips.sql": SQL,
    }


def of_ownership(problems_of: Check, first: tuple[str, ...], second: tuple[str, ...]) -> list[tuple[str, str]]:
    codes = ("DUPLICATE_TARGET", "OVERLAPPING_COLUMNS")
    return [(p.file, p.code) for p in problems_of(files(first, second)) if p.code in codes]


def test_disjoint_columns_make_partners(tmp_path: Path) -> None:
    project = load_project(a_project(tmp_path, files=files(("amount", "updated_at"), ("tip",))), environ={})
    assert {p.name: (p.co_writers, p.write.columns) for p in project.pipelines} == {
        "payments": (("tips",), ("amount", "updated_at")),
        "tips": (("payments",), ("tip",)),
    }


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (("amount", "tip"), ("tip",), "OVERLAPPING_COLUMNS"),
        (("amount", "TIP"), ("tip",), "OVERLAPPING_COLUMNS"),
        ((), ("tip",), "DUPLICATE_TARGET"),
        (("amount",), (), "DUPLICATE_TARGET"),
        ((), (), "DUPLICATE_TARGET"),
    ],
    ids=["shared", "shared in another case", "first writes whole rows", "second writes whole rows", "both write whole rows"],
)
def test_what_two_own_is_refused(problems_of: Check, first: tuple[str, ...], second: tuple[str, ...], code: str) -> None:
    assert of_ownership(problems_of, first, second) == [(SECOND, code)]


def test_one_that_orders_by_the_tables_field_is_refused(problems_of: Check) -> None:
    changed = files(("amount",), ("tip",))
    changed[FIRST] = str(changed[FIRST]).replace(", ordering: amount", "")
    found = [(p.file, p.code) for p in problems_of(changed) if p.code == "SHARED_ORDERING"]
    assert found == [(FIRST, "SHARED_ORDERING")]


def test_the_one_that_was_asked_for_is_enough(problems_of: Check) -> None:
    found = problems_of(files(("tip",), ("tip",)), names=["payments"])
    assert "OVERLAPPING_COLUMNS" in {p.code for p in found}

"""LOCATION in a DDL's text: found and changed where it stands, templates and all; and the names of a table's successors."""

from __future__ import annotations

import pytest

from freshet.project.model.paths import migration_suffix, next_place, place_before
from freshet.project.syntax.ddl import location_text, with_location
from freshet.project.syntax.files import ProjectFiles

TABLE = "CREATE TABLE d.t (\n  id STRING COMMENT 'no LOCATION ''x'' -- TBLPROPERTIES'\n)\nUSING hudi"


@pytest.mark.parametrize(
    ("text", "said", "after"),
    [
        (
            f"{TABLE}\nLOCATION '{{{{ var.r }}}}/t' -- LOCATION 'other'\n",
            "{{ var.r }}/t",
            f"{TABLE}\nLOCATION 'NEW' -- LOCATION 'other'\n",
        ),
        (f'{TABLE} location "s3://b/t"', "s3://b/t", f'{TABLE} location "NEW"'),
        (
            f"/* LOCATION 'c' */ {TABLE}\r\nTBLPROPERTIES (type = 'cow')",
            None,
            f"/* LOCATION 'c' */ {TABLE}\r\nLOCATION 'NEW'\nTBLPROPERTIES (type = 'cow')",
        ),
        (
            f"{TABLE} -- TBLPROPERTIES\nPARTITIONED BY (id);",
            None,
            f"{TABLE}\nLOCATION 'NEW' -- TBLPROPERTIES\nPARTITIONED BY (id);",
        ),
        ("CREATE TABLE d.t (id STRING)", None, None),
    ],
)
def test_the_clause_alone_changes(text: str, said: str | None, after: str | None) -> None:
    assert location_text(text) == said
    assert with_location(text, "NEW") == after


@pytest.mark.parametrize(
    ("place", "following", "before"),
    [
        ("/lake/trips", "/lake/trips__m2", ""),
        ("/lake/trips__m2/", "/lake/trips__m3", "/lake/trips"),
        ("s3://b/t__m10", "s3://b/t__m11", "s3://b/t__m9"),
        ("{{ var.root }}/t", "{{ var.root }}/t__m2", ""),
        ("/lake/trips__m", "/lake/trips__m__m2", ""),
    ],
)
def test_each_successor_has_a_name_of_its_own(place: str, following: str, before: str) -> None:
    assert (next_place(place), place_before(place)) == (following, before)
    assert migration_suffix(following).startswith("__m")


def test_a_text_stands_for_its_file(tmp_path: object) -> None:
    files = ProjectFiles(tmp_path, {"ddl/t.sql": "text"})  # type: ignore[arg-type]
    assert files.read("ddl/t.sql", None, "DDL file", None) == "text"  # type: ignore[arg-type]

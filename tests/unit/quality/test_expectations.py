"""Names, arguments and suite files of Great Expectations, without GX and without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from freshet.project.rules.expectation_names import CATALOGUE_FILE, catalogue, parsed
from freshet.quality.expectations import check_names, passes, suite_of

INLINE = {"expect_column_values_to_not_be_null": {"column": "fare", "mostly": 0.9}}
EXPORTED = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "fare", "mostly": 0.9}, "meta": {"a": 1}}


def test_the_catalogue_is_of_the_release_that_is_installed() -> None:
    assert json.loads(CATALOGUE_FILE.read_text())["release"] == version("great-expectations")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("expect_column_values_to_be_between", "row"),
        ("expect_column_pair_values_to_be_equal", "row"),
        ("expect_compound_columns_to_be_unique", "row"),
        ("expect_column_mean_to_be_between", "aggregate"),
        ("expect_table_row_count_to_equal", "aggregate"),
        # On Spark the type stands in the schema, and no row is looked at.
        ("expect_column_values_to_be_of_type", "aggregate"),
        # Registered like the others, and there is no implementation for Spark.
        ("expect_column_values_to_match_like_pattern", "unsupported"),
        ("expect_table_row_count_to_equal_other_table", "unsupported"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert catalogue()[name].kind == kind


def test_both_forms_say_the_same() -> None:
    assert parsed(INLINE) == parsed(EXPORTED) == ("expect_column_values_to_not_be_null", {"column": "fare", "mostly": 0.9})
    assert parsed({"expect_table_columns_to_match_set": None}) == ("expect_table_columns_to_match_set", {})


def test_what_is_right_is_no_problem() -> None:
    counted = {"expect_table_row_count_to_be_between": {"min_value": 1, "severity": "warning"}}
    assert check_names([INLINE, EXPORTED, counted]) == []


@pytest.mark.parametrize(
    ("item", "said", "hint"),
    [
        ("expect_table_row_count_to_equal", "a name with its arguments", "Write"),
        ({"expect_a": {}, "expect_b": {}}, "here are 2", "Write"),
        ({"expect_column_values_to_not_be_null": ["fare"]}, "by name", "Write"),
        ({"type": 7, "kwargs": {}}, "a text", "Write"),
        (
            {"expect_column_value_to_not_be_null": {"column": "a"}},
            "unknown expectation",
            "'expect_column_values_to_not_be_null'",
        ),
        ({"expect_column_values_to_be_between": {"colum": "fare"}}, "no argument 'colum'", "'column'"),
        ({"expect_column_values_to_be_in_set": {"column": "fare"}}, "needs the argument 'value_set'", ""),
        ({"expect_column_values_to_match_like_pattern": {"column": "a", "like_pattern": "x%"}}, "on Spark", "Did you mean"),
        ({"expect_column_values_to_be_increasing": {"column": "a"}}, "needs an order", "SQL check"),
        ({"unexpected_rows_expectation": {"unexpected_rows_query": "SELECT 1"}}, "a query of its own", "SQL check"),
        ({"expect_column_max_to_be_between": {"column": "a", "max_value": {"$PARAMETER": "top"}}}, "parameter 'top'", "value"),
    ],
)
def test_what_is_wrong_is_said_with_a_hint(item: object, said: str, hint: str) -> None:
    problems = check_names([INLINE, item])
    assert {index for index, *_ in problems} == {1}
    assert any(said in problem and hint in suggestion for _, problem, suggestion in problems), problems


def test_every_problem_is_found_at_once() -> None:
    found = check_names([{"expect_colum_to_exist": {}}, INLINE, {"expect_column_to_exist": {"columns": "a"}}])
    assert [index for index, *_ in found] == [0, 2, 2]


def test_a_suite_of_gx_1_and_one_of_gx_0_18_are_read_alike() -> None:
    of_1 = {
        "name": "rides",
        "id": None,
        "expectations": [
            {"id": "7", "severity": "critical", **EXPORTED},
            {"type": "expect_table_column_count_to_equal", "kwargs": {"value": 3}},
        ],
        "meta": {"great_expectations_version": "1.24.1"},
        "notes": None,
    }
    of_0 = {
        "expectation_suite_name": "rides",
        "ge_cloud_id": None,
        "data_asset_type": None,
        "expectations": [
            {
                "expectation_type": EXPORTED["type"],
                "meta": {"a": 1},
                "kwargs": {**EXPORTED["kwargs"], "result_format": "BASIC", "catch_exceptions": False, "include_config": True},
            },  # type: ignore[dict-item]
            {"expectation_type": "expect_table_column_count_to_equal", "meta": {}, "kwargs": {"value": 3, "auto": True}},
        ],
    }
    assert (
        suite_of(json.dumps(of_1))
        == suite_of(json.dumps(of_0))
        == [EXPORTED, {"type": "expect_table_column_count_to_equal", "kwargs": {"value": 3}, "meta": {}}]
    )
    assert check_names(suite_of(json.dumps(of_1))) == []


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"expectations": {}}', '{"expectations": [1]}', '{"expectations": [{"type": 1}]}'],
)
def test_what_is_no_suite_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|no suite|expectation 1"):
        suite_of(text)


def test_mostly_counts_as_in_gx() -> None:
    assert passes(0, 0, 1.0)
    assert passes(1, 10, 0.9)
    assert not passes(2, 10, 0.9)


def test_importing_the_module_does_not_import_gx() -> None:
    code = "import sys, freshet.quality.expectations; sys.exit('great_expectations' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

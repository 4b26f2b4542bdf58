"""Great Expectations' verdicts, found in one pass, against its own `batch.validate`."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError
from freshet.project.rules.expectation_names import CATALOGUE_FILE
from freshet.project.rules.generate_expectation_names import facts
from freshet.quality.expectations import Outcome, evaluate_aggregates, passes, row_conditions
from tests.benchmarks.expectations import gx_batch, gx_validate, rows_read

SCHEMA = "id INT, fare DOUBLE, city STRING, low INT, high INT, note STRING, day DATE, seen STRING"
ROWS = [
    (1, 10.0, "Oslo", 1, 2, '{"a": 1}', date(2026, 1, 1), "2026-01-01"),
    (2, -3.5, "Rome", 5, 2, "{", date(2026, 1, 2), "2026-13-01"),
    (3, None, None, 3, None, None, None, None),
    (3, math.nan, "Oslo", None, None, "[]", date(2026, 1, 2), "2026-01-02"),
    (5, 10.0, "Riga", 2, 2, '"x"', date(2026, 1, 1), "yesterday"),
    (None, 250.0, "", 7, 1, '{"a": "b"}', date(2025, 12, 31), "2026-01-04"),
    (6, 0.0, "Oslo", 4, 9, None, date(2026, 1, 3), "2026-02-30"),
    (7, None, "Rome", 1, 2, "null", None, "2026-01-06"),
]
OSLO = "city = 'Oslo'"
ROW_LEVEL: list[dict[str, dict[str, Any]]] = [
    {"expect_column_values_to_not_be_null": {"column": "fare", "mostly": 0.7}},
    {"expect_column_values_to_be_null": {"column": "note", "mostly": 0.2}},
    {"expect_column_values_to_be_between": {"column": "fare", "min_value": 0, "max_value": 100, "mostly": 0.5}},
    {"expect_column_values_to_be_between": {"column": "fare", "min_value": 0, "strict_min": True, "row_condition": OSLO}},
    {"expect_column_values_to_be_in_set": {"column": "city", "value_set": ["Oslo", "Rome"]}},
    {"expect_column_values_to_not_be_in_set": {"column": "city", "value_set": ["Riga"], "mostly": 0.8}},
    {"expect_column_value_lengths_to_be_between": {"column": "city", "min_value": 1, "max_value": 4}},
    {"expect_column_value_lengths_to_equal": {"column": "city", "value": 4, "mostly": 0.8}},
    {"expect_column_values_to_match_regex": {"column": "city", "regex": "^[OR]"}},
    {"expect_column_values_to_not_match_regex_list": {"column": "city", "regex_list": ["^R", "o$"]}},
    {"expect_column_values_to_be_unique": {"column": "id"}},
    {
        "expect_column_values_to_be_unique": {
            "column": "fare",
            "row_condition": 'col("low") > 1',
            "condition_parser": "great_expectations",
        }
    },
    {"expect_column_values_to_be_json_parseable": {"column": "note"}},
    {"expect_column_values_to_match_strftime_format": {"column": "seen", "strftime_format": "%Y-%m-%d"}},
    {"expect_column_value_z_scores_to_be_less_than": {"column": "high", "threshold": 1, "double_sided": True}},
    {
        "expect_column_pair_values_a_to_be_greater_than_b": {
            "column_A": "high",
            "column_B": "low",
            "or_equal": True,
            "ignore_row_if": "either_value_is_missing",
        }
    },
    {"expect_column_pair_values_to_be_equal": {"column_A": "low", "column_B": "high", "mostly": 0.1}},
    {"expect_column_pair_values_to_be_in_set": {"column_A": "low", "column_B": "high", "value_pairs_set": [[1, 2], [2, 2]]}},
    {"expect_compound_columns_to_be_unique": {"column_list": ["low", "high"]}},
    {"expect_compound_columns_to_be_unique": {"column_list": ["low", "high"], "row_condition": OSLO, "ignore_row_if": "never"}},
    {
        "expect_multicolumn_sum_to_equal": {
            "column_list": ["low", "high"],
            "sum_total": 3,
            "ignore_row_if": "any_value_is_missing",
        }
    },
    {"expect_select_column_values_to_be_unique_within_record": {"column_list": ["low", "high"]}},
]
AGGREGATE: list[dict[str, dict[str, Any]]] = [
    {"expect_table_row_count_to_equal": {"value": 8}},
    {"expect_table_row_count_to_be_between": {"min_value": 4, "row_condition": OSLO}},
    {"expect_table_columns_to_match_set": {"column_set": ["id", "fare"], "exact_match": False}},
    {"expect_table_columns_to_match_ordered_list": {"column_list": ["id", "fare"]}},
    {"expect_column_to_exist": {"column": "tip"}},
    {"expect_column_values_to_be_of_type": {"column": "fare", "type_": "DoubleType"}},
    {"expect_column_mean_to_be_between": {"column": "low", "min_value": 3, "max_value": 4}},
    {"expect_column_mean_to_be_between": {"column": "fare", "min_value": 3, "row_condition": OSLO}},
    {"expect_column_sum_to_be_between": {"column": "high", "min_value": 19}},
    {"expect_column_min_to_be_between": {"column": "day", "min_value": "2026-01-01"}},
    {"expect_column_max_to_be_between": {"column": "high", "max_value": 9, "strict_max": True}},
    {"expect_column_stdev_to_be_between": {"column": "low", "max_value": 3}},
    {"expect_column_median_to_be_between": {"column": "fare", "min_value": 9, "max_value": 11}},
    {"expect_column_median_to_be_between": {"column": "high", "max_value": 1}},
    {
        "expect_column_quantile_values_to_be_between": {
            "column": "fare",
            "quantile_ranges": {"quantiles": [0.0, 0.3, 0.5, 1.0], "value_ranges": [[-4, -3], [None, 5], [9, 11], [250, 250]]},
        }
    },
    {"expect_column_distinct_values_to_be_in_set": {"column": "city", "value_set": ["Oslo", "Rome"]}},
    {"expect_column_distinct_values_to_contain_set": {"column": "city", "value_set": ["Oslo", "Bari"]}},
    {"expect_column_distinct_values_to_equal_set": {"column": "city", "value_set": ["Oslo", "Rome", "Riga", ""]}},
    {"expect_column_unique_value_count_to_be_between": {"column": "city", "max_value": 4}},
    {"expect_column_proportion_of_unique_values_to_be_between": {"column": "id", "min_value": 0.9}},
    {"expect_column_proportion_of_non_null_values_to_be_between": {"column": "id", "min_value": 0.8}},
    {"expect_column_most_common_value_to_be_in_set": {"column": "city", "value_set": ["Oslo"]}},
]
BOTH = [*ROW_LEVEL, *AGGREGATE]


@pytest.fixture(scope="module")
def batch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Rows in the order in which they stand above, in a file, so that reading them can be counted."""
    path = str(tmp_path_factory.mktemp("expectations") / "batch")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def counts(batch: DataFrame, suite: list[Any]) -> list[tuple[int, int, float]]:
    """Return how many rows were unexpected and how many counted, by one aggregate, with what must be as expected."""
    found = row_conditions(suite, batch)
    judged = batch.select(
        *(c.condition.alias(f"u{c.index}") for c in found),
        *((F.lit(True) if c.nonnull is None else c.nonnull).alias(f"n{c.index}") for c in found),
    )
    row = judged.agg(*(F.count(F.when(F.col(name), 1)).alias(name) for name in judged.columns)).collect()[0]
    return [(row[f"u{c.index}"], row[f"n{c.index}"], c.mostly) for c in found]


@pytest.fixture(scope="module")
def theirs(batch: DataFrame) -> list[dict[str, Any]]:
    """What GX itself says of each; as one suite, because each by itself would take three times as long."""
    return gx_validate(gx_batch(batch), BOTH)


def test_the_catalogue_is_what_gx_registers() -> None:
    from great_expectations.expectations import registry

    names = registry.list_registered_expectation_implementations()
    assert json.loads(CATALOGUE_FILE.read_text())["expectations"] == {name: facts(name, registry) for name in sorted(names)}


def test_unexpected_rows_are_those_of_gx(batch: DataFrame, theirs: list[dict[str, Any]]) -> None:
    ours_of_all = zip(ROW_LEVEL, counts(batch, BOTH), theirs[: len(ROW_LEVEL)], strict=True)
    for item, (unexpected, counted, mostly), result in ours_of_all:
        ours = (unexpected, passes(unexpected, counted, mostly))
        assert ours == (result["result"].get("unexpected_count"), result["success"]), (item, result)


def test_verdicts_on_the_whole_batch_are_those_of_gx(batch: DataFrame, theirs: list[dict[str, Any]]) -> None:
    found = evaluate_aggregates(BOTH, batch)
    assert [o.index for o in found] == list(range(len(ROW_LEVEL), len(BOTH)))
    for item, outcome, result in zip(AGGREGATE, found, theirs[len(ROW_LEVEL) :], strict=True):
        assert (outcome.success, outcome.exception) == (result["success"], ""), (item, outcome, result)
        if result["result"].get("observed_value") is not None:
            assert outcome.observed == result["result"]["observed_value"], item


def test_one_pass_for_all_conditions_and_one_for_all_aggregates(spark: SparkSession, batch: DataFrame) -> None:
    without = [
        item
        for item in BOTH
        if not {"expect_column_value_z_scores_to_be_less_than", "expect_column_most_common_value_to_be_in_set"} & set(item)
    ]
    assert rows_read(spark, lambda: row_conditions(without, batch)) == 0
    assert rows_read(spark, lambda: counts(batch, without)) == len(ROWS)
    assert rows_read(spark, lambda: evaluate_aggregates(without, batch)) == len(ROWS)


@pytest.mark.parametrize("where", ["false", "city IS NULL"])
def test_no_rows_and_no_values(batch: DataFrame, where: str) -> None:
    few = batch.where(where)
    suite = [item for item in ROW_LEVEL if "expect_column_values_to_not_be_null" not in item]
    for item, (unexpected, counted, mostly) in zip(suite, counts(few, suite), strict=True):
        if "city" in str(item) or where == "false":
            assert (unexpected, passes(unexpected, counted, mostly)) == (0, True), item
    by_name = {(o.name, o.index): o for o in evaluate_aggregates(AGGREGATE, few)}
    assert all(isinstance(o, Outcome) for o in by_name.values())
    # No mean of nothing: GX calls it a failure, and does not raise.
    mean = by_name["expect_column_mean_to_be_between", 7]
    assert (mean.success, mean.observed, mean.exception) == (False, None, "")


def test_what_does_not_fit_the_batch_is_said_all_at_once(batch: DataFrame) -> None:
    with pytest.raises(DataError) as raised:
        row_conditions(
            [
                {"expect_column_values_to_be_unique": {"column": "Fare"}},
                {"expect_column_pair_values_to_be_equal": {"column_A": "low", "column_B": "hihg"}},
                {"expect_column_values_to_be_between": {"column": "low", "min_value": 5, "max_value": 1, "mostly": 7}},
            ],
            batch,
        )
    assert raised.value.code == "EXPECTATION_UNUSABLE"
    problems = "\n".join(raised.value.details["problems"])  # type: ignore[arg-type]
    assert all(part in problems for part in ("'Fare'", "'fare'", "'hihg'", "'high'", "mostly")), problems
    with pytest.raises(DataError, match="tip"):
        row_conditions([{"expect_column_values_to_be_unique": {"column": "low", "row_condition": "tip > 1"}}], batch)


def test_what_gx_cannot_do_with_a_column_is_an_outcome(batch: DataFrame) -> None:
    found = evaluate_aggregates(
        [
            {"expect_column_mean_to_be_between": {"column": "city", "min_value": 1}},
            {"expect_column_max_to_be_between": {"column": "low", "max_value": 7}},
        ],
        batch,
    )
    assert [o.success for o in found] == [False, True]
    assert "numeric" in found[0].exception


def test_unexpected_rows_can_be_told_from_the_others(batch: DataFrame) -> None:
    unique, between = row_conditions(
        [
            {"expect_column_values_to_be_unique": {"column": "id"}},
            {"expect_column_values_to_be_between": {"column": "low", "max_value": 4}},
        ],
        batch,
    )
    marked = batch.withColumn("double", unique.condition).withColumn("high_low", between.condition)
    assert {r.id for r in marked.where("double").collect()} == {3}
    assert {r.low for r in marked.where("high_low").collect()} == {5, 7}
    assert marked.where("double IS NULL OR high_low IS NULL").isEmpty()

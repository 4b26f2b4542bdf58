"""A suite of Great Expectations in two passes over the batch, against GX evaluating one expectation after the other."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.jvm.session import start_session
from freshet.quality.expectations import evaluate_aggregates, passes, row_conditions
from tests.benchmarks import configuration
from tests.benchmarks.timing import show, spread

_SPARK = {"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}
_MOST_PASSES = 2
_OSLO = "city = 'c1'"
SUITE: list[dict[str, dict[str, Any]]] = [
    *({"expect_column_values_to_not_be_null": {"column": c}} for c in ("id", "city", "fare", "tip", "at", "day")),
    {"expect_column_values_to_be_unique": {"column": "id"}},
    {"expect_column_values_to_be_between": {"column": "fare", "min_value": 0, "max_value": 400}},
    {"expect_column_values_to_be_between": {"column": "tip", "min_value": 0, "mostly": 0.95}},
    {"expect_column_values_to_be_between": {"column": "distance", "min_value": 0, "row_condition": _OSLO}},
    {"expect_column_values_to_be_in_set": {"column": "city", "value_set": [f"c{n}" for n in range(20)]}},
    {"expect_column_values_to_be_in_set": {"column": "payment", "value_set": ["card", "cash"], "mostly": 0.5}},
    {"expect_column_values_to_not_be_in_set": {"column": "payment", "value_set": ["none"]}},
    {"expect_column_values_to_match_regex": {"column": "id", "regex": "^r[0-9]+$"}},
    {"expect_column_values_to_not_match_regex": {"column": "city", "regex": " "}},
    {"expect_column_value_lengths_to_be_between": {"column": "id", "min_value": 2, "max_value": 12}},
    {"expect_column_value_lengths_to_be_between": {"column": "city", "max_value": 3}},
    {"expect_column_pair_values_a_to_be_greater_than_b": {"column_A": "fare", "column_B": "tip", "mostly": 0.9}},
    {"expect_compound_columns_to_be_unique": {"column_list": ["id", "day"]}},
    {"expect_select_column_values_to_be_unique_within_record": {"column_list": ["id", "city"]}},
    {"expect_table_row_count_to_be_between": {"min_value": 1}},
    {"expect_table_columns_to_match_set": {"column_set": ["id", "fare", "tip"], "exact_match": False}},
    {"expect_column_values_to_be_of_type": {"column": "fare", "type_": "DoubleType"}},
    {"expect_column_mean_to_be_between": {"column": "fare", "min_value": 10, "max_value": 300}},
    {"expect_column_mean_to_be_between": {"column": "tip", "min_value": 0, "row_condition": _OSLO}},
    {"expect_column_median_to_be_between": {"column": "distance", "min_value": 1, "max_value": 40}},
    {
        "expect_column_quantile_values_to_be_between": {
            "column": "distance",
            "quantile_ranges": {"quantiles": [0.05, 0.5, 0.95], "value_ranges": [[0, 5], [10, 40], [30, 50]]},
        }
    },
    {"expect_column_max_to_be_between": {"column": "at", "min_value": 1}},
    {"expect_column_distinct_values_to_be_in_set": {"column": "city", "value_set": [f"c{n}" for n in range(20)]}},
    {"expect_column_unique_value_count_to_be_between": {"column": "day", "min_value": 7, "max_value": 7}},
]


def compare(rows: int, repetitions: int) -> dict[str, object]:
    """Evaluate a suite of 30 expectations both ways on the same file, and print passes and time.

    Args:
        rows: Rows of the batch.
        repetitions: Measured rounds, after one that warms up.

    Returns:
        The figures; ``kept`` says that two passes were enough, and that both ways gave the same verdicts.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    spark = start_session(_SPARK)
    try:
        return {**_compare(spark, str(folder / "batch"), rows, repetitions), "configuration": configuration.of_session(_SPARK)}
    finally:
        spark.stop()
        shutil.rmtree(folder)


def _compare(spark: SparkSession, path: str, rows: int, repetitions: int) -> dict[str, object]:
    _land(spark, path, rows)
    batch = spark.read.parquet(path)
    whole = gx_batch(batch)
    ways: dict[str, Callable[[], list[bool]]] = {
        "together": lambda: _together(batch),
        "one by one": lambda: [bool(gx_validate(whole, [item])[0]["success"]) for item in SUITE],
    }
    passes_of: dict[str, list[float]] = {way: [] for way in ways}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    verdicts: list[list[bool]] = []
    for number in range(repetitions + 1):
        for way in sorted(ways, reverse=bool(number % 2)):
            start = time.perf_counter()
            read = rows_read(spark, lambda evaluate=ways[way]: verdicts.append(evaluate()))
            if number:
                seconds[way].append(time.perf_counter() - start)
                passes_of[way].append(read / rows)
    same = all(found == verdicts[0] for found in verdicts)
    print(f"Great Expectations: a suite of {len(SUITE)} on {rows:,} rows, {repetitions} rounds; same verdicts: {same}")
    few = show("together, passes over the batch", spread(passes_of["together"]), _MOST_PASSES, "passes")
    show("one by one, passes over the batch", spread(passes_of["one by one"]), unit="passes")
    for way, found in seconds.items():
        show(f"{way}, run time", spread(found))
    ratios = [one / all_of_it for one, all_of_it in zip(seconds["one by one"], seconds["together"], strict=True)]
    show("one by one to together", spread(ratios), unit="times")
    return {
        "rows": rows,
        "expectations": len(SUITE),
        "seconds": seconds,
        "passes": passes_of,
        "ratio": spread(ratios),
        "same_verdicts": same,
        "kept": few and same,
    }


def _together(batch: DataFrame) -> list[bool]:
    conditions = row_conditions(SUITE, batch)
    named = batch.select(
        *(c.condition.alias(f"u{c.index}") for c in conditions),
        *((F.lit(True) if c.nonnull is None else c.nonnull).alias(f"n{c.index}") for c in conditions),
    )
    row = named.agg(*(F.count(F.when(F.col(name), 1)).alias(name) for name in named.columns)).collect()[0]
    verdicts = {c.index: passes(row[f"u{c.index}"], row[f"n{c.index}"], c.mostly) for c in conditions}
    verdicts |= {outcome.index: outcome.success for outcome in evaluate_aggregates(SUITE, batch)}
    return [verdicts[index] for index in range(len(SUITE))]


def gx_batch(batch: DataFrame) -> Any:
    """Return a batch of GX's own, in a context that is stored nowhere."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_spark("spark", persist=False).add_dataframe_asset("batch")
    return asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": batch})


def gx_validate(whole: Any, items: list[dict[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return what GX itself says of a suite, in its order."""
    from great_expectations import ExpectationSuite
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = ExpectationSuite(
            "suite",
            expectations=[
                ExpectationConfiguration(type=name, kwargs=dict(kwargs), meta={"index": index}).to_domain_obj()
                for index, item in enumerate(items)
                for name, kwargs in item.items()
            ],
        )
        results: list[dict[str, Any]] = whole.validate(suite, result_format="BASIC").to_json_dict()["results"]
    # GX sorts them by column.
    return sorted(results, key=lambda result: int(result["expectation_config"]["meta"]["index"]))


def rows_read(spark: SparkSession, work: Callable[[], object]) -> int:
    """Return how many rows were read from files while something was done."""
    before = stages(spark).keys()
    work()
    return sum(stage.inputRecords() for number, stage in stages(spark).items() if number not in before)


def stages(spark: SparkSession) -> dict[int, Any]:
    """Return what Spark knows of its stages, by number."""
    context = spark.sparkContext._jsc.sc()
    # Figures of a stage come by the listener bus, some time after its end.
    context.listenerBus().waitUntilEmpty(60_000)
    gateway = spark.sparkContext._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    found = context.statusStore().stageList(None, False, False, quantiles, gateway.jvm.java.util.ArrayList())
    known = [found.apply(number) for number in range(found.size())]
    return {stage.stageId(): stage for stage in known}


def _land(spark: SparkSession, path: str, rows: int) -> None:
    def drawn(name: str, below: int) -> Any:
        return F.pmod(F.xxhash64(F.lit(name), "n"), F.lit(below))

    spark.range(rows).withColumnRenamed("id", "n").select(
        F.concat(F.lit("r"), "n").alias("id"),
        F.concat(F.lit("c"), drawn("city", 20)).alias("city"),
        (drawn("fare", 40_000) / 100).alias("fare"),
        F.when(drawn("tip?", 100) > 2, drawn("tip", 3000) / 100).alias("tip"),
        (drawn("distance", 500) / 10).alias("distance"),
        F.when(drawn("payment", 3) == 0, "card").when(drawn("payment", 3) == 1, "cash").alias("payment"),
        (F.lit(1_767_225_600) + drawn("at", 604_800)).alias("at"),
        F.date_add(F.to_date(F.lit("2026-01-01")), drawn("day", 7).cast("int")).alias("day"),
    ).write.parquet(path)

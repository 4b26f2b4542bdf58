"""Great Expectations on a batch: GX says what is unexpected and what is expected, Spark finds all of it in one or two passes.

No data context is made: GX's metrics and expectations are used as they are, so nothing is stored and nothing is sent.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from freshet.errors import DataError, foreign_text
from freshet.problems import did_you_mean
from freshet.project.rules.expectation_names import Kind, catalogue, check_names, parsed, suite_of
from freshet.quality.expectation_metrics import Metrics, gx_module

__all__ = ["Outcome", "RowCondition", "check_names", "evaluate_aggregates", "passes", "row_conditions", "suite_of"]

# Of these GX counts every row of the domain, of every other expectation of one column those that have a value.
_ABOUT_NULLS = ("column_values.null", "column_values.nonnull")
_PATCHING = Lock()


@dataclass(frozen=True, kw_only=True)
class RowCondition:
    """An expectation of single rows, as columns to evaluate on the batch that it was made for.

    A condition may hold a window (uniqueness) or a Python function (dates, JSON): select it under a name first, then
    aggregate or filter that. It is never null.

    Args:
        index: Its place in the list of expectations.
        name: GX's name.
        column: The column or columns that it is about, for messages.
        mostly: The fraction of the counted rows that must be as expected.
        condition: True where the row is unexpected.
        nonnull: True where the row counts, as in GX: it has a value and fits ``row_condition``. None where every row does.
    """

    index: int
    name: str
    column: str
    mostly: float
    condition: Column
    nonnull: Column | None


@dataclass(frozen=True)
class Outcome:
    """What became of an expectation of the whole batch.

    Args:
        index: Its place in the list of expectations.
        name: GX's name.
        success: What GX says; false where it raised.
        observed: What GX saw, JSON-serialisable.
        expected: The arguments, as text.
        exception: What GX raised; empty where it did not.
    """

    index: int
    name: str
    success: bool
    observed: object
    expected: str
    exception: str = ""


def passes(unexpected: int, counted: int, mostly: float) -> bool:
    """Return whether so many unexpected rows of so many counted ones are few enough; with none counted they are, as in GX."""
    return counted == 0 or (counted - unexpected) / counted >= mostly


def row_conditions(expectations: Sequence[object], batch: DataFrame) -> list[RowCondition]:
    """Return the conditions of all expectations of single rows; expectations of the whole batch are passed over.

    Reads no data, except one pass for z-scores and one for each expectation of outliers, which need figures of the batch first.

    Args:
        expectations: As ``check_names`` wants them.
        batch: The rows.

    Raises:
        DataError: EXPECTATION_UNUSABLE: an argument, a column or a condition that the batch or GX does not take.
    """
    metrics = Metrics(batch)
    built = _built(expectations, "row", metrics)
    wanted = [metrics.configured(f"{expectation.map_metric}.condition", expectation) for *_, expectation in built]
    metrics.resolve(wanted)
    found: list[RowCondition] = []
    wrong: list[str] = []
    for (index, name, kwargs, expectation), metric in zip(built, wanted, strict=True):
        if metric.id in metrics.errors:
            wrong.append(f"{name} (number {index + 1}): {metrics.errors[metric.id]}")
            continue
        condition, filters, columns = metrics.values[metric.id]
        domain = metrics.domain({**filters, **columns})
        if domain is not None and " OVER (" in str(condition):
            with _windows_within(domain):
                condition, _, _ = metrics.again(metric)
        condition = F.coalesce(condition if domain is None else domain & condition, F.lit(False))
        counted = metrics.domain(metric.metric_domain_kwargs)
        if "column" in kwargs and expectation.map_metric not in _ABOUT_NULLS:
            has_value = F.col(metric.metric_domain_kwargs["column"]).isNotNull()
            counted = has_value if counted is None else counted & has_value
        about = kwargs.get("column") or kwargs.get("column_list") or [kwargs["column_A"], kwargs["column_B"]]
        try:
            batch.select(condition, counted if counted is not None else F.lit(True))
        except AnalysisException as error:
            wrong.append(f"{name} (number {index + 1}): {foreign_text(error)}")
        shown = about if isinstance(about, str) else ", ".join(about)
        found.append(
            RowCondition(
                index=index, name=name, column=shown, mostly=float(expectation.mostly), condition=condition, nonnull=counted
            )
        )
    _refuse(wrong)
    return found


def evaluate_aggregates(expectations: Sequence[object], batch: DataFrame) -> list[Outcome]:
    """Evaluate all expectations of the whole batch; expectations of single rows are passed over.

    One pass for all of them together, schema and row conditions included. Two kinds read the batch for themselves: the
    most common value, and the divergence from a distribution (``expect_column_kl_divergence_to_be_less_than``).

    Args:
        expectations: As ``check_names`` wants them.
        batch: The rows. An empty batch has no mean, minimum or the like, and GX calls that a failure.

    Raises:
        DataError: EXPECTATION_UNUSABLE: an argument or a column that the batch or GX does not take.
    """
    metrics = Metrics(batch)
    built = _built(expectations, "aggregate", metrics)
    needed: dict[int, list[Any]] = {}
    failed: dict[int, str] = {}
    for index, _, _, expectation in built:
        try:
            dependencies = expectation.get_validation_dependencies(metrics.engine, {"result_format": "BASIC"})
            needed[index] = dependencies.get_metric_configurations()
        except Exception as error:
            failed[index] = foreign_text(error)
    metrics.resolve([metric for wanted in needed.values() for metric in wanted])
    found: list[Outcome] = []
    for index, name, kwargs, expectation in built:
        expected = ", ".join(f"{key}={json.dumps(value, default=str)}" for key, value in kwargs.items())
        raised = failed.get(index) or "; ".join(
            dict.fromkeys(metrics.errors[m.id] for m in needed[index] if m.id in metrics.errors)
        )
        if not raised:
            try:
                result = expectation.metrics_validate(
                    metrics=metrics.values,
                    execution_engine=metrics.engine,
                    runtime_configuration={"result_format": "BASIC"},
                ).to_json_dict()
                found.append(Outcome(index, name, bool(result["success"]), _observed(result["result"]), expected))
                continue
            except Exception as error:
                raised = foreign_text(error)
        found.append(Outcome(index, name, False, None, expected, raised))
    return found


def _built(expectations: Sequence[object], kind: Kind, metrics: Metrics) -> list[tuple[int, str, dict[str, Any], Any]]:
    """Return GX's objects for the expectations of one kind, each with its index, name and arguments."""
    configuration = gx_module("great_expectations.expectations.expectation_configuration").ExpectationConfiguration
    found: list[tuple[int, str, dict[str, Any], Any]] = []
    wrong: list[str] = []
    for index, item in enumerate(expectations):
        name, kwargs = parsed(item)
        known = catalogue().get(name)
        if known is None or known.kind == "unsupported":
            wrong.append(f"{name} (number {index + 1}) is unknown or cannot be evaluated on Spark")
        elif known.kind == kind:
            missing = _unknown_columns(name, kwargs, metrics.columns)
            wrong += [
                f"{name} (number {index + 1}): the batch has no column '{column}'. {did_you_mean(column, metrics.columns)}"
                for column in missing
            ]
            try:
                with warnings.catch_warnings():
                    # Conditions as text are what a YAML file can hold; GX would have objects of Python.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    found.append((index, name, kwargs, configuration(type=name, kwargs=kwargs).to_domain_obj()))
            except Exception as error:
                wrong.append(f"{name} (number {index + 1}): {foreign_text(error)}")
    _refuse(wrong)
    return found


def _unknown_columns(name: str, kwargs: dict[str, Any], columns: Sequence[str]) -> list[str]:
    # These are about which columns there are: one that is missing is their result.
    if name == "expect_column_to_exist" or name.startswith("expect_table_"):
        return []
    named = [kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs]
    listed = kwargs.get("column_list")
    named += listed if isinstance(listed, list | tuple) else []
    return [column for column in named if isinstance(column, str) and not {column, f"`{column}`"} & set(columns)]


def _refuse(wrong: Sequence[str]) -> None:
    if wrong:
        raise DataError(
            "EXPECTATION_UNUSABLE",
            "expectations do not fit the batch: " + "; ".join(wrong),
            "Nothing was written: the table and its checkpoint stay.",
            "Correct the pipeline's expectations.",
            problems=list(wrong),
        )


def _observed(result: dict[str, Any]) -> object:
    # Expectations of sets observe nothing themselves; what they found stands beside it.
    if result.get("observed_value") is not None:
        return result["observed_value"]
    return {key: value for key, value in result.items() if value not in (None, [], {})} or None


@contextmanager
def _windows_within(domain: Column) -> Iterator[None]:
    """Let GX build its windows over the rows of a domain only: it would filter first, which one pass for all cannot."""
    module = gx_module("great_expectations.compatibility.pyspark")

    class Within:
        """What GX uses of ``Window``."""

        @staticmethod
        def partitionBy(*columns: Column) -> object:
            return Window.partitionBy(*columns, domain)

    # The module is everybody's: two threads would get each other's domain.
    with _PATCHING:
        kept, module.Window = module.Window, Within
        try:
            yield
        finally:
            module.Window = kept

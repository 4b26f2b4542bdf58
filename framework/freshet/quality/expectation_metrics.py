"""GX's metrics of one batch: first what needs no data, then everything else in one pass."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType, StructType

from freshet.errors import foreign_text

# GX's inner objects are untyped for the most part and come by name, so that importing this module costs nothing.
Metric = Any
Finish = Callable[[Any], Any]

_BATCH = "batch"
_FILTERS = "filters"
_DOMAIN = "__freshet_domain"
_LAZY = (".condition", ".map", ".aggregate_fn", "table.columns", "table.column_types", "table.column_count")


def gx_module(name: str) -> Any:
    """Import a module of GX, which takes seconds the first time.

    Args:
        name: Such as ``great_expectations.expectations.registry``.
    """
    # Read when GX is imported. This release has nothing that would send anything; another may.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    return importlib.import_module(name)


class _Filters:
    """Stands for a batch and notes what GX would filter it by."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.found: list[Column] = []

    @property
    def dataframe(self) -> _Filters:
        return self

    def filter(self, condition: Column | str) -> _Filters:
        self.found.append(F.expr(condition) if isinstance(condition, str) else condition)
        return self


class Metrics:
    """Metrics of one batch, each computed once.

    Args:
        batch: The rows.
    """

    def __init__(self, batch: DataFrame) -> None:
        engine = gx_module("great_expectations.execution_engine").SparkDFExecutionEngine
        # GX caches every batch that it is given unless told otherwise.
        self.engine = engine(spark=batch.sparkSession, persist=False, batch_data_dict={_BATCH: batch})
        self.batch = batch
        self.values: dict[Any, Any] = {}
        self.errors: dict[Any, str] = {}
        self._registry = gx_module("great_expectations.expectations.registry")
        self._configuration = gx_module("great_expectations.validator.metric_configuration").MetricConfiguration
        self._graph = gx_module("great_expectations.validator.validation_graph").ValidationGraph
        columns = self._configuration("table.columns", {})
        self.resolve([columns])
        self.columns: list[str] = self.values[columns.id]

    def configured(self, name: str, expectation: Any) -> Metric:
        """Return a metric with the arguments that an expectation gives it."""
        kwargs = self._registry.get_metric_kwargs(name, configuration=expectation.configuration)
        return self._configuration(name, kwargs["metric_domain_kwargs"], kwargs["metric_value_kwargs"])

    def resolve(self, wanted: Iterable[Metric]) -> None:
        """Compute metrics and all that they are made of; afterwards each stands in ``values`` or in ``errors``.

        Args:
            wanted: GX's metric configurations.
        """
        pending = self._with_dependencies(wanted)
        while pending:
            ready: list[Metric] = []
            for metric in list(pending.values()):
                needs = [needed.id for needed in metric.metric_dependencies.values() if needed.id != metric.id]
                spoilt = [self.errors[needed] for needed in needs if needed in self.errors]
                if spoilt:
                    self.errors[metric.id] = spoilt[0]
                    del pending[metric.id]
                elif all(needed in self.values for needed in needs):
                    ready.append(metric)
            if pending and not ready:
                self.errors |= dict.fromkeys(pending, "its metrics need each other")
                return
            lazy = [metric for metric in ready if metric.metric_name.endswith(_LAZY)]
            together = [] if lazy else [metric for metric in ready if self._is_aggregate(metric)]
            if together:
                self._one_pass(together)
            # What GX can only compute by reading for itself comes last, because the pass may make it unnecessary to wait.
            for metric in lazy or ([] if together else ready[:1]):
                self._alone(metric)
            for metric in ready:
                if metric.id in self.values or metric.id in self.errors:
                    del pending[metric.id]

    def again(self, metric: Metric) -> Any:
        """Compute a metric anew that was resolved before, and return it."""
        return self.engine.resolve_metrics([metric], self.values)[metric.id]

    def domain(self, kwargs: Mapping[str, Any]) -> Column | None:
        """Return as a condition what GX would filter the batch by, or None where it would take every row.

        Args:
            kwargs: A metric's domain: ``row_condition``, ``ignore_row_if`` and what GX itself adds.
        """
        filters = _Filters(self.batch.schema)
        cache = self.engine.batch_manager.batch_data_cache
        cache[_FILTERS] = filters
        try:
            self.engine.get_domain_records({**kwargs, "batch_id": _FILTERS})
        finally:
            del cache[_FILTERS]
        # A filter drops what is null.
        return F.coalesce(reduce(Column.__and__, filters.found), F.lit(False)) if filters.found else None

    def _with_dependencies(self, wanted: Iterable[Metric]) -> dict[Any, Metric]:
        graph = self._graph(execution_engine=self.engine)
        wanted = list(wanted)
        for metric in wanted:
            try:
                graph.build_metric_dependency_graph(metric)
            except Exception as error:
                self.errors[metric.id] = foreign_text(error)
        needed: dict[Any, Metric] = {}
        waiting = [metric for metric in wanted if metric.id not in self.errors]
        while waiting:
            metric = waiting.pop()
            if metric.id in needed or metric.id in self.values or metric.id in self.errors:
                continue
            needed[metric.id] = metric
            # GX lets almost every metric wait for the row count, and so would need a second pass for what the count is in.
            # Only what is derived from aggregates reads it.
            if metric.metric_name.endswith(_LAZY) or self._is_aggregate(metric):
                metric.metric_dependencies.pop("table.row_count", None)
            waiting += metric.metric_dependencies.values()
        return needed

    def _is_aggregate(self, metric: Metric) -> bool:
        _, function = self._registry.get_metric_provider(metric.metric_name, self.engine)
        return function is None or self._own(metric) is not None

    def _alone(self, metric: Metric) -> None:
        try:
            self.values.update(self.engine.resolve_metrics([metric], self.values))
        except Exception as error:
            self.errors[metric.id] = foreign_text(error)

    def _one_pass(self, wanted: list[Metric]) -> None:
        """Compute aggregates together, also those of different row conditions, which GX computes one after the other."""
        aggregates: list[Column] = []
        of: list[tuple[Metric, Finish, str]] = []
        domains: dict[str, Column | None] = {}
        for metric in wanted:
            try:
                aggregate, kwargs, finish = self._own(metric) or self._gx_aggregate(metric)
                domain = self.domain(kwargs)
                (self.batch if domain is None else self.batch.where(domain)).agg(aggregate)
            except Exception as error:
                if not isinstance(error, AnalysisException | KeyError | TypeError | ValueError):
                    raise
                self.errors[metric.id] = foreign_text(error)
                continue
            domains[str(domain)] = domain
            aggregates.append(aggregate)
            of.append((metric, finish, str(domain)))
        found = self._aggregated(aggregates, domains) if aggregates else {}
        for number, (metric, finish, key) in enumerate(of):
            self.values[metric.id] = finish(found[key][number])

    def _aggregated(self, aggregates: list[Column], domains: Mapping[str, Column | None]) -> dict[str, tuple[Any, ...]]:
        keys = list(domains)
        named = [aggregate.alias(f"a{number}") for number, aggregate in enumerate(aggregates)]
        if len(keys) == 1:
            domain = domains[keys[0]]
            return {keys[0]: tuple((self.batch if domain is None else self.batch.where(domain)).agg(*named).collect()[0])}
        # A row stands once in every domain that it is in, so that one scan serves them all.
        everything = F.lit(True)
        inside = [F.when(everything if domain is None else domain, F.lit(n)) for n, domain in enumerate(domains.values())]
        spread = self.batch.select("*", F.explode(F.array_compact(F.array(*inside))).alias(_DOMAIN))
        rows = {keys[row[0]]: tuple(row)[1:] for row in spread.groupBy(_DOMAIN).agg(*named).collect()}
        if len(rows) < len(keys):
            # What an aggregate is of no rows; without a scan, because Spark knows that there are none.
            empty = tuple(self.batch.limit(0).agg(*named).collect()[0])
            rows |= {key: empty for key in keys if key not in rows}
        return rows

    def _gx_aggregate(self, metric: Metric) -> tuple[Column, Mapping[str, Any], Finish]:
        aggregate, kwargs, _ = self.values[metric.metric_dependencies["metric_partial_fn"].id]
        return aggregate, kwargs, gx_module("great_expectations.util").convert_to_json_serializable

    def _own(self, metric: Metric) -> tuple[Column, Mapping[str, Any], Finish] | None:
        """Return as an aggregate what GX computes by a query for each: the same figure, from the shared pass."""
        kwargs = dict(metric.metric_domain_kwargs)
        name = kwargs.pop("column", None)
        if name not in self.batch.columns:
            return None
        given = metric.metric_value_kwargs
        column = F.col(f"`{name}`")
        values = list(given.get("value_set") or [])
        match metric.metric_name:
            case "column.median" if isinstance(self.batch.schema[name].dataType, NumericType):
                return F.expr(f"percentile({_number(name)}, 0.5)"), kwargs, lambda found: found
            case "column.quantile_values" if isinstance(self.batch.schema[name].dataType, NumericType):
                # GX's exact quantile is a value of the column, as percentile_disc's is; percentile's need not be.
                each = [
                    F.expr(f"percentile_disc(CAST({q!r} AS DOUBLE)) WITHIN GROUP (ORDER BY {_number(name)})")
                    for q in given["quantiles"]
                ]
                return F.array(*each), kwargs, lambda found: found
            case "column.distinct_values.not_in_set.count":
                return F.countDistinct(_outside(column, values)), kwargs, lambda found: found
            case "column.distinct_values.not_in_set":
                # A sample: GX collects some, which takes a query; least and greatest do not.
                outside = _outside(column, values)
                return (
                    F.array(F.min(outside), F.max(outside)),
                    kwargs,
                    lambda found: [value for value in dict.fromkeys(found) if value is not None],
                )
            case "column.distinct_values.missing_from_column.count":
                return _inside(column, values), kwargs, lambda found: len(values) - len(set(found))
            case "column.distinct_values.missing_from_column":
                return _inside(column, values), kwargs, lambda found: [v for v in values if v not in set(found)][:20]
        return None


def _number(name: str) -> str:
    # As GX's approxQuantile: neither null nor NaN counts.
    quoted = name.replace("`", "``")
    return f"nanvl(CAST(`{quoted}` AS DOUBLE), CAST(NULL AS DOUBLE))"


def _outside(column: Column, values: list[Any]) -> Column:
    return F.when(column.isNotNull() & ~column.isin(values) if values else column.isNotNull(), column)


def _inside(column: Column, values: list[Any]) -> Column:
    # Never longer than the set that was given.
    return F.collect_set(F.when(column.isin(values) if values else F.lit(False), column))

"""The registry's names, units and labels follow the conventions, and nothing is told that it does not name."""

from __future__ import annotations

import re

import pytest

from freshet.metrics.not_available import NOT_AVAILABLE
from freshet.metrics.registry import BY_NAME, ENV, LABELS, METRICS, UNITS, Metric
from tests.reference import pages


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_named_as_prometheus_and_openmetrics_want_it(metric: Metric) -> None:
    assert re.fullmatch(r"freshet(_[a-z]+)+", metric.name)
    assert not re.search(r"_(count|sum|bucket|created|gauge|counter)$", metric.name), "neither of the two has one of these"
    assert metric.is_counter == metric.name.endswith("_total")
    assert not any(unit in metric.name for unit in UNITS) or metric.unit, "the unit ends the name"
    assert metric.help.endswith(".")
    assert not re.search(r'["\\\n]', metric.help), "the two formats escape them otherwise"
    assert set(metric.labels) <= LABELS.keys() - {ENV}
    assert metric.labels[0] == "pipeline", "files of several pipelines lie side by side"


def test_few_labels_and_each_is_in_use() -> None:
    assert {label for metric in METRICS for label in metric.labels} | {ENV} == set(LABELS)
    assert max(len(metric.labels) for metric in METRICS) == 3
    assert len(BY_NAME) == len(METRICS)


def test_what_is_not_there_is_said() -> None:
    assert all(what and why.endswith(".") for what, why in NOT_AVAILABLE)
    told = " ".join(what for what, _ in NOT_AVAILABLE)
    for asked in ("event time", "rows filtered", "cost"):
        assert asked in told


def test_the_page_of_the_docs_has_every_metric() -> None:
    page = pages()["metrics.md"]
    assert [name for name in BY_NAME if f">{name}<" not in page] == []
    assert NOT_AVAILABLE[0][0] in page

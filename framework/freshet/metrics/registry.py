"""Every metric that there is: exporters, alert rules, the dashboard and the page of the docs are made of these rows."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.metrics.counters import COUNTERS
from freshet.metrics.gauges import GAUGES
from freshet.metrics.gauges_of_promises import GAUGES_OF_PROMISES
from freshet.metrics.metric import CHECK_RESULTS as CHECK_RESULTS
from freshet.metrics.metric import ENV as ENV
from freshet.metrics.metric import LABELS as LABELS
from freshet.metrics.metric import RUN_RESULTS as RUN_RESULTS
from freshet.metrics.metric import SLO_RESULTS as SLO_RESULTS
from freshet.metrics.metric import UNITS as UNITS
from freshet.metrics.metric import Metric as Metric

METRICS: tuple[Metric, ...] = (*GAUGES, *GAUGES_OF_PROMISES, *COUNTERS)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}

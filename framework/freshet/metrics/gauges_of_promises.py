"""The metrics of event times, of their windows, and of what is promised."""

from __future__ import annotations

from freshet.metrics.metric import Metric

_OF_TIMES = "the commit's metadata, and when it completed"
_OF_WINDOWS = "the source's commits, or its time index, and the target's checkpoints"
_INPUT, _KIND = ("pipeline", "input"), ("pipeline", "kind")

GAUGES_OF_PROMISES: tuple[Metric, ...] = (
    Metric(
        name="freshet_last_commit_event_latency_seconds",
        labels=_KIND,
        help="From the event to the last commit, by the events' own times: min, p50, p95, p99 and max. "
        "Events from the future have none.",
        derived=_OF_TIMES,
    ),
    Metric(
        name="freshet_last_commit_event_times",
        labels=_KIND,
        help="Events of the last commit by what their time is: past, future (a clock is ahead) or none.",
        derived=_OF_TIMES,
    ),
    Metric(
        name="freshet_source_completeness_ratio",
        help="The least share of a window of event times that is due and was taken, of the newest 24; left out where nobody "
        "can tell.",
        labels=_INPUT,
        derived=_OF_WINDOWS,
    ),
    Metric(
        name="freshet_source_windows",
        labels=("pipeline", "input", "kind"),
        help="Windows of event times: open (not due yet), complete, short (due, and events are missing) or unknown (due, and "
        "what waits may be of it).",
        derived=_OF_WINDOWS,
    ),
    Metric(
        name="freshet_source_missing_rows",
        labels=_INPUT,
        help="Events of the windows that are short and that no commit of the target has taken.",
        derived=_OF_WINDOWS,
    ),
    Metric(
        name="freshet_slo_objective_seconds",
        labels=_KIND,
        help="What slo promises: freshness or max_runtime; of completeness, how long after its end a window is due.",
        derived="the pipeline's slo",
    ),
    Metric(
        name="freshet_slo_objective_ratio",
        labels=_KIND,
        help="What slo promises as a share of 1: completeness.",
        derived="the pipeline's slo",
    ),
    Metric(
        name="freshet_slo_result",
        labels=("pipeline", "kind", "result"),
        help="1 for what is true of the promise now: kept, at_risk or broken; 0 for the others.",
        derived="the pipeline's slo, lag, records of runs and lease",
    ),
)

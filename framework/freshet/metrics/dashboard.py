"""The Grafana dashboard that goes with the metrics: an overview, and pipelines. Its queries are of the registry's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from freshet.metrics.registry import BY_NAME

_ALL = '{env=~"$env",pipeline=~"$pipeline"}'
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_STEPS = {"ok": "green", "warn": "orange", "bad": "red"}
_WIDTH = 24
Panel = dict[str, Any]


def expr(name: str, by: str = "pipeline", labels: str = "") -> str:
    """Return the query of a metric for the chosen pipelines, without the labels of whatever scraped it.

    Args:
        name: The metric; one that the registry does not have is an error.
        by: Labels that are kept beside ``env``.
        labels: Further matchers, with a comma before.
    """
    known = BY_NAME[name].name
    return f"max by (env, {by}) ({known}{_ALL[:-1]}{labels}}})"


def rising(name: str, by: str = "pipeline") -> str:
    """Return the query of how far a counter has risen within an hour, for the chosen pipelines."""
    return f"max by (env, {by}) (increase({BY_NAME[name].name}{_ALL}[1h]))"


def dashboard() -> dict[str, Any]:
    """Return the dashboard, as Grafana imports it."""
    return {
        "uid": "freshet",
        "title": "freshet pipelines",
        "tags": ["freshet"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "timezone": "utc",
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
                _variable("env", "label_values(freshet_pipeline_info, env)", "Environment"),
                _variable("pipeline", 'label_values(freshet_pipeline_info{env=~"$env"}, pipeline)', "Pipeline"),
            ]
        },
        "panels": list(_placed()),
    }


def _variable(name: str, query: str, label: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "sort": 1,
    }


def _placed() -> Iterator[Panel]:
    """Yield the panels from left to right, line by line."""
    x = y = height = 0
    for number, panel in enumerate(_panels(), 1):
        width, high = panel.pop("size")
        if x + width > _WIDTH:
            x, y, height = 0, y + height, 0
        yield {**panel, "id": number, "gridPos": {"x": x, "y": y, "w": width, "h": high}}
        x, height = x + width, max(height, high)


def _panels() -> Iterator[Panel]:
    yield _row("Overview")
    yield _stat("Refused", f"sum({expr('freshet_pipeline_refused')}) or vector(0)", 1)
    broken = expr("freshet_slo_result", "pipeline, kind", ',result="broken"')
    yield _stat("Promises broken", f"sum({broken}) or vector(0)", 1)
    yield _stat("Pipelines whose runs fail", f"count({expr('freshet_consecutive_failed_runs')} > 0) or vector(0)", 1)
    yield _stat("Never ran", f"count({expr('freshet_pipeline_has_run')} == 0) or vector(0)", 1)
    yield _stat("Schedule missed by", f"max({expr('freshet_schedule_overdue_seconds')})", 600, "s")
    yield _stat("Oldest metrics", f"time() - min({expr('freshet_metrics_timestamp_seconds')})", 900, "s")
    yield _graph(
        "Lag of the inputs", (expr("freshet_source_lag_seconds", "pipeline, input"), "{{pipeline}} {{input}}"), unit="s"
    )
    yield _graph(
        "Age of the last success", (f"time() - {expr('freshet_last_success_timestamp_seconds')}", "{{pipeline}}"), unit="s"
    )
    yield _graph(
        "State",
        (f"{expr('freshet_pipeline_state', 'pipeline, kind')}", "{{pipeline}}: {{kind}}"),
        kind="state-timeline",
        width=24,
    )
    yield _row("Pipelines")
    yield _graph(
        "Commits that wait, and commits processed by the last run",
        (expr("freshet_source_waiting_commits", "pipeline, input"), "{{pipeline}} {{input}} waiting"),
        (expr("freshet_last_commit_source_commits"), "{{pipeline}} processed"),
    )
    yield _graph(
        "Commits in progress", (expr("freshet_source_in_progress_commits", "pipeline, input"), "{{pipeline}} {{input}}")
    )
    yield _graph("Rows that wait", (expr("freshet_source_waiting_rows", "pipeline, input"), "{{pipeline}} {{input}}"))
    yield _graph("Rows of the last commit", (expr("freshet_last_commit_rows", "pipeline, kind"), "{{pipeline}} {{kind}}"))
    yield _graph(
        "Seconds of the last run that committed, by phase",
        (expr("freshet_last_commit_duration_seconds", "pipeline, phase", ',phase!="total"'), "{{pipeline}} {{phase}}"),
        unit="s",
        stacked=True,
    )
    yield _graph(
        "Duration of the last run",
        (expr("freshet_last_run_duration_seconds", labels=',phase="total"'), "{{pipeline}}"),
        unit="s",
    )
    result = expr("freshet_last_run_result", "pipeline, result")
    yield _graph("Result of the last run", (f"{result} == 1", "{{pipeline}}: {{result}}"), kind="state-timeline")
    yield _graph(
        "Runs in an hour", (rising("freshet_runs_total", "pipeline, result"), "{{pipeline}}: {{result}}"), stacked=True
    )
    processed = rising("freshet_processed_rows_total", "pipeline, kind")
    yield _graph("Rows processed in an hour", (processed, "{{pipeline}} {{kind}}"))
    check = expr("freshet_check_result", "pipeline, check, result")
    yield _graph("Checks", (f"{check} == 1", "{{pipeline}} {{check}}: {{result}}"), kind="state-timeline")
    yield _graph("Bad rows by check", (expr("freshet_check_rows", "pipeline, check"), "{{pipeline}} {{check}}"))
    quarantined = expr("freshet_last_commit_rows", labels=',kind="quarantined"')
    yield _graph("Rows sent to the quarantine", (quarantined, "{{pipeline}}"))
    yield _graph(
        "Backfill: chunks", (expr("freshet_backfill_chunks", "pipeline, result"), "{{pipeline}} {{result}}"), stacked=True
    )
    promise = expr("freshet_slo_result", "pipeline, kind, result")
    yield _graph("Promises", (f"{promise} == 1", "{{pipeline}} {{kind}}: {{result}}"), kind="state-timeline")
    latency = expr("freshet_last_commit_event_latency_seconds", "pipeline, kind", ',kind=~"p50|p95|max"')
    yield _graph("From the event to the last commit", (latency, "{{pipeline}} {{kind}}"), unit="s")
    complete = expr("freshet_source_completeness_ratio", "pipeline, input")
    yield _graph("Completeness of the windows that are due", (complete, "{{pipeline}} {{input}}"), unit="percentunit")
    yield _row("Tables")
    yield _graph(
        "History left before the checkpoint expires",
        (expr("freshet_source_retention_left_seconds", "pipeline, input"), "{{pipeline}} {{input}}"),
        unit="s",
    )
    yield _graph("Commits since the last compaction", (expr("freshet_target_compaction_debt_commits"), "{{pipeline}}"))
    yield _graph(
        "Bytes of the last commit's files",
        (expr("freshet_last_commit_size_bytes", "pipeline, kind"), "{{pipeline}} {{kind}}"),
        unit="bytes",
    )
    yield _graph("Files of the last commit", (expr("freshet_last_commit_files", "pipeline, kind"), "{{pipeline}} {{kind}}"))
    yield _graph("Conflicts of the last run", (expr("freshet_last_run_conflicts"), "{{pipeline}}"))
    yield _graph("Wait for the target in the last run", (expr("freshet_last_run_lease_wait_seconds"), "{{pipeline}}"), unit="s")


def _row(title: str) -> Panel:
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "size": (_WIDTH, 1)}


def _stat(title: str, query: str, bad: int, unit: str = "none") -> Panel:
    steps = [{"color": _STEPS["ok"], "value": None}, {"color": _STEPS["bad"], "value": bad}]
    return {
        "type": "stat",
        "title": title,
        "datasource": _SOURCE,
        "targets": [{"refId": "A", "expr": query, "instant": True, "datasource": _SOURCE}],
        "fieldConfig": {
            "defaults": {"unit": unit, "thresholds": {"mode": "absolute", "steps": steps}, "noValue": "0"},
            "overrides": [],
        },
        "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "background", "graphMode": "none"},
        "size": (4, 4),
    }


def _graph(
    title: str,
    *queries: tuple[str, str],
    unit: str = "short",
    kind: str = "timeseries",
    stacked: bool = False,
    width: int = 12,
) -> Panel:
    custom: dict[str, Any] = {"stacking": {"mode": "normal"}, "fillOpacity": 40} if stacked else {}
    return {
        "type": kind,
        "title": title,
        "datasource": _SOURCE,
        "targets": [
            {"refId": chr(ord("A") + number), "expr": query, "legendFormat": legend, "datasource": _SOURCE}
            for number, (query, legend) in enumerate(queries)
        ],
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": custom}, "overrides": []},
        "options": {} if kind == "state-timeline" else {"legend": {"displayMode": "list", "placement": "bottom"}},
        "size": (width, 8),
    }

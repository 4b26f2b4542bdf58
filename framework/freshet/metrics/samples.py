"""The values of the registry's metrics, from what was measured. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from freshet.account.windows import Fill
from freshet.changelog.counts import kinds_in
from freshet.credentials import tree_without_credentials
from freshet.event_times.latency import latency_of
from freshet.hudi.checkpoint import CHECKS_KEY, EVENTS_KEY, PIPELINE_KEY
from freshet.hudi.instants import timestamp_of, zone_of
from freshet.hudi.options import commits_since_compaction
from freshet.hudi.table import CommitInfo
from freshet.metrics.measured import Measured
from freshet.metrics.registry import BY_NAME, CHECK_RESULTS, ENV, METRICS, RUN_RESULTS, SLO_RESULTS
from freshet.metrics.slo import objectives_of
from freshet.run.history import Entry
from freshet.run.result import row_counts
from freshet.secrets import redact

_ROWS = {"inserts": "inserted", "updates": "updated", "deletes": "deleted", "moves": "moved"}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One value of one metric.

    Args:
        name: The metric.
        labels: Its labels with their values, ``env`` first, in the registry's order; no secret is among them.
        value: The value.
    """

    name: str
    labels: tuple[tuple[str, str], ...]
    value: float

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {"name": self.name, "labels": dict(self.labels), "value": self.value}


Value = tuple[str, tuple[str, ...], float]


def samples_of(found: Iterable[Measured], env: str) -> tuple[Sample, ...]:
    """Return the samples of pipelines, in the registry's order.

    Args:
        found: What was measured of each.
        env: The environment's name.
    """
    values: dict[str, list[Sample]] = {metric.name: [] for metric in METRICS}
    # A hundred pipelines repeat few words; to redact each costs more than all the rest.
    shown: dict[str, str] = {}
    for name, labels, value in (value for one in found for value in _of_pipeline(one)):
        texts = tuple(shown[text] if text in shown else shown.setdefault(text, redact(text)) for text in (env, *labels))
        values[name].append(Sample(name=name, labels=tuple(zip((ENV, *BY_NAME[name].labels), texts, strict=True)), value=value))
    return tuple(sample for group in values.values() for sample in group)


def _of_pipeline(found: Measured) -> Iterator[Value]:
    name = found.spec.name
    parts = (_standing(found), _runs(found), _commit(found), _sources(found), _promises(found), _totals(found))
    yield from ((metric, (name, *labels), value) for part in parts for metric, labels, value in part)


def _standing(found: Measured) -> Iterator[Value]:
    spec, status = found.spec, found.looked.status
    yield "freshet_metrics_timestamp_seconds", (), round(found.now, 3)
    yield "freshet_pipeline_info", (spec.owner, spec.target.ref.name), 1
    yield "freshet_pipeline_state", (status.state,), 1
    yield "freshet_pipeline_refused", (), int(bool(status.message))
    has_run = found.looked.last is not None or (found.runs is not None and found.runs.last is not None)
    if has_run or (found.runs is not None and not status.message):
        # Of a table or of records that cannot be read nobody knows.
        yield "freshet_pipeline_has_run", (), int(has_run)
    if found.running is not None:
        what, begun = found.running
        yield "freshet_pipeline_running_seconds", (what,), round(max(0.0, found.now - begun), 3)
    if found.overdue is not None:
        yield "freshet_schedule_overdue_seconds", (), found.overdue
    if found.backfill is not None:
        done, chunks = found.backfill
        yield from (("freshet_backfill_chunks", (how,), n) for how, n in (("done", done), ("missing", chunks - done)))


def _runs(found: Measured) -> Iterator[Value]:
    runs = found.runs
    if found.last_success is not None:
        yield "freshet_last_success_timestamp_seconds", (), found.last_success
    if runs is None or runs.last is None:
        return
    begun = timestamp_of(runs.begun)
    if begun is not None:
        yield "freshet_last_run_timestamp_seconds", (), begun
    yield from _one_of("freshet_last_run_result", (), _result(runs.last), RUN_RESULTS)
    yield from _phases("freshet_last_run_duration_seconds", runs.last)
    yield "freshet_last_run_lease_wait_seconds", (), runs.last.more.get("waited_seconds", 0)
    yield "freshet_last_run_conflicts", (), runs.last.more.get("conflicts", 0)
    yield "freshet_consecutive_failed_runs", (), runs.failures
    if runs.committed is not None:
        yield from _phases("freshet_last_commit_duration_seconds", runs.committed)
        if runs.committed.more.get("source_commits"):
            yield "freshet_last_commit_source_commits", (), runs.committed.more["source_commits"]


def _commit(found: Measured) -> Iterator[Value]:
    if found.looked.last is None:
        return
    instant, info = found.looked.last
    completed = timestamp_of(instant.completed)
    if completed is not None:
        yield "freshet_last_commit_timestamp_seconds", (), completed
    counts = vars(row_counts(found.spec, info))
    quarantined, checks = _told_by_checks(found, info)
    rows = {word: counts[kind] for kind, word in _ROWS.items()} | {"quarantined": quarantined}
    committed = found.runs.committed if found.runs else None
    if committed is not None and instant.completed in committed.commits and "read" in committed.rows:
        rows["read"] = committed.rows["read"]
    yield from (("freshet_last_commit_rows", (kind,), number) for kind, number in rows.items())
    yield from (
        ("freshet_last_commit_events", (kind,), number) for kind, number in kinds_in(info.extra.get(EVENTS_KEY)).items()
    )
    late = latency_of(instant, info, zone_of(found.looked.target)) if found.looked.target is not None else None
    if late is not None:
        yield from (("freshet_last_commit_event_latency_seconds", (kind,), seconds) for kind, seconds in late.seconds.items())
        for kind, events in (("past", late.events), ("future", late.future), ("none", late.untimed)):
            yield "freshet_last_commit_event_times", (kind,), events
    logs = [size for path, size in info.files if not path.endswith(".parquet")]
    for kind, files, size in (("base", info.base_files, info.base_bytes), ("log", len(logs), sum(logs))):
        yield "freshet_last_commit_files", (kind,), files
        yield "freshet_last_commit_size_bytes", (kind,), size
    for name, status, bad, newest in checks:
        yield from _one_of("freshet_check_result", (name,), status, CHECK_RESULTS)
        yield "freshet_check_rows", (name,), bad
        if newest is not None:
            yield "freshet_target_event_timestamp_seconds", (name,), newest


def _told_by_checks(found: Measured, info: CommitInfo) -> tuple[int, list[tuple[str, str, int, float | None]]]:
    """Return how many rows went to the quarantine, and what each check said; what is no record of checks tells nothing."""
    if info.extra.get(PIPELINE_KEY, found.spec.name) != found.spec.name:
        return 0, []
    try:
        told = tree_without_credentials(json.loads(info.extra.get(CHECKS_KEY) or "{}"))
        checks = [
            (name, str(one["status"]), int(one["rows"]), float(one["newest"]) if "newest" in one else None)
            for name, one in (told.get("checks") or {}).items()
        ]
        return int(told.get("quarantined") or 0), checks
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0, []


def _sources(found: Measured) -> Iterator[Value]:
    spec, status, lag, target = found.spec, found.looked.status, found.looked.lag, found.looked.target
    for one in found.waiting:
        if one.seconds is not None:
            yield "freshet_source_lag_seconds", (one.input,), one.seconds
        yield "freshet_source_waiting_commits", (one.input,), one.commits
        yield "freshet_source_waiting_rows", (one.input,), one.rows
    main = spec.source.table.name
    commits, rows = found.reading
    yield "freshet_source_in_progress_commits", (main,), commits
    yield "freshet_source_in_progress_rows", (main,), rows
    processed = timestamp_of(status.checkpoint, status.source_zone)
    if processed is not None:
        yield "freshet_source_processed_timestamp_seconds", (main,), processed
    if lag is not None and lag.minutes_to_horizon is not None:
        yield "freshet_source_retention_left_seconds", (main,), round(lag.minutes_to_horizon * 60, 3)
    if found.completeness is not None and not found.completeness.error:
        windows, share = found.completeness, found.completeness.share
        for fill in get_args(Fill):
            yield "freshet_source_windows", (main, fill), len(windows.of(fill))
        yield "freshet_source_missing_rows", (main,), sum(one.missing for one in windows.of("short"))
        if share is not None:
            yield "freshet_source_completeness_ratio", (main,), share
    if target is not None and target.config.table_type == "MERGE_ON_READ":
        yield "freshet_target_compaction_debt_commits", (), commits_since_compaction(target)


def _promises(found: Measured) -> Iterator[Value]:
    if found.spec.slo.completeness is not None:
        yield "freshet_slo_objective_ratio", ("completeness",), found.spec.slo.completeness
    for one in objectives_of(found):
        yield "freshet_slo_objective_seconds", (one.objective,), one.seconds
        yield from _one_of("freshet_slo_result", (one.objective,), one.result, SLO_RESULTS)


def _totals(found: Measured) -> Iterator[Value]:
    totals = found.totals
    # A pipeline that never ran has counted nothing; 0 is told, so that its first run is seen to rise.
    if totals is None:
        return
    yield from (("freshet_runs_total", (result,), totals.runs.get(result, 0)) for result in RUN_RESULTS)
    yield "freshet_run_duration_seconds_total", (), totals.seconds
    kinds = ("read", *_ROWS.values(), "quarantined")
    yield from (("freshet_processed_rows_total", (kind,), totals.rows.get(kind, 0)) for kind in kinds)
    yield "freshet_processed_commits_total", (), totals.commits
    yield "freshet_run_conflicts_total", (), totals.conflicts
    yield "freshet_lease_wait_seconds_total", (), totals.waited_seconds


def _result(entry: Entry) -> str:
    return "busy" if (entry.error or {}).get("code") == "ALREADY_RUNNING" else entry.outcome


def _one_of(metric: str, labels: tuple[str, ...], found: str, known: Sequence[str]) -> Iterator[Value]:
    # One that is not true any longer goes to 0, and does not stay where it was.
    yield from ((metric, (*labels, one), int(one == found)) for one in known)


def _phases(metric: str, entry: Entry) -> Iterator[Value]:
    yield from ((metric, (phase,), seconds) for phase, seconds in entry.seconds.items())

"""Alert rules for Prometheus, and routes for Alertmanager, made from a project: who owns what, and what it promises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from freshet.metrics.complete import share_words
from freshet.metrics.registry import BY_NAME
from freshet.metrics.slo import in_words
from freshet.metrics.troubles import LATE_SECONDS
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.secrets import redact

#: Who answers for a pipeline that names nobody.
NOBODY = "nobody"
_CRITICAL, _WARNING = "critical", "warning"
_BY_INPUT = "env, pipeline, input"
_NAME = re.compile(r"[^A-Za-z0-9]+")
Rule = dict[str, Any]


def rules_of(project: Project, stale_seconds: int) -> dict[str, Any]:
    """Return a file of alert rules: a group for each pipeline.

    Args:
        project: The pipelines.
        stale_seconds: After so long metrics are old: a little more than how often they are made.
    """
    return {
        "groups": [
            {"name": f"freshet-{project.env}-{spec.name}", "rules": list(_Rules(project.env, spec).all(stale_seconds))}
            for spec in project.pipelines
        ]
    }


class _Rules:
    """The rules of one pipeline in one environment."""

    def __init__(self, env: str, spec: PipelineSpec) -> None:
        self.env, self.spec = env, spec
        self.status = f"freshet status {spec.name} --env {env}"
        self.history = f"freshet history {spec.name} --failed --env {env}"

    def all(self, stale_seconds: int) -> Iterator[Rule]:
        spec, made = self.spec, self.metric("freshet_metrics_timestamp_seconds")
        yield self.rule(
            "FreshetMetricsStale",
            f"time() - {_worst(made)} > {stale_seconds} or absent({made})",
            _WARNING,
            "nobody has told its metrics for too long, so that no other alert of it can be relied on",
            f"Look at what runs `freshet status --metrics --send --env {self.env}`.",
            "5m",
        )
        refused = f"{_worst(self.metric('freshet_pipeline_refused'))} == 1"
        yield self.rule("FreshetRefused", refused, _CRITICAL, "the tables forbid its next run", self.status, "10m")
        failed = f"{_worst(self.metric('freshet_consecutive_failed_runs'))} > 0"
        yield self.rule("FreshetRunsFail", failed, _WARNING, "runs that failed in a row: {{ $value }}", self.history)
        yield from self.of_schedule()
        lag, left = self.metric("freshet_source_lag_seconds"), self.metric("freshet_source_retention_left_seconds")
        yield self.rule(
            "FreshetHistoryRunsOut",
            f"{_worst(left, _BY_INPUT)} < {_worst(lag, _BY_INPUT)}",
            _WARNING,
            "{{ $labels.input }} has less history left than its commits have waited: the checkpoint will expire",
            f"freshet run {spec.name} --drain --env {self.env}",
            "5m",
        )
        dropped = f"{_worst(self.metric('freshet_last_commit_rows', kind='quarantined'))} > 0"
        words, command = (
            "rows that its last commit sent to the quarantine: {{ $value }}",
            f"freshet quarantine show {spec.name}",
        )
        yield self.rule("FreshetRowsQuarantined", dropped, _WARNING, words, f"{command} --env {self.env}")
        yield from self.of_promises()

    def of_schedule(self) -> Iterator[Rule]:
        spec = self.spec
        if not spec.schedule:
            return
        yield self.rule(
            "FreshetScheduleMissed",
            f"{_worst(self.metric('freshet_schedule_overdue_seconds'))} > {LATE_SECONDS}",
            _CRITICAL,
            "its scheduler has not begun a run that was due {{ $value | humanizeDuration }} ago "
            f"({spec.schedule}, {spec.schedule_zone})",
            f"Look at the scheduler; then {self.status}",
        )
        never = f"{_worst(self.metric('freshet_pipeline_has_run'))} == 0"
        words = "it has a schedule and never ran"
        yield self.rule("FreshetNeverRan", never, _WARNING, words, f"freshet run {spec.name} --env {self.env}", "1h")

    def of_promises(self) -> Iterator[Rule]:
        slo = self.spec.slo
        if slo.freshness_seconds is not None:
            broken, risk = (self.promise("freshness", result) for result in ("broken", "at_risk"))
            words = f"is freshness: {in_words(slo.freshness_seconds)}"
            yield self.rule("FreshetFreshnessBroken", broken, _CRITICAL, f"broken {words}", self.status)
            yield self.rule("FreshetFreshnessAtRisk", risk, _WARNING, f"at risk {words}", self.status, "5m")
        if slo.max_runtime_seconds is not None:
            words = f"broken is max_runtime: {in_words(slo.max_runtime_seconds)}"
            yield self.rule("FreshetRuntimeBroken", self.promise("max_runtime", "broken"), _WARNING, words, self.history)

        if slo.completeness is not None:
            broken, risk = (self.promise("completeness", result) for result in ("broken", "at_risk"))
            words, command = f"is completeness: {share_words(slo.completeness)}", f"{self.status} --completeness"
            yield self.rule("FreshetCompletenessBroken", broken, _CRITICAL, f"broken {words}", command)
            yield self.rule("FreshetCompletenessAtRisk", risk, _WARNING, f"at risk {words}", command, "5m")

    def metric(self, name: str, **labels: str) -> str:
        return selector(name, env=self.env, pipeline=self.spec.name, **labels)

    def promise(self, kind: str, result: str) -> str:
        return f"{_worst(self.metric('freshet_slo_result', kind=kind, result=result))} == 1"

    def rule(self, name: str, expr: str, severity: str, summary: str, command: str, after: str = "") -> Rule:
        labels = {"severity": severity, "owner": _owner(self.spec), "env": self.env, "pipeline": self.spec.name}
        return {
            "alert": name,
            "expr": expr,
            **({"for": after} if after else {}),
            "labels": labels,
            "annotations": {"summary": f"{self.spec.name} ({self.env}): {summary}", "next": command},
        }


def _owner(spec: PipelineSpec) -> str:
    # A file may have read it from env, and these texts are kept and sent elsewhere.
    return redact(spec.owner) or NOBODY


def _worst(inner: str, of: str = "env, pipeline") -> str:
    # Whatever scrapes or pushes adds labels of its own, and each of them would be an alert.
    return f"max by ({of}) ({inner})"


def selector(name: str, **labels: str) -> str:
    """Return a metric of the registry with matchers as PromQL has them."""
    return f"{BY_NAME[name].name}{{{','.join(f'{label}={_quoted(value)}' for label, value in labels.items())}}}"


def routes_of(project: Project) -> dict[str, Any]:
    """Return an Alertmanager's configuration that sends each owner's alerts to a receiver of their own.

    Args:
        project: The pipelines.
    """
    owners = sorted({_owner(spec) for spec in project.pipelines})
    receivers = _receivers(owners)
    matched = f"env={_quoted(project.env)}"
    return {
        "route": {
            "receiver": "freshet",
            "group_by": ["env", "owner", "pipeline"],
            "routes": [{"matchers": [matched, f"owner={_quoted(owner)}"], "receiver": receivers[owner]} for owner in owners],
        },
        "receivers": [{"name": name} for name in dict.fromkeys(("freshet", *receivers.values()))],
        "inhibit_rules": [
            # What is broken was at risk before; of a refused pipeline the rest follows.
            _inhibits("FreshetFreshnessBroken", ("FreshetFreshnessAtRisk",)),
            _inhibits("FreshetCompletenessBroken", ("FreshetCompletenessAtRisk",)),
            _inhibits("FreshetRefused", ("FreshetRunsFail", "FreshetFreshnessAtRisk", "FreshetHistoryRunsOut")),
            _inhibits("FreshetNeverRan", ("FreshetFreshnessBroken", "FreshetFreshnessAtRisk")),
        ],
    }


def _receivers(owners: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for owner in owners:
        name = f"freshet-{_NAME.sub('-', owner).strip('-').lower() or 'owner'}"
        # Two owners whose names differ in a sign alone are two.
        taken = sum(known == name or known.startswith(f"{name}-") for known in found.values())
        found[owner] = f"{name}-{taken + 1}" if name in found.values() else name
    return found


def _inhibits(source: str, targets: Iterable[str]) -> dict[str, Any]:
    return {
        "source_matchers": [f"alertname={_quoted(source)}"],
        "target_matchers": [f"alertname=~{_quoted('|'.join(targets))}"],
        "equal": ["env", "pipeline"],
    }


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

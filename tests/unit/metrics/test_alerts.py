"""Alert rules, routes and the dashboard: only names of the registry, owners as labels; Prometheus' own tools take them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from freshet.metrics.alerts import NOBODY, routes_of, rules_of
from freshet.metrics.dashboard import dashboard
from freshet.metrics.registry import BY_NAME, CHECK_RESULTS, ENV, RUN_RESULTS, SLO_RESULTS
from freshet.metrics.samples import samples_of
from freshet.metrics.text import text_of
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.project.model.promises import Slo
from tests.kit.memory import a_checkpoint, a_commit, a_spec, a_table_state, a_target
from tests.unit.metrics.kit import a_run, looked_at, promising, with_runs

ONE = a_spec(slo=Slo(1800, 600), owner='the "earnings" team')
OTHER = replace(a_spec(), name="other", owner="", schedule="", slo=Slo())
KNOWN = {"result": {*RUN_RESULTS, *CHECK_RESULTS, *SLO_RESULTS}}


def rules(*specs: PipelineSpec) -> dict[tuple[str, str], dict[str, Any]]:
    found = rules_of(Project("/p", "prod", specs or (ONE, OTHER), {}), 900)
    return {(rule["labels"]["pipeline"], rule["alert"]): rule for group in found["groups"] for rule in group["rules"]}


def queries() -> Iterator[str]:
    """Yield every query of the dashboard and of the alerts, without Grafana's variables."""
    yield from (rule["expr"] for rule in rules().values())
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"].replace("$env", "prod").replace("$pipeline", ".*")


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(
            f"{name} is not installed: it comes with Prometheus, and Debian has it as prometheus or prometheus-alertmanager"
        )
    return found


def checked(name: str, *words: str) -> None:
    done = subprocess.run([tool(name), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("query", sorted(set(queries())))
def test_a_query_names_only_what_there_is(query: str) -> None:
    """Metrics, the labels that each of them has, and results that are ever told."""
    used = re.findall(r"(freshet_\w+)\{([^}]*)\}", query)
    assert used
    for name, matchers in used:
        assert name in BY_NAME
        for label, value in re.findall(r'(\w+)[=!]~?"([^"]*)"', matchers):
            assert label in (ENV, *BY_NAME[name].labels), f"{name} has no label {label}"
            assert label not in KNOWN or value in KNOWN[label]
    kept = {label.strip() for by in re.findall(r"by \(([^)]*)\)", query) for label in by.split(",")}
    assert kept <= {ENV, *(label for name, _ in used for label in BY_NAME[name].labels)}


def test_what_a_legend_shows_its_query_keeps() -> None:
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            kept = {label.strip() for by in re.findall(r"by \(([^)]*)\)", target["expr"]) for label in by.split(",")}
            assert set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) <= kept


def test_the_dashboard_shows_what_was_asked_for() -> None:
    made = dashboard()
    assert json.loads(json.dumps(made)) == made
    titles = " | ".join(panel["title"] for panel in made["panels"]).lower()
    for asked in (
        "overview",
        "commits that wait, and commits processed",
        "lag",
        "rows of",
        "by phase",
        "checks",
        "quarantine",
        "backfill",
    ):
        assert asked in titles
    assert [one["name"] for one in made["templating"]["list"]] == ["datasource", "env", "pipeline"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in made["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in made["panels"])


def test_a_pipeline_has_the_rules_that_it_can_break() -> None:
    found = rules()
    assert {alert for name, alert in found if name == "earnings"} == {
        "FreshetMetricsStale",
        "FreshetRefused",
        "FreshetRunsFail",
        "FreshetScheduleMissed",
        "FreshetNeverRan",
        "FreshetHistoryRunsOut",
        "FreshetRowsQuarantined",
        "FreshetFreshnessBroken",
        "FreshetFreshnessAtRisk",
        "FreshetRuntimeBroken",
    }
    without = {alert for name, alert in found if name == "other"}
    assert not without & {"FreshetScheduleMissed", "FreshetNeverRan", "FreshetFreshnessBroken", "FreshetRuntimeBroken"}


def test_every_rule_says_whose_it_is_and_what_to_do() -> None:
    for (name, _), rule in rules().items():
        assert rule["labels"]["owner"] == ('the "earnings" team' if name == "earnings" else NOBODY)
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["next"]
        assert rule["annotations"]["summary"].startswith(f"{name} (prod): ")


def test_each_owner_has_a_receiver() -> None:
    specs = [
        replace(OTHER, name=f"p{number}", owner=owner) for number, owner in enumerate(("A team", "a-team", "a", "A team", "ü"))
    ]
    made = routes_of(Project("/p", "prod", tuple(specs), {}))
    routes = {route["matchers"][1]: route["receiver"] for route in made["route"]["routes"]}
    assert len(routes) == len(set(routes.values())) == 4
    assert {one["name"] for one in made["receivers"]} == {"freshet", *routes.values()}
    assert 'owner="A team"' in routes


def test_promtool_takes_the_rules_and_every_query_of_the_dashboard(tmp_path: Path) -> None:
    made = rules_of(Project("/p", "prod", (ONE, OTHER), {}), 900)
    recorded = [{"record": f"freshet:query{number}", "expr": query} for number, query in enumerate(queries())]
    made["groups"].append({"name": "dashboard", "rules": recorded})
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(made))
    checked("promtool", "check", "rules", str(tmp_path / "rules.yml"))


def test_the_rules_fire_when_they_should(tmp_path: Path) -> None:
    """By promtool's own unit tests: a broken promise, a schedule that was missed, and metrics that are not told at all."""
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules_of(Project("/p", "prod", (ONE,), {}), 900)))
    labels = {"env": "prod", "pipeline": "earnings", "owner": 'the "earnings" team'}
    series = 'env="prod",pipeline="earnings",instance="a"'
    found = rules(ONE)

    def expected(alert: str, summary: str) -> dict[str, Any]:
        rule = found["earnings", alert]
        told = {"summary": f"earnings (prod): {summary}", "next": rule["annotations"]["next"]}
        return {"exp_labels": {**labels, "severity": rule["labels"]["severity"]}, "exp_annotations": told}

    def at(minutes: int, alert: str, *summaries: str) -> dict[str, Any]:
        return {"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": [expected(alert, one) for one in summaries]}

    missed = "its scheduler has not begun a run that was due 15m 0s ago (*/30 * * * *, UTC)"
    stale = "nobody has told its metrics for too long, so that no other alert of it can be relied on"
    test = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": f'freshet_slo_result{{{series},kind="freshness",result="broken"}}', "values": "0x9 1x20"},
                    {"series": f"freshet_schedule_overdue_seconds{{{series}}}", "values": "0+60x30"},
                    {"series": f"freshet_metrics_timestamp_seconds{{{series}}}", "values": "0+60x30"},
                ],
                "alert_rule_test": [
                    at(5, "FreshetFreshnessBroken"),
                    at(12, "FreshetFreshnessBroken", "broken is freshness: 30 min"),
                    at(8, "FreshetScheduleMissed"),
                    at(15, "FreshetScheduleMissed", missed),
                    at(15, "FreshetMetricsStale"),
                ],
            },
            {
                "interval": "1m",
                "input_series": [{"series": "up", "values": "1x30"}],
                "alert_rule_test": [at(15, "FreshetMetricsStale", stale), at(15, "FreshetFreshnessBroken")],
            },
        ],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump(test))
    checked("promtool", "test", "rules", str(tmp_path / "test.yml"))


def test_amtool_takes_the_routes(tmp_path: Path) -> None:
    (tmp_path / "alertmanager.yml").write_text(yaml.safe_dump(routes_of(Project("/p", "prod", (ONE, OTHER), {}))))
    checked("amtool", "check-config", str(tmp_path / "alertmanager.yml"))


def test_promtool_takes_the_text(tmp_path: Path) -> None:
    found = looked_at(a_table_state([a_commit(10), a_commit(20)]), a_target((15, a_checkpoint(10))))
    text = text_of(samples_of([promising(with_runs(found, a_run(12)), 30, 60)], "prod"))
    done = subprocess.run([tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")

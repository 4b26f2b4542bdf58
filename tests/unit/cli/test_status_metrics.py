"""``status --metrics``, and what of a pipeline's ``slo`` ``status`` says, from hand-made timelines."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.run.records import write_record
from tests.kit.memory import at
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target, clean
from tests.unit.cli.conftest import Freshet, parsed
from tests.unit.metrics.kit import BEGIN
from tests.unit.metrics.test_text import faults_of

# Two days after all commits: a Monday.
NOW = BEGIN + 2 * 86_400


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("collect", "slo"):
        monkeypatch.setattr(f"freshet.metrics.{module}.time", SimpleNamespace(time=lambda: NOW))


@pytest.fixture
def several(root: Path) -> Path:
    """Return a project with a pipeline that is behind, one that is refused, one that never ran and one without a source."""
    a_table(root, "raw/events", 10, 20, 30)
    a_target(root, (15, 10))
    for name in ("expired", "fresh", "lost"):
        a_project(root, name, source=f"{name}_events")
    a_table(root, "raw/expired_events", 10, 20, 30).done(40, clean(at(25)), "clean")
    a_target(root, (15, 10), name="derived/expired", source="raw/expired_events")
    a_table(root, "raw/fresh_events", 10)
    return root


def metrics(freshet: Freshet, *words: str) -> dict[tuple[str, ...], Any]:
    found = parsed(freshet("status", "--metrics", "--output", "json", *words))["metrics"]
    return {(one["name"], *list(one["labels"].values())[1:]): one["value"] for one in found}


def test_every_pipeline_is_seen_whatever_is_wrong_with_it(freshet: Freshet, several: Path) -> None:
    result = freshet("status", "--metrics")
    assert (result.exit_code, faults_of(result.stdout), result.stderr) == (0, [], "")
    found = metrics(freshet)
    states = {labels[1]: labels[2] for labels in found if labels[0] == "freshet_pipeline_state"}
    assert states == {"payments": "behind", "expired": "CHECKPOINT_EXPIRED", "fresh": "new", "lost": "SOURCE_MISSING"}
    assert {labels[1] for labels, value in found.items() if labels[0] == "freshet_pipeline_refused" and value} == {
        "expired",
        "lost",
    }
    assert found["freshet_pipeline_has_run", "fresh"] == 0
    assert found["freshet_source_waiting_rows", "payments", "raw.events"] == 20
    assert found["freshet_source_lag_seconds", "payments", "raw.events"] == NOW - BEGIN - 0.02


def test_what_the_timelines_forbid_is_what_status_says(freshet: Freshet, several: Path) -> None:
    """Kind: a second opinion. Of these states both say the same."""
    status = {one["pipeline"]: one["state"] for one in parsed(freshet("status", "--output", "json"))["pipelines"]}
    seen = {labels[1]: labels[2] for labels in metrics(freshet) if labels[0] == "freshet_pipeline_state"}
    assert seen == status


def test_one_pipeline_alone_and_its_last_run(freshet: Freshet, several: Path) -> None:
    ref = TableRef("derived.payments", str(several / "data/derived/payments"))
    write_record(
        ref, "payments", {"what": "run", "begun": at(50), "outcome": "failed", "error": {"code": "OVERFLOW", "message": ""}}
    )
    found = metrics(freshet, "payments")
    assert {labels[1] for labels in found} == {"payments"}
    assert found["freshet_last_run_result", "payments", "failed"] == 1
    assert found["freshet_consecutive_failed_runs", "payments"] == 1
    assert found["freshet_last_commit_rows", "payments", "inserted"] == 3


def test_one_that_breaks_hides_no_other(freshet: Freshet, several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is: an error that nobody foresaw, in what is added to a pipeline's standing."""
    with_slo(several, "{freshness: 30m}")

    def broken(*_: object) -> None:
        raise RuntimeError("nobody foresaw it")

    monkeypatch.setattr("freshet.metrics.measured._waiting", broken)
    states = {labels[1]: labels[2] for labels in metrics(freshet) if labels[0] == "freshet_pipeline_state"}
    assert set(states) == {"payments", "expired", "fresh", "lost"}
    assert set(states.values()) == {"UNEXPECTED_ERROR"}
    found = {one["pipeline"]: one["state"] for one in parsed(freshet("status", "--output", "json"))["pipelines"]}
    assert (found["payments"], found["fresh"]) == ("UNEXPECTED_ERROR", "new")


def test_no_timeline_is_read_twice(freshet: Freshet, several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the metrics none; ``status`` asks several questions of a target, and of a source once more whose files it seeks."""
    looks = Counter[str]()
    real = TimelineState.table

    def counting(self: TimelineState, ref: TableRef) -> TableState | None:
        looks[ref.path] += 1
        return real(self, ref)

    monkeypatch.setattr(TimelineState, "table", counting)
    a_project(several, "second", source="events")
    assert freshet("status", "--metrics").exit_code == 0
    assert set(looks.values()) == {1}
    assert len(looks) == 9, "the tables of five pipelines, of which two read the same source"
    looks.clear()
    assert freshet("status").exit_code == 0
    assert {looks[path] for path in looks if "/derived/" in path} == {1}


def with_slo(root: Path, text: str) -> None:
    file = root / "pipelines/payments.yml"
    file.write_text(f"slo: {text}\n" + file.read_text())


def test_what_is_promised_and_no_longer_kept_is_shown(freshet: Freshet, several: Path) -> None:
    with_slo(several, "{freshness: 30m, max_runtime: 10m}")
    last = next(line for line in freshet("status").stdout.splitlines() if line.startswith("payments: "))
    assert last.startswith("payments: freshness broken: the oldest of 2 commits that wait in raw.events completed 48 h ago, ")
    assert last.endswith("; max_runtime kept: no run that had work to do is recorded")
    promised = {one["pipeline"]: one["slo"] for one in parsed(freshet("status", "--output", "json"))["pipelines"]}
    assert [(one["objective"], one["seconds"], one["result"]) for one in promised["payments"]] == [
        ("freshness", 1800, "broken"),
        ("max_runtime", 600, "kept"),
    ]
    assert promised["fresh"] == []
    found = metrics(freshet)
    assert found["freshet_slo_result", "payments", "freshness", "broken"] == 1
    assert found["freshet_slo_objective_seconds", "payments", "max_runtime"] == 600


def test_a_scheduler_that_does_not_begin_a_run_is_seen(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline without a schedule, or one that a run has just begun for, misses none."""
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))

    def overdue() -> float | None:
        found: float | None = parsed(freshet("status", "--output", "json"))["pipelines"][0]["overdue_seconds"]
        return found

    assert overdue() is None
    file = root / "pipelines/payments.yml"
    file.write_text('schedule: "15 4 * * *"\n' + file.read_text())
    assert overdue() == 30 * 3600, "since the next morning"
    assert freshet("status").stdout.splitlines()[-1] == "payments: no run has begun since one was due 30 h ago"
    monkeypatch.setattr("freshet.run.records.now", lambda: "20260803101000000")
    assert freshet("run", "payments").exit_code == 0
    assert overdue() == 0
    assert "no run has begun" not in freshet("status").stdout


def test_a_run_sends_its_metrics_also_an_idle_and_a_failed_one(freshet: Freshet, root: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    file = tmp_path / "out/freshet_base_payments.prom"
    way = ("--set", f"metrics.textfile={tmp_path / 'out'}")
    assert freshet("run", "payments", *way).exit_code == 5
    failed = file.read_text()
    assert 'freshet_last_run_result{env="base",pipeline="payments",result="failed"} 1\n' in failed
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    assert freshet("run", "payments", *way).exit_code == 0
    idle = file.read_text()
    assert 'freshet_last_run_result{env="base",pipeline="payments",result="idle"} 1\n' in idle
    assert 'freshet_last_run_result{env="base",pipeline="payments",result="failed"} 0\n' in idle
    assert faults_of(idle) == []


def test_a_gateway_that_is_not_there_harms_no_run(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    plain = freshet("run", "payments", "--output", "json")
    found = freshet("run", "payments", "--set", "metrics.pushgateway=http://127.0.0.1:1", "--output", "json")
    assert (found.exit_code, json.loads(found.stdout)["runs"][0]["outcome"]) == (0, "idle")
    assert "METRICS_NOT_SENT: payments: the Pushgateway at 127.0.0.1:1 " in found.stderr
    assert "METRICS_NOT_SENT" not in plain.stderr


def test_metrics_are_sent_by_the_ways_of_the_environment(freshet: Freshet, several: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    way = ("--set", f"metrics.textfile={tmp_path / 'out'}")
    found = freshet("status", "--metrics", "--send", *way)
    assert (found.exit_code, found.stdout) == (0, "metrics of 4 pipelines sent\n")
    assert len(list((tmp_path / "out").glob("freshet_base_*.prom"))) == 4
    lost = freshet("status", "--metrics", "--send", "--set", f"metrics.textfile={tmp_path / 'none'}", "--output", "json")
    assert (lost.exit_code, len(parsed(lost)["not_sent"])) == (1, 1)
    assert freshet("status", "--metrics", "--send").exit_code == 2
    assert freshet("status", "--send", *way).exit_code == 2


def test_the_command_prints_each(freshet: Freshet) -> None:
    made = yaml.safe_load(freshet("alerts", "--env", "base").stdout)
    assert made["groups"][0]["name"] == "freshet-base-payments"
    assert "& id" not in freshet("alerts").stdout
    assert "*id" not in freshet("alerts").stdout
    assert yaml.safe_load(freshet("alerts", "--format", "alertmanager").stdout)["route"]["receiver"] == "freshet"
    assert json.loads(freshet("alerts", "--format", "grafana").stdout)["uid"] == "freshet"
    assert parsed(freshet("alerts", "--output", "json"))["groups"]
    assert freshet("alerts", "--stale-after", "soon").exit_code == 2

"""``slo:`` of a pipeline and ``metrics:`` of an environment, checked with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import NO_BUDGET, NO_LINEAGE, NO_METRICS, BudgetSpec, LineageOut, MetricsOut, Slo
from tests.kit.project import BASE, a_project
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML_FILE, yml

CONFIG = "configs/base.yml"


def loaded(root: Path, *overrides: str, **environ: str) -> PipelineSpec:
    return load_project(root, None, overrides, environ=environ).pipelines[0]


def test_promises_are_seconds(tmp_path: Path) -> None:
    assert loaded(a_project(tmp_path / "a")).slo == Slo()
    root = a_project(tmp_path / "b", files={YML_FILE: yml("slo: {freshness: 30m, max_runtime: 10m}")})
    assert loaded(root).slo == Slo(1800, 600)
    assert loaded(root, "slo.freshness=1h").slo == Slo(3600, 600)


def test_what_is_promised_is_no_other_pipeline(tmp_path: Path) -> None:
    """A promise and a way out change no row: the fingerprint stays."""
    plain = loaded(a_project(tmp_path / "a"))
    files = {YML_FILE: yml("slo: {freshness: 30m}"), CONFIG: BASE + "metrics: {statsd: 'h:1'}\n"}
    assert loaded(a_project(tmp_path / "b", files=files)).fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("  freshness: soon", "BAD_VALUE", "a duration"),
        ("  freshness: 0m", "BAD_VALUE", "never kept"),
        ("  max_runtime: 60", "WRONG_TYPE", "string"),
        ("  fresh: 1h", "UNKNOWN_KEY", "fresh"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused_at_its_line(problems_of: Check, text: str, code: str, said: str) -> None:
    found = problems_of({YML_FILE: yml("slo:", text)})
    assert seen(found) == [(YML_FILE, 8, code)]
    assert said in found[0].message


def test_promises_are_the_pipelines(problems_of: Check) -> None:
    found = problems_of({CONFIG: BASE + "slo: {freshness: 1h}\n"})
    assert seen(found) == [(CONFIG, 3, "MISPLACED_KEY")]


def test_ways_out(tmp_path: Path) -> None:
    assert loaded(a_project(tmp_path / "a")).metrics == NO_METRICS
    text = (
        "metrics:\n  textfile: out\n  pushgateway: 'http://u:{{ env.GATE }}@gate:9091'\n  otlp: https://c:4318/v1/metrics\n"
        "  statsd: '[::1]:8125'\n  timeout: 2s\n"
    )
    root = a_project(tmp_path / "b", files={CONFIG: BASE + text})
    spec = loaded(root, GATE="hunter2-and-more")
    assert spec.metrics == MetricsOut(
        textfile=str(root / "out"),
        pushgateway="http://u:hunter2-and-more@gate:9091",
        otlp="https://c:4318/v1/metrics",
        statsd="[::1]:8125",
        timeout_seconds=2,
    )
    assert loaded(root, "metrics.textfile=/var/x", GATE="hunter2-and-more").metrics.textfile == "/var/x"


def test_a_template_is_held_to_the_same_where_it_is_rendered(problems_of: Check) -> None:
    text = BASE + "metrics: {slack: '{{ env.HOOK }}', statsd: '{{ env.STATSD }}'}\n"
    assert problems_of({CONFIG: text}, environ={"HOOK": "https://hooks/x", "STATSD": "h:1"}) == []
    wrong = problems_of({CONFIG: text}, environ={"HOOK": "hooks/and-more", "STATSD": "nowhere-at-all"})
    assert [one.code for one in wrong] == ["BAD_VALUE", "BAD_VALUE"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  pushgateway: gate:9091", "BAD_VALUE"),
        ("  otlp: grpc://c:4317", "BAD_VALUE"),
        ("  slack: http://", "BAD_VALUE"),
        ("  slack: 'http://[::1/x'", "BAD_VALUE"),
        ("  slack: http://host:port/x", "BAD_VALUE"),
        ("  slack: http://host:99999/x", "BAD_VALUE"),
        ("  webhook: 'http://h/a b'", "BAD_VALUE"),
        ("  statsd: localhost", "BAD_VALUE"),
        ("  textfile: s3://bucket/x", "BAD_VALUE"),
        ("  timeout: 0s", "BAD_VALUE"),
        ("  timeout: 2m", "BAD_VALUE"),
        ("  textfiles: x", "UNKNOWN_KEY"),
    ],
)
def test_a_way_that_leads_nowhere_is_refused_at_its_line(problems_of: Check, text: str, code: str) -> None:
    found = problems_of({CONFIG: BASE + "metrics:\n" + text + "\n"})
    assert seen(found) == [(CONFIG, 4, code)]


def test_ways_out_are_the_environments(problems_of: Check) -> None:
    found = problems_of({YML_FILE: yml("metrics: {statsd: 'h:1'}")})
    assert seen(found) == [(YML_FILE, 7, "MISPLACED_KEY")]
    assert "configs" in found[0].hint


def test_where_lineage_goes(tmp_path: Path) -> None:
    assert loaded(a_project(tmp_path / "a")).lineage == NO_LINEAGE
    text = (
        "lineage:\n  file: out/lineage.jsonl\n  url: http://marquez:5000/\n  endpoint: /x/y/\n  api_key: '{{ env.KEY }}'\n"
        "  namespace: lake\n  timeout: 2s\n"
    )
    root = a_project(tmp_path / "b", files={CONFIG: BASE + text})
    spec = loaded(root, KEY="hunter2-and-more")
    assert spec.lineage == LineageOut(
        file=str(root / "out/lineage.jsonl"),
        url="http://marquez:5000/",
        endpoint="x/y",
        api_key="hunter2-and-more",
        namespace="lake",
        timeout_seconds=2,
    )
    assert "hunter2" not in repr(spec)
    assert spec.fingerprint == loaded(a_project(tmp_path / "c")).fingerprint


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  url: marquez:5000", "BAD_VALUE"),
        ("  file: s3://bucket/x", "BAD_VALUE"),
        ("  timeout: 2m", "BAD_VALUE"),
        ("  uri: http://marquez", "UNKNOWN_KEY"),
    ],
)
def test_lineage_that_leads_nowhere_is_refused_at_its_line(problems_of: Check, text: str, code: str) -> None:
    found = problems_of({CONFIG: BASE + "lineage:\n" + text + "\n"})
    assert seen(found) == [(CONFIG, 4, code)]


def test_lineage_is_the_environments(problems_of: Check) -> None:
    found = problems_of({YML_FILE: yml("lineage: {file: x}")})
    assert seen(found) == [(YML_FILE, 7, "MISPLACED_KEY")]


def test_a_budget_is_seconds_and_bytes(tmp_path: Path) -> None:
    plain = loaded(a_project(tmp_path / "a"))
    assert plain.budget == NO_BUDGET
    files = {YML_FILE: yml("budget: {runtime: 15m, written: 1.5 GB, file_groups: 500, over: refuse}")}
    root = a_project(tmp_path / "b", files=files)
    assert loaded(root).budget == BudgetSpec(seconds=900, written_bytes=1_500_000_000, file_groups=500, over="refuse")
    assert loaded(root, "budget.over=warn", "budget.file_groups=7").budget.file_groups == 7
    assert loaded(root).fingerprint == plain.fingerprint
    everywhere = a_project(tmp_path / "c", files={CONFIG: BASE + "budget: {runtime: 1h}\n"})
    assert loaded(everywhere).budget == BudgetSpec(seconds=3600)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  runtime: soon", "BAD_VALUE"),
        ("  runtime: 0s", "BAD_VALUE"),
        ("  written: 5", "WRONG_TYPE"),
        ("  written: 5 gigabytes", "BAD_VALUE"),
        ("  file_groups: 0", "WRONG_TYPE"),
        ("  over: stop", "WRONG_TYPE"),
        ("  rows: 5", "UNKNOWN_KEY"),
    ],
)
def test_a_budget_that_says_nothing_is_refused_at_its_line(problems_of: Check, text: str, code: str) -> None:
    found = problems_of({YML_FILE: yml("budget:", text)})
    assert seen(found) == [(YML_FILE, 8, code)]

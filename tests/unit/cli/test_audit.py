"""``freshet audit`` before Spark starts, and how it ends; ``freshet status`` with what the last one found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import freshet as api
from freshet.audit.kept import record_of
from freshet.audit.request import AuditRequest
from freshet.audit.result import AuditResult, Repaired
from freshet.project.model.pipeline import TableRef
from freshet.run.records import remembered
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target
from tests.unit.cli.conftest import Freshet, parsed

FOUND = AuditResult(pipeline="payments", target="derived.payments", commit="1", checkpoint="2", checked=10)


@pytest.mark.parametrize(
    "words",
    [
        ("--sample", "1%", "--all"),
        ("--sample", "1%", "--keys", "5"),
        ("--keys", "5", "--all"),
        ("--keys", "0"),
        ("--sample", "0%"),
        ("--sample", "half"),
        ("--since", "yesterday"),
    ],
)
def test_a_wrong_command_line(freshet: Freshet, words: tuple[str, ...]) -> None:
    assert freshet("audit", "payments", *words).exit_code == 2


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ((), AuditRequest()),
        (("--sample", "5%"), AuditRequest(share=0.05)),
        (("--keys", "500", "--repair"), AuditRequest(keys=500, repair=True)),
        (("--all", "--since", "2026-11-25", "--seed", "x"), AuditRequest(everything=True, since="20261125000000000", seed="x")),
    ],
)
def test_what_is_asked_for(
    freshet: Freshet, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], request_: AuditRequest
) -> None:
    asked: list[Any] = []

    def run(project: Any, spec: Any, state: Any, request: AuditRequest, listen: Any) -> AuditResult:
        asked.append((spec.name, request))
        return FOUND

    monkeypatch.setattr("freshet.cli.audit.run_audit", run)
    assert freshet("audit", "payments", *words).exit_code == 0
    assert asked == [("payments", request_)]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (FOUND, 0),
        (replace(FOUND, unequal=1), 7),
        (replace(FOUND, lost=1), 7),
        (replace(FOUND, unequal=1, repaired=Repaired(commit="3", written=1, deleted=0, how="upsert")), 0),
    ],
)
def test_how_it_ends(freshet: Freshet, monkeypatch: pytest.MonkeyPatch, found: AuditResult, code: int) -> None:
    monkeypatch.setattr("freshet.cli.audit.run_audit", lambda *given: found)
    done = freshet("audit", "payments", "--output", "json")
    assert done.exit_code == code
    assert parsed(done)["differing"] == found.differing


def test_what_is_refused_starts_no_spark_and_is_remembered(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    error = parsed(freshet("audit", "payments", "--all", "--output", "json"))["error"]
    assert error["code"] == "TARGET_MISSING"
    a_target(root, (15, 10))
    (root / "transformers/payments.sql").write_text("SELECT id, amount, updated_at FROM <SRC> ORDER BY id LIMIT 10")
    done = freshet("audit", "payments", "--output", "json")
    assert (done.exit_code, parsed(done)["error"]["code"]) == (5, "NO_SCOPE")
    runs = parsed(freshet("history", "payments", "--failed", "--output", "json"))["runs"]
    assert [(run["what"], run["error"]["code"]) for run in runs] == [("audit", "NO_SCOPE"), ("audit", "TARGET_MISSING")]


def test_status_and_history_show_the_last_one(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    a_project(root, "refunds")
    target = TableRef("derived.payments", str(root / "data/derived/payments"))
    with remembered(target, "payments", "audit") as record:
        record.update(record_of(replace(FOUND, unequal=2, missing=1)))
    found = {one["pipeline"]: one["audit"] for one in parsed(freshet("status", "--output", "json"))["pipelines"]}
    assert found["refunds"] is None
    assert {key: found["payments"][key] for key in ("outcome", "checked", "differing", "missing", "unequal")} == {
        "outcome": "differs",
        "checked": 10,
        "differing": 3,
        "missing": 1,
        "unequal": 2,
    }
    said = freshet("status").stdout
    assert "payments: last audit" in said
    assert "10 rows checked, 3 differ" in said
    assert "10 rows checked, 3 differ" in freshet("history", "payments").stdout


def test_from_python_it_is_asked_alike(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AuditRequest] = []

    def run(project: Any, spec: Any, state: Any, request: AuditRequest, listen: Any) -> AuditResult:
        asked.append(request)
        return replace(FOUND, unequal=1)

    monkeypatch.setattr("freshet.api.audits.run_audit", run)
    project = api.Project.load(root)
    assert project.audit("payments", 0.05, since="2026-11-25", seed="x", repair=True).outcome == "differs"
    project.audit("payments", everything=True, keys=3)
    assert asked == [
        AuditRequest(share=0.05, since="20261125000000000", seed="x", repair=True),
        AuditRequest(everything=True, keys=3),
    ]


@pytest.mark.parametrize("given", [{"share": 0}, {"share": 1.5}, {"keys": -1}, {"since": "yesterday"}])
def test_what_no_call_can_ask(root: Path, given: dict[str, Any]) -> None:
    with pytest.raises(api.FreshetError) as refused:
        api.Project.load(root).audit("payments", **given)
    assert refused.value.code == "USAGE"

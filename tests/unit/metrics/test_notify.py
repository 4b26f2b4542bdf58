"""Troubles are told once, again while they last, and when they are over: over a webhook, as Slack takes it and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.events.event import Event
from freshet.metrics import notify
from freshet.metrics.measured import Measured
from freshet.metrics.notify import keep_told, message_of, notifiers_of, slack_of, told_before
from freshet.metrics.out import Sender
from freshet.metrics.troubles import news_of, troubles_of
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.project.model.promises import MetricsOut
from freshet.run.history import Entry
from tests.kit.memory import a_checkpoint, a_commit, a_table_state, a_target, at
from tests.unit.metrics.kit import BEGIN, a_run, looked_at, promising, unknown_lag, with_runs
from tests.unit.metrics.test_out import pipeline

DAY = 86_400
FAILED = a_run(40, "failed", error={"code": "CHECK_FAILED", "message": "3 rows < 0 & more"})


def well(now: float = BEGIN + 60) -> Measured:
    found = looked_at(a_table_state([a_commit(10)]), a_target((15, a_checkpoint(10))), now=now, schedule="")
    return with_runs(found, a_run(12), success=at(20))


def failing(now: float = BEGIN + 60, failures: int = 1) -> Measured:
    return replace(with_runs(well(), FAILED, a_run(12), success=at(20), failures=failures), now=now)


def kinds(found: Measured) -> list[tuple[str, str]]:
    return [(one.kind, one.code) for one in troubles_of(found)]


def test_what_is_a_trouble() -> None:
    assert kinds(well()) == []
    assert kinds(failing()) == [("run_failed", "CHECK_FAILED")]
    assert "(3 in a row)" in troubles_of(failing(failures=3))[0].message
    killed = with_runs(well(), a_run(40, "killed", reason="pid 7 on h was killed"), success=at(20), failures=1)
    assert kinds(killed) == [("run_failed", "KILLED")]
    assert kinds(replace(well(), overdue=601.0)) == [("schedule_missed", "")]
    assert kinds(replace(well(), overdue=599.0)) == []
    late = looked_at(
        a_table_state([a_commit(10), a_commit(20)]), a_target((15, a_checkpoint(10))), now=BEGIN + 7200, schedule=""
    )
    assert kinds(promising(late, 1800)) == [("freshness", "")]
    assert kinds(unknown_lag(well(), "TIMELINE_UNREADABLE")) == [("refused", "TIMELINE_UNREADABLE")]


def test_a_backfill_and_services_that_failed_are_troubles_of_their_own() -> None:
    error = {"code": "SERVICE_FAILED", "message": "no"}
    service = Entry(begun=at(30), what="service", outcome="failed", error=error)
    chunks = Entry(begun=at(30), what="backfill", outcome="failed", more={"failed": {"2026-01-05": "CHECK_FAILED"}})
    runs = well().runs
    assert runs is not None
    found = replace(well(), runs=replace(runs, others={"service": service, "backfill": chunks}))
    assert kinds(found) == [("service_failed", "SERVICE_FAILED"), ("backfill_failed", "CHECK_FAILED")]
    assert [one.message for one in troubles_of(found)] == [
        "the last table service failed: SERVICE_FAILED: no",
        "the last backfill failed: CHECK_FAILED: 1 of its chunks failed, such as 2026-01-05",
    ]
    over = replace(found, runs=replace(runs, others={"service": replace(service, outcome="done")}))
    assert kinds(over) == []


def test_what_a_run_was_refused_for_is_told_once() -> None:
    refused = a_run(40, "failed", error={"code": "SOURCE_MISSING", "message": "no"})
    found = with_runs(unknown_lag(well(), "SOURCE_MISSING"), refused, success=at(20), failures=1)
    assert kinds(found) == [("run_failed", "SOURCE_MISSING")]


def test_a_trouble_is_told_once_again_while_it_lasts_and_when_it_is_over() -> None:
    first = news_of(failing(), {}, DAY)
    assert ([one.kind for one in first.troubles], first.recovered, first.is_well) == (["run_failed"], (), False)
    same = news_of(failing(BEGIN + 3600, failures=4), first.told, DAY)
    assert (same.is_any, same.told) == (False, first.told), "other numbers in the words are the same trouble"
    again = news_of(failing(BEGIN + 60 + DAY), first.told, DAY)
    assert [one.kind for one in again.troubles] == ["run_failed"]
    over = news_of(well(), first.told, DAY)
    assert (over.troubles, over.is_well, over.told) == ((), True, {})
    assert over.recovered == (first.troubles[0].message,)
    assert not news_of(well(), over.told, DAY).is_any


def test_another_error_is_another_trouble() -> None:
    told = news_of(failing(), {}, DAY).told
    other = with_runs(well(), a_run(50, "failed", error={"code": "OVERFLOW", "message": "x"}), success=at(20), failures=2)
    news = news_of(other, told, DAY)
    assert [one.code for one in news.troubles] == ["OVERFLOW"]
    assert len(news.recovered) == 1
    assert not news.is_well


def test_of_runs_that_cannot_be_read_nobody_knows_that_they_are_well() -> None:
    told = news_of(failing(), {}, DAY).told
    news = news_of(replace(well(), runs=None), told, DAY)
    assert (news.is_any, news.is_well, news.told) == (False, False, told)


def test_the_messages() -> None:
    found = failing()
    message = message_of(found, "prod", news_of(found, {}, DAY))
    assert json.loads(json.dumps(message)) == {
        "version": 1,
        "env": "prod",
        "pipeline": "earnings",
        "owner": "earnings-data",
        "status": "trouble",
        "troubles": [
            {"kind": "run_failed", "code": "CHECK_FAILED", "message": "the last run failed: CHECK_FAILED: 3 rows < 0 & more"}
        ],
        "recovered": [],
        "time": found.now,
        "next": "freshet status earnings --env prod",
    }
    assert slack_of(message)["text"].splitlines() == [
        ":red_circle: *earnings* (prod, earnings-data)",
        "• the last run failed: CHECK_FAILED: 3 rows &lt; 0 &amp; more",
        "`freshet status earnings --env prod`",
    ]
    over = message_of(well(), "prod", news_of(well(), news_of(found, {}, DAY).told, DAY))
    assert slack_of(over)["text"].splitlines()[0] == ":white_check_mark: *earnings* (prod, earnings-data)"
    assert slack_of(over)["text"].splitlines()[1].startswith("• recovered: the last run failed")


def test_what_was_told_is_kept_and_a_file_that_is_none_is_nothing(tmp_path: Path) -> None:
    """For each who is told by itself."""
    spec = pipeline(tmp_path)
    assert told_before(spec, "slack") == {}
    told = {"run_failed:X": {"at": 1.5, "message": "x"}}
    keep_told(spec, "slack", told)
    assert (told_before(spec, "slack"), told_before(spec, "webhook")) == (told, {})
    for broken in ('{"told": {"slack": 3', '{"told": 3}', "[]", '{"told": {"a": {"at": "x"}}}'):
        Path(notify._file(spec, "slack")).write_text(broken)
        assert told_before(spec, "slack") == {}


def test_who_is_told_is_named_without_a_secret() -> None:
    out = MetricsOut(slack="https://hooks.slack.com/services/T/B/secret", webhook="https://u:secret@incidents/x")
    assert [one.name for one in notifiers_of(out)] == ["the Slack webhook at hooks.slack.com", "the webhook at incidents"]
    assert notifiers_of(MetricsOut()) == ()


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Return what is posted; a URL with ``down`` in it does not take it."""
    found: list[tuple[str, dict[str, Any]]] = []

    def post(url: str, method: str, body: bytes, headers: object, seconds: float) -> None:
        if "down" in url:
            raise OSError("it answered 500")
        found.append((url, json.loads(body)))

    monkeypatch.setattr(notify, "send", post)
    return found


def send_all(spec: PipelineSpec, events: list[Event]) -> None:
    project = Project("/p", "prod", (spec,), {})
    Sender(project, lambda names: project, events.append)(spec)


def test_two_commands_tell_a_trouble_once(tmp_path: Path, heard: list[tuple[str, dict[str, Any]]]) -> None:
    """A pipeline without its source: each command is a process of its own, so that what was told is read back."""
    spec = pipeline(tmp_path, slack="https://slack", webhook="https://hook")
    events: list[Event] = []
    for _ in range(2):
        send_all(spec, events)
    assert sorted(url for url, _ in heard) == ["https://hook", "https://slack"]
    assert dict(heard)["https://hook"]["troubles"][0]["code"] == "SOURCE_MISSING"
    assert events == []


def test_one_that_is_down_does_not_make_the_other_tell_it_again(
    tmp_path: Path, heard: list[tuple[str, dict[str, Any]]]
) -> None:
    spec = pipeline(tmp_path, slack="https://slack", webhook="https://down")
    events: list[Event] = []
    for _ in range(2):
        send_all(spec, events)
    assert [url for url, _ in heard] == ["https://slack"]
    assert [one.code for one in events] == ["METRICS_NOT_SENT", "METRICS_NOT_SENT"], "it is tried again the next time"
    up = replace(spec, metrics=replace(spec.metrics, webhook="https://up"))
    send_all(up, events)
    assert [url for url, _ in heard] == ["https://slack", "https://up"]

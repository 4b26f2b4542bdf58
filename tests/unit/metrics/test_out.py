"""Metrics are sent after each run, in bounded time; what cannot be sent is said once and harms nothing."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from freshet.errors import SpecError
from freshet.events.event import Event
from freshet.metrics import out as out_module
from freshet.metrics.out import Sender, send_after
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef
from freshet.project.model.promises import MetricsOut
from tests.kit.memory import a_spec, a_table_spec


def pipeline(root: Path, name: str = "earnings", **ways: object) -> PipelineSpec:
    target = a_table_spec(ref=TableRef(f"derived.{name}", str(root / "lake" / name)))
    return a_spec(name=name, inputs=(), target=target, metrics=MetricsOut(**ways))  # type: ignore[arg-type]


def sender(*specs: PipelineSpec) -> tuple[Sender, list[Event]]:
    events: list[Event] = []
    project = Project("/p", "prod", specs, {})
    return Sender(project, lambda names: project, events.append), events


def test_one_that_cannot_run_sends_that_it_cannot(tmp_path: Path) -> None:
    spec = pipeline(tmp_path, textfile=str(tmp_path))
    send, events = sender(spec)
    send(spec)
    text = (tmp_path / "freshet_prod_earnings.prom").read_text()
    assert 'freshet_pipeline_state{env="prod",pipeline="earnings",kind="SOURCE_MISSING"} 1\n' in text
    assert events == []


def test_without_a_way_out_nothing_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.metrics.collect.measure_all", pytest.fail)
    spec = pipeline(tmp_path)
    send, events = sender(spec)
    send(spec)
    assert events == []


def test_what_cannot_be_sent_is_a_warning_and_the_other_ways_are_taken(tmp_path: Path) -> None:
    """Port 1 of this machine is nobody's; a second pipeline does not wait for it again, and hears nothing of it."""
    ways = {"pushgateway": "http://me:secret@127.0.0.1:1", "textfile": str(tmp_path)}
    one, other = pipeline(tmp_path, **ways), pipeline(tmp_path, "other", **ways)
    send, events = sender(one, other)
    send(one)
    send(other)
    (event,) = events
    assert (event.code, event.level, event.pipeline) == ("METRICS_NOT_SENT", "warning", "earnings")
    assert event.message.startswith("METRICS_NOT_SENT: earnings: the Pushgateway at 127.0.0.1:1 did not take them: ")
    assert "secret" not in event.message
    assert (tmp_path / "freshet_prod_other.prom").exists()


def test_a_way_that_failed_is_tried_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = pipeline(tmp_path, textfile=str(tmp_path / "none"))
    send, events = sender(spec)
    send(spec)
    monkeypatch.setattr(out_module, "_PAUSE_SECONDS", 0.0)
    (tmp_path / "none").mkdir()
    send(spec)
    assert len(events) == 1
    assert (tmp_path / "none" / "freshet_prod_earnings.prom").exists()


def test_one_that_does_not_answer_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, answers = threading.Event(), threading.Event()

    def hangs(*_: object) -> None:
        entered.set()
        answers.wait(60)

    def until_it_hangs(self: out_module._Work[object], deadline: float) -> None:
        while not (self.is_done or entered.is_set()):
            time.sleep(0.001)

    monkeypatch.setattr("freshet.metrics.ways.ways_of", lambda out, environ: {"the gate": hangs})
    monkeypatch.setattr(out_module._Work, "wait", until_it_hangs)
    spec = pipeline(tmp_path, textfile="x")
    send, events = sender(spec)
    send(spec)
    answers.set()
    assert [one.message for one in events] == [
        "METRICS_NOT_SENT: earnings: the gate did not take them: nothing was heard for 5 s"
    ]


def test_one_that_hangs_does_not_keep_another_from_being_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is posted is heard while the gate has not answered."""
    answers, heard = threading.Event(), threading.Event()

    def hangs(*_: object) -> None:
        answers.wait(60)

    monkeypatch.setattr("freshet.metrics.ways.ways_of", lambda out, environ: {"the gate": hangs})
    monkeypatch.setattr("freshet.metrics.notify.send", lambda *_: heard.set())

    def once_heard(self: out_module._Work[object], deadline: float) -> None:
        while not (self.is_done or heard.is_set()):
            time.sleep(0.001)

    monkeypatch.setattr(out_module._Work, "wait", once_heard)
    spec = pipeline(tmp_path, webhook="https://hook")
    send, events = sender(spec)
    send(spec)
    answers.set()
    assert heard.is_set()
    assert "the gate did not take them" in events[0].message


def test_whatever_goes_wrong_harms_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Invalid IPv6 URL")

    monkeypatch.setattr("freshet.metrics.ways.ways_of", broken)
    spec = pipeline(tmp_path, textfile=str(tmp_path))
    send, events = sender(spec)
    send(spec)
    assert [one.message for one in events] == ["METRICS_NOT_SENT: earnings: they could not be made: Invalid IPv6 URL"]


def test_a_store_that_breaks_harms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no store at https://u:pw@s3/x")

    monkeypatch.setattr("freshet.metrics.collect.measure_all", broken)
    spec = replace(pipeline(tmp_path), metrics=MetricsOut(textfile=str(tmp_path)))
    send, events = sender(spec)
    send(spec)
    assert [one.code for one in events] == ["METRICS_NOT_SENT"]
    assert "pw" not in events[0].message


def test_after_a_backfill_or_services_they_are_sent_too(tmp_path: Path) -> None:
    spec = pipeline(tmp_path, textfile=str(tmp_path))
    events: list[Event] = []
    project = Project("/p", "prod", (spec,), {})
    send_after(lambda: project, lambda names: project, events.append)
    assert (tmp_path / "freshet_prod_earnings.prom").exists()

    def broken() -> Project:
        raise SpecError(())

    send_after(broken, lambda names: project, events.append)
    assert events == []

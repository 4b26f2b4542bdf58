"""Each kind of event: its name, its fields as JSON, and what of today's readers rely on."""

from __future__ import annotations

import dataclasses
import json

import pytest

from freshet.events import kinds
from freshet.events.event import Event, OfError, OfResult, redacted
from freshet.events.lines import line_of
from freshet.secrets import Redactor

SECRET = "hunter2-and-more"
ERROR = {"code": "NULL_VALUE", "message": "a null", "details": {"rows": 3}}
OUTCOME = {"name": "usual", "status": "warned", "rows": 2, "sample": ["{}"]}
# One of each, as the framework makes it: its parameters, and the fields that JSON and on_event have of them.
SAMPLES: dict[type[Event], tuple[dict[str, object], dict[str, object]]] = {
    kinds.RunStarted: ({"what": "run"}, {"what": "run"}),
    kinds.WindowPlanned: (
        {"kind": "increment", "commits": 2, "rows": 20, "begin": "1", "end": "2", "waiting_commits": 3, "waiting_rows": 30},
        {"kind": "increment", "commits": 2, "rows": 20, "begin": "1", "end": "2", "waiting_commits": 3, "waiting_rows": 30},
    ),
    kinds.LagObserved: (
        {"input": "raw.a", "seconds": None, "commits": 1, "rows": 2},
        {"input": "raw.a", "seconds": None, "commits": 1, "rows": 2},
    ),
    kinds.Phase: (
        {"unit": "chunk", "number": 1, "of": 2, "seconds_left": 1.5},
        {"unit": "chunk", "number": 1, "of": 2, "seconds_left": 1.5},
    ),
    kinds.StageFinished: (
        {"stage": "transform", "seconds": 0.5, "lazy": True},
        {"stage": "transform", "seconds": 0.5, "rows": None, "lazy": True},
    ),
    kinds.CheckEvaluated: ({"outcome": OUTCOME}, OUTCOME),
    kinds.CheckPassed: ({"outcome": OUTCOME}, OUTCOME),
    kinds.Done: ({"commits": ("clean 1",)}, {"commits": ["clean 1"]}),
    kinds.ChunkDone: (
        {"number": 1, "of": 2, "rows": 3, "conflicts": 1, "seconds_left": 4, "commits": ("1",)},
        {"number": 1, "of": 2, "rows": 3, "conflicts": 1, "seconds_left": 4, "commits": ["1"]},
    ),
    kinds.Committed: ({"result": {"commits": ["1"], "inserts": 2}}, {"commits": ["1"], "inserts": 2}),
    kinds.Idle: ({}, {}),
    kinds.Failed: ({"error": ERROR, "process_ends": True}, {**ERROR, "process_ends": True}),
    kinds.CommandFailed: ({"error": ERROR}, ERROR),
    kinds.Conflict: ({"error": ERROR}, ERROR),
    kinds.Notice: ({"code": "SERVICE_FAILED", "error": ERROR}, ERROR),
    kinds.Skipped: ({}, {}),
    kinds.Waiting: ({}, {}),
}


def _all() -> list[type[Event]]:
    found, left = list[type[Event]](), [Event]
    while left:
        below = left.pop().__subclasses__()
        left += below
        found += [one for one in below if one not in (OfError, OfResult)]
    return found


def test_every_kind_has_a_sample_and_a_name_of_its_own() -> None:
    assert set(_all()) == set(SAMPLES)
    names = [one.name for one in SAMPLES]
    assert len(set(names)) == len(names)
    # What users' own code has been told since before there were kinds.
    assert {"waiting", "phase", "notice", "conflict", "chunk", "committed", "idle", "failed", "skipped", "check", "done"} < {
        *names
    }


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.name)
def test_a_kind_is_json_and_comes_back_whole(kind: type[Event]) -> None:
    given, fields = SAMPLES[kind]
    event = kind(pipeline="a", message="words", run_id="r", time=1_790_000_000.1234, **given)  # type: ignore[arg-type]
    line = line_of(event)
    assert line.count("\n") == 1
    assert json.loads(line) == {
        "time": 1_790_000_000.123,
        "level": event.level,
        "name": kind.name,
        "code": event.code,
        "pipeline": "a",
        "run_id": "r",
        "message": "words",
        "fields": fields,
    }
    assert event.fields == fields
    assert dataclasses.replace(event) == event
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.message = "other"  # type: ignore[misc]


def test_an_error_gives_its_code_where_the_event_has_none() -> None:
    assert kinds.Failed(pipeline="a", message="m", error=ERROR).code == "NULL_VALUE"
    assert kinds.Notice(pipeline="a", message="m", code="SERVICE_FAILED", error=ERROR).code == "SERVICE_FAILED"
    assert kinds.Notice(pipeline="a", message="m").code == ""


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.name)
def test_no_secret_passes(kind: type[Event], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever parameter holds it, and however deep."""
    redactor = Redactor()
    redactor.register("PASSWORD", SECRET)
    monkeypatch.setattr("freshet.secrets.REDACTOR", redactor)

    def poisoned(value: object) -> object:
        match value:
            case str():
                return f"said {SECRET}"
            case dict():
                return {key: poisoned(one) for key, one in value.items()} | {"more": [SECRET]}
            case tuple() | list():
                return type(value)(map(poisoned, value))
        return value

    given = {name: poisoned(value) for name, value in SAMPLES[kind][0].items() if name != "code"}
    event = kind(pipeline="a", message=f"words {SECRET}", **given)  # type: ignore[arg-type]
    assert SECRET in repr(event)
    assert SECRET not in repr(redacted(event)) + line_of(event)


def test_numbers_that_json_does_not_have() -> None:
    event = kinds.StageFinished(pipeline="a", message="m", stage="write", seconds=float("nan"))
    assert json.loads(line_of(event))["fields"]["seconds"] == "NaN"

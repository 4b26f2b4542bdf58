"""The bus: what it adds to an event, and how it keeps its listeners, and the run, apart from one that fails."""

from __future__ import annotations

import logging
import sys
from threading import Thread

import pytest

from freshet.events.bus import Bus
from freshet.events.event import Event
from freshet.events.kinds import Committed, Phase, RunStarted, Waiting


def _phase(pipeline: str = "a", **given: object) -> Phase:
    return Phase(pipeline=pipeline, message="reading", **given)  # type: ignore[arg-type]


def _heard(bus: Bus) -> list[Event]:
    events: list[Event] = []
    bus.subscribe("the test", events.append)
    return events


@pytest.mark.parametrize(
    "error", [ValueError("no"), OSError(28, "No space left on device"), AssertionError(), RecursionError()]
)
def test_a_listener_that_fails_harms_no_one_and_is_told_of_once(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Of the same kind: a disk that is full, a listener's own fault, a reader that is gone."""
    bus, calls = Bus(), 0

    def fails(event: Event) -> None:
        nonlocal calls
        calls += 1
        raise error

    first = _heard(bus)
    bus.subscribe("the metrics", fails)
    last: list[Event] = []
    bus.subscribe("the lineage", last.append)
    with caplog.at_level(logging.WARNING, logger="freshet"):
        for _ in range(3):
            bus.tell(_phase())
    assert (calls, len(first), len(last)) == (1, 3, 3)
    assert [record.message.partition(" failed")[0] for record in caplog.records] == ["the metrics"]
    assert "the run goes on" in caplog.text


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_ends_the_process_passes(ending: BaseException) -> None:
    bus = Bus()

    def ends(event: Event) -> None:
        raise ending

    bus.subscribe("the test", ends)
    with pytest.raises(type(ending)):
        bus.tell(_phase())


def test_an_event_gets_its_run_and_its_time() -> None:
    bus = Bus("command")
    events = _heard(bus)
    bus.tell(Waiting(pipeline="a", message="m"))
    bus.tell(RunStarted(pipeline="a", message="m", run_id="one", what="run"))
    bus.tell(_phase())
    bus.tell(_phase("b"))
    bus.tell(_phase(run_id="other", time=5.0))
    bus.tell(RunStarted(pipeline="a", message="m", run_id="two", what="run"))
    bus.tell(Committed(pipeline="a", message="m", result={}))
    assert [event.run_id for event in events] == ["command", "one", "one", "command", "other", "two", "two"]
    assert events[4].time == 5.0
    assert all(event.time > 1_700_000_000 for event in events if event.run_id != "other")


def test_several_threads_tell_and_one_listener_fails_in_all(caplog: pytest.LogCaptureFixture) -> None:
    bus = Bus()
    events = _heard(bus)

    def fails(event: Event) -> None:
        raise ValueError("no")

    bus.subscribe("the metrics", fails)

    def tell(name: str) -> None:
        for number in range(200):
            bus.tell(RunStarted(pipeline=name, message="m", run_id=f"{name}{number}", what="run"))
            bus.tell(_phase(name))

    pause = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [Thread(target=tell, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(pause)
    assert len(events) == 4 * 2 * 200
    for name in "abcd":
        assert [e.run_id for e in events if e.pipeline == name] == [f"{name}{n}" for n in range(200) for _ in "se"]
    assert len(caplog.records) == 1

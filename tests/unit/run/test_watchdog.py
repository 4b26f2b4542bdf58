"""A run that hangs is logged with its threads and ended; one that only takes long is not.

Of the kind: whatever a run may wait for without an end: a lock of the JVM, a socket, a step in Python. The members here: no
task and no processor time (ended), no task and a busy processor (logged), a task that takes long (logged), a JVM that does not
answer (logged, and ended by the timeout alone), and what looks like a hang and is none.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event as Flag

import pytest

from freshet.errors import Exit, FreshetError, RetryableError
from freshet.events.event import Event
from freshet.events.kinds import Phase
from freshet.jvm.spark_counts import Counts
from freshet.project.model.limits import RunLimits
from freshet.project.model.pipeline import PipelineSpec
from freshet.run import watchdog
from freshet.run.watchdog import Pulse, watched
from tests.kit.memory import a_spec

IDLE = Pulse((), False, 7.0)


class Hung:
    """A block that waits until it is ended, as a call into a JVM does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pulse: Callable[[], Pulse], **limits: float) -> None:
        monkeypatch.setattr(watchdog, "_ANSWER_SECONDS", 0.05)
        monkeypatch.setattr(watchdog, "_GRACE_SECONDS", 0.05)
        self.ended, self.events, self.pulse = Flag(), list[Event](), pulse
        self.spec: PipelineSpec = replace(a_spec(), limits=RunLimits(**{"stalled_seconds": 0, **limits}))  # type: ignore[arg-type]

    def run(self, most: float = 5.0, said: Callable[[], bool] = lambda: False) -> FreshetError | None:
        try:
            with watched(self.spec, self.events.append, self.pulse, self.ended.set) as told:
                for _ in range(round(most / 0.01)):
                    if self.ended.wait(0.01):
                        raise ConnectionError("the JVM is gone")
                    if said():
                        told(Phase(pipeline="x", message="goes on"))
        except FreshetError as error:
            return error
        return None

    def notices(self) -> list[str]:
        return [event.message.partition(":")[0] for event in self.events if event.name == "notice"]


def test_a_run_that_does_nothing_at_all_is_logged_with_its_threads_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = Hung(monkeypatch, lambda: IDLE, stalled_seconds=0.1)
    error = hung.run()
    assert error is not None
    assert (error.code, error.exit_code, error.retryable) == ("RUN_STALLED", Exit.FAILED, False)
    assert hung.notices() == ["RUN_STALLED"]
    assert "test_watchdog.py" in hung.events[-1].message


def test_a_run_that_takes_longer_than_it_may_is_ended_whatever_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    for pulse in (lambda: Pulse((next(ticks),), True, float(next(ticks))), lambda: IDLE, lambda: time.sleep(9)):
        hung = Hung(monkeypatch, pulse, timeout_seconds=0.2)  # type: ignore[arg-type]
        error = hung.run()
        assert error is not None
        assert (error.code, hung.notices()) == ("RUN_TIMEOUT", ["RUN_TIMEOUT"])


@pytest.mark.parametrize(
    "pulse",
    [
        lambda: Pulse(((1, 1, 0, 0),), True, 7.0),
        lambda: Pulse((), False, time.monotonic()),
        lambda: Pulse((), False, None),
        lambda: time.sleep(9),
    ],
    ids=["a task takes long", "the driver works", "nobody knows", "the JVM does not answer"],
)
def test_a_run_that_may_be_at_work_is_logged_once_and_goes_on(
    pulse: Callable[[], Pulse],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hung = Hung(monkeypatch, pulse, stalled_seconds=0.1)
    assert hung.run(0.6) is None
    assert hung.notices() == ["RUN_QUIET"]


def test_tasks_and_events_are_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    for hung, said in (
        (Hung(monkeypatch, lambda: Pulse((next(ticks),), False, 7.0), stalled_seconds=0.3), lambda: False),
        (Hung(monkeypatch, lambda: IDLE, stalled_seconds=0.3), lambda: True),
    ):
        assert hung.run(0.8, said) is None
        assert hung.notices() == []


def test_a_download_of_jars_is_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process does it, so that this one does nothing at all; one that gets no further is ended."""
    monkeypatch.setattr(watchdog, "_context", lambda: None)
    monkeypatch.setattr(watchdog, "_cpu_seconds", lambda jvm: 7.0)
    ticks = itertools.count()
    monkeypatch.setattr(watchdog, "jar_counts", lambda: Counts(doing="hudi.jar", done=0, of=5, bytes=next(ticks), unit="jar"))
    assert Hung(monkeypatch, watchdog.spark_pulse, stalled_seconds=0.3).run(0.8) is None
    monkeypatch.setattr(watchdog, "jar_counts", lambda: Counts(doing="hudi.jar", done=0, of=5, bytes=99, unit="jar"))
    error = Hung(monkeypatch, watchdog.spark_pulse, stalled_seconds=0.1).run()
    assert error is not None
    assert error.code == "RUN_STALLED"


def test_no_limit_is_no_watch_and_a_blocks_own_error_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Hung(monkeypatch, lambda: IDLE).run(0.3) is None
    hung = Hung(monkeypatch, lambda: IDLE, stalled_seconds=60)
    with pytest.raises(ZeroDivisionError), watched(hung.spec, hung.events.append, hung.pulse, hung.ended.set):
        raise ZeroDivisionError


def test_what_the_end_of_the_jvm_does_to_another_pipeline_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Hung(monkeypatch, lambda: IDLE)
    other.spec = replace(other.spec, name="other")

    def beside_one_that_hangs() -> None:
        with watched(other.spec, other.events.append, other.pulse, other.ended.set):
            assert Hung(monkeypatch, lambda: IDLE, stalled_seconds=0.1).run() is not None
            raise ConnectionError("the JVM is gone")

    with pytest.raises(RetryableError) as refused:
        beside_one_that_hangs()
    assert (refused.value.code, refused.value.exit_code) == ("RUN_INTERRUPTED", Exit.RETRY)


def test_a_step_in_python_that_does_not_notice_is_ended_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    hung = Hung(monkeypatch, lambda: IDLE, stalled_seconds=0.1)

    def deaf() -> None:
        with watched(hung.spec, hung.events.append, hung.pulse, lambda: None):
            time.sleep(0.5)
            raise ConnectionError

    with pytest.raises(FreshetError):
        deaf()
    assert codes == [Exit.FAILED]
    assert hung.events[-1].name == "failed"

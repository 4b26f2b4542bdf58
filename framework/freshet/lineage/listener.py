"""What hears the events of runs and tells lineage of them: a beginning, and one end for each.

A run that has nothing to do moves no rows, and is not told of; a beginning is told once the run knows what it reads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from freshet.events.bus import Bus
from freshet.events.event import Event, Listener
from freshet.events.kinds import (
    CheckEvaluated,
    ChunkDone,
    CommandFailed,
    Committed,
    Conflict,
    Failed,
    Idle,
    Notice,
    RunStarted,
    StageFinished,
    WindowPlanned,
)
from freshet.lineage.sending import Sending
from freshet.lineage.told import Ending, Told
from freshet.project.model.pipeline import PipelineSpec, Project

if TYPE_CHECKING:
    from freshet.lineage.ways import Way

CODE = "LINEAGE_NOT_SENT"
# Another run is at work: this one has not begun.
_NOT_BEGUN = "ALREADY_RUNNING"
# A backfill's chunks are runs, each by itself; a checkpoint that is set moves no rows.
_NO_RUNS = ("backfill", "checkpoint")


class Lineage:
    """Tells lineage of the runs of pipelines whose environment says where to.

    Args:
        ways: Makes the ways of a pipeline's environment; for tests.
    """

    def __init__(self, ways: Callable[[PipelineSpec], tuple[Way, ...]] | None = None) -> None:
        self._ways = ways or _declared
        self._pipelines: dict[str, tuple[PipelineSpec, str]] = {}
        self._runs: dict[str, Told] = {}
        self._sendings: dict[int, Sending] = {}
        self._turn = threading.Lock()
        self._listen: Listener = lambda event: None
        self._current: Callable[[], Project] | None = None

    def know(self, project: Project) -> Project:
        """Learn of the pipelines of a project; returns the project."""
        for spec in project.pipelines:
            self._pipelines[spec.name] = (spec, project.env)
        return project

    def knowing(self, load: Callable[..., Project]) -> Callable[..., Project]:
        """Return what loads a project as another function does, and learns of it."""
        return lambda *asked: self.know(load(*asked))

    def follow(self, bus: Bus, current: Callable[[], Project] | None = None) -> None:
        """Hear what a bus tells from now on, and tell it what could not be sent.

        Args:
            bus: The bus.
            current: Gives the project as it is when a run begins, where its files may change meanwhile.
        """
        self._listen, self._current = bus.tell, current
        bus.subscribe("lineage", self.hear)

    def hear(self, event: Event) -> None:
        """Take an event of a run."""
        if isinstance(event, RunStarted) and self._current is not None:
            self.know(self._current())
        if isinstance(event, CommandFailed):
            for one in tuple(self._runs.values()):
                one.error = event.error
                self._end(one, "FAIL", event.time)
            return
        known = self._pipelines.get(event.pipeline)
        if known is None or not known[0].lineage.is_any:
            return
        if isinstance(event, RunStarted):
            self._begin(event)
            return
        told = self._runs.get(event.pipeline)
        if told is not None:
            self._of_run(told, event)

    def _begin(self, event: RunStarted) -> None:
        before = self._runs.pop(event.pipeline, None)
        if before is not None and before.is_started:
            # A chunk whose data were wrong: what begins now records that, and moves no rows.
            self._end(before, "FAIL" if before.error else "ABORT", event.time)
            if before.error and event.what == "chunk":
                return
        if event.what not in _NO_RUNS:
            self._runs[event.pipeline] = Told(pipeline=event.pipeline, run_id=event.run_id, what=event.what, begun=event.time)

    def _of_run(self, told: Told, event: Event) -> None:
        match event:
            case WindowPlanned():
                told.window = event
                if event.kind != "idle":
                    self._start(told)
            case CheckEvaluated():
                told.checks.append(event.outcome)
            case StageFinished(stage="write"):
                told.rows = event.rows
            case Notice(error=error) if error:
                told.error = error
            case Committed(result=result):
                told.commit = next(iter(_texts(result.get("commits"))), "")
                quarantined = result.get("quarantined")
                told.quarantined = quarantined if isinstance(quarantined, int) else 0
                self._end(told, "COMPLETE", event.time)
            case ChunkDone(commits=commits):
                told.commit = commits[0] if commits else ""
                self._end(told, "COMPLETE" if commits else "FAIL", event.time)
            case Conflict(error=error):
                told.error = error
                self._end(told, "ABORT", event.time)
            case Failed(error=error):
                told.error = error
                self._note_checks(told)
                if error.get("code") == _NOT_BEGUN and not told.is_started:
                    self._runs.pop(told.pipeline, None)
                else:
                    self._end(told, "FAIL", event.time)
            case Idle():
                self._runs.pop(told.pipeline, None)
            case _:
                pass

    def _note_checks(self, told: Told) -> None:
        details = told.error.get("details")
        checks = details.get("checks") if isinstance(details, dict) else None
        if isinstance(checks, list):
            told.checks = [one for one in checks if isinstance(one, dict) and "status" in one]

    def _start(self, told: Told) -> None:
        told.is_started = True
        self._send(told, "START", told.begun)

    def _end(self, told: Told, ending: Ending, at: float) -> None:
        self._runs.pop(told.pipeline, None)
        if not told.is_started:
            self._start(told)
        spec, _ = self._pipelines[told.pipeline]
        seconds = float(spec.lineage.timeout_seconds)
        begun = time.monotonic()
        for sending, over in self._send(told, ending, at):
            sending.wait(told.pipeline, over, max(0.0, seconds - (time.monotonic() - begun)))

    def _send(self, told: Told, ending: Ending, at: float) -> list[tuple[Sending, threading.Event]]:
        spec, env = self._pipelines[told.pipeline]
        # What the run tells later must not get into what is sent of it now.
        now = Told(**{**vars(told), "checks": list(told.checks)})
        found = []
        for number, way in enumerate(self._ways(spec)):
            with self._turn:
                sending = self._sendings.setdefault(number, Sending(self._not_sent))
            found.append((sending, sending.send(told.pipeline, partial(_made_and_sent, spec, env, now, ending, at, way))))
        return found

    def _not_sent(self, pipeline: str, why: str) -> None:
        words = f"{CODE}: {pipeline}: lineage was not sent: {why}"
        self._listen(Notice(pipeline=pipeline, code=CODE, message=words))


def _declared(spec: PipelineSpec) -> tuple[Way, ...]:
    # A command whose environment tells no lineage must not pay for these imports.
    from freshet.lineage.ways import ways_of

    return ways_of(spec.lineage)


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _made_and_sent(spec: PipelineSpec, env: str, told: Told, ending: Ending, at: float, way: Way) -> None:
    # In the worker's thread: the package takes half a second to load, and the tables have to be looked at.
    from freshet.hudi.timeline import TimelineState
    from freshet.lineage.document import document_of, known_of

    way(document_of(spec, env, known_of(spec, TimelineState()), told, ending, at))

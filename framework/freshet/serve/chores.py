"""Does in gaps what is to be done besides runs: looks which services are due, and lets each step begin when its turn comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from freshet.backfill.chunks import BackfillRequest
from freshet.errors import FreshetError
from freshet.hudi.table import StateReader
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.services_due import Service, left_to_others, services_due
from freshet.serve.agenda import Agenda
from freshet.serve.aside import Aside
from freshet.serve.chore_work import apart_of_backfill, apart_of_service
from freshet.serve.gaps import Chore, Gaps
from freshet.serve.loading import Loaded
from freshet.serve.moment import Moment
from freshet.serve.served import pause_after

_EVERY_SECONDS = 30.0
# What another process holds may be free again soon.
_BUSY_SECONDS = 30.0
_BEAT_SECONDS = 1.0


@dataclass(frozen=True)
class _Due:
    """The services of one target that are due, its newest commit, and when each service had been tried before."""

    due: tuple[Service, ...]
    newest: str
    tried: Mapping[Service, str]


def _due(specs: tuple[PipelineSpec, ...], state: StateReader, tried: Mapping[str, Mapping[Service, str]]) -> Mapping[str, _Due]:
    found = {}
    for spec in specs:
        # One that cannot be read is told by its own runs.
        with suppress(Exception):
            table = state.table(spec.target.ref)
            if table is not None and table.commits:
                before = tried[spec.name]
                found[spec.name] = _Due(services_due(spec, table, before), table.commits[-1].completed, before)
    return found


class Chores:
    """The services and backfills of what is served. Its methods are called with the turn held, but for ``look``.

    Args:
        turn: Held by whoever changes what is on the agenda.
        agenda: What the pipelines do.
        clock: Says what time it is.
        work: Does the services and backfills: a ``ChoreWork``.
        ended: Told of each step why it failed, or that it has not.
        every_seconds: How often it looks which services are due.
        state: Makes a reader of the tables as they stand.
    """

    def __init__(
        self,
        turn: threading.Condition,
        agenda: Agenda,
        clock: Callable[[], Moment],
        work: Any,
        ended: Callable[[FreshetError | None], None] = lambda error: None,
        every_seconds: float = _EVERY_SECONDS,
        state: Callable[[], StateReader] = TimelineState,
    ) -> None:
        self._turn, self._agenda, self._clock, self.work, self._state = turn, agenda, clock, work, state
        self._ended = ended
        self.gaps = Gaps()
        self._aside: Aside[Mapping[str, _Due]] = Aside(every_seconds)
        self._todo: dict[str, list[Service]] = {}
        # Of each pipeline the newest commit when a service was last tried, and how often one failed in a row.
        self._tried: dict[str, dict[Service, str]] = {}
        self._newest: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._requests: dict[str, BackfillRequest] = {}
        self._threads: dict[tuple[str, str], threading.Thread] = {}

    def look(self, loaded: Loaded, moment: Moment) -> None:
        """Look which services are due, beside the loop and now and then.

        Args:
            loaded: What is served.
            moment: The time.
        """
        for name, found in (self._aside.take() or {}).items():
            spec = loaded.spec(name)
            with self._turn:
                # What was done while it was looked at is not done again.
                is_new = found.tried == self._tried.get(name, {}) and self.gaps.of(name, "service") is None
                if spec is not None and found.due and is_new:
                    first = found.due[0]
                    self._todo[name], self._newest[name] = list(found.due), found.newest
                    chore = Chore(pipeline=name, what="service", words=first, steps=len(found.due), since=moment.steady)
                    chore.apart = apart_of_service(spec, first)
                    self.gaps.add(chore)
        if self._aside.is_due(moment.steady):
            specs = tuple(spec for spec in loaded.project.pipelines if left_to_others(spec))
            with self._turn:
                tried = {spec.name: dict(self._tried.get(spec.name, {})) for spec in specs}
            self._aside.do(lambda: _due(specs, self._state(), tried), moment.steady)

    def ask(self, spec: PipelineSpec, request: BackfillRequest, chunks: int, moment: Moment) -> Chore:
        """Have a backfill done that nothing speaks against.

        Args:
            spec: The pipeline, which has no backfill on the agenda.
            request: What is wanted.
            chunks: How many chunks are to be done.
            moment: The time.
        """
        words = f"{request.start:%Y-%m-%dT%H:%M} to {request.end:%Y-%m-%dT%H:%M}".replace("T00:00", "")
        chore = Chore(pipeline=spec.name, what="backfill", words=words, since=moment.steady, steps=chunks)
        chore.apart = apart_of_backfill(spec)
        self._requests[spec.name] = request
        self.gaps.add(chore)
        return chore

    def stop(self, chore: Chore) -> None:
        """End a chore after the step that goes on; one that has not begun goes away."""
        chore.stopping = True
        if (chore.pipeline, chore.what) not in self._threads:
            self.gaps.remove(chore)
        self._turn.notify_all()

    def start(self, loaded: Loaded, moment: Moment) -> None:
        """Let the step begin whose turn it is; end what is served no longer.

        Args:
            loaded: What is served.
            moment: The time.
        """
        for one in self.gaps:
            if loaded.spec(one.pipeline) is None and not one.stopping:
                self.stop(one)
        chore = self.gaps.start(self._agenda, moment)
        self._hold()
        if chore is None:
            return
        key = (chore.pipeline, chore.what)
        if key in self._threads:
            # A backfill between two chunks.
            self._turn.notify_all()
            return
        spec = loaded.spec(chore.pipeline)
        if spec is None:
            self.gaps.remove(chore)
            return
        thread = threading.Thread(target=self._do, args=(chore, spec), name=f"{chore.what} of {chore.pipeline}", daemon=True)
        self._threads[key] = thread
        thread.start()

    def _hold(self) -> None:
        working = self.gaps.working
        self._agenda.held = working.apart if working is not None else frozenset()

    def _do(self, chore: Chore, spec: PipelineSpec) -> None:
        service = self._todo[chore.pipeline][0] if chore.what == "service" else None
        error: FreshetError | None = None
        try:
            if service is not None:
                error = self.work.service(spec, service)
            else:
                error = self.work.backfill(chore.pipeline, self._requests[chore.pipeline], lambda chunk: self._may_go_on(chore))
        finally:
            with self._turn:
                del self._threads[chore.pipeline, chore.what]
                self._ended(error)
                if service is None:
                    self._requests.pop(chore.pipeline, None)
                    self.gaps.remove(chore)
                else:
                    self._served(chore, spec, service, error)
                self._hold()
                self._turn.notify_all()

    def _may_go_on(self, chore: Chore) -> bool:
        """Wait for the gap that the next chunk begins in; says no where none is to begin."""
        with self._turn:
            if not chore.granted:
                self._ended(None)
                self.gaps.wait(chore, self._clock())
                self._hold()
                self._turn.notify_all()
            while chore.phase == "waiting" and not chore.stopping:
                self._turn.wait(_BEAT_SECONDS)
            chore.granted = False
            return not chore.stopping

    def _served(self, chore: Chore, spec: PipelineSpec, service: Service, error: FreshetError | None) -> None:
        name, moment = chore.pipeline, self._clock()
        if error is not None and not chore.stopping:
            is_busy = error.code == "ALREADY_RUNNING"
            failures = self._failures[name] = self._failures.get(name, 0) + (not is_busy)
            # The others wait with it: a cleaner must not go before a compaction.
            self.gaps.wait(chore, moment, _BUSY_SECONDS if is_busy else pause_after(failures, error.retryable))
            chore.step -= 1
            return
        self._failures.pop(name, None)
        self._tried.setdefault(name, {})[service] = self._newest[name]
        self._todo[name].pop(0)
        if not self._todo[name] or chore.stopping:
            self.gaps.remove(chore)
            return
        chore.words = self._todo[name][0]
        chore.apart = apart_of_service(spec, self._todo[name][0])
        self.gaps.wait(chore, moment)

    def finish(self) -> None:
        """Let nothing begin any more."""
        for chore in self.gaps:
            self.stop(chore)
        self._turn.notify_all()

    @property
    def at_work(self) -> tuple[str, ...]:
        """Return what goes on, in words, and backfills that have yet to tell that they were stopped."""
        return tuple(f"{what} of {pipeline}" for pipeline, what in self._threads)

    @property
    def is_working(self) -> bool:
        """Say whether a step goes on, which uses Spark."""
        return self.gaps.working is not None

    def shown(self, now: Moment) -> list[dict[str, Any]]:
        """Return the chores as JSON-serialisable mappings."""
        return [chore.shown(now) for chore in self.gaps]

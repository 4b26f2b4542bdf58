"""The resident process: one loop that asks the agenda, threads that look and run, and what people ask it meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from freshet.errors import FreshetError
from freshet.events.event import Listener
from freshet.events.kinds import Notice
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.serve.agenda import Agenda, Start
from freshet.serve.chore_work import ChoreWork
from freshet.serve.chores import Chores
from freshet.serve.entry import Ended
from freshet.serve.limits import Limits
from freshet.serve.live import LivePages
from freshet.serve.loading import Load, Loaded, Wanted
from freshet.serve.moment import Moment, now
from freshet.serve.pauses import paused_among
from freshet.serve.reloading import Reloading
from freshet.serve.served import served_of
from freshet.serve.targets import Targets
from freshet.serve.warm import Warm
from freshet.serve.work import Found, Work, due_at_start, failed, last_begun_of
from freshet.sources.hudi.reads import counted

# A signal is answered within it, and an idle process wakes so often.
_BEAT_SECONDS = 1.0
#: A loop that was not seen for so long hangs.
DEAD_SECONDS = 60.0


class Server:
    """Serves the pipelines of a project until it is told to stop.

    Args:
        wanted: Which project.
        loaded: What is served at first.
        limits: How much it does at a time.
        listen: Told what happens, by several threads.
        warm: Watches over the Spark session.
        clock: Says what time it is.
        work: Makes what looks and runs, of a project.
        pages: Keeps what its pages show.
        beside: Told what happens in services and backfills: a pipeline may run meanwhile, and a bus knows one run of it.
    """

    def __init__(
        self,
        wanted: Wanted,
        loaded: Loaded,
        limits: Limits,
        listen: Listener,
        warm: Warm,
        clock: Callable[[], Moment] = now,
        work: Callable[[Project, Load, Listener], Any] = Work,
        pages: LivePages | None = None,
        beside: Listener | None = None,
    ) -> None:
        self.wanted, self.loaded, self.limits, self.listen, self.warm = wanted, loaded, limits, listen, warm
        self.clock, self._work_of = clock, work
        self.turn = threading.Condition()
        self.begun = clock()
        self.agenda = Agenda(limits.parallel, self.begun)
        self.last: dict[str, dict[str, Any]] = {}
        self.runs = 0
        self.stopped_by = ""
        self.is_ready = False
        self._asked_to_stop: list[str] = []
        self._beat = self.begun
        self._recycling: threading.Thread | None = None
        self._work = work(loaded.project, wanted.load, listen)
        self.reloading = Reloading(wanted)
        self._targets = Targets()
        self.pages = pages or LivePages(wanted)
        self.chores = Chores(self.turn, self.agenda, clock, ChoreWork(wanted, beside or listen), warm.ran)

    def stop(self, by: str) -> None:
        """Ask the process to stop; may be called by a signal's handler, and by any thread.

        Args:
            by: What stops it, in words.
        """
        # A lock may be held by the very thread that the signal interrupts.
        self._asked_to_stop.append(by)

    @property
    def is_alive(self) -> bool:
        """Say whether the loop goes on."""
        return self.clock().steady - self._beat.steady < DEAD_SECONDS

    def serve(self) -> bool:
        """Serve until told to stop, and until what runs then has ended.

        Returns:
            Whether everything ended; False where the grace was over.
        """
        self._begin()
        while not self._asked_to_stop:
            self._once()
        self.stopped_by = self._asked_to_stop[0]
        return self._finish()

    def _begin(self) -> None:
        project = self.loaded.project
        paused = paused_among(project.pipelines)
        for name, problems in self.loaded.invalid.items():
            self._tell_invalid(name, len(problems), str(problems[0]))
        begun = last_begun_of(project)
        moment = self.clock()
        with self.turn:
            self.agenda.load(served_of(project), due_at_start(project, moment.wall, begun), (), moment)
            for name in paused:
                self.agenda.pause(name, True, moment)
            self.is_ready = True

    def _once(self) -> None:
        """Begin what is to begin, look after files, tables and memory, and wait."""
        moment = self.clock()
        with self.turn:
            jump = self.agenda.tick(moment)
            self._beat = moment
            self._recycle()
            for start in self.agenda.starts(moment):
                self._thread(self._do, start)
            # Ticks first.
            self.chores.start(self.loaded, moment)
        if jump:
            words = f"the clock was put {'forward' if jump > 0 else 'back'} by {abs(jump):,.0f} s; schedules go by it"
            self.announce("CLOCK_JUMPED", words)
        self._take_over(self.reloading.look(self.loaded, moment.steady))
        self.chores.look(self.loaded, moment)
        self.pages.look(self.loaded, self.runs, moment.steady)
        for name in self._targets.look(self.loaded, moment.steady):
            with self.turn:
                self.agenda.upstream_committed(name, moment)
        with self.turn:
            if not self._asked_to_stop:
                self.turn.wait(min(_BEAT_SECONDS, max(0.01, self.agenda.wait(self.clock()))))

    def _thread(self, do: Callable[..., None], *arguments: Any) -> threading.Thread:
        name = f"{arguments[0].what} {arguments[0].name}" if arguments else "freshet"
        thread = threading.Thread(target=do, args=arguments, name=name, daemon=True)
        thread.start()
        return thread

    def _do(self, start: Start) -> None:
        spec = self.loaded.spec(start.name)
        try:
            found = self._found(start.what, spec) if spec is not None else Found(ended=Ended(outcome="idle"))
        except BaseException as stopped:  # what nobody comes back from would never be done again
            found = failed(spec, stopped, self.listen) if spec is not None else Found(ended=Ended(outcome="idle"))
        self._ended(start, found)

    def _found(self, what: str, spec: PipelineSpec) -> Found:
        if what == "look":
            looked: Found = self._work.look(spec)
            return looked
        if any(step.kind == "python" for step in spec.transform) and not self.loaded.is_as_loaded(self.wanted.root):
            # What it would publish is not what its commit would say.
            return Found(ended=Ended(outcome="held"), words="its Python files have changed, and are not loaded yet")
        ran: Found = self._work.run(spec)
        return ran

    def _ended(self, start: Start, found: Found) -> None:
        with self.turn:
            moment = self.clock()
            if found.ended is not None:
                self.last[start.name] = found.shown(start.what, moment)
            if start.what == "look":
                if found.is_paused:
                    self.agenda.pause(start.name, True, moment)
                self.agenda.looked(start.name, found.ended, moment)
            else:
                self.runs += 1
                self.warm.ran(found.error)
                self.agenda.ran(start.name, found.ended or Ended(outcome="idle"), moment)
            self.turn.notify_all()

    def _recycle(self) -> None:
        if self._recycling is not None and self._recycling.is_alive():
            return
        self.agenda.runs_allowed = not self.warm.is_ending
        if self.warm.is_ending and not self.agenda.running and not self.chores.is_working:
            self._recycling = self._thread(self._end_spark)

    def _end_spark(self) -> None:
        why = self.warm.end()
        self.announce("SPARK_RECYCLED", f"Spark was ended, because {why}; the next run starts it anew")

    def _take_over(self, made: Loaded | FreshetError | None) -> None:
        if isinstance(made, FreshetError):
            self.announce("RELOAD_REFUSED", f"the files have changed and are not valid; those of before are served: {made}")
        elif made is not None:
            self._replace(made)

    def _replace(self, made: Loaded) -> None:
        before = {spec.name: spec for spec in self.loaded.project.pipelines}
        served = {spec.name: spec for spec in made.project.pipelines}
        changed = {name for name, spec in served.items() if name in before and before[name] != spec}
        new = [name for name in served if name not in before]
        for name in made.invalid.keys() - self.loaded.invalid.keys():
            self._tell_invalid(name, len(made.invalid[name]), str(made.invalid[name][0]))
        paused = paused_among(served[name] for name in new)
        moment = self.clock()
        due = due_at_start(made.project, moment.wall, {}) & (changed | set(new))
        work = self._work_of(made.project, self.wanted.load, self.listen)
        with self.turn:
            self.loaded, self._work = made, work
            self.agenda.load(served_of(made.project), due, changed, moment)
            for name in paused:
                self.agenda.pause(name, True, moment)
            for name in before.keys() - served.keys():
                self.last.pop(name, None)
        gone = len(before.keys() - served.keys())
        self.announce(
            "RELOADED", f"the files have changed: {counted(len(changed), 'pipeline')} changed, {len(new)} new, {gone} gone"
        )

    def _finish(self) -> bool:
        with self.turn:
            self.agenda.is_open = self.is_ready = False
            self.chores.finish()
            at_work = ", ".join((*self.agenda.at_work, *self.chores.at_work))
        words = f"waiting up to {self.limits.grace_seconds:,.0f} s for {at_work}" if at_work else "nothing was at work"
        self.announce("SERVE_STOPPING", f"stopped by {self.stopped_by}; {words}")
        until = self.clock().steady + self.limits.grace_seconds
        with self.turn:
            # A second signal does not wait.
            while (
                (self.agenda.at_work or self.chores.at_work) and self.clock().steady < until and len(self._asked_to_stop) == 1
            ):
                self._beat = self.clock()
                self.turn.wait(_BEAT_SECONDS)
            return not (self.agenda.at_work or self.chores.at_work)

    def announce(self, code: str, words: str, pipeline: str = "") -> None:
        """Tell something as a notice."""
        self.listen(Notice(pipeline=pipeline, code=code, message=f"{code}: {words}"))

    def _tell_invalid(self, name: str, count: int, first: str) -> None:
        self.announce("PIPELINE_NOT_SERVED", f"{count} problem{'s' * (count != 1)}, the first: {first}", name)

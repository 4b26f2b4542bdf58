"""What the answers over HTTP are made of: the agenda, the tables' own records, and the metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from freshet import __version__
from freshet.backfill.chunks import BackfillRequest
from freshet.errors import Exit, FreshetError, SpecError
from freshet.hudi.timeline import TimelineState
from freshet.metrics.collect import collect
from freshet.metrics.text import text_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.history import read_history
from freshet.run.plans import plan_run
from freshet.serve.access import Refused
from freshet.serve.loop import Server
from freshet.serve.moment import Moment
from freshet.serve.own import samples_of_agenda
from freshet.serve.pauses import keep_pause
from freshet.serve.requests import backfill_asked
from freshet.serve.seen import in_gap, served_now, spark_in_words
from freshet.site.live_facts import Live
from freshet.site.shown import shown
from freshet.site.troubles import problems_of

# Several collectors may ask, each of them every few seconds.
_FRESH_SECONDS = 5.0


class ServersDesk:
    """Answers for a server.

    Args:
        server: The server.
        takes_calls: True where it has a token.
    """

    def __init__(self, server: Server, takes_calls: bool = False) -> None:
        self._server, self.takes_calls = server, takes_calls
        #: Where it listens, as an address of HTTP.
        self.address = ""
        self._measuring = threading.Lock()
        self._measured = ("", -_FRESH_SECONDS)

    def metrics(self) -> str:
        """Return all metrics as text, at most some seconds old."""
        with self._measuring:
            text, at = self._measured
            if time.monotonic() - at >= _FRESH_SECONDS:
                server = self._server
                project = server.loaded.project
                with server.turn:
                    own = samples_of_agenda(server.agenda.shown(server.clock()), project.env)
                text = text_of((*collect(project, server.wanted.load), *own))
                self._measured = (text, time.monotonic())
            return text

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Say whether the loop goes on."""
        is_alive = self._server.is_alive
        return is_alive, {"alive": is_alive}

    def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Say whether pipelines are served."""
        server = self._server
        told = {"ready": server.is_ready, "files_refused": server.reloading.shown() is not None}
        return server.is_ready, told

    def status(self) -> dict[str, Any]:
        """Return where each pipeline is."""
        server = self._server
        with server.turn:
            moment, loaded = server.clock(), server.loaded
            served, last, gaps = server.agenda.shown(moment), dict(server.last), server.chores.shown(moment)
        return {
            "version": __version__,
            "env": loaded.project.env,
            "started": _time(server.begun.wall),
            "ready": server.is_ready,
            "runs": server.runs,
            "files_refused": server.reloading.shown(),
            "spark": server.warm.shown(),
            "pipelines": [
                {"pipeline": name, **one, "next": _time(one["next"]), "last": last.get(name)} for name, one in served.items()
            ],
            "gaps": gaps,
            "invalid": [
                {"pipeline": name, "problems": [str(problem) for problem in problems]}
                for name, problems in loaded.invalid.items()
            ],
        }

    def page(self, path: str) -> str | None:
        """Return a page, the style sheet or the script, as they are now; None where there is no such page.

        Args:
            path: Such as ``index.html`` or ``pipelines/trip_earnings.html``.
        """
        moment, env, live = self._live()
        return self._server.pages.page(path, env, live, moment.steady)

    def missing(self, target: str) -> str:
        """Return the page that says that there is no such page.

        Args:
            target: The path and query that were asked for.
        """
        _, env, live = self._live()
        return self._server.pages.missing(target, env, live)

    def _live(self) -> tuple[Moment, str, Live]:
        server = self._server
        with server.turn:
            moment, env = server.clock(), server.loaded.project.env
            served, last, gaps = server.agenda.shown(moment), dict(server.last), server.chores.shown(moment)
        kept, refused = server.pages.kept, server.reloading.refused
        live = Live(
            now=moment.wall,
            started=server.begun.wall,
            address=self.address,
            takes_calls=self.takes_calls,
            stopping=bool(server.stopped_by),
            looking=server.pages.is_looking,
            failed=server.pages.failed,
            runs=server.runs,
            spark=spark_in_words(server.warm.shown()),
            refused=problems_of(refused.problems) if isinstance(refused, SpecError) else (),
            pipelines={
                slug: served_now(name, served[name], last.get(name))
                for name, slug in (kept.slugs if kept else {}).items()
                if name in served
            },
            gaps=tuple(in_gap(one, kept.slugs) for one in gaps if kept and one["pipeline"] in kept.slugs),
        )
        return moment, env, shown(live)

    def runs(self, pipeline: str, limit: int, failed: bool) -> dict[str, Any]:
        """Return how runs ended, the newest first, as their records tell it, also of before the process began."""
        specs = (self._spec(pipeline),) if pipeline else self._server.loaded.project.pipelines
        state, found, unreadable = TimelineState(), [], []
        for spec in specs:
            entries, names = read_history(spec, state, limit, failed=failed)
            found += [{"pipeline": spec.name, **entry.as_json()} for entry in entries]
            unreadable += names
        newest = sorted(found, key=lambda one: str(one["last"]), reverse=True)
        return {"runs": newest[:limit], "unreadable": unreadable}

    def plan(self, pipeline: str) -> dict[str, Any]:
        """Return what the next run of a pipeline will do, as ``freshet plan`` says it."""
        spec = self._spec(pipeline)
        return plan_run(self._server.loaded.project, spec, self._server.wanted.load).as_json()

    def ask(self, what: str, pipeline: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Trigger, pause or resume a pipeline, or begin or stop a backfill of it.

        Args:
            what: ``trigger``, ``pause``, ``resume``, ``backfill`` or ``stop-backfill``.
            pipeline: Its name.
            query: The words of the call's query; with ``env`` it is meant for a process that serves this environment.

        Raises:
            Refused: SERVE_OTHER_ENV, UNKNOWN_PIPELINE, PIPELINE_NOT_SERVED, PIPELINE_PAUSED, SERVE_STOPPING, SERVE_QUERY,
                BACKFILL_GOES_ON, BACKFILL_NOT_ASKED, or what the backfill itself is refused for.
            RetryableError: PAUSE_NOT_KEPT.
        """
        server, env = self._server, self._server.loaded.project.env
        if query.get("env", env) != env:
            words = f"this process serves {env}, and not {query['env'][:80]!r}."
            raise Refused(409, "SERVE_OTHER_ENV", words, next_step="Ask the one that does.")
        spec = self._spec(pipeline)
        if what == "backfill":
            return self._backfill(spec, backfill_asked({key: value for key, value in query.items() if key != "env"}))
        if what == "stop-backfill":
            return self._stop_backfill(pipeline)
        if what != "trigger":
            # First where it outlives the process.
            keep_pause(spec, what == "pause")
        with server.turn:
            moment = server.clock()
            served = server.agenda.shown(moment).get(pipeline)
            if served is None or not server.is_ready:
                raise _stopping()
            if what == "trigger":
                if served["paused"]:
                    words, advice = f"{pipeline} is paused.", f"Resume it: POST /api/resume/{pipeline}."
                    raise Refused(409, "PIPELINE_PAUSED", words, next_step=advice)
                server.agenda.call(pipeline, moment)
            else:
                server.agenda.pause(pipeline, what == "pause", moment)
            server.turn.notify_all()
            return {"pipeline": pipeline, "asked": what, **server.agenda.shown(moment)[pipeline]}

    def _backfill(self, spec: PipelineSpec, request: BackfillRequest) -> dict[str, Any]:
        server = self._server
        try:
            plan = server.chores.work.plan(spec.name, request)
        except FreshetError as error:
            status = 400 if error.exit_code == Exit.USAGE else 503 if error.retryable else 409
            raise Refused(status, error.code, error.message, error.effect, error.next_step) from error
        with server.turn:
            if not server.is_ready:
                raise _stopping()
            if server.chores.gaps.of(spec.name, "backfill") is not None:
                words, advice = f"a backfill of {spec.name} goes on.", f"Stop it: POST /api/stop-backfill/{spec.name}."
                raise Refused(409, "BACKFILL_GOES_ON", words, next_step=advice)
            moment = server.clock()
            chore = server.chores.ask(spec, request, sum(one.wanted for one in plan.chunks), moment)
            server.turn.notify_all()
            return {"pipeline": spec.name, "asked": "backfill", "backfill": plan.name, **chore.shown(moment)}

    def _stop_backfill(self, pipeline: str) -> dict[str, Any]:
        server = self._server
        with server.turn:
            chore = server.chores.gaps.of(pipeline, "backfill")
            if chore is None:
                raise Refused(
                    409, "BACKFILL_NOT_ASKED", f"no backfill of {pipeline} goes on.", next_step="See GET /api/status."
                )
            server.chores.stop(chore)
            return {"pipeline": pipeline, "asked": "stop-backfill", **chore.shown(server.clock())}

    def _spec(self, name: str) -> PipelineSpec:
        loaded = self._server.loaded
        spec = loaded.spec(name)
        if spec is not None:
            return spec
        if name in loaded.invalid:
            words = f"{name} is not served: {loaded.invalid[name][0]}"
            raise Refused(409, "PIPELINE_NOT_SERVED", words, next_step=f"Mend its files: freshet validate {name}")
        raise Refused(404, "UNKNOWN_PIPELINE", f"no pipeline {name[:80]!r} is served.", next_step="See GET /api/status.")


def _stopping() -> Refused:
    return Refused(503, "SERVE_STOPPING", "the process is being stopped.", "", "Ask the next one.")


def _time(wall: float | None) -> str | None:
    return None if wall is None else datetime.fromtimestamp(wall, timezone.utc).isoformat(timespec="seconds")

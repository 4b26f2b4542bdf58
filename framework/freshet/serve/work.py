"""What is done for one pipeline: a look without Spark, and a run in the session that all of them share."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from freshet.errors import FreshetError, unforeseen
from freshet.events.event import Listener
from freshet.events.kinds import Failed
from freshet.hudi.instants import timestamp_of
from freshet.hudi.timeline import TimelineState
from freshet.metrics.out import Sender
from freshet.plan.exact import compile_run
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.last_runs import last_runs
from freshet.run.records import of_run, remembered
from freshet.run.result import RunResult, in_words
from freshet.run.runner import run_pipeline
from freshet.run.sync_due import is_due as sync_is_due
from freshet.serve.entry import Ended
from freshet.serve.loading import Load
from freshet.serve.moment import Moment
from freshet.serve.pauses import is_paused
from freshet.serve.served import Served, has_missed, served_of
from freshet.status.upstream import waits_for

_AT_A_TIME = 8
# PySpark's own code for it.
_NOT_STARTED = "[JAVA_GATEWAY_EXITED]"
_MISSING = ("SOURCE_MISSING", "INPUT_MISSING")


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a look or a run found.

    Args:
        ended: How it ended; None where a look found something to run.
        words: The same in words.
        error: Why it failed.
        commits: Completion times of the commits made.
        seconds: How long it took.
        is_paused: True where the pipeline is paused, as its mark says.
    """

    ended: Ended | None
    words: str = ""
    error: FreshetError | None = None
    commits: tuple[str, ...] = ()
    seconds: float = 0.0
    is_paused: bool = False

    def shown(self, what: str, now: Moment) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping.

        Args:
            what: ``look`` or ``run``.
            now: When it ended.
        """
        return {
            "what": what,
            "outcome": self.ended.outcome if self.ended is not None else "",
            "ended": datetime.fromtimestamp(now.wall, timezone.utc).isoformat(timespec="seconds"),
            "seconds": self.seconds,
            "message": self.words,
            "error": self.error.as_json() if self.error is not None else None,
            "commits": list(self.commits),
        }


class Work:
    """Looks at pipelines, and runs them.

    Args:
        project: The pipelines.
        more: Loads others of the project by their names.
        listen: Told what happens, by several threads.
    """

    def __init__(self, project: Project, more: Load, listen: Listener) -> None:
        self._project, self._more, self._listen = replace(project, goes_on=True), more, listen
        self._send = Sender(project, more, listen)

    def look(self, spec: PipelineSpec) -> Found:
        """Say whether a pipeline has something to run, as its plan does, without Spark and without its lease.

        What forbids a run is left to the run, which tells it and records it.

        Args:
            spec: The pipeline.
        """
        begun, state = time.monotonic(), TimelineState()
        try:
            if is_paused(spec):
                return Found(ended=Ended(outcome="idle"), words="paused", is_paused=True)
            plan = compile_run(spec, state)
        except FreshetError as error:
            names = waits_for(self._project, spec, state, self._more) if error.code in _MISSING else ()
            if names:
                return Found(ended=Ended(outcome="waiting"), words=f"waits for the first run of {', '.join(names)}")
            return Found(ended=None)
        except Exception:  # whatever it is, the run says it
            return Found(ended=None)
        if plan.stages or sync_is_due(spec):
            return Found(ended=None)
        seconds = round(time.monotonic() - begun, 3)
        result = RunResult(pipeline=spec.name, outcome="idle", reason=plan.window.reason, seconds={"total": seconds})
        with remembered(spec.target.ref, spec.name, "run") as record:
            record.update(of_run(result))
        self._send(spec)
        return Found(ended=Ended(outcome="idle"), words=in_words(result), seconds=seconds)

    def run(self, spec: PipelineSpec) -> Found:
        """Run a pipeline.

        Args:
            spec: The pipeline.
        """
        begun = time.monotonic()
        try:
            result = run_pipeline(self._project, spec, TimelineState(), self._listen)
            self._send(spec)
        except BaseException as stopped:  # a step's sys.exit() ends its run, and not the server
            return failed(spec, stopped, self._listen)
        return Found(
            ended=ended_of(result),
            words=in_words(result, datetime.now(timezone.utc)),
            error=result.error,
            commits=result.commits,
            seconds=round(time.monotonic() - begun, 3),
        )


def failed(spec: PipelineSpec, stopped: BaseException, listen: Listener) -> Found:
    """Tell what ended a look or a run that nobody foresaw, and return it."""
    error = unforeseen(stopped if isinstance(stopped, Exception) else RuntimeError(repr(stopped)), spec.name)
    listen(Failed(pipeline=spec.name, message=str(error), error=error.as_json()))
    return Found(ended=Ended(outcome="failed"), words=error.message, error=error)


def ended_of(result: RunResult) -> Ended:
    """Return how a run ended, as the agenda has to know it.

    Args:
        result: What became of it.
    """
    error = result.error
    if result.outcome == "failed":
        is_busy = error is not None and error.code == "ALREADY_RUNNING"
        return Ended(outcome="busy") if is_busy else Ended(outcome="failed", retryable=_may_help(error))
    if result.outcome == "committed":
        # A catalogue that was not told is told by the next run, which need not have rows.
        return Ended(outcome="committed", more_waits=result.more_waits or error is not None)
    return Ended(outcome="failed", retryable=_may_help(error)) if error is not None else Ended(outcome="idle")


def _may_help(error: FreshetError | None) -> bool:
    """Say whether another attempt can help, also after a JVM that was ended before Spark had started in it."""
    return error is not None and (error.retryable or _NOT_STARTED in error.message)


def due_at_start(project: Project, wall: float, begun: Mapping[str, float | None]) -> frozenset[str]:
    """Return the pipelines that are due when the process begins: nobody was there for their times and their upstream's commits.

    Args:
        project: The pipelines.
        wall: The time, in seconds since 1970.
        begun: When the last run of each pipeline with a schedule began, in seconds since 1970; None where none is known.
    """

    def is_due(one: Served) -> bool:
        if one.schedule is None:
            return one.kind in ("continuous", "follows")
        return has_missed(one.schedule, begun.get(one.name), wall)

    return frozenset(one.name for one in served_of(project) if is_due(one))


def last_begun(spec: PipelineSpec) -> float | None:
    """Return when the last recorded run of a pipeline began, in seconds since 1970; None where none is, or nobody answers."""
    try:
        return timestamp_of(last_runs(spec).begun)
    except Exception:  # a store that does not answer: its next time comes
        return None


def last_begun_of(project: Project) -> dict[str, float | None]:
    """Return when the last recorded run of each pipeline with a schedule began; several stores are asked at a time."""
    asked = [spec for spec in project.pipelines if spec.schedule]
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        return dict(zip((spec.name for spec in asked), pool.map(last_begun, asked), strict=True))

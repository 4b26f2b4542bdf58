"""What is done in gaps: a table service, and a backfill; in the Spark session that the runs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from freshet.backfill.alone import goes_alone
from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import BackfillPlan, PlannedChunk, plan_backfill
from freshet.errors import FreshetError, unforeseen
from freshet.events.event import Listener
from freshet.events.kinds import Failed, Notice
from freshet.hudi.options import excludes_runs
from freshet.hudi.timeline import TimelineState
from freshet.metrics.out import send_after
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.services_due import Service
from freshet.serve.loading import Wanted
from freshet.serve.served import HBASE_INDEX
from freshet.sources.hudi.reads import counted

if TYPE_CHECKING:
    from freshet.backfill.run import BackfillResult


class ChoreWork:
    """Does services and backfills.

    Args:
        wanted: Which project is served.
        listen: Told what happens, by several threads.
    """

    def __init__(self, wanted: Wanted, listen: Listener) -> None:
        self._wanted, self._listen = wanted, listen

    def service(self, spec: PipelineSpec, service: Service) -> FreshetError | None:
        """Do one service of a pipeline's target; returns why it failed.

        Args:
            spec: The pipeline.
            service: Which.
        """
        # What runs on Spark imports it, which takes a second that a process without such work is spared.
        from freshet.run.service import run_services

        try:
            run_services(spec, TimelineState(), (service,), self._listen)
            return None
        except BaseException as stopped:  # whatever it is, the process goes on
            return self._told(spec.name, stopped)
        finally:
            self._send(spec.name)

    def plan(self, name: str, request: BackfillRequest) -> BackfillPlan:
        """Return the chunks of a backfill, without a JVM.

        Args:
            name: The pipeline.
            request: What is wanted.

        Raises:
            FreshetError: It cannot begin: see ``plan_backfill``.
        """
        from freshet.backfill.run import logic_of_runs, window_of

        spec = self._load(name)(window_of(request.start, request.end)).pipelines[0]
        return plan_backfill(spec, TimelineState(), request, logic_of_runs(self._load(name)))

    def backfill(self, name: str, request: BackfillRequest, may_go_on: Callable[[PlannedChunk], bool]) -> FreshetError | None:
        """Do the chunks of a backfill, and tell how it ended; returns why it failed.

        Args:
            name: The pipeline.
            request: What is wanted.
            may_go_on: See ``run_backfill``.
        """
        from freshet.backfill.run import run_backfill

        try:
            result = run_backfill(self._load(name), request, TimelineState(), self._listen, may_go_on=may_go_on)
            words = f"BACKFILL_ENDED: {_in_words(result)}"
            self._listen(Notice(pipeline=name, code="BACKFILL_ENDED", message=words))
            return result.error
        except BaseException as stopped:  # whatever it is, the process goes on
            return self._told(name, stopped)
        finally:
            self._send(name)

    def _load(self, name: str) -> Callable[[tuple[str, str] | None], Project]:
        return lambda window: replace(self._wanted.load((name,), window), goes_on=True)

    def _told(self, name: str, stopped: BaseException) -> FreshetError:
        error = unforeseen(stopped if isinstance(stopped, Exception) else RuntimeError(repr(stopped)), name)
        if error.code != "ALREADY_RUNNING":
            self._listen(Failed(pipeline=name, message=str(error), error=error.as_json()))
        return error

    def _send(self, name: str) -> None:
        send_after(lambda: self._wanted.load((name,)), self._wanted.load, self._listen)


def _in_words(result: BackfillResult) -> str:
    words = f"{result.done} of {counted(result.chunks, 'chunk')} done, {counted(result.rows, 'row')}"
    if result.failed:
        words += f"; failed: {', '.join(f'{label}: {code}' for label, code in result.failed.items())}"
    if result.error is not None:
        words += f"; {result.error}"
    elif result.done + len(result.failed) < result.chunks:
        words += "; the same call goes on with it"
    return words


def apart_of_service(spec: PipelineSpec, service: Service) -> frozenset[str]:
    """Return what a service must not have in common with a run at the same time.

    Args:
        spec: The pipeline.
        service: Which.
    """
    return _apart(spec, excludes_runs(spec, (service,)))


def apart_of_backfill(spec: PipelineSpec) -> frozenset[str]:
    """Return what a chunk of a backfill must not have in common with a run at the same time.

    Args:
        spec: The pipeline.
    """
    return _apart(spec, goes_alone(spec))


def _apart(spec: PipelineSpec, is_alone: bool) -> frozenset[str]:
    return frozenset({*([spec.target.ref.path] if is_alone else ()), *([HBASE_INDEX] if spec.index.hbase else ())})

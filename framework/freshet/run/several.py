"""Run the pipelines of a project within one Spark session: upstream first, some at a time where nothing stands between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread

from freshet.events.event import Listener
from freshet.events.kinds import Skipped
from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.records import of_run, remembered
from freshet.run.refresh import refresh_pipeline
from freshet.run.result import RunResult
from freshet.run.runner import run_pipeline

#: Half of a small run passes in the driver, one step after the other. On two cores each further pipeline of one changed row
#: takes 1.5 s by itself, 1.1 s with two at a time, and no less with four.
PARALLEL = 2


def run_project(
    project: Project,
    state: StateReader,
    listen: Listener,
    drain: bool = False,
    wait_seconds: float | None = None,
    parallel: int = 1,
    full_refresh: bool = False,
    ended_run: Callable[[PipelineSpec], None] = lambda spec: None,
) -> tuple[RunResult, ...]:
    """Run every pipeline of the project, upstream first.

    A pipeline that fails skips those that read what it writes; the others run.

    Args:
        project: Pipelines in dependency order.
        state: Reader of the tables.
        listen: Told what happens, by several threads where several pipelines run at a time.
        drain: Repeat each pipeline until its source has nothing left.
        wait_seconds: How long to wait for another run of the same target; None takes the pipeline's own setting.
        parallel: How many may run at a time.
        full_refresh: Compute each target anew from its whole source, and replace what stands.
        ended_run: Told each pipeline after its run, one that failed or was skipped too, by several threads as ``listen``.

    Returns:
        One result per pipeline, in the project's order.
    """
    results: dict[str, RunResult] = {}
    running: dict[str, PipelineSpec] = {}
    waiting = list(project.pipelines)
    selected = {spec.name for spec in waiting}
    at_a_time = min(parallel, len(waiting))
    ended: SimpleQueue[RunResult | BaseException] = SimpleQueue()

    def run(spec: PipelineSpec) -> None:
        try:
            result = (
                refresh_pipeline(project, spec, state, listen, wait_seconds)
                if full_refresh
                else run_pipeline(project, spec, state, listen, drain, wait_seconds)
            )
            ended_run(spec)
            ended.put(result)
        except BaseException as stopped:  # a user's sys.exit(), or the keyboard: for whoever asked for the runs
            ended.put(stopped)

    def start_what_can() -> None:
        for spec in tuple(waiting):
            upstream = [name for name in project.upstream.get(spec.name, ()) if name in selected]
            if len(running) == at_a_time:
                return
            if any(name not in results for name in upstream) or _excluded(spec, running.values()):
                continue
            waiting.remove(spec)
            blocking = [name for name in upstream if results[name].outcome in ("failed", "skipped")]
            if blocking:
                reason = f"upstream {', '.join(blocking)} did not finish"
                results[spec.name] = RunResult(pipeline=spec.name, outcome="skipped", reason=reason)
                with remembered(spec.target.ref, spec.name, "run") as record:
                    record.update(of_run(results[spec.name]))
                listen(Skipped(pipeline=spec.name, message=f"skipped: {reason}"))
                ended_run(spec)
                continue
            running[spec.name] = spec
            if at_a_time == 1:
                run(spec)
            else:
                # The keyboard ends the process at once, as it does without threads.
                Thread(target=run, args=(spec,), name=spec.name, daemon=True).start()

    while waiting or running:
        start_what_can()
        if running:
            done = ended.get()
            if isinstance(done, BaseException):
                raise done
            del running[done.pipeline]
            results[done.pipeline] = done
    return tuple(results[spec.name] for spec in project.pipelines)


def _excluded(spec: PipelineSpec, running: Iterable[PipelineSpec]) -> bool:
    """Say whether a pipeline must not run beside the others."""
    # Hudi's HBASE index has one connection for the whole JVM, which each run opens anew.
    return any(other.target.ref == spec.target.ref or (other.index.hbase and spec.index.hbase) for other in running)

"""Send a pipeline's metrics after each of its runs: in bounded time, and without harm to the run whatever happens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from freshet.credentials import without_credentials
from freshet.events.event import Listener
from freshet.events.kinds import Notice
from freshet.project.model.pipeline import PipelineSpec, Project

if TYPE_CHECKING:
    from freshet.metrics.measured import Measured

Made = TypeVar("Made")
# A way that failed would fail again, and each of a hundred pipelines would wait for it.
_PAUSE_SECONDS = 60.0


class Sender:
    """Sends the metrics of each pipeline whose run has ended, idle and failed ones too.

    Args:
        project: The pipelines that run.
        more: Loads others of the project by their names.
        listen: Told METRICS_NOT_SENT.
    """

    def __init__(self, project: Project, more: Callable[[tuple[str, ...]], Project], listen: Listener) -> None:
        self._project, self._more, self._listen = project, more, listen
        self._failed: dict[str, float] = {}

    def __call__(self, spec: PipelineSpec) -> None:
        """Measure a pipeline and send what there is, by all ways that its environment declares.

        Args:
            spec: The pipeline.
        """
        if not spec.metrics.is_any:
            return
        # An environment without a way out must not pay for these imports.
        from freshet.metrics.collect import measure_all
        from freshet.metrics.samples import samples_of
        from freshet.metrics.ways import ways_of

        begun = time.monotonic()
        deadline = begun + spec.metrics.timeout_seconds
        ways = {name: way for name, way in ways_of(spec.metrics, os.environ).items() if self._is_due(name, begun)}
        if not ways and not spec.metrics.notifies:
            return
        made = _Work(lambda: measure_all(self._project, self._more, (spec,)))
        made.wait(deadline)
        if made.error is not None or made.result is None:
            self._tell(spec, "they could not be made", made.error)
            return
        samples, env = samples_of(made.result, self._project.env), self._project.env
        self._do({name: partial(way, env, spec.name, samples) for name, way in ways.items()}, spec, deadline)
        if spec.metrics.notifies:
            self._notify(made.result[0], deadline)

    def _do(self, tasks: Mapping[str, Callable[[], None]], spec: PipelineSpec, deadline: float) -> set[str]:
        """Do several things at once; returns the names of those that were done."""
        at_work = {name: _Work(task) for name, task in tasks.items()}
        for work in at_work.values():
            work.wait(deadline)
        lost = {name: work for name, work in at_work.items() if not work.is_done or work.error is not None}
        for name, work in lost.items():
            self._failed[name] = time.monotonic()
            self._tell(spec, f"{name} did not take them", work.error)
        return at_work.keys() - lost.keys()

    def _notify(self, found: Measured, deadline: float) -> None:
        from freshet.metrics.notify import keep_told, message_of, notifiers_of, told_before
        from freshet.metrics.troubles import news_of

        spec, env, now = found.spec, self._project.env, time.monotonic()
        due = [one for one in notifiers_of(spec.metrics) if self._is_due(one.name, now)]
        before = _Work(partial(told_before, spec))
        before.wait(deadline)
        if before.result is None:
            self._tell(spec, "what was told before is not known", before.error)
            return
        told = before.result
        # Each by itself: one that cannot be reached must not make the other tell it again and again.
        news = {one.name: news_of(found, told.get(one.kind, {}), spec.metrics.repeat_seconds) for one in due}
        tasks = {one.name: partial(one.tell, message_of(found, env, news[one.name])) for one in due if news[one.name].is_any}
        done = self._do(tasks, spec, deadline)
        if done:
            kept = {**told, **{one.kind: news[one.name].told for one in due if one.name in done}}
            self._do({"the folder beside the target": partial(keep_told, spec, kept)}, spec, deadline)

    def _is_due(self, name: str, now: float) -> bool:
        failed = self._failed.get(name)
        return failed is None or now - failed >= _PAUSE_SECONDS

    def _tell(self, spec: PipelineSpec, what: str, error: BaseException | None) -> None:
        said = f"nothing was heard for {spec.metrics.timeout_seconds} s" if error is None else _reason(error)
        words = f"METRICS_NOT_SENT: {spec.name}: {what}: {without_credentials(said)}"
        self._listen(Notice(pipeline=spec.name, code="METRICS_NOT_SENT", message=words))


def _reason(error: BaseException) -> str:
    inner = getattr(error, "reason", None)
    return str(inner if isinstance(inner, OSError) else error) or type(error).__name__


class _Work(Generic[Made]):
    """Something that is done in a thread of its own, which ends with the process where it does not end itself."""

    def __init__(self, do: Callable[[], Made]) -> None:
        self.result: Made | None = None
        self.error: BaseException | None = None
        self.is_done = False
        self._thread = threading.Thread(target=self._run, args=(do,), name="metrics", daemon=True)
        self._thread.start()

    def _run(self, do: Callable[[], Made]) -> None:
        try:
            self.result = do()
        except Exception as error:  # whatever it is, the run goes on
            self.error = error
        self.is_done = True

    def wait(self, deadline: float) -> None:
        self._thread.join(max(0.0, deadline - time.monotonic()))

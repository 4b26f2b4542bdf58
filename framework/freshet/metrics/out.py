"""Send a pipeline's metrics after each of its runs: in bounded time, and without harm to the run whatever happens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from freshet.credentials import without_credentials
from freshet.errors import FreshetError
from freshet.events.event import Listener
from freshet.events.kinds import Notice
from freshet.project.model.pipeline import PipelineSpec, Project

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
        try:
            self._send(spec)
        except Exception as error:  # whatever it is, the run goes on
            self._tell(spec, "they could not be made", error)

    def _send(self, spec: PipelineSpec) -> None:
        # An environment without a way out must not pay for these imports.
        from freshet.metrics.collect import measure_all
        from freshet.metrics.notify import notifiers_of, notify
        from freshet.metrics.samples import samples_of
        from freshet.metrics.ways import ways_of

        begun, env = time.monotonic(), self._project.env
        deadline = begun + spec.metrics.timeout_seconds
        ways = {name: way for name, way in ways_of(spec.metrics, os.environ).items() if self._is_due(name, begun)}
        notifiers = [one for one in notifiers_of(spec.metrics) if self._is_due(one.name, begun)]
        if not ways and not notifiers:
            return
        made = _Work(lambda: measure_all(self._project, self._more, (spec,)))
        made.wait(deadline)
        if made.error is not None or made.result is None:
            self._tell(spec, "they could not be made", made.error)
            return
        samples = samples_of(made.result, env)
        # All at once: one that does not answer must not keep the others from being told.
        at_work = {name: _Work(partial(way, env, spec.name, samples)) for name, way in ways.items()}
        at_work |= {one.name: _Work(partial(notify, made.result[0], env, one)) for one in notifiers}
        for name, work in at_work.items():
            work.wait(deadline)
            if not work.is_done or work.error is not None:
                self._failed[name] = time.monotonic()
                self._tell(spec, f"{name} did not take them", work.error)

    def _is_due(self, name: str, now: float) -> bool:
        failed = self._failed.get(name)
        return failed is None or now - failed >= _PAUSE_SECONDS

    def _tell(self, spec: PipelineSpec, what: str, error: BaseException | None) -> None:
        said = f"nothing was heard for {spec.metrics.timeout_seconds} s" if error is None else _reason(error)
        words = f"METRICS_NOT_SENT: {spec.name}: {what}: {without_credentials(said)}"
        self._listen(Notice(pipeline=spec.name, code="METRICS_NOT_SENT", message=words))


def send_after(load: Callable[[], Project], more: Callable[[tuple[str, ...]], Project], listen: Listener) -> None:
    """Send the metrics of a pipeline after something else than a run: a backfill, or table services.

    Args:
        load: Loads the project with the pipeline alone.
        more: Loads others of the project by their names.
        listen: Told METRICS_NOT_SENT.
    """
    try:
        project = load()
    except FreshetError:
        # Whoever changed the files meanwhile is told by the next command.
        return
    sender = Sender(project, more, listen)
    for spec in project.pipelines:
        sender(spec)


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

"""Watch over a run: what hangs is written to the log with its threads, and ended, so that it holds no lease for ever."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

from freshet.errors import FreshetError, RetryableError
from freshet.events.event import Event, Listener
from freshet.events.kinds import Failed, Notice
from freshet.jvm.ivy import jar_counts
from freshet.project.model.limits import RunLimits
from freshet.project.model.pipeline import PipelineSpec

_POLL_SECONDS = 5.0
# A JVM that does not answer for so long is not asked any more until it does.
_ANSWER_SECONDS = 5.0
# Python has that long to end after its JVM did; a step that waits for something else than Spark does not notice at all.
_GRACE_SECONDS = 30.0
# Spark's and Hudi's timers and heartbeats take less of a core, and one thread that works takes a whole one.
_IDLE_SHARE = 0.03
_REPEATABLE = "A commit holds its checkpoint, so that repeating the command is safe."


@dataclass(frozen=True)
class Pulse:
    """What can be seen of a run from outside.

    Args:
        tasks: Spark's stages at work and the tasks that they have done; changes with every task.
        at_work: True where a stage is at work, or waits for executors.
        cpu_seconds: What this process and its JVM have used; None where that cannot be told.
    """

    tasks: tuple[object, ...]
    at_work: bool
    cpu_seconds: float | None


class _Ends:
    """The JVMs that a watchdog of this process has ended: when, and for the sake of which pipeline."""

    def __init__(self) -> None:
        self.last = (0.0, "")


_ENDS = _Ends()


@contextmanager
def watched(
    spec: PipelineSpec,
    listen: Listener,
    pulse: Callable[[], Pulse] | None = None,
    end: Callable[[], None] | None = None,
) -> Iterator[Listener]:
    """Watch over the work of a block.

    Args:
        spec: The pipeline, with its limits.
        listen: Told what is wrong, with all threads.
        pulse: Looks at the run; at Spark by default.
        end: Ends what hangs, so that the block raises; Spark's JVM by default.

    Yields:
        The listener that the block is to tell its events, each of which is a sign of life.

    Raises:
        FreshetError: RUN_TIMEOUT or RUN_STALLED instead of whatever the block raised when it was ended.
        RetryableError: RUN_INTERRUPTED where the JVM was ended because another pipeline of this process hung.
    """
    watch = _Watch(spec, listen, pulse or spark_pulse, end or end_jvm)
    thread = Thread(target=watch.watch, name=f"watchdog of {spec.name}", daemon=True)
    thread.start()
    try:
        yield watch.heard
    except Exception as error:
        ended, other = _ENDS.last
        if watch.error is not None:
            raise watch.error from error
        if ended > watch.begun and other != spec.name:
            raise RetryableError(
                "RUN_INTERRUPTED",
                f"{spec.name}: the JVM was ended, because {other} hung in it.",
                _REPEATABLE,
                "Run the same command again.",
                other=other,
            ) from error
        raise
    finally:
        watch.done.set()


class _Watch:
    def __init__(self, spec: PipelineSpec, listen: Listener, pulse: Callable[[], Pulse], end: Callable[[], None]) -> None:
        self.spec, self.limits, self.tell, self.pulse, self.end = spec, spec.limits, listen, pulse, end
        self.done = Flag()
        self.error: FreshetError | None = None
        self.begun = self.alive = time.monotonic()

    def heard(self, event: Event) -> None:
        self.alive = time.monotonic()
        self.tell(event)

    def watch(self) -> None:
        """Look at the run until it is done or ended. A sign of life is an event, or a task of Spark that begins or ends."""
        tasks: tuple[object, ...] = ()
        timeout, stalled = self.limits.timeout_seconds, self.limits.stalled_seconds
        # What was used of the processor by the last sign of life, and when that was.
        used, at = None, -1.0
        told = self.begun
        while not self.done.wait(_poll_seconds(self.limits)):
            found: Pulse | None = _answer(self.pulse)
            now = time.monotonic()
            if found is not None and found.tasks != tasks:
                tasks, self.alive = found.tasks, now
            if found is not None and at < self.alive:
                used, at = found.cpu_seconds, self.alive
            still = now - self.alive
            if timeout and now - self.begun > timeout:
                self.give_up("RUN_TIMEOUT", f"takes longer than {timeout:,} s (run.timeout)")
                return
            if not stalled or still < stalled:
                continue
            if found is not None and not found.at_work and _is_idle(used, found.cpu_seconds, still):
                self.give_up("RUN_STALLED", f"has done nothing at all for {still:,.0f} s (run.stalled_after)")
                return
            if told <= self.alive:
                told = now
                self.report("RUN_QUIET", f"no task of Spark has begun or ended for {still:,.0f} s")

    def report(self, code: str, words: str) -> None:
        self.tell(Notice(pipeline=self.spec.name, code=code, message=f"{code}: {words}. Threads:\n{_threads()}"))

    def give_up(self, code: str, why: str) -> None:
        self.report(code, f"{self.spec.name} {why}")
        if self.done.is_set():
            # It ended while its threads were looked at.
            return
        self.error = FreshetError(
            code,
            f"{self.spec.name} {why}, and was ended; the log has all threads.",
            _REPEATABLE,
            "Run the same command again; if it ends so again, report it with the threads.",
        )
        _ENDS.last = (time.monotonic(), self.spec.name)
        self.end()
        if not self.done.wait(_GRACE_SECONDS):
            self.tell(Failed(pipeline=self.spec.name, message=str(self.error), error=self.error.as_json(), process_ends=True))
            sys.stderr.flush()
            # Nothing else ends a thread of Python that waits. The kernel gives the lease back.
            os._exit(self.error.exit_code)


def _poll_seconds(limits: RunLimits) -> float:
    return min([_POLL_SECONDS, *(limit / 10 for limit in (limits.timeout_seconds, limits.stalled_seconds) if limit)])


def _is_idle(then: float | None, now: float | None, seconds: float) -> bool:
    return then is not None and now is not None and now - then < _IDLE_SHARE * seconds


def _answer(ask: Callable[[], Any]) -> Any:
    # A JVM that hangs may not answer, and whoever asks it would hang as well.
    found: list[Any] = []

    def asking() -> None:
        with suppress(Exception):
            found.append(ask())

    thread = Thread(target=asking, daemon=True)
    thread.start()
    thread.join(_ANSWER_SECONDS)
    return found[0] if found else None


def _context() -> Any:
    # A run that has not started Spark yet must not import PySpark for the sake of being watched.
    spark_context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return spark_context._active_spark_context if spark_context else None


def spark_pulse() -> Pulse:
    """Look at the process and at its Spark application."""
    context = _context()
    if context is None:
        # Another process downloads the jars that Spark needs.
        return Pulse((jar_counts(),), False, _cpu_seconds(None))
    tracker = context.statusTracker()
    stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
    tasks = tuple((info.stageId, info.numActiveTasks, info.numCompletedTasks, info.numFailedTasks) for info in stages)
    return Pulse(tasks, bool(stages), _cpu_seconds(getattr(getattr(context._gateway, "proc", None), "pid", None)))


def _cpu_seconds(jvm: int | None) -> float | None:
    own = time.process_time()
    if jvm is None:
        return None if _context() is not None else own
    try:
        # The second field is the program's name, which may hold blanks.
        fields = Path(f"/proc/{jvm}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return own + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _threads() -> str:
    from freshet.jvm.threads import jvm_threads, python_threads

    context = _context()
    jvm = (_answer(lambda: jvm_threads(context)) or "The JVM does not answer.") if context is not None else ""
    return "\n".join(part for part in (python_threads(), jvm) if part)


def end_for(pipeline: str) -> None:
    """End the JVM for the sake of one pipeline; others of this process are told so."""
    _ENDS.last = (time.monotonic(), pipeline)
    end_jvm()


def end_jvm() -> None:
    """End the JVM without asking any of its locks, and forget it, so that the next pipeline starts another."""
    context = _context()
    if context is None:
        return
    process = getattr(context._gateway, "proc", None)
    if process is not None:
        process.kill()
    else:
        # Under spark-submit it is not this process's child.
        _answer(lambda: context._jvm.java.lang.Runtime.getRuntime().halt(1))
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None

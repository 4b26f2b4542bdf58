"""Do work in a thread of its own, so that an interrupt of the caller ends it in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event as Flag
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import TypeVar

Result = TypeVar("Result")
# A job that begins after the last look is cancelled by the next one.
_LOOKS_EVERY = 0.2


def run_aside(work: Callable[[], Result], cancel: Callable[[], None]) -> Result:
    """Do work in a thread, and wait for it.

    What interrupts the caller (the keyboard of a notebook, a signal that a scheduler answers by an exception) would unwind
    the work in the middle of a write that Java goes on with, and give back its lease. So the caller waits here: its work is
    cancelled and ends as one that failed, and the interrupt goes on afterwards. A second one does not wait.

    Args:
        work: What is to be done.
        cancel: Makes what the work waits for fail; called again and again.

    Returns:
        What the work returns.

    Raises:
        BaseException: What the work raises, or what interrupted the caller.
    """
    done: list[Result] = []
    failed: list[BaseException] = []
    # Not the thread's own join: Python 3.11 takes a thread for ended whose join was interrupted.
    ended = Flag()

    def do() -> None:
        try:
            done.append(work())
        except BaseException as error:  # a step's sys.exit() too is for the caller
            failed.append(error)
        finally:
            ended.set()

    thread = Thread(target=do, name="freshet", daemon=True)
    try:
        thread.start()
        ended.wait()
    except BaseException:
        while not ended.is_set() and thread in enumerate_threads():
            with suppress(Exception):
                cancel()
            ended.wait(_LOOKS_EVERY)
        raise
    if failed:
        raise failed[0]
    return done[0]


def cancel_jobs(pipelines: Sequence[str]) -> None:
    """Cancel the Spark jobs of pipelines; those of others in the same application go on."""
    # Where PySpark is not imported no job runs.
    context = getattr(getattr(sys.modules.get("pyspark"), "SparkContext", None), "_active_spark_context", None)
    if context is not None:
        for name in pipelines:
            context.cancelJobsWithTag(name)

"""How a command ends that is stopped from outside: by one line, one JSON document and the documented code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from freshet.cli.early import SIGNALS, over, stopping
from freshet.errors import FreshetError

# What a shell reports for a process that SIGHUP, SIGINT, SIGPIPE or SIGTERM ended.
HUNG_UP = SIGNALS[signal.SIGHUP][0]
INTERRUPTED = SIGNALS[signal.SIGINT][0]
READER_GONE = 141
TERMINATED = SIGNALS[signal.SIGTERM][0]

#: Commits that this process has published: pipeline and completion time.
PUBLISHED: list[tuple[str, str]] = []
#: What is being done and has not ended yet, by pipeline.
UNFINISHED: dict[str, str] = {}
#: Called before anything is said past all buffers: what is drawn on the terminal is taken off it.
BEFORE_LAST_WORDS: list[Callable[[], None]] = []
# A long backfill has published more commits than anybody reads.
_NAMED_COMMITS = 3


class Terminated(BaseException):
    """SIGTERM or SIGHUP; like KeyboardInterrupt no exception that anybody handles.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        self.exit_code, self.by = SIGNALS[number]
        super().__init__(self.by)


def stopped(by: str) -> FreshetError:
    """Return the error of a command that was stopped.

    Args:
        by: What stopped it.
    """
    last = ", ".join(f"{pipeline} ({commit})" for pipeline, commit in PUBLISHED[-_NAMED_COMMITS:])
    many = f"{len(PUBLISHED)} commits, the last " if len(PUBLISHED) > _NAMED_COMMITS else ""
    doing = ", ".join(f"{pipeline} ({words})" for pipeline, words in list(UNFINISHED.items()))
    return FreshetError(
        "INTERRUPTED",
        f"stopped by {by}. Published before: {many}{last or 'nothing'}." + (f" Not finished: {doing}." if doing else ""),
        "A commit that was being made is either whole, with its checkpoint, or not there.",
        "Run the same command again: it repeats what was not finished, and nothing that was published. "
        "`freshet status` shows where the tables stand.",
        published=[{"pipeline": pipeline, "commit": commit} for pipeline, commit in PUBLISHED],
        unfinished=[{"pipeline": pipeline, "doing": words} for pipeline, words in list(UNFINISHED.items())],
    )


def spark_is_up() -> bool:
    """Say whether this process has a JVM with Spark, without importing anything."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


@contextmanager
def told(last_words: Callable[[FreshetError], None]) -> Iterator[None]:
    """Answer SIGINT, SIGTERM and SIGHUP within the block.

    Without Spark they unwind what runs. With it they end the process where it stands: what unwinds would ask a JVM that
    is in the middle of something else, and wait for it, or fail once more at each step. The JVM ends with its parent.

    Args:
        last_words: Says an error, on stdout and stderr as they stand.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def answer(number: int, _: FrameType | None) -> None:
        if not spark_is_up():
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
        signal.signal(number, signal.SIG_IGN)
        code, by = SIGNALS[number]
        with suppress(BaseException):
            last_words(stopped(by))
        with suppress(BaseException):
            # It is there where something runs.
            sys.modules["freshet.run.records"].tell_stopped(by)
        os._exit(code)

    before = {number: signal.signal(number, answer) for number in stopping()}
    try:
        yield
    finally:
        over()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keyboard_unwinds() -> Iterator[None]:
    """Let SIGINT unwind the block though Spark is up: nothing in it asks the JVM for anything."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""What the threads of this process and of its JVM do now, as text for a log."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

# Spark's plans nest deep, and what a thread waits for is at the top.
_FRAMES = 40


def python_threads() -> str:
    """Return where each Python thread is."""
    frames = sys._current_frames()
    return "\n".join(
        f"Python thread {one.name}:\n" + "".join(traceback.format_stack(frames[one.ident])).rstrip()
        for one in threading.enumerate()
        if one.ident in frames
    )


def jvm_threads(context: SparkContext) -> str:
    """Return where each thread of the JVM is, and which lock it waits for; empty where the JVM does not answer."""
    jvm: Any = context._jvm
    try:
        dump = jvm.org.apache.spark.util.Utils.getThreadDump()
        return "\n".join(_thread(one) for one in dump)
    except (Py4JError, OSError) as error:
        return f"The JVM does not answer: {type(error).__name__}"


def _thread(found: Any) -> str:
    # One call for the whole stack: hundreds of threads, each with hundreds of calls, would take minutes otherwise.
    lines = [line.rstrip() for line in str(found.stackTrace().mkString("", "\n", "")).split("\n") if line.strip()]
    waits = f", waits for {found.blockedByLock()}" if found.blockedByLock() else ""
    more = [f"    ... {len(lines) - _FRAMES} more"] if len(lines) > _FRAMES else []
    return "\n".join(
        [
            f'JVM thread "{found.threadName()}" ({found.threadState().toString()}{waits})',
            *(f"    {line}" for line in lines[:_FRAMES]),
            *more,
        ]
    )

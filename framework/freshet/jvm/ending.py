"""End the Spark application and the JVM of this process, so that the next run starts others."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

# Spark waits for its executors, and its JVM for its own hooks, which delete what it keeps on the disk.
_STOP_SECONDS, _END_SECONDS = 30.0, 10.0


def jvm_process() -> Any:
    """Return the JVM's process; None where none was started, or it is not this process's child."""
    # Where PySpark is not imported there is no JVM.
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(getattr(context, "_gateway", None), "proc", None)


def is_up() -> bool:
    """Say whether there is a JVM that lives."""
    process = jvm_process()
    return process is not None and process.poll() is None


def is_gone() -> bool:
    """Say whether there was a JVM that has ended, and that the next run would still look for."""
    process = jvm_process()
    return process is not None and process.poll() is not None


def end_session() -> None:
    """End Spark and its JVM, whether they answer or not; nothing may run in them."""
    process = jvm_process()
    if process is None:
        return
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is not None and process.poll() is None:
        _within(_STOP_SECONDS, context.stop)
    gateway: Any = SparkContext._gateway
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    if process.poll() is None and gateway is not None:
        _within(_END_SECONDS, gateway.shutdown)
    with suppress(OSError):
        # It ends with its parent, which is what this looks like to it.
        process.stdin.close()
    with suppress(OSError, subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(OSError):
        process.kill()
        process.wait(_END_SECONDS)


def _within(seconds: float, do: Any) -> None:
    """Do something in a thread of its own, and go on where it does not end."""

    def doing() -> None:
        with suppress(Exception):
            do()

    thread = threading.Thread(target=doing, name="ending Spark", daemon=True)
    thread.start()
    thread.join(seconds)

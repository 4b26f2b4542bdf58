"""Count the runs that are at work in this process: what they keep in memory goes with the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from pyspark import SparkContext
from pyspark.sql import SparkSession


class _Work:
    """The runs that are at work in this process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.runs = 0


_WORK = _Work()


@contextmanager
def at_work() -> Iterator[None]:
    """Count a run; with the last one what transformers, checks and indexes keep in memory is dropped.

    All of it belongs to the application: it would outlive the run, and cannot be dropped while another one reads its own.
    """
    with _WORK.lock:
        _WORK.runs += 1
    try:
        yield
    finally:
        with _WORK.lock:
            _WORK.runs -= 1
            context = SparkContext._active_spark_context
            if not _WORK.runs and context is not None and context._jsc is not None:
                SparkSession.builder.getOrCreate().catalog.clearCache()
                for kept in context._jsc.getPersistentRDDs().values():
                    kept.unpersist(False)

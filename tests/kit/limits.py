"""A time limit for what may hang: it fails with the JVM's threads, and ends the JVM, so that no later test waits for it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

import pytest
from pyspark.sql import SparkSession

from freshet.jvm.threads import jvm_threads

T = TypeVar("T")


def within(seconds: float, spark: SparkSession, work: Callable[[], T]) -> T:
    """Return what ``work`` returns; fail where it takes longer."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((work(), None))
        except BaseException as error:
            found.append((None, error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        threads = jvm_threads(spark.sparkContext)
        jvm: Any = spark._jvm
        try:
            jvm.java.lang.Runtime.getRuntime().halt(1)
        finally:
            pytest.fail(f"hangs for {seconds:g} s:\n{threads}")
    result, error = found[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]

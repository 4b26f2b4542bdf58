"""A lock file that the JVM holds, and not its Python: who comes next waits for a JVM whose Python was killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from freshet.errors import RetryableError


@contextmanager
def jvm_lock(spark: SparkSession, path: Path) -> Iterator[None]:
    """Hold a lock file by the JVM, which outlives a Python that is killed.

    Raises:
        RetryableError: ALREADY_RUNNING.
    """
    jvm: Any = spark._jvm
    file = jvm.java.io.RandomAccessFile(str(path), "rw")
    try:
        if file.getChannel().tryLock() is None:
            raise RetryableError(
                "ALREADY_RUNNING",
                f"another JVM is writing ({path}).",
                "Nothing was read or written.",
                "Run the same command again.",
            )
        yield
    finally:
        file.close()

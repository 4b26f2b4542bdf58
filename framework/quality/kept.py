"""Keep rows that are looked at before they are written, so that they are computed once, and let few tasks read them.

Spark 3.5 leaves the last stage of what is kept in all of ``spark.sql.shuffle.partitions``, 200 by default, however few its rows
are (SPARK-46995), and Hudi writes with as many tasks as its batch has. 48,000 rows joined with 4 million, checked and upserted
into 30 file groups took 28 s so, and take 13 s by few tasks; computed twice instead of kept they take 17 s (2 cores; ``python
-m tests.benchmarks --only tuning``).
"""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import DataFrame

# Of rows of 640 bytes they are what Spark gives a task by default, 64 MB.
_ROWS_A_TASK = 100_000


def keep_rows(rows: DataFrame) -> DataFrame:
    """Have rows kept as soon as they are computed, in memory as far as it reaches."""
    return rows.persist(StorageLevel.MEMORY_AND_DISK)


def by_few_tasks(kept: DataFrame, count: int) -> DataFrame:
    """Return kept rows such that no more tasks read them than it takes; never more than now.

    Args:
        kept: The rows.
        count: How many they are.
    """
    cores = kept.sparkSession.sparkContext.defaultParallelism
    return kept.coalesce(max(cores, -(-count // _ROWS_A_TASK)))

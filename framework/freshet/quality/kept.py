"""Keep rows that are looked at before they are written, so that they are computed once, and let few tasks read them.

Spark 3.5 leaves the last stage of what is kept in all of ``spark.sql.shuffle.partitions``, 200 by default, however few its rows
are (SPARK-46995), and Hudi writes with as many tasks as its batch has. 48,000 rows joined with 4 million, checked and upserted
into 30 file groups took 28 s so, and take 13 s by few tasks; computed twice instead of kept they take 17 s (2 cores; ``python
-m tests.benchmarks --only tuning``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

# Of what it shuffles Spark gives a task as much by default (spark.sql.adaptive.advisoryPartitionSizeInBytes).
_BYTES_A_TASK = 64 << 20
_MOST_TASKS = 2**31 - 1
# Files and tables are packed.
_BYTES_SHUFFLED, _MOST_SHUFFLED = 16 << 20, 2000


def keep_rows(rows: DataFrame) -> DataFrame:
    """Have rows kept as soon as they are computed, in memory as far as it reaches."""
    return rows.persist(StorageLevel.MEMORY_AND_DISK)


def use_few_tasks(spark: SparkSession, read: Sequence[DataFrame], said: Mapping[str, str]) -> None:
    """Let a session shuffle, from now on, into no more tasks than the files and tables that it reads ask for.

    Args:
        spark: A session of its own.
        read: What is read.
        said: The project's settings of Spark, which win.
    """
    if "spark.sql.shuffle.partitions" not in said:
        tasks = max(sum(_bytes_of(rows) for rows in read) // _BYTES_SHUFFLED, spark.sparkContext.defaultParallelism)
        spark.conf.set("spark.sql.shuffle.partitions", str(min(tasks, _MOST_SHUFFLED)))


def by_few_tasks(kept: DataFrame) -> DataFrame:
    """Return rows that are kept, and computed by now, such that no more tasks read them than it takes; never more than now."""
    # A plan that is made anew knows the size of what is kept. Where it does not, Spark gives a size that no memory has.
    tasks = min(-(-_bytes_of(kept.select("*")) // _BYTES_A_TASK), _MOST_TASKS)
    return kept.coalesce(max(kept.sparkSession.sparkContext.defaultParallelism, tasks))


def _bytes_of(rows: DataFrame) -> int:
    plan: Any = rows._jdf.queryExecution().optimizedPlan()
    return int(plan.stats().sizeInBytes())

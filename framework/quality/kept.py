"""Keep rows that are looked at before they are written, so that they are computed once, and let few tasks read them.

Spark 3.5 leaves the last stage of what is kept in all of ``spark.sql.shuffle.partitions``, 200 by default, however few its rows
are (SPARK-46995), and Hudi writes with as many tasks as its batch has. 48,000 rows joined with 4 million, checked and upserted
into 30 file groups took 28 s so, and take 13 s by few tasks; computed twice instead of kept they take 17 s (2 cores; ``python
-m tests.benchmarks --only tuning``).
"""

from __future__ import annotations

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

# Of what it shuffles Spark gives a task as much by default (spark.sql.adaptive.advisoryPartitionSizeInBytes).
_BYTES_A_TASK = 64 << 20
_MOST_TASKS = 2**31 - 1


def keep_rows(rows: DataFrame) -> DataFrame:
    """Have rows kept as soon as they are computed, in memory as far as it reaches."""
    return rows.persist(StorageLevel.MEMORY_AND_DISK)


def by_few_tasks(kept: DataFrame) -> DataFrame:
    """Return rows that are kept, and computed by now, such that no more tasks read them than it takes; never more than now."""
    # A plan that is made anew knows the size of what is kept.
    plan: Any = kept.select("*")._jdf.queryExecution().optimizedPlan()
    # Where it does not, Spark gives a size that no memory has.
    tasks = min(-(-int(plan.stats().sizeInBytes()) // _BYTES_A_TASK), _MOST_TASKS)
    return kept.coalesce(max(kept.sparkSession.sparkContext.defaultParallelism, tasks))

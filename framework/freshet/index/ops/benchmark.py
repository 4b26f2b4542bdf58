"""Measure how many requests a second an HBase cluster holds, on a table that is deleted again."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.errors import StateError
from freshet.events.event import Listener
from freshet.events.kinds import Phase
from freshet.index.hbase.cluster import HBase, connect, new_generation
from freshet.index.hbase.opening import parallel_tasks
from freshet.project.model.pipeline import HBaseSpec, PipelineSpec, Project
from freshet.run.spark import session_for
from freshet.run.watchdog import watched

# Keys of the round that warms up, by whose rate the measured ones are chosen.
_FIRST_KEYS = 20_000


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a cluster holds.

    Args:
        cluster: The cluster.
        servers: Region servers alive.
        puts_per_second, lookups_per_second: Of all servers.
        tasks: Tasks that asked at a time.
        requests: Requests that were made.
    """

    cluster: str
    servers: int
    puts_per_second: float
    lookups_per_second: float
    tasks: int
    requests: int

    @property
    def server_rate(self) -> int:
        """Return the requests a second that one region server holds, by the slower of the two kinds."""
        return max(1, int(min(self.puts_per_second, self.lookups_per_second) / max(1, self.servers)))

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {**vars(self), "server_rate": self.server_rate}


def benchmark_cluster(
    project: Project,
    spec: PipelineSpec,
    listen: Listener,
    seconds: float = 20.0,
) -> Held:
    """Measure how many requests a second the HBase cluster of a pipeline holds, on a table of its own that is deleted again.

    Args:
        project: The project.
        spec: The pipeline, which names the cluster.
        listen: Told what happens.
        seconds: About how long puts and look-ups are each made.

    Raises:
        StateError: NO_HBASE_INDEX.
        FreshetError: RUN_TIMEOUT or RUN_STALLED.
    """
    if spec.index.hbase is None:
        raise StateError(
            "NO_HBASE_INDEX",
            f"{spec.name} has the index {spec.index.type}, which asks no server.",
            "Nothing was measured.",
            "Name a pipeline with hoodie.index.type: HBASE.",
        )

    scratch: HBaseSpec = replace(spec.index.hbase, table=f"freshet_benchmark_{new_generation()}")
    with watched(spec, listen) as told:

        def phase(words: str) -> None:
            told(Phase(pipeline=spec.name, message=words))

        spark = session_for(spec, project.root, phase)
        with connect(spark, scratch) as cluster:
            # Regions spread over all servers, whatever the keys begin with.
            cluster.create([bytes([first]) for first in b"123456789abcdef"], {})
            try:
                tasks = parallel_tasks(spark)
                phase("warming up")
                rate = _rate(spark, cluster, tasks, _FIRST_KEYS)[0]
                keys = max(_FIRST_KEYS, math.ceil(rate * seconds))
                phase(f"putting and looking up {keys:,} keys by {tasks} tasks")
                puts, lookups = _rate(spark, cluster, tasks, keys)
                return Held(
                    cluster=scratch.cluster,
                    servers=cluster.servers(),
                    puts_per_second=round(puts, 1),
                    lookups_per_second=round(lookups, 1),
                    tasks=tasks,
                    requests=2 * keys,
                )
            finally:
                cluster.drop()


def _rate(spark: SparkSession, cluster: HBase, tasks: int, keys: int) -> tuple[float, float]:
    texts = spark.range(0, keys, 1, tasks).select(
        F.md5(F.col("id").cast("string")).alias("key"),
        F.lit("2026-01-01").alias("partition"),
        F.lit("20260101000000000").alias("commit"),
        F.lit("00000000-0000-0000-0000-000000000000-0").alias("file"),
    )
    start = time.monotonic()
    cluster.classes.Requests.change(texts._jdf, cluster.settings, cluster.spec.table, False, float(10**9))
    middle = time.monotonic()
    cluster.classes.Requests.lookUp(texts._jdf, cluster.settings, cluster.spec.table)
    return keys / (middle - start), keys / (time.monotonic() - middle)

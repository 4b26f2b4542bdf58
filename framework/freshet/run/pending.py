"""Compactions and clusterings that are planned and not done: whose they are, and how a planned one is carried out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from freshet.project.model.pipeline import PipelineSpec, TableRef

#: In a plan: who made it. Another tool's may be at work on its own.
MADE_BY = "freshet.service"


def schedule_clustering(spark: SparkSession, spec: PipelineSpec, client: Any) -> str:
    """Plan a clustering that a later service will know as freshet's own; empty where there is nothing to cluster."""
    planned = client.scheduleClustering(_marks(spark, spec))
    return str(planned.get()) if planned.isPresent() else ""


def schedule_compaction(spark: SparkSession, spec: PipelineSpec, client: Any) -> str:
    """Plan a compaction that a later service will know as freshet's own; empty where there is nothing to compact."""
    planned = client.scheduleCompaction(_marks(spark, spec))
    return str(planned.get()) if planned.isPresent() else ""


def carry_out(client: Any, nothing: Any, instant: str) -> None:
    """Carry out a planned compaction, also one that was begun and left.

    Args:
        client: Hudi's write client.
        nothing: Hudi's option that is empty.
        instant: Request time of the plan.
    """
    client.commitCompaction(instant, client.compact(instant).getCommitMetadata().get(), nothing)


def pending_clusterings(spark: SparkSession, table: TableRef, made_by: str = "") -> list[str]:
    """Return the clusterings that are planned and not done; with ``made_by`` those whose plan has that mark alone."""
    jvm: Any = spark._jvm
    meta = _meta_client(spark, table)
    of = jvm.org.apache.hudi.common.util.ClusteringUtils
    timeline, found = meta.getActiveTimeline(), []
    for pending in of.getPendingClusteringInstantTimes(meta):
        requested = of.getRequestedClusteringInstant(pending.requestedTime(), timeline, meta.getInstantGenerator())
        marks = timeline.readRequestedReplaceMetadata(requested.get()).getExtraMetadata() if requested.isPresent() else None
        if not made_by or (marks is not None and marks.containsKey(made_by)):
            found.append(str(pending.requestedTime()))
    return sorted(found)


def pending_compactions(spark: SparkSession, table: TableRef, made_by: str = "") -> list[str]:
    """Return the compactions that are planned and not done; with ``made_by`` those whose plan has that mark alone."""
    return sorted(
        instant
        for instant, marks in _compactions(spark, table)
        if not made_by or (marks is not None and marks.containsKey(made_by))
    )


def _compactions(spark: SparkSession, table: TableRef) -> Iterator[tuple[str, Any]]:
    jvm: Any = spark._jvm
    meta = _meta_client(spark, table)
    for pending in meta.getActiveTimeline().filterPendingCompactionTimeline().getInstants():
        plan = jvm.org.apache.hudi.common.util.CompactionUtils.getCompactionPlan(meta, pending.requestedTime())
        yield str(pending.requestedTime()), plan.getExtraMetadata()


def _meta_client(spark: SparkSession, table: TableRef) -> Any:
    jvm: Any = spark._jvm
    storage = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(spark.sparkContext._jsc.hadoopConfiguration())
    return jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder().setConf(storage).setBasePath(table.path).build()


def _marks(spark: SparkSession, spec: PipelineSpec) -> Any:
    jvm: Any = spark._jvm
    marks = jvm.java.util.HashMap()
    marks.put(MADE_BY, spec.name)
    return jvm.org.apache.hudi.common.util.Option.of(marks)

"""Hold a global index against the rows of its table, mend it, and measure what an HBase cluster holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import StateError
from freshet.events.event import Listener
from freshet.hudi.table import StateReader
from freshet.index.hbase.cluster import HBase, connect
from freshet.index.hbase.entries import (
    COLUMNS,
    DAMAGES,
    compared,
    drawn,
    has_record_index,
    hbase_entries,
    meta_client,
    record_index_entries,
    table_entries,
)
from freshet.index.hbase.opening import allowed, being_made, checked_table
from freshet.index.ops.make import make_record_index
from freshet.index.ops.work import Work, index_work, require_global, require_rows
from freshet.project.model.pipeline import PipelineSpec, Project

_SAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class Verified:
    """How an index and its table compare.

    Args:
        pipeline: The pipeline.
        index: The index's type.
        sample: Share of the keys that was compared.
        rows: Rows of the table that were compared.
        found: Entries that differ, by damage: ``missing``, ``stale``, ``orphaned``.
        samples: A few of them, as text.
        repaired: Entries that were mended.
        seconds: Wall time.
    """

    pipeline: str
    index: str
    sample: float
    rows: int
    found: dict[str, int]
    samples: tuple[str, ...]
    repaired: int
    seconds: float

    @property
    def agrees(self) -> bool:
        """Return True where nothing is wrong any longer."""
        return sum(self.found.values()) == self.repaired

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {**vars(self), "samples": list(self.samples), "agrees": self.agrees}


def verify_index(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    sample: float = 1.0,
    repair: bool = False,
) -> Verified:
    """Compare an index and its table both ways, inside Spark, while no run writes.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        sample: Share of the keys to compare, drawn by their hash.
        repair: Mend what is wrong: entries of an HBase index are put and deleted at the pipeline's rate; a record index is
            made anew.

    Raises:
        StateError: NO_GLOBAL_INDEX, TARGET_MISSING, INDEX_MISSING.
        RetryableError: INDEX_BUILDING.
    """
    require_global(spec)
    require_rows(spec, state)
    start = time.monotonic()
    with index_work(project, spec, state, listen) as work:
        require_rows(spec, state)
        work.phase(f"comparing {spec.target.ref.name} and its index")
        if spec.index.hbase is None:
            known = has_record_index(work.spark, spec.target.ref.path)
            if not known and not repair:
                raise StateError(
                    "INDEX_MISSING",
                    f"{spec.name}: {spec.target.ref.path} has no record index.",
                    "Nothing was done.",
                    f"Make it from the table's rows: freshet index verify {spec.name} --repair",
                )
            found = record_index_entries(work.spark, spec.target.ref.path) if known else _no_entries(work.spark)
            mend = _record_index_anew(work)
            return _verified(work.spark, spec, found, sample, repair, mend, start, work.phase)
        with connect(work.spark, spec.index.hbase) as cluster:
            table = checked_table(spec, cluster)
            if table is None:
                raise StateError(
                    "INDEX_MISSING",
                    f"{spec.name}: there is no index table {cluster.spec.table} on {cluster.spec.cluster}.",
                    "Nothing was done.",
                    f"Make it from the table's rows: freshet index rebuild {spec.name}",
                )
            if table.state == "building":
                raise being_made(spec, spec.index.hbase)
            rates = allowed(work.spark, spec, spec.index.hbase, state, cluster.servers(), "")
            mend = _put_and_delete(cluster, rates.requests_per_second / rates.tasks)
            with work.session.writing(work.spark):
                found = hbase_entries(work.spark, cluster)
                return _verified(work.spark, spec, found, sample, repair, mend, start, work.phase)


def _verified(
    spark: SparkSession,
    spec: PipelineSpec,
    found: DataFrame,
    sample: float,
    repair: bool,
    mend: Callable[[DataFrame], None],
    start: float,
    phase: Callable[[str], None],
) -> Verified:
    both = compared(drawn(table_entries(spark, spec.target.ref.path), sample), drawn(found, sample))
    # One pass counts the rows and what differs; only where something does, that is read once more, to be shown and mended.
    totals = both.groupBy("damage").agg(F.count(F.lit(1)), F.count("in_table")).collect()
    counts: dict[str, int] = {str(row[0]): int(row[1]) for row in totals if row[0] is not None}
    shown, repaired = [], 0
    if counts:
        wrong = both.where("damage is not null").persist()
        try:
            shown = wrong.orderBy("damage", "key").limit(_SAMPLES).collect()
            if repair:
                phase(f"mending {sum(counts.values()):,} entries")
                mend(wrong)
                repaired = sum(counts.values())
        finally:
            wrong.unpersist()
    samples = tuple(_in_words(row.asDict()) for row in shown)
    return Verified(
        pipeline=spec.name,
        index=spec.index.type,
        sample=sample,
        rows=sum(int(row[2]) for row in totals),
        found={name: counts.get(name, 0) for name in DAMAGES},
        samples=samples,
        repaired=repaired,
        seconds=round(time.monotonic() - start, 3),
    )


def _in_words(row: dict[str, Any]) -> str:
    row = {**row, "key": str(row["key"])[:80]}
    match row["damage"]:
        case "missing":
            return "missing: {key} lies in '{partition}', file {file}, and has no entry".format(**row)
        case "orphaned":
            return "orphaned: {key} has no row, and an entry for '{found_partition}', file {found_file}".format(**row)
        case _:
            return (
                "stale: {key} lies in '{partition}', file {file}, and its entry says '{found_partition}', file {found_file}"
            ).format(**row)


def _no_entries(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], "key string, partition string, file string")


def _put_and_delete(cluster: HBase, each: float) -> Callable[[DataFrame], None]:
    def mend(wrong: DataFrame) -> None:
        change, settings, table = cluster.classes.Requests.change, cluster.settings, cluster.spec.table
        change(wrong.where("damage <> 'orphaned'").select(*COLUMNS)._jdf, settings, table, False, each)
        change(wrong.where("damage = 'orphaned'").select(*COLUMNS)._jdf, settings, table, True, each)

    return mend


def _record_index_anew(work: Work) -> Callable[[DataFrame], None]:
    def mend(wrong: DataFrame) -> None:
        spark, path = work.spark, work.spec.target.ref.path
        jvm: Any = spark._jvm
        if has_record_index(spark, path):
            with work.session.writing(spark):
                context = jvm.org.apache.hudi.client.common.HoodieSparkEngineContext(spark._jsc)
                jvm.org.apache.hudi.metadata.HoodieTableMetadataUtil.deleteMetadataTablePartition(
                    meta_client(spark, path), context, "record_index", False
                )
        make_record_index(work, "index mended")

    return mend

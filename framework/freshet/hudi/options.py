"""Hudi's option names that freshet sets itself, beside the defaults it chooses and why."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from freshet.hudi.checkpoint import METADATA_PREFIX
from freshet.hudi.keys.options import CONCURRENCY, RECORD_INDEX_ENABLE
from freshet.hudi.shares import hbase_options
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.steps import Operation
from freshet.types.columns import Column, stored

# Where Hudi's own default loses. Any of them can be set otherwise in the YAML's `hoodie:`.
DEFAULTS: Mapping[str, str] = {
    # An upsert of 1% into 2 million rows took 18-21 s with gzip, Hudi's default, and 11 s with zstd (2 cores).
    "hoodie.parquet.compression.codec": "zstd",
    # Column statistics in the metadata table cost a third of a small write; only a reader that skips data by them gains.
    "hoodie.metadata.index.column.stats.enable": "false",
    # The footer of each base file would hold a bloom filter of its keys, for Hudi's BLOOM indexes, which freshet has not. It
    # takes 14% of a compaction's processor time (2 and 4 million rows).
    "hoodie.parquet.bloom.filter.enabled": "false",
    # Each file that a commit opens waits for its marker until the driver writes the next batch of markers, by default every
    # 50 ms: an upsert into 240 file groups takes 13.7 s by the default and 12.0 s by this (2 cores; whole process).
    "hoodie.markers.timeline_server_based.batch.interval_ms": "5",
}

# With a global index new rows do not go to logs. To add them Hudi rewrites the base files that it takes for small, by default
# up to 100 MB: with every commit those of all partitions that get a row. Of 12,000 rows for 30 partitions of 2 MB each the
# write took 13 s, and takes 3 s where no file is small.
SMALL_FILE: Mapping[str, str] = {"hoodie.parquet.small.file.limit": str(4 << 20)}

# What a table with several writers needs besides the mode: a lock for the moment of the commit, and failed writes that are
# rolled back once their writer's heartbeat has expired, not by the next writer, which would roll back a living one.
SEVERAL_WRITERS: Mapping[str, str] = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    # A writer killed within its commit leaves the lock's file behind, for ever by default. It must expire before another
    # gives up: giving up, Hudi 1.0.2 deletes the file even of a living holder. And not before any living one is through: a
    # commit writes the metadata table under the lock, of a large record index for minutes.
    "hoodie.write.lock.filesystem.expire": "20",
    "hoodie.write.lock.client.num_retries": "1300",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "1000",
}
# Of a clustering that is planned while a write is in flight, Hudi's default strategy sees nothing: the write commits, and the
# clustering then replaces its files by what stood before (seen on 1.0.2). By these the clustering fails instead, and its plan
# stops no writer. With a bucket index, which has a strategy of its own, nothing is clustered.
WRITERS_FIRST: Mapping[str, str] = {
    "hoodie.write.lock.conflict.resolution.strategy": (
        "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"
    ),
    "hoodie.clustering.updates.strategy": "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy",
}
# Two writers that both carry out one planned compaction, or clustering, spoil the table: the second one rolls the first one's
# files back under it, and both complete (seen on Hudi 1.0.2, with the compaction that runs inline by default). And what cleans
# beside a compaction may delete the logs that it is to read (apache/hudi issue 19290): see ``compaction_is_left``. Where
# a table has several writers, its runs alone do all of it.
LEFT_TO_THE_RUNS: Mapping[str, str] = {
    "hoodie.compact.inline": "false",
    "hoodie.compact.schedule.inline": "false",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
}
NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"
#: Hudi's operation that replaces every row of a table.
REPLACES_ALL: Operation = "insert_overwrite_table"
INDEX_CLASS = "hoodie.index.class"
#: freshet's own class in the place of Hudi's record index.
MERGES_MOVES = "freshet.index.Records"
#: Hudi's index that has no entries, of which a commit would tell it.
NO_ENTRIES = "GLOBAL_SIMPLE"

# A bulk insert by Spark's rows makes another text of them than every other way of writing (Hudi 1.0.2): of a timestamp one to
# the millisecond, of bytes where they lay in memory. A later upsert would not find the row, or its partition.
_ROWS_DIFFER = ("timestamp", "binary")
# Of a date both made one text in each case that was tried; a first load does not rely on it.
_ROWS_MAY_DIFFER = (*_ROWS_DIFFER, "date")
_BY_ROWS = "hoodie.datasource.write.row.writer.enable"

# Hudi's default is 5.
_EVERY_COMMITS = "hoodie.compact.inline.max.delta.commits"
# Hudi deletes the row of a batch that has true in this column.
IS_DELETED = "_hoodie_is_deleted"


def concurrency_of(spec: PipelineSpec) -> str:
    """Return the concurrency mode of the pipeline's target; ``SINGLE_WRITER`` is Hudi's default."""
    return spec.write_options.get(CONCURRENCY, "SINGLE_WRITER").upper()


def excludes_runs(spec: PipelineSpec, services: Collection[str]) -> bool:
    """Say whether table services must not run beside the runs of the pipeline.

    Not where the table has one writer: Hudi would roll the one in flight back. Nor where the runs carry out the same
    service, which they do by default with a compaction, or clean what the runs compact: see ``LEFT_TO_THE_RUNS``.

    Args:
        spec: The pipeline.
        services: ``compact``, ``cluster``, ``clean``, ``archive``.
    """
    compacts = _compacts_inline(spec)
    clusters = spec.write_options.get("hoodie.clustering.inline", "").lower() == "true"
    both = (compacts and not {"compact", "clean"}.isdisjoint(services)) or (clusters and "cluster" in services)
    return both or concurrency_of(spec) == "SINGLE_WRITER"


def compaction_is_left(spec: PipelineSpec) -> bool:
    """Say whether another process than the runs compacts the target, which must then be the one that cleans it, too.

    A cleaner that plans beside a compaction may delete the logs that it is to read: apache/hudi issue 19290, with
    writers that do not wait for each other, so that a log may be older than the base file that it belongs to. About ten
    orders of such a log, compaction, cleaning and archiving within one process did not show it on 1.0.2.
    """
    several = concurrency_of(spec) != "SINGLE_WRITER"
    return several and spec.target.table_type == "MERGE_ON_READ" and not _compacts_inline(spec)


def _compacts_inline(spec: PipelineSpec) -> bool:
    return spec.target.table_type == "MERGE_ON_READ" and spec.write_options.get("hoodie.compact.inline", "").lower() != "false"


def compaction_is_due(spec: PipelineSpec, target: TableState | None) -> bool:
    """Say whether the next commit will be followed by a compaction, which rewrites all files with a log.

    Args:
        spec: The pipeline.
        target: The target; None before its first commit.
    """
    if target is None or not _compacts_inline(spec):
        return False
    return commits_since_compaction(target) + 1 >= int(spec.write_options.get(_EVERY_COMMITS, "5"))


def commits_since_compaction(target: TableState) -> int:
    """Return how many commits of a MERGE_ON_READ table's active timeline came after its last compaction."""
    since = takewhile(lambda instant: instant.action != "commit", reversed(target.commits))
    return sum(instant.action == "deltacommit" for instant in since)


def operation_of(spec: PipelineSpec, overwrite: Sequence[str] = (), whole_table: bool = False) -> Operation:
    """Return the operation by which a commit of a pipeline is written; the arguments are those of ``writer_options``."""
    return "insert_overwrite" if overwrite or (whole_table and spec.operation != REPLACES_ALL) else spec.operation


def writer_options(
    spec: PipelineSpec,
    overwrite: Sequence[str] = (),
    whole_table: bool = False,
    creates: bool = False,
) -> dict[str, str]:
    """Return every option of the Hudi writer for one pipeline, without the operation and the commit's metadata.

    Args:
        spec: The pipeline.
        overwrite: Values of the partitions that the batch replaces, whatever it holds; empty for the pipeline's operation.
        whole_table: True where the batch replaces the whole, non-partitioned table.
        creates: True where the commit makes the table.

    Returns:
        Hudi key to text, sorted by key.
    """
    target = spec.target
    spared = target.table_type == "MERGE_ON_READ" and spec.index.is_global
    options = {
        **DEFAULTS,
        **(SMALL_FILE if spared else {}),
        **spec.write_options,
        "hoodie.table.name": target.ref.name.split(".")[-1],
        "hoodie.datasource.write.table.type": target.table_type,
        "hoodie.datasource.write.recordkey.field": ",".join(target.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(target.partition_by),
        "hoodie.datasource.write.precombine.field": target.ordering_field,
        "hoodie.datasource.write.commitmeta.key.prefix": METADATA_PREFIX,
        "hoodie.index.type": spec.index.type,
        **spec.index.parameters,
    }
    if spec.index.type == "RECORD_INDEX":
        # It merges the rows that move to another partition by freshet's ``Moves``: Hudi 1.0.2 reads and sorts all rows of the
        # file groups that they leave. 1,000 that moved out of 30 of them, a million rows, took 20 s, and take 3 s.
        options |= {RECORD_INDEX_ENABLE: "true", INDEX_CLASS: MERGES_MOVES}
    if spec.index.hbase is not None:
        options |= hbase_options(spec.index.hbase)
    if concurrency_of(spec) != "SINGLE_WRITER":
        options = {**SEVERAL_WRITERS, **(WRITERS_FIRST if spec.index.is_global else {}), **options}
    if compaction_is_left(spec):
        options |= {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    if creates and concurrency_of(spec) == NON_BLOCKING:
        # Which Hudi takes for a table that exists only.
        options[CONCURRENCY] = "OPTIMISTIC_CONCURRENCY_CONTROL"
    if overwrite:
        # Hudi replaces the partitions that the batch holds; these it replaces by a batch without rows.
        styled = spec.write_options.get("hoodie.datasource.write.hive_style_partitioning", "").lower() == "true"
        head = f"{target.partition_by[0]}=" if styled else ""
        options["hoodie.static.overwrite.partition.paths"] = ",".join(f"{head}{value}" for value in overwrite)
    if operation_of(spec, overwrite, whole_table) == "insert_overwrite":
        # An overwrite would keep both rows of a key that stands twice in its batch.
        options["hoodie.combine.before.insert"] = "true"
    return dict(sorted(options.items()))


def bulk_insert_options(spec: PipelineSpec, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a first load, which looks nothing up.

    Args:
        spec: The pipeline.
        options: Those of an ordinary commit.
    """
    found = {
        # Fewest files, and each key's neighbours beside it; the default writes as many files as tasks times partitions.
        "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT",
        # A bulk insert of Hudi 1.0.2 puts a bloom filter into each file, whether it is asked to or not: 0.4 MB, and 30 hashes
        # a key. This is the smallest.
        "hoodie.bloom.index.filter.type": "SIMPLE",
        "hoodie.index.bloom.num_entries": "1",
        "hoodie.index.bloom.fpp": "0.5",
        **options,
        # Its keys stand once each by then.
        "hoodie.combine.before.insert": "false",
    }
    if spec.index.is_global:
        # The index is made afterwards. For one that learns of each row with the commit Hudi 1.0.2 keeps all keys in memory,
        # and brings them to the driver: of 64 million rows more than 6 GB. This one looks into the files instead.
        found |= {"hoodie.index.type": NO_ENTRIES, RECORD_INDEX_ENABLE: "false"}
        found.pop(INDEX_CLASS, None)
    if _located(spec, _ROWS_MAY_DIFFER):
        found[_BY_ROWS] = "false"
    return dict(sorted(found.items()))


def differs_by_rows(spec: PipelineSpec) -> str:
    """Return the column of the key or partition of which a bulk insert by Spark's rows makes another text; empty for none."""
    return _located(spec, _ROWS_DIFFER)


def _located(spec: PipelineSpec, kinds: Collection[str]) -> str:
    located = (*spec.target.record_key, *spec.target.partition_by)
    return next((c.name for c in spec.target.columns if c.name in located and str(c.type) in kinds), "")


def columns_record(columns: Sequence[Column]) -> str:
    """Return the text under which a commit remembers the types that Hudi stores as wider ones, such as SMALLINT."""
    narrow = {column.name.lower(): str(column.type) for column in columns if stored(column.type) != column.type}
    return json.dumps(narrow, sort_keys=True)

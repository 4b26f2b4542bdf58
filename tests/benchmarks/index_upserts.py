"""How an upsert of 1% of the rows grows with the table, for each index, in one warm session."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import functions as F

from freshet.hudi.shares import hbase_options, rate_options
from freshet.index.hbase.building import Layout, build_index
from freshet.index.hbase.cluster import connect, new_generation
from freshet.project.model.pipeline import TableRef
from tests.benchmarks import configuration
from tests.benchmarks.engine_job import digest
from tests.benchmarks.index_tables import COLUMNS, COMMON, PARTITIONS, SPARK, Bench, bench, write
from tests.benchmarks.timing import show, spread

_NO_LIMIT = 10_000_000.0
_BUCKET_ROWS = 130_000
_INDEXES: Mapping[str, Mapping[str, str]] = {
    "BUCKET": {"hoodie.index.type": "BUCKET"},
    "HBASE": {"hoodie.index.type": "HBASE"},
    "RECORD_INDEX": {
        "hoodie.index.type": "RECORD_INDEX",
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.record.index.update.partition.path": "true",
    },
    "GLOBAL_SIMPLE": {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"},
    "GLOBAL_BLOOM": {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "true"},
}


def measure(sizes: Sequence[int], repetitions: int) -> dict[str, object]:
    """Upsert 1% of the rows of tables of several sizes by each index, and print the figures.

    Args:
        sizes: Numbers of rows.
        repetitions: Measured rounds of each, after one that warms up.

    Returns:
        The seconds, by size and index; ``kept`` says that all tables of a size held the same rows at the end.
    """
    with bench() as on:
        sized = {rows: _size(on, rows, repetitions) for rows in sizes}
    return {
        **{str(rows): {"upsert_seconds": grown} for rows, (grown, _) in sized.items()},
        "kept": all(same for _, same in sized.values()),
        "configuration": {
            **configuration.of_session(SPARK),
            **{name: {"hudi": {**COMMON, **own}} for name, own in _INDEXES.items()},
        },
    }


def _size(on: Bench, rows: int, repetitions: int) -> tuple[dict[str, dict[str, float]], bool]:
    print(f"{rows:,} rows in {PARTITIONS} partitions")
    plain = on.plain_table(rows)
    tables = {name: on.folder / f"{name.lower()}_{rows}" for name in _INDEXES}
    options = {name: _table(on, plain, table, name, rows) for name, table in tables.items()}
    walls: dict[str, list[float]] = {name: [] for name in _INDEXES}
    for number in range(repetitions + 1):
        # In turn, so that none has the warmer Java.
        for name, own in options.items():
            changed = on.rows(rows).where(F.pmod(F.xxhash64("id", F.lit(number)), F.lit(100)) == 0)
            begin = time.perf_counter()
            write(changed.withColumn("ts", F.lit(number + 2).cast("long")), tables[name], "upsert", own)
            walls[name].append(time.perf_counter() - begin)
    grown = {name: spread(found[1:]) for name, found in walls.items()}
    for name, figures in grown.items():
        show(f"  upsert of 1%: {name}", figures)
    digests = {digest(on.spark.read.format("hudi").load(str(table)), list(COLUMNS)) for table in tables.values()}
    print(f"  all tables equal at the end: {len(digests) == 1}", flush=True)
    for table in (plain, *tables.values()):
        shutil.rmtree(table)
    return grown, len(digests) == 1


def _table(on: Bench, plain: Path, table: Path, name: str, rows: int) -> Mapping[str, str]:
    """Make a table of one index; returns the options of its upserts."""
    own = dict(_INDEXES[name])
    if name == "BUCKET":
        own["hoodie.bucket.index.num.buckets"] = str(max(1, rows // PARTITIONS // _BUCKET_ROWS))
        write(on.rows(rows), table, "bulk_insert", own)
    else:
        # The first upsert, which is not measured, makes the record index.
        shutil.copytree(plain, table)
    if name == "HBASE":
        spec = on.index_table(f"grow_{rows}")
        with connect(on.spark, spec) as cluster:
            ref = TableRef("t", str(table))
            build_index(on.spark, cluster, ref, new_generation(), Layout(), lambda words: None, no_logs=True)
        own |= {**hbase_options(spec), **rate_options(_NO_LIMIT, 1)}
    return own

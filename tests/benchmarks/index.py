"""The global index: made by bulk load against Hudi's puts and a bare read of the table, and how each index's upsert grows."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from framework.index.building import Layout, build_index
from framework.index.hbase import connect, new_generation
from framework.plan.shares import hbase_options, rate_options
from framework.runtime.dev_hbase.look import QUORUM, HBase
from framework.runtime.dev_hbase.server import start, stop
from framework.runtime.session import start_session
from framework.spec.model import HBaseSpec, TableRef
from framework.spec.options import HBASE_IN_SESSION
from tests.benchmarks.timing import show, spread

LEAST_AGAINST_PUTS = 10.0
MOST_AGAINST_READ = 4.0
PARTITIONS = 30
_WARM_UPS = 4
# Of larger tables one round of puts is enough: it takes minutes.
_PUT_IN_ROUNDS = 4_000_000
# HBase keeps blocks of the index in a part of it; in one that is too small it collects garbage all the time.
_HEAP_GIB = 6
_NO_LIMIT = 10_000_000.0
_COMMON = {
    "hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts", "hoodie.datasource.write.partitionpath.field": "day",
    "hoodie.parquet.compression.codec": "zstd", "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.compact.inline": "false",
}
_RECORD_INDEX = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true",
                 "hoodie.record.index.update.partition.path": "true"}
_BUCKET_ROWS = 130_000
_INDEXES: Mapping[str, Mapping[str, str]] = {
    "BUCKET": {"hoodie.index.type": "BUCKET"},
    "HBASE": {"hoodie.index.type": "HBASE"},
    "RECORD_INDEX": _RECORD_INDEX,
    "GLOBAL_SIMPLE": {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"},
    "GLOBAL_BLOOM": {"hoodie.index.type": "GLOBAL_BLOOM", "hoodie.bloom.index.update.partition.path": "true"},
}


def compare(sizes: Sequence[int], repetitions: int) -> dict[str, object]:
    """Measure both on tables of several sizes, and print the figures.

    Args:
        sizes: Numbers of rows.
        repetitions: Measured rounds of each, after those that warm up.

    Returns:
        The figures; ``kept`` says that the bulk load kept its bounds.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    server = start(folder / "hbase", wait_seconds=120, heap_gib=_HEAP_GIB)
    try:
        spark = start_session({
            "spark.master": "local[2]", "spark.driver.memory": "8g", "spark.sql.shuffle.partitions": "8",
            HBASE_IN_SESSION: "true",
        })
        try:
            found: dict[str, object] = {}
            kept = True
            for rows in sizes:
                found[str(rows)] = one = _size(spark, server, folder, rows, repetitions)
                kept = kept and bool(one["kept"])
            return {**found, "kept": kept}
        finally:
            spark.stop()
    finally:
        stop(folder / "hbase", purge=True)
        shutil.rmtree(folder)


def _size(spark: SparkSession, server: HBase, folder: Path, rows: int, repetitions: int) -> dict[str, object]:
    print(f"{rows:,} rows in {PARTITIONS} partitions")
    plain = folder / f"plain_{rows}"
    _write(_rows(spark, rows), plain, "bulk_insert", {"hoodie.index.type": "GLOBAL_SIMPLE"})
    made = _bulk_load(spark, server, plain, rows, repetitions)
    options = {name: _table(spark, server, plain, folder / f"{name.lower()}_{rows}", name, rows) for name in _INDEXES}
    walls: dict[str, list[float]] = {name: [] for name in _INDEXES}
    for number in range(repetitions + 1):
        # In turn, so that none has the warmer Java.
        for name, own in options.items():
            changed = _rows(spark, rows).where(F.pmod(F.xxhash64("id", F.lit(number)), F.lit(100)) == 0)
            begin = time.perf_counter()
            _write(changed.withColumn("ts", F.lit(number + 2).cast("long")), folder / f"{name.lower()}_{rows}", "upsert", own)
            walls[name].append(time.perf_counter() - begin)
    grown = {name: spread(found[1:]) for name, found in walls.items()}
    for name, figures in grown.items():
        show(f"  upsert of 1%: {name}", figures)
        shutil.rmtree(folder / f"{name.lower()}_{rows}")
    shutil.rmtree(plain)
    return {**made, "upsert_seconds": grown}


def _table(spark: SparkSession, server: HBase, plain: Path, table: Path, name: str, rows: int) -> Mapping[str, str]:
    """Make a table of one index; returns the options of its upserts."""
    own = dict(_INDEXES[name])
    if name == "BUCKET":
        own["hoodie.bucket.index.num.buckets"] = str(max(1, rows // PARTITIONS // _BUCKET_ROWS))
        _write(_rows(spark, rows), table, "bulk_insert", own)
    else:
        # The first upsert, which is not measured, makes the record index.
        shutil.copytree(plain, table)
    if name == "HBASE":
        spec = _spec(server, f"grow_{rows}")
        with connect(spark, spec) as cluster:
            build_index(spark, cluster, TableRef("t", str(table)), new_generation(), Layout(), lambda words: None, no_logs=True)
        own |= {**hbase_options(spec), **rate_options(_NO_LIMIT, 1)}
    return own


def _bulk_load(spark: SparkSession, server: HBase, plain: Path, rows: int, repetitions: int) -> dict[str, object]:
    ref = TableRef("t", str(plain))
    loads, reads = [], []
    for number in range(_WARM_UPS + repetitions):
        # A first load: there is no index table yet.
        with connect(spark, _spec(server, f"made_{rows}_{number}")) as cluster:
            begin = time.perf_counter()
            spark.read.format("hudi").load(ref.path).write.format("noop").mode("overwrite").save()
            reads.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            built = build_index(spark, cluster, ref, new_generation(), Layout(), lambda words: None, no_logs=True)
            loads.append(time.perf_counter() - begin)
            assert built.entries == rows
            cluster.drop()
    read, load = spread(reads[_WARM_UPS:]), spread(loads[_WARM_UPS:])
    show("  read the table once", read)
    in_time = show("  index by bulk load", load, MOST_AGAINST_READ * read["median"])
    print(f"  {rows / load['median']:,.0f} keys a second, {built.hfiles} HFiles, {built.bytes / rows:.0f} bytes a key")
    puts = spread(_by_puts(spark, server, plain.parent, rows, repetitions if rows <= _PUT_IN_ROUNDS else 1))
    show("  index by Hudi's puts", puts)
    ratio = round(puts["median"] / load["median"], 1)
    fast = ratio >= LEAST_AGAINST_PUTS
    print(f"  {ratio:g} times as long (at least {LEAST_AGAINST_PUTS:g}: {'kept' if fast else 'MISSED'})", flush=True)
    return {"read_seconds": read, "bulk_load_seconds": load, "hfiles": built.hfiles, "puts_seconds": puts,
            "ratio": ratio, "kept": in_time and fast}


def _by_puts(spark: SparkSession, server: HBase, folder: Path, rows: int, rounds: int) -> list[float]:
    """Return the seconds that Hudi's puts of all keys take: of an insert, which looks no key up, with and without them."""
    spec = _spec(server, f"puts_{rows}")
    # Both in base files: with an index that can name log files Hudi would begin file groups of MERGE_ON_READ by logs.
    without = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}
    # Hudi's own index, at a rate that no cluster holds.
    stock = {**without, "hoodie.index.type": "HBASE", **hbase_options(spec), "hoodie.index.hbase.put.batch.size": "100000"}

    def insert(options: Mapping[str, str]) -> float:
        begin = time.perf_counter()
        _write(_rows(spark, rows), folder / "puts", "insert", options)
        seconds = time.perf_counter() - begin
        shutil.rmtree(folder / "puts")
        return seconds

    # The first one warms Java up.
    insert(without)
    found = []
    for _ in range(rounds):
        with connect(spark, spec) as cluster:
            cluster.create([bytes([first]) for first in b"123456789abcdef"], {})
            plainly = insert(without)
            found.append(insert(stock) - plainly)
            cluster.drop()
    return found


def _spec(server: HBase, table: str) -> HBaseSpec:
    return HBaseSpec(QUORUM, server.port, "/hbase", table, 1, {}, {})


def _rows(spark: SparkSession, rows: int) -> DataFrame:
    drawn: Any = F.pmod(F.xxhash64("id"), F.lit(PARTITIONS))
    return spark.range(0, rows, 1, 8).select(
        F.md5(F.col("id").cast("string")).alias("id"), F.lit(1).cast("long").alias("ts"), F.rand(7).alias("amount"),
        F.concat(F.lit("2026-01-"), F.lpad((drawn + 1).cast("string"), 2, "0")).alias("day"),
    )


def _write(rows: DataFrame, table: Path, operation: str, options: Mapping[str, str]) -> None:
    rows.write.format("hudi").options(**{
        **_COMMON, "hoodie.datasource.write.operation": operation, "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT", **options,
    }).mode("append").save(str(table))

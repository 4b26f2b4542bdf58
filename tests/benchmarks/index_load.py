"""An HBase index made by bulk load, against Hudi's own ways of writing it and against a bare read of the table."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence

from framework.index.building import Layout, build_index
from framework.index.hbase import connect, new_generation
from framework.plan.shares import hbase_options
from framework.spec.model import TableRef
from tests.benchmarks import configuration
from tests.benchmarks.index_tables import COMMON, SPARK, Bench, bench, write
from tests.benchmarks.timing import show, spread

LEAST_AGAINST_HUDI = 10.0
MOST_AGAINST_READ = 4.0
_WARM_UPS = 4
# Of larger tables one round of Hudi's is enough: it takes minutes.
_IN_ROUNDS = 1_000_000
# Hudi's own index, its puts at a rate that no cluster holds, 20,000 look-ups a second and task.
_UNLIMITED = {"hoodie.index.type": "HBASE", "hoodie.index.hbase.put.batch.size": "100000",
              "hoodie.index.hbase.get.batch.size": "2000"}


def compare(sizes: Sequence[int], repetitions: int) -> dict[str, object]:
    """Make the index of tables of several sizes by each way, and print the figures.

    Args:
        sizes: Numbers of rows.
        repetitions: Measured rounds of each, after those that warm up.

    Returns:
        The figures; ``kept`` says that the bulk load kept its bounds.
    """
    with bench() as on:
        found = {str(rows): _size(on, rows, repetitions) for rows in sizes}
    settings = {**configuration.of_session(SPARK), "by Hudi": {"hudi": {**COMMON, **_UNLIMITED}}}
    return {**found, "kept": all(one["kept"] for one in found.values()), "configuration": settings}


def _size(on: Bench, rows: int, repetitions: int) -> dict[str, object]:
    print(f"{rows:,} rows")
    ref = TableRef("t", str(on.plain_table(rows)))
    loads, reads = [], []
    for number in range(_WARM_UPS + repetitions):
        # A first load: there is no index table yet.
        with connect(on.spark, on.index_table(f"made_{rows}_{number}")) as cluster:
            begin = time.perf_counter()
            on.spark.read.format("hudi").load(ref.path).write.format("noop").mode("overwrite").save()
            reads.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            built = build_index(on.spark, cluster, ref, new_generation(), Layout(), lambda words: None, no_logs=True)
            loads.append(time.perf_counter() - begin)
            assert built.entries == rows
            cluster.drop()
    shutil.rmtree(ref.path)
    read, load = spread(reads[_WARM_UPS:]), spread(loads[_WARM_UPS:])
    show("  read the table once", read)
    in_time = show("  index by bulk load", load, MOST_AGAINST_READ * read["median"])
    print(f"  {rows / load['median']:,.0f} keys a second, {built.hfiles} HFiles, {built.bytes / rows:.0f} bytes a key",
          flush=True)
    upserts, puts = (spread(one) for one in _by_hudi(on, rows, repetitions if rows <= _IN_ROUNDS else 1))
    show("  index by Hudi's upsert", upserts)
    show("  its puts alone, no key looked up", puts)
    ratio, alone = (round(one["median"] / load["median"], 1) for one in (upserts, puts))
    fast = ratio >= LEAST_AGAINST_HUDI
    print(f"  {ratio:g} times as long by the upsert (at least {LEAST_AGAINST_HUDI:g}: {'kept' if fast else 'MISSED'}), "
          f"{alone:g} times by puts alone", flush=True)
    return {"read_seconds": read, "bulk_load_seconds": load, "hfiles": built.hfiles, "upsert_seconds": upserts,
            "puts_seconds": puts, "ratio": ratio, "puts_ratio": alone, "kept": in_time and fast}


def _by_hudi(on: Bench, rows: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds that Hudi's index takes of an upsert of all rows, and of an insert, which looks no key up."""
    spec = on.index_table(f"hudis_{rows}")
    # Both in base files: with an index that can name log files Hudi would begin file groups of MERGE_ON_READ by logs.
    without = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}
    table = on.folder / "hudis"

    def seconds(operation: str, options: Mapping[str, str]) -> float:
        begin = time.perf_counter()
        write(on.rows(rows), table, operation, {**without, **options})
        taken = time.perf_counter() - begin
        shutil.rmtree(table)
        return taken

    def indexed(operation: str) -> float:
        with connect(on.spark, spec) as cluster:
            cluster.create([bytes([first]) for first in b"123456789abcdef"], {})
            taken = seconds(operation, {**_UNLIMITED, **hbase_options(spec)})
            cluster.drop()
            return taken

    # The first one warms Java up.
    seconds("insert", {})
    upserts, puts = [], []
    for _ in range(rounds):
        plainly = seconds("insert", {})
        puts.append(indexed("insert") - plainly)
        upserts.append(indexed("upsert") - plainly)
    return upserts, puts

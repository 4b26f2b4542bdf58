"""An HBase index made by bulk load, against Hudi's own ways of writing it and against a bare read of the table."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence

from freshet.hudi.shares import hbase_options
from freshet.index.hbase.building import Layout, build_index
from freshet.index.hbase.cluster import HBase, connect, new_generation
from freshet.index.hbase.entries import compared, hbase_entries, table_entries
from freshet.project.model.pipeline import TableRef
from tests.benchmarks import configuration
from tests.benchmarks.index_tables import COMMON, SPARK, Bench, bench, write
from tests.benchmarks.timing import show, spread

LEAST_AGAINST_HUDI = 10.0
MOST_AGAINST_READ = 4.0
_WARM_UPS = 4
# Hudi's own index, its puts at a rate that no cluster holds, 20,000 look-ups a second and task.
_UNLIMITED = {
    "hoodie.index.type": "HBASE",
    "hoodie.index.hbase.put.batch.size": "100000",
    "hoodie.index.hbase.get.batch.size": "2000",
}


def compare(sizes: Sequence[int], repetitions: int, most_by_hudi: int) -> dict[str, object]:
    """Make the index of tables of several sizes by each way, in turn, and print the figures.

    Args:
        sizes: Numbers of rows.
        repetitions: Measured rounds of each, after those that warm up.
        most_by_hudi: Rows up to which Hudi's own ways are measured too; of 4 million a round of them takes four minutes, of
            16 million a quarter of an hour.

    Returns:
        The figures; ``kept`` says that the bulk load kept its bounds.
    """
    with bench() as on:
        found = {str(rows): _size(on, rows, repetitions, by_hudi=rows <= most_by_hudi) for rows in sizes}
    settings = {**configuration.of_session(SPARK), "by Hudi": {"hudi": {**COMMON, **_UNLIMITED}}}
    return {**found, "kept": all(one["kept"] for one in found.values()), "configuration": settings}


def _size(on: Bench, rows: int, repetitions: int, *, by_hudi: bool) -> dict[str, object]:
    print(f"{rows:,} rows")
    ref = TableRef("t", str(on.plain_table(rows)))
    reads, loads, upserts, puts = [], [], [], []
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
            last = number == _WARM_UPS + repetitions - 1
            if last:
                _check(on, cluster, ref.path)
            cluster.drop()
        # Of Hudi's, which take longer, one round warms up.
        if by_hudi and number >= _WARM_UPS - 1:
            by_upsert, by_puts = _by_hudi(on, rows, checked=last)
            upserts.append(by_upsert)
            puts.append(by_puts)
    shutil.rmtree(ref.path)
    read, load = spread(reads[_WARM_UPS:]), spread(loads[_WARM_UPS:])
    against = spread([load / read for load, read in zip(loads[_WARM_UPS:], reads[_WARM_UPS:], strict=True)])
    show("  read the table once", read)
    show("  index by bulk load", load)
    in_time = show("  against reading, round by round", against, MOST_AGAINST_READ, "times")
    print(
        f"  {rows / load['median']:,.0f} keys a second, {built.hfiles} HFiles, {built.bytes / rows:.0f} bytes a key", flush=True
    )
    found = {
        "read_seconds": read,
        "bulk_load_seconds": load,
        "against_reading": against,
        "hfiles": built.hfiles,
        "kept": in_time,
    }
    return {**found, **_against_hudi(upserts[1:], puts[1:], loads[_WARM_UPS:], in_time=in_time)} if by_hudi else found


def _against_hudi(upserts: list[float], puts: list[float], loads: list[float], *, in_time: bool) -> dict[str, object]:
    show("  index by Hudi's upsert", spread(upserts))
    show("  its puts alone, no key looked up", spread(puts))
    ratio, alone = (spread([theirs / ours for theirs, ours in zip(one, loads, strict=True)]) for one in (upserts, puts))
    fast = ratio["median"] >= LEAST_AGAINST_HUDI
    print(
        f"  {ratio['median']:.1f} times as long by the upsert, {ratio['min']:.1f} to {ratio['max']:.1f} (at least "
        f"{LEAST_AGAINST_HUDI:g}: {'kept' if fast else 'MISSED'}), {alone['median']:.1f} times by puts alone, "
        f"{alone['min']:.1f} to {alone['max']:.1f}",
        flush=True,
    )
    return {
        "upsert_seconds": spread(upserts),
        "puts_seconds": spread(puts),
        "ratio": ratio,
        "puts_ratio": alone,
        "kept": in_time and fast,
    }


def _by_hudi(on: Bench, rows: int, *, checked: bool) -> tuple[float, float]:
    """Return the seconds that Hudi's index takes of an upsert of all rows, and of an insert, which looks no key up."""
    spec = on.index_table(f"hudis_{rows}")
    # Both in base files: with an index that can name log files Hudi would begin file groups of MERGE_ON_READ by logs.
    without = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}
    table = on.folder / "hudis"

    def seconds(operation: str, options: Mapping[str, str]) -> float:
        begin = time.perf_counter()
        write(on.rows(rows), table, operation, {**without, **options})
        return time.perf_counter() - begin

    def indexed(operation: str) -> float:
        with connect(on.spark, spec) as cluster:
            cluster.create([bytes([first]) for first in b"123456789abcdef"], {})
            taken = seconds(operation, {**_UNLIMITED, **hbase_options(spec)})
            if checked:
                _check(on, cluster, str(table))
            cluster.drop()
        shutil.rmtree(table)
        return taken

    plainly = seconds("insert", {})
    shutil.rmtree(table)
    by_puts = indexed("insert") - plainly
    return indexed("upsert") - plainly, by_puts


def _check(on: Bench, cluster: HBase, table: str) -> None:
    """End the benchmark where an index does not name the partition and the file group of each row of its table, and no more."""
    held = compared(table_entries(on.spark, table, no_logs=True), hbase_entries(on.spark, cluster))
    wrong = held.where("damage is not null").count()
    assert wrong == 0, f"{wrong:,} entries of the index are not those of {table}."

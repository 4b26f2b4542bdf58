"""Make an HBase index from the rows of its table: sorted by key, one HFile a Spark partition, loaded whole."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import FreshetError, StateError
from freshet.index.hbase.cluster import COMPRESSION, ENCODING, HBase
from freshet.index.hbase.entries import table_entries
from freshet.index.hbase.opening import parallel_tasks
from freshet.index.hbase.ranges import MOST_RANGES, bounds_of, in_key_order, look_at_keys
from freshet.project.model.pipeline import TableRef

# Of one cell in an HFile: lengths, family, column, time and type; of one entry three cells.
_CELL_BYTES = 40
# A commit's time, a file group's id, and about what the path of a partition takes.
_VALUES_BYTES = 17 + 38 + 20
# By FAST_DIFF, which keeps of a key only where it differs from the one before.
_ENCODED = 0.35
# Of what is left: a third by snappy and lz4, a fifth by gz, over keys in hexadecimal digits.
_COMPRESSED = 0.35


@dataclass(frozen=True)
class Layout:
    """How HFiles are written.

    Args:
        hfile_bytes: About how large one is.
        compression: HBase's name of an algorithm.
        encoding: HBase's name of a data block encoding.
    """

    hfile_bytes: int = 512 * 1024 * 1024
    compression: str = COMPRESSION
    encoding: str = ENCODING


@dataclass(frozen=True)
class Built:
    """An index that was made.

    Args:
        entries: Its number of entries.
        hfiles: Number of HFiles, and of regions.
        bytes: Of all HFiles.
    """

    entries: int
    hfiles: int
    bytes: int


def build_index(
    spark: SparkSession,
    hbase: HBase,
    table: TableRef,
    marks: Mapping[str, str],
    layout: Layout,
    phase: Callable[[str], None],
    no_logs: bool = False,
) -> Built:
    """Make the index of a table anew, in place of the one that stands there.

    The old one stands until all HFiles are written; where there is none, the index table is made meanwhile. Until the end of
    the load it is marked as being made, and no run writes through it; whoever is killed in between repeats the command, which
    begins anew.

    Args:
        spark: The session.
        hbase: The cluster and the index table.
        table: The Hudi table.
        marks: What the index table says of itself: see ``marks_of``.
        layout: How HFiles are written.
        phase: Told what goes on, in words.
        no_logs: True where no row of the table lies in a log.

    Raises:
        FreshetError: KEY_TWICE or INDEX_NOT_WRITTEN.
    """
    # Within the table's own folder: HBase moves HFiles that lie on its own file system, and copies others.
    folder = f"{table.path.rstrip('/')}/.hoodie/.freshet_index"
    jvm = spark._jvm
    assert jvm is not None
    place = jvm.org.apache.hadoop.fs.Path(folder)
    files = place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    files.delete(place, True)
    try:
        return _build(spark, hbase, table, table_entries(spark, table.path, no_logs), folder, marks, layout, phase)
    finally:
        files.delete(place, True)


def _build(
    spark: SparkSession,
    hbase: HBase,
    table: TableRef,
    entries: DataFrame,
    folder: str,
    marks: Mapping[str, str],
    layout: Layout,
    phase: Callable[[str], None],
) -> Built:
    phase(f"counting the keys of {table.name}")
    keys = look_at_keys(entries)
    phase(f"sorting {keys.count:,} keys into HFiles")
    bounds = bounds_of(keys, hfile_count(keys.count, keys.bytes, layout, parallel_tasks(spark)))

    def create() -> None:
        # A region for each HFile, so that none is split while it is loaded.
        hbase.create([bound.encode() for bound in bounds], marks, layout.compression, layout.encoding)

    stands = hbase.describe() is not None
    with ThreadPoolExecutor(max_workers=1) as aside:
        # Where there is none, HBase makes the table, for half a second, while Spark sorts.
        made = None if stands else aside.submit(create)
        try:
            done = _write_hfiles(hbase, table, in_key_order(spark, entries, bounds), folder, layout)
            if sum(entries for _, entries in done) != keys.count:
                raise FreshetError(
                    "INDEX_NOT_WRITTEN",
                    f"{table.name}: {keys.count:,} rows, and {sum(e for _, e in done):,} entries: the "
                    "table was changed meanwhile.",
                    "The index stands as it was.",
                    "Run the same command again.",
                )
        except FreshetError:
            if made is not None:
                made.result()
                hbase.drop()
            raise
    phase(f"loading {len(done)} HFiles into {hbase.spec.table}")
    if made is not None:
        made.result()
    else:
        hbase.drop()
        create()
    if done:
        hbase.load(f"{folder}/hfiles")
    hbase.set_state("ready")
    return Built(keys.count, len(done), sum(size for size, _ in done))


def _write_hfiles(hbase: HBase, table: TableRef, ordered: DataFrame, folder: str, layout: Layout) -> list[tuple[int, int]]:
    """Return each HFile's size and its number of entries."""
    try:
        written = hbase.classes.Entries.writeHFiles(ordered._jdf, folder, layout.compression, layout.encoding)
    except Py4JJavaError as error:
        text = str(error.java_exception)
        twice = re.search(r"not lexically larger than previous. Current cell = (.*?)/_s:", text)
        if twice:
            raise StateError(
                "KEY_TWICE",
                f"{table.name}: the record key {twice[1][:100]} stands twice in the table, and an index knows one place of it.",
                "The index stands as it was.",
                "Look at it by the column _hoodie_record_key and delete one of its rows, then run the same command again.",
            ) from error
        raise FreshetError(
            "INDEX_NOT_WRITTEN",
            f"{table.name}: the HFiles of the index could not be written: {text[:500]}",
            "The index stands as it was.",
            "Run the same command again.",
        ) from error
    return [(int(one.getLong(1)), int(one.getLong(0))) for one in written]


def hfile_count(entries: int, key_bytes: int, layout: Layout, tasks: int) -> int:
    """Return how many HFiles an index is cut into.

    Args:
        entries: Its number of entries.
        key_bytes: Bytes of its keys.
        layout: How HFiles are written.
        tasks: Tasks that run at a time; there are as many HFiles at least, unless the index is small.
    """
    whole = float(3 * key_bytes + (3 * _CELL_BYTES + _VALUES_BYTES) * entries)
    if layout.encoding != "NONE":
        whole *= _ENCODED
    if layout.compression != "NONE":
        whole *= _COMPRESSED
    by_size = math.ceil(whole / layout.hfile_bytes)
    return max(1, min(by_size, MOST_RANGES), min(tasks, entries // 50_000))

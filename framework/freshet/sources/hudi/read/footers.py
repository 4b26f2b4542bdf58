"""What few headers and footers of a table's files tell, read by the driver: a job of Spark's takes longer than they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from py4j.java_gateway import JavaMember
from pyspark.sql import SparkSession

from freshet.hudi.cleans import file_group
from freshet.project.model.pipeline import TableRef
from freshet.storage.failures import told
from freshet.storage.files import is_local, local_path, storage_for

# Files that are opened together.
_AT_ONCE = 8
# Hudi fills a buffer of 16 MB at each jump from one block's header to the next one's.
_BUFFER_BYTES = 1 << 16


def hold_parts(spark: SparkSession, logs: Sequence[str]) -> bool:
    """Say whether a block of some logs holds parts of rows, as Spark SQL's MERGE INTO writes them: its header tells.

    Args:
        spark: A session.
        logs: The logs.
    """
    hudi: Any = spark._jvm.org.apache.hudi  # type: ignore[union-attr]
    log = hudi.common.table.log
    # A name is looked up in the JVM each time that it is named.
    reader, file_of, path_of = log.HoodieLogFileReader, hudi.common.model.HoodieLogFile, hudi.storage.StoragePath
    is_partial = log.block.HoodieLogBlock.HeaderMetadataType.IS_PARTIAL
    if not logs:
        return False
    conf = hudi.hadoop.fs.HadoopFSUtils.getStorageConf(spark._jsc.hadoopConfiguration())
    storage = hudi.storage.HoodieStorageUtils.getStorage(path_of(logs[0]), conf)

    def holds_parts(file: str) -> bool:
        blocks = reader(storage, file_of(path_of(file)), None, _BUFFER_BYTES)
        try:
            while blocks.hasNext():
                if _next(blocks).getLogBlockHeader().get(is_partial) is not None:
                    return True
        finally:
            blocks.close()
        return False

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return any(pool.map(holds_parts, logs))


def _next(blocks: Any) -> Any:
    # Py4J's own iterator takes whatever Java raises for its end.
    return JavaMember("next", blocks, blocks._target_id, blocks._gateway_client)()


def below(table: TableRef, logs: Iterable[str]) -> list[str]:
    """Return the base files of the file groups that some logs belong to, of whatever version.

    Args:
        table: The table.
        logs: The logs; each names the table's path.

    Raises:
        ValueError: One lies elsewhere.
    """
    base = local_path(table.path).rstrip("/")
    groups: dict[str, set[str]] = {}
    roots: dict[str, str] = {}
    for file in logs:
        root, found_base, path = file.rpartition(f"{base}/")
        group = file_group(path)
        if not found_base or group is None:
            raise ValueError(f"{file} is no log of {table.path}")
        folder = path.rpartition("/")[0]
        groups.setdefault(folder, set()).add(group[0])
        roots[folder] = f"{root}{base}/{folder}"
    names = told(table, storage_for(base).names)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        listed = pool.map(lambda folder: names(f"{base}/{folder}"), groups)
        # Logs begin with a dot, as checksums do.
        return [
            f"{roots[folder]}/{name}"
            for folder, found in zip(groups, listed, strict=True)
            for name in found
            if not name.startswith(".") and (group := file_group(f"{folder}/{name}")) and group[0] in groups[folder]
        ]


def highest(spark: SparkSession, files: Sequence[str], column: str) -> int | None:
    """Return the highest number that a column has in some Parquet files, a time in microseconds, by their footers.

    Args:
        spark: A session.
        files: The files.
        column: The column, which Hudi wrote as a whole number.

    Returns:
        The number, and -1 of no file; None where a footer does not tell.
    """
    of_file = _by_arrow(column) if all(is_local(file) for file in files) else _by_java(spark, column)
    # The first one by itself tells where the column stands.
    first = [of_file(file) for file in files[:1]]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        numbers = [*first, *pool.map(of_file, files[1:])]
    return None if None in numbers else max((one for one in numbers if one is not None), default=-1)


def _by_arrow(column: str) -> Callable[[str], int | None]:
    # Hudi's footers hold a Bloom filter of half a megabyte, of which Java makes a text: it takes 0.4 s for 16 of them.
    from pyarrow import ArrowInvalid, parquet

    def of_file(file: str) -> int | None:
        try:
            footer = parquet.read_metadata(local_path(file))
        except (ArrowInvalid, OSError):
            # One that is only being written, or was cleaned meanwhile; of one that is garbled the read tells.
            return None
        found = -1
        for group in (footer.row_group(number) for number in range(footer.num_row_groups)):
            chunks = (group.column(number) for number in range(footer.num_columns))
            statistics = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == column), None)
            if statistics is None or not statistics.has_min_max:
                return None
            found = max(found, statistics.max_raw)
        return found

    return of_file


def _by_java(spark: SparkSession, column: str) -> Callable[[str], int | None]:
    apache: Any = spark._jvm.org.apache  # type: ignore[union-attr]
    reader_of, input_of = apache.parquet.hadoop.ParquetFileReader, apache.parquet.hadoop.util.HadoopInputFile
    path_of, conf = apache.hadoop.fs.Path, spark._jsc.hadoopConfiguration()

    # Where it stands in the first file it stands in all. Each call into the JVM takes its time.
    places = [0]

    def statistics_of(chunks: Any) -> Any:
        for place in (places[0], *range(chunks.size())):
            chunk = chunks.get(place)
            if chunk.getPath().toDotString() == column:
                places[0] = place
                return chunk.getStatistics()
        return None

    def of_file(file: str) -> int | None:
        reader = reader_of.open(input_of.fromPath(path_of(file), conf))
        try:
            found = -1
            for block in reader.getFooter().getBlocks():
                statistics = statistics_of(block.getColumns())
                if statistics is None or not statistics.hasNonNullValue():
                    return None
                found = max(found, statistics.genericGetMax())
            return found
        finally:
            reader.close()

    return of_file

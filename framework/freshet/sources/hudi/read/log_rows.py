"""Read rows of MERGE_ON_READ out of the logs that hold them whole, and drop those that a base file's row outranks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from freshet.hudi.timeline import TimelineState
from freshet.sources.hudi.read.footers import below, highest, hold_parts
from freshet.sources.hudi.read.pruning import in_partitions
from freshet.sources.hudi.read.slices import is_log
from freshet.sources.hudi.reads import ReadIncrement

COMMIT, KEY, PATH, FILE = ("_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
# Each is opened before the read: of more the version at the window's end is as good.
_MOST_FILES = 1_000
_ADAPTIVE = "spark.sql.adaptive.enabled"


def read_increment_by_hudi(spark: SparkSession, path: str, begin_inclusive: str, end_inclusive: str) -> DataFrame:
    """Return Hudi's own increment: what lies in the files that some commits wrote, merged by key, without the files below.

    Args:
        spark: The session.
        path: The table.
        begin_inclusive: Completion time of the first commit: Hudi 1.0 includes the begin.
        end_inclusive: Completion time of the last.
    """
    return (
        spark.read.format("hudi")
        .options(
            **{
                "hoodie.datasource.query.type": "incremental",
                "hoodie.datasource.read.begin.instanttime": begin_inclusive,
                "hoodie.datasource.read.end.instanttime": end_inclusive,
                # Whether the history suffices was decided by the plan; a silent full scan here would hide a mistake.
                "hoodie.datasource.read.incr.fallback.fulltablescan.enable": "false",
            }
        )
        .load(path)
    )


def read_logged(spark: SparkSession, stage: ReadIncrement) -> DataFrame | None:
    """Return the rows of a window out of its logs, with Hudi's meta columns.

    Args:
        spark: The session.
        stage: What is read; its window says where the logs begin that may decide about a row.

    Returns:
        What the version at the window's end has of them; None where a log holds parts of rows, so that it must be read itself.
    """
    logs = stage.window.logs
    if logs is None:
        return None
    path, end, of_window = stage.table.path, stage.window.end_inclusive, F.col(COMMIT).isin(list(stage.window.requested))
    files = _written(stage, logs.since)
    if files is None or len(files) > _MOST_FILES:
        return None
    written = [file for file in files if is_log(file)]
    try:
        # Headers and footers are read by the driver while Spark plans, and then reads the logs.
        with ThreadPoolExecutor(2) as pool:
            in_parts = pool.submit(hold_parts, spark, written)
            below_them = pool.submit(_highest_below, spark, stage, written, logs.ordering) if logs.ordering else None
            rows = read_increment_by_hudi(spark, path, logs.since, end).where(of_window)
            rows = _kept(rows) if below_them is not None else rows
            if in_parts.result():
                return None
            return _not_outranked(spark, stage, rows, below_them, logs.ordering) if below_them is not None else rows
    except Py4JJavaError as error:
        if "FileNotFoundException" not in str(error):
            raise
        # It was cleaned meanwhile.
        return None


def _written(stage: ReadIncrement, since: str) -> list[str] | None:
    # By the commits. Spark makes a plan of the read before it tells which files it reads, for a tenth of a second.
    state = TimelineState().table(stage.table)
    if state is None:
        return None
    read = [i for i in state.commits if since <= i.completed <= stage.window.end_inclusive]
    return [f"{stage.table.path.rstrip('/')}/{path}" for i in read for path, _ in state.info(i).files]


def _not_outranked(
    spark: SparkSession,
    stage: ReadIncrement,
    rows: DataFrame,
    below_them: Future[int | None],
    ordering: str,
) -> DataFrame | None:
    order = _as_number(rows, ordering)
    lowest, has_null = _one_row(rows.agg(F.min(order), F.max(order.isNull())))
    above = below_them.result()
    if has_null or (lowest is not None and lowest < 0):
        # Hudi takes a null for a 0.
        rows.unpersist()
        return None
    # Mostly what is logged is newer than all that lies below.
    if lowest is None or (above is not None and above <= lowest):
        return rows
    options = {"as.of.instant": stage.as_of} if stage.as_of else {}
    base = (
        spark.read.format("hudi")
        .options(**{"hoodie.datasource.query.type": "read_optimized", **options})
        .load(stage.table.path)
    )
    base = base.where(in_partitions(stage.partitions, base.schema)).where(_is_above(base, ordering, lowest))
    found = _without_outranked(rows, base, ordering)
    if found is None:
        rows.unpersist()
    return found


def _one_row(rows: DataFrame) -> Row:
    # To plan its second stage anew when the first one has ended brings nothing here, and takes a tenth of the read's time.
    conf = rows.sparkSession.conf
    adaptive = conf.get(_ADAPTIVE)
    conf.set(_ADAPTIVE, "false")
    try:
        return rows.collect()[0]
    finally:
        conf.set(_ADAPTIVE, adaptive or "true")


def _kept(rows: DataFrame) -> DataFrame:
    # They are looked at, and then read: a log is merged row by row, and once is enough. What ends the run drops them. Spark's
    # cache turns rows into columns, which takes a third of the read's time; what it keeps otherwise is lost with an executor.
    if (rows.sparkSession.sparkContext.master or "").startswith("local"):
        return rows.localCheckpoint(eager=False)
    return rows.persist(StorageLevel.MEMORY_AND_DISK)


def _highest_below(spark: SparkSession, stage: ReadIncrement, logs: Sequence[str], ordering: str) -> int | None:
    try:
        return highest(spark, below(stage.table, logs), ordering)
    except (Py4JJavaError, ValueError):
        # A base file that is only being written has no footer.
        return None


def _as_number(rows: DataFrame, column: str) -> Column:
    # Python's times have a time zone, in which an hour may come twice.
    named = F.col(f"`{column}`")
    return F.unix_micros(named) if isinstance(rows.schema[column].dataType, TimestampType) else named


def _is_above(rows: DataFrame, column: str, number: int) -> Column:
    is_time = isinstance(rows.schema[column].dataType, TimestampType)
    return F.col(f"`{column}`") > (F.timestamp_micros(F.lit(number)) if is_time else F.lit(number))


def _without_outranked(rows: DataFrame, base: DataFrame, ordering: str) -> DataFrame | None:
    logged, stands = (
        one.select(
            *(F.col(column).alias(f"__{name}_{number}") for number, column in enumerate((KEY, PATH, f"`{ordering}`"))),
            # A log's row names its file group, a base file's row the file, which begins so.
            F.substring_index(F.col(FILE), "_", 1).alias(f"__{name}_group"),
        )
        for name, one in (("logged", rows), ("base", base))
    )
    lost = stands.join(
        F.broadcast(logged),
        (F.col("__base_0") == F.col("__logged_0"))
        & (F.col("__base_1") == F.col("__logged_1"))
        & (F.col("__base_2") > F.col("__logged_2")),
    )
    other_group = F.max(F.col("__base_group") != F.col("__logged_group"))
    found, elsewhere = lost.agg(F.count("*"), other_group).collect()[0]
    if elsewhere:
        # One key in two file groups: which of them a row outranks, Hudi's own reader tells.
        return None
    # One row of a key is in the window, at most.
    return (
        rows.join(lost.select(F.col("__base_0").alias(KEY), F.col("__base_1").alias(PATH)), [KEY, PATH], "left_anti")
        if found
        else rows
    )

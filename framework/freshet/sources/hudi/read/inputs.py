"""Read the tables that the transformation joins: a look-back, the partitions that a batch needs, rows that a change drives."""

from __future__ import annotations

import re
from functools import reduce
from itertools import groupby

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType, TimestampType

from freshet.errors import DataError, foreign_text, root_cause
from freshet.hudi.options import IS_DELETED
from freshet.sources.hudi.look.partitions import NULL_PARTITION
from freshet.sources.hudi.read.held import hold_partitions, hold_read
from freshet.sources.hudi.read.log_rows import COMMIT
from freshet.sources.hudi.read.pruning import in_partitions, is_one_of
from freshet.sources.hudi.read.reader import IDENTITY, load_table, load_version, read_increment
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadLookback, ReadPartitions, Version

# More than that is no handful of partitions: the driver would hold their list and Spark would evaluate it per partition.
MOST_PARTITIONS = 10_000
# Keys of that many rows are sent whole to every task; for more, Spark itself chooses how to join.
MOST_BROADCAST_ROWS = 1_000_000
_OF_FILES = re.compile(r"^(?:java\.io|java\.net|org\.apache\.(?:parquet|hudi|hadoop)|com\.amazonaws)\.|FileNotFoundException")
_UNTOUCHED = "Nothing was written, and the checkpoint stays."


def read_lookback(spark: SparkSession, stage: ReadLookback) -> DataFrame:
    """Read the rows that changed within the look-back, each as it stands at its end."""
    if stage.window.kind == "idle":
        return load_table(spark, stage.table.path).where(F.lit(False))
    return read_increment(
        spark,
        ReadIncrement(
            table=stage.table,
            window=stage.window,
            with_deletes=False,
            before=(),
            as_of=stage.as_of,
            partitions=stage.partitions,
        ),
    )


def drive_rows(spark: SparkSession, stage: DriveRows, rows: DataFrame) -> DataFrame:
    """Add the main source's rows whose key changed in another table.

    Args:
        spark: The session.
        stage: What changed, and how it finds the main source's rows.
        rows: The view ``SRC`` so far, with ``IDENTITY``: the main source's increment and what other inputs drove.

    Returns:
        These rows and, once each, the rows that are not among them.

    Raises:
        DataError: DRIVES_NOT_FOUND: one of the two tables has no such column.
    """
    hold_read(stage)
    try:
        driven = load_version(spark, stage.source.path, Version(stage.as_of))
        if stage.held:
            driven = driven.where(~F.col(COMMIT).isin(sorted(stage.held)))
        if not stage.as_of:
            # Both are read as they are now, one after the other: between the two, another commit may write a row again.
            driven = driven.join(rows.select(*IDENTITY), list(IDENTITY), "left_anti")
        if not stage.every_row:
            for changes, on in stage.earlier:
                driven = _joined(driven, spark, stage, changes, on, "left_anti")
            driven = _joined(driven, spark, stage, stage.changes, stage.on, "left_semi")
    except AnalysisException as error:
        raise DataError(
            "DRIVES_NOT_FOUND",
            f"{stage.changes.table.name} cannot drive {stage.source.name}: {foreign_text(error)}",
            _UNTOUCHED,
            "Mend 'drives' of that input.",
            input=stage.changes.table.name,
        ) from error
    if IS_DELETED in rows.columns:
        live = F.coalesce(F.col(IS_DELETED), F.lit(False)) if IS_DELETED in driven.columns else F.lit(False)
        driven = driven.withColumn(IS_DELETED, live)
    # Either may have been read by an older schema than the other.
    return rows.unionByName(driven.select(*(c for c in rows.columns if c in driven.columns)), allowMissingColumns=True)


def _joined(
    table: DataFrame,
    spark: SparkSession,
    stage: DriveRows,
    changes: ReadIncrement,
    on: tuple[tuple[str, str], ...],
    how: str,
) -> DataFrame:
    names = [f"__driven_{number}" for number in range(len(on))]
    changed = _changed(spark, changes, on, names)
    for (_, column), name in zip(on, names, strict=True):
        if column in stage.partition_by and how == "left_semi":
            table = _pruned(table, column, changed.select(name))
    found = reduce(
        lambda one, other: one & other,
        (F.col(f"`{column}`") == F.col(name) for (_, column), name in zip(on, names, strict=True)),
    )
    few = changes.window.kind == "increment" and changes.window.rows <= MOST_BROADCAST_ROWS
    return table.join(F.broadcast(changed) if few else changed, found, how)


def _changed(
    spark: SparkSession,
    changes: ReadIncrement,
    on: tuple[tuple[str, str], ...],
    names: list[str],
) -> DataFrame:
    theirs = [F.col(f"`{column}`").alias(name) for (column, _), name in zip(on, names, strict=True)]
    found = read_increment(spark, changes).select(*theirs)
    for version in changes.before:
        then, now = (load_version(spark, changes.table.path, one) for one in (version, Version(changes.as_of)))
        before, after = (
            rows.where(in_partitions(changes.partitions, rows.schema)).select(*IDENTITY, *theirs) for rows in (then, now)
        )
        # What is there no more was deleted, or names another row now: the row that it named has changed too.
        found = found.unionByName(before.subtract(after).select(*names))
    return found.distinct()


def _pruned(table: DataFrame, column: str, changed: DataFrame) -> DataFrame:
    (name,) = changed.columns
    kind = table.schema[column].dataType
    # Equality would cast the one or the other, and the text of what it compares is not the partition's.
    if changed.schema[name].dataType != kind or isinstance(kind, TimestampType):
        return table
    values = [
        row[0]
        for row in changed.where(F.col(name).isNotNull())
        .select(F.col(name).cast("string"))
        .distinct()
        .limit(MOST_PARTITIONS)
        .collect()
    ]
    return table.where(is_one_of(column, values, kind)) if len(values) < MOST_PARTITIONS else table


def read_partitions(spark: SparkSession, stage: ReadPartitions, rows: DataFrame) -> tuple[DataFrame, tuple[str, ...]]:
    """Read only the partitions that the batch needs.

    Args:
        spark: The session.
        stage: The table and how its partitions follow from the batch.
        rows: The batch: the view ``SRC``.

    Returns:
        The rows of those partitions, and the partitions' names, such as ``day=2026-01-05``.

    Raises:
        DataError: PARTITIONS_NOT_FOUND: an expression fails over the batch; TOO_MANY_PARTITIONS.
    """
    columns = [column for column, _ in stage.on]
    table = load_table(spark, stage.table.path, stage.as_of, overtakers=stage.overtakers)
    told = stage.known if stage.known is not None else _needed(stage, rows, table.schema)
    wanted = sorted({*told, *stage.also})
    hold_partitions(stage, set(wanted))
    return table.where(_among(columns, wanted, table.schema)), tuple(
        "/".join(f"{column}={value}" for column, value in zip(columns, values, strict=True)) for values in wanted
    )


def _needed(stage: ReadPartitions, rows: DataFrame, schema: StructType) -> list[tuple[str, ...]]:
    names = [f"__partition_{number}" for number in range(len(stage.on))]
    try:
        needed = rows
        for name, (column, texts) in zip(names, stage.on, strict=True):
            # As the table writes it: a timestamp that is to find a date is the text of that date.
            values = F.array(*(F.expr(text).cast(schema[column].dataType).cast("string") for text in texts))
            needed = needed.withColumn(name, F.explode(F.array_distinct(values)))
        null = F.lit(NULL_PARTITION)
        found = needed.select(*(F.when(F.col(name) != "", F.col(name)).otherwise(null) for name in names)).distinct()
        # Values of partitions, not rows: this is how the read below is pruned before it is planned.
        values_found = sorted(tuple(map(str, row)) for row in found.limit(MOST_PARTITIONS + 1).collect())
    except (PySparkException, Py4JJavaError) as error:
        if _OF_FILES.search(root_cause(error)):
            # No fault of the expression: whose file it was is told where all tables are known.
            raise
        raise DataError(
            "PARTITIONS_NOT_FOUND",
            f"input {stage.view}: its partitions cannot be told from <SRC>: {foreign_text(error)}",
            _UNTOUCHED,
            f"Mend inputs.{stage.view}.on.",
            input=stage.view,
        ) from error
    if len(values_found) > MOST_PARTITIONS:
        raise DataError(
            "TOO_MANY_PARTITIONS",
            f"input {stage.view}: the batch needs more than {MOST_PARTITIONS:,} partitions of {stage.table.name}.",
            _UNTOUCHED,
            "Take fewer commits per run (num_instants), or write 'read: snapshot'.",
            input=stage.view,
        )
    return values_found


def _among(columns: list[str], wanted: list[tuple[str, ...]], schema: StructType) -> Column:
    """Return the condition that a row lies in one of the partitions; ``wanted`` is sorted."""
    kinds = [schema[column].dataType for column in columns]
    each = []
    for first, together in groupby(wanted, key=lambda values: values[:-1]):
        conditions = [is_one_of(column, [value], kind) for column, value, kind in zip(columns, first, kinds, strict=False)]
        conditions.append(is_one_of(columns[-1], [values[-1] for values in together], kinds[-1]))
        each.append(reduce(lambda one, other: one & other, conditions))
    while len(each) > 1:
        # As a tree: Spark walks a condition recursively, and thousands in a row would be as deep.
        each = [reduce(lambda one, other: one | other, each[start : start + 2]) for start in range(0, len(each), 2)]
    return each[0] if each else F.lit(False)

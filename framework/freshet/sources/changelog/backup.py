"""Read a backup of a changelog's table as events of whole rows, all of them of one place in the log."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.changelog.fields import EVENT, FIELDS, event_type
from freshet.changelog.layout import DELETED
from freshet.changelog.sql import name
from freshet.errors import DataError, StateError, foreign_text
from freshet.plan.bootstrap import ReadBackup
from freshet.project.model.files import ORIGIN
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.quality.kept import keep_rows
from freshet.sources.files.read.reader import FilesReader
from freshet.sources.files.read.rows import WHY, fitted_columns
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import Version
from freshet.sources.unreadable import guarded

_UNTOUCHED = "Nothing was written: the table and the checkpoint stay."
_NO_READER = ("Failed to find data source", "Failed to find the data source")
_AT = "__freshet_at"


def read_backup(spark: SparkSession, stage: ReadBackup) -> tuple[DataFrame, DataFrame | None]:
    """Return a backup's rows with ``_event``, and what of it are none: see ``sources.protocol.Reader``.

    Raises:
        StateError: BACKUP_READER_MISSING, AVRO_JARS_MISSING, FILE_MISSING or FILE_CORRUPT.
        DataError: FILES_UNREADABLE, or BACKUP_UNFIT.
    """
    if stage.files is not None:
        rows, aside = FilesReader().read(spark, stage.files)
        rows = rows.withColumn(_AT, F.unix_millis(F.col(f"{ORIGIN}.modified")))
    else:
        rows, aside = _of_table(spark, stage)
        rows = rows.withColumn(_AT, F.unix_millis(F.current_timestamp()))
    return rows.withColumn(EVENT, _event(stage)).drop(_AT), aside


def _event(stage: ReadBackup) -> Column:
    key = [F.col(name(one)) for one in stage.key]
    told = {
        "row_key": key[0].cast("string") if len(key) == 1 else F.to_json(F.struct(*key), {"ignoreNullFields": "false"}),
        "ref_key": F.lit(stage.reference_key),
        "source": F.lit(stage.place.kind),
        "timestamp": F.col(_AT),
        "is_deleted": F.lit(False),
        "force_update": F.lit(False),
        "data_center": F.lit(stage.data_center or None),
    }
    kinds = dict(event_type().fields)
    return F.struct(*(told.get(one.name, F.lit(None)).cast(str(kinds[one.name])).alias(one.name) for one in FIELDS))


def _of_table(spark: SparkSession, stage: ReadBackup) -> tuple[DataFrame, DataFrame | None]:
    read = _loaded(spark, stage)
    names = {one.lower() for one in read.columns}
    if DELETED in names:
        # What a table of changelogs keeps of a deleted row is a mark of it.
        read = read.where(f"NOT coalesce({DELETED}, false)")
    have = {field.name: field.dataType.jsonValue() for field in read.schema.fields}
    try:
        values, wrong = fitted_columns(stage.columns, have)
    except ValueError as error:
        raise DataError(
            "BACKUP_UNFIT",
            f"{stage.backup.words} cannot be loaded: {error}.",
            _UNTOUCHED,
            "Make the DDL and the table agree, or write a view of it as files of Parquet, and load those.",
            path=stage.backup.path,
        ) from error
    why = F.coalesce(F.lit(None).cast("string"), *wrong).alias(WHY)
    rows = read.select(*values, why, F.to_json(F.struct(*(F.col(name(one)) for one in read.columns))).alias(ORIGINAL))
    if not stage.rule:
        return guarded(rows.drop(ORIGINAL), WHY, {one: name(one) for one in stage.key}), None
    kept = keep_rows(rows)
    bad = kept.where(F.col(WHY).isNotNull())
    aside = bad.select(F.array(F.concat(F.lit("the record: "), WHY)).alias(REASONS), ORIGINAL)
    return kept.where(F.col(WHY).isNull()).drop(WHY, ORIGINAL), aside


def _loaded(spark: SparkSession, stage: ReadBackup) -> DataFrame:
    kind, path = stage.backup.kind, stage.backup.path
    if kind == "hudi":
        hold_version(stage.table, Version(""), _UNTOUCHED)
        return load_table(spark, path)
    try:
        return spark.read.format(kind).load(path)
    except (Py4JJavaError, PySparkException) as error:
        if not any(words in str(error) for words in _NO_READER):
            raise
        raise StateError(
            "BACKUP_READER_MISSING",
            f"{stage.backup.words} cannot be read: Spark has no reader of {kind.capitalize()} on its class path "
            f"({foreign_text(error)[:200]}).",
            _UNTOUCHED,
            f"Bring {kind.capitalize()}'s jars for this Spark: spark: {{spark.jars: ...}}; or write the table as files of "
            "Parquet by whatever reads it, and load those.",
            kind=kind,
        ) from error

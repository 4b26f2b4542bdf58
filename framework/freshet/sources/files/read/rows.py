"""Files become rows: by Spark's own readers, those alike together, and no value that is read as something that it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import StateError, foreign_text
from freshet.project.model.files import ORIGIN, ORIGIN_TYPE
from freshet.project.model.kafka import ORIGIN as MESSAGE
from freshet.project.model.kafka import ORIGIN_TYPE as MESSAGE_TYPE
from freshet.quality.contract import ORIGINAL
from freshet.registry.fitted import Fitted, fitted
from freshet.sources.files.read.csv_values import csv_values
from freshet.sources.files.reads import ReadFiles
from freshet.sources.json_values import TEXT, json_values
from freshet.storage.remote import split_uri
from freshet.types.columns import Column
from freshet.types.from_json import type_from_spark

#: Why a row is none; null of one that is.
WHY = "__freshet_why"
_PATH, _MODIFIED, _SIZE = (f"__freshet_{name}" for name in ("path", "modified", "size"))
_TOLD = (_PATH, _MODIFIED, _SIZE)
# What stands in a path is no pattern, a folder's name is no column, and what cannot be read is never left out.
_OPTIONS = {
    "__globPaths__": "false",
    "recursiveFileLookup": "true",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}
# By the default a date of before 1582 is an error; other writers than old versions of Spark count by the calendar of today.
_CALENDAR = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
#: Of a URI what stands before the path.
_STORE = "^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?"
_NO_AVRO = "Failed to find data source: avro"


def rows_of(spark: SparkSession, stage: ReadFiles, alike: Sequence[str], paths: Sequence[str]) -> DataFrame:
    """Return the rows of files that are read alike: the columns, ``_file``, ``WHY`` and ``ORIGINAL``.

    Args:
        spark: The session.
        stage: What is read.
        alike: What they have in common: see ``heads.look_at``.
        paths: Where they are.

    Raises:
        ValueError: They cannot be read so, in words.
        StateError: AVRO_JARS_MISSING.
    """
    match stage.format:
        case "json":
            return _of_json(spark, stage, paths)
        case "csv":
            return _of_csv(spark, stage, alike, paths)
        case _:
            return _of_schema(spark, stage, paths)


def no_rows(spark: SparkSession, stage: ReadFiles) -> DataFrame:
    """Return what ``rows_of`` does, without a row."""
    columns = _columns(stage)
    rest = (Column(name=name, type=type_from_spark("string")) for name in (WHY, ORIGINAL))
    return spark.range(0).select(*(F.lit(None).cast(str(c.type)).alias(c.name) for c in (*columns, *rest)))


def _columns(stage: ReadFiles) -> tuple[Column, ...]:
    if stage.as_messages:
        return (Column(name="value", type=type_from_spark("binary")), Column(name=MESSAGE, type=MESSAGE_TYPE))
    return (*stage.columns, Column(name=ORIGIN, type=ORIGIN_TYPE))


def _of_json(spark: SparkSession, stage: ReadFiles, paths: Sequence[str]) -> DataFrame:
    # A line without anything on it is none.
    lines = _placed(stage, spark.read.options(**_OPTIONS).text(list(paths)), "value").where("trim(value) <> ''")
    raw = lines.withColumn("value", F.col("value").cast("binary"))
    if stage.as_messages:
        return raw.select("value", _message().alias(MESSAGE), _null(WHY), _null(ORIGINAL))
    raw = raw.withColumn(TEXT, F.decode("value", "UTF-8"))
    no_text = F.when(F.encode(TEXT, "UTF-8") != F.col("value"), "it is no UTF-8")
    raw, values, wrong = json_values(raw, stage.columns, stage.is_strict, F.lit(True))
    bytes_of = F.when(no_text.isNotNull(), F.base64("value"))
    line = F.when(no_text.isNull(), F.col(TEXT))
    original = F.to_json(F.struct(F.col(_PATH).alias("path"), line.alias("line"), bytes_of.alias("line_base64")))
    return raw.select(*values, _origin(), F.coalesce(no_text, *wrong).alias(WHY), original.alias(ORIGINAL))


def _of_csv(spark: SparkSession, stage: ReadFiles, names: Sequence[str], paths: Sequence[str]) -> DataFrame:
    found = {name.lower(): number for number, name in enumerate(names)}
    wanted = [column.name.lower() for column in stage.columns]
    if not names:
        found = {name: number for number, name in enumerate(wanted)}
    if not set(wanted) & found.keys():
        raise ValueError(f"none of its columns {', '.join(names)[:200]} is one of the pipeline's")
    if stage.is_strict and set(wanted) != found.keys():
        raise ValueError(f"its columns are {', '.join(names)[:200]}, and not the pipeline's")
    corrupt = "__freshet_corrupt"
    places = [f"__freshet_{number}" for number in range(len(found))]
    schema = ", ".join(f"`{name}` string" for name in (*places, corrupt))
    options = {**stage.csv, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": corrupt, "enforceSchema": "true"}
    formats: dict[str, str] = {name: options.pop(name) for name in ("dateFormat", "timestampFormat") if name in options}
    read = spark.read.schema(schema).options(**_OPTIONS, **options).csv(list(paths))
    raw = _placed(stage, read, *places, corrupt)
    placed = {column.name: places[found[column.name.lower()]] for column in stage.columns if column.name.lower() in found}
    values, wrong = csv_values(stage.columns, placed, formats)
    broken = F.when(F.col(corrupt).isNotNull(), "it has more or fewer values than there are columns")
    no_text = F.when(F.concat_ws("", *places).contains("\ufffd"), "it is no text in the encoding that is declared")
    told = [F.col(place).alias(name) for place, name in zip(places, names or wanted, strict=True)]
    original = F.to_json(F.struct(F.col(_PATH).alias("path"), F.struct(*told).alias("row"), F.col(corrupt).alias("line")))
    return raw.select(*values, _origin(), F.coalesce(broken, no_text, *wrong).alias(WHY), original.alias(ORIGINAL))


def _of_schema(spark: SparkSession, stage: ReadFiles, paths: Sequence[str]) -> DataFrame:
    try:
        read = spark.read.options(**_OPTIONS, **_CALENDAR).format(stage.format).load(list(paths))
        names: list[str] = [field.name for field in read.schema.fields]
        raw = _placed(stage, read, *names)
        have = {field.name: field.dataType.jsonValue() for field in read.schema.fields}
        values, wrong = fitted_columns(stage.columns, have, stage.is_strict)
        original = F.to_json(F.struct(F.col(_PATH).alias("path"), F.struct(*(f"`{name}`" for name in names)).alias("row")))
        why = F.coalesce(*wrong) if len(wrong) > 1 else wrong[0] if wrong else F.lit(None).cast("string")
        rows = raw.select(*values, _origin(), why.alias(WHY), original.alias(ORIGINAL))
        rows.schema  # noqa: B018 - analysed here, so that what it says is of these files
    except AnalysisException as error:
        if _NO_AVRO not in str(error):
            raise ValueError(f"Spark cannot read it: {foreign_text(error)}") from error
        raise StateError(
            "AVRO_JARS_MISSING",
            "Spark runs without the jar that it decodes Avro with: it was started for pipelines that read none, or by somebody "
            "else.",
            "Nothing was written, and the checkpoint stays.",
            "Run the pipeline by itself; for a cluster of your own 'freshet jars path --avro' prints the jar.",
        ) from error
    return rows


def fitted_columns(
    columns: Sequence[Column], have: Mapping[str, Any], is_strict: bool = False
) -> tuple[list[SparkColumn], list[SparkColumn]]:
    """Return columns of rows that have types of their own, and why a row does not fit them, each null where that is not why.

    Args:
        columns: The columns.
        have: The types that there are, as Spark's JSON has them, by name.
        is_strict: True where there may be no others.

    Raises:
        ValueError: They cannot be had of these, in words.
    """
    by_lower = {name.lower(): name for name in have}
    wanted = {column.name.lower() for column in columns}
    if not wanted & by_lower.keys():
        raise ValueError(f"none of its columns {', '.join(have)[:200]} is one of the pipeline's")
    if is_strict and (more := [name for lower, name in by_lower.items() if lower not in wanted]):
        raise ValueError(f"it has columns that the pipeline has not: {', '.join(more)[:200]}")
    values, wrong = [], []
    for column in columns:
        name = by_lower.get(column.name.lower())
        one = Fitted(value=f"CAST(NULL AS {column.type})")
        if name is not None:
            quoted = name.replace("`", "``")
            try:
                one = fitted(f"`{quoted}`", type_from_spark(have[name]), column.type)
            except ValueError as error:
                raise ValueError(f"its column {name} does not fit {column.type}: {error}") from error
        values.append(F.expr(f"CAST({one.value} AS {column.type})").alias(column.name))
        if one.misfit:
            wrong.append(F.when(F.expr(one.misfit), f"{column.name} does not fit {column.type}"))
    return values, wrong


def _placed(stage: ReadFiles, read: DataFrame, *names: str) -> DataFrame:
    """Return what was read with where it comes from; only the reading itself knows that."""
    told = (
        below(F.col("_metadata.file_path"), stage.table.path),
        F.col("_metadata.file_modification_time"),
        F.col("_metadata.file_size"),
    )
    columns = (F.col(f"`{name.replace('`', '``')}`") for name in names)
    return read.select(*columns, *(column.alias(name) for column, name in zip(told, _TOLD, strict=True)))


def below(uri: SparkColumn, root: str) -> SparkColumn:
    """Return the path of a file below a root.

    Args:
        uri: Where Spark says that it is.
        root: The root, a normal path.
    """
    inner = split_uri(root)[2].strip("/")
    begin = f"/{inner}/" if inner else "/"
    # In Spark's URI '+' stands for itself; and Hadoop writes the scheme in more than one way.
    path = F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))
    place = F.regexp_replace(path, _STORE, "")
    return F.when(place.startswith(begin), place.substr(F.lit(len(begin) + 1), F.length(place))).otherwise(path)


def _origin() -> SparkColumn:
    return F.struct(*(F.col(name).alias(name.removeprefix("__freshet_")) for name in _TOLD)).alias(ORIGIN)


def _message() -> SparkColumn:
    # A line has no key and no offset; a number tells it from the others of its reading.
    told = {"topic": F.col(_PATH), "timestamp": F.col(_MODIFIED), "offset": F.monotonically_increasing_id()}
    told["tombstone"] = F.lit(False)
    return F.struct(*(told.get(name, F.lit(None)).cast(str(kind)).alias(name) for name, kind in MESSAGE_TYPE.fields))


def _null(name: str) -> SparkColumn:
    return F.lit(None).cast("string").alias(name)

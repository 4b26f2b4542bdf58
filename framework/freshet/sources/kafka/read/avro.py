"""Records of Avro become columns: by Spark's own decoder, each by the schema that it was written with, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from freshet.errors import StateError, cut, foreign_text
from freshet.registry.branches import END, Group, branches
from freshet.registry.client import Schema
from freshet.registry.fitted import Fitted, any_of, fitted
from freshet.registry.wire import schema_id
from freshet.sources.kafka.reads import ReadTopics
from freshet.types.columns import Column
from freshet.types.from_json import from_spark

_ID = "__freshet_schema"
_MOST_WORDS = 300
# By the default a date of before 1582 is an error; other writers than old versions of Spark count by the calendar of today.
_OPTIONS = {"mode": "PERMISSIVE", "datetimeRebaseMode": "CORRECTED"}


def decode_avro(
    raw: DataFrame, stage: ReadTopics, schemas: Mapping[int, Schema], body: SparkColumn
) -> tuple[DataFrame, list[SparkColumn], list[SparkColumn]]:
    """Decode the values of records.

    Args:
        raw: The records.
        stage: What a value is.
        schemas: By id, those that values may have been written with; 0 for that of a file.
        body: A value without the id of a schema.

    Returns:
        The records with what was decoded; the columns; and why a record cannot be, each null where that is not the reason.

    Raises:
        StateError: AVRO_JARS_MISSING.
    """
    _refuse_without_decoder(raw.sparkSession)
    found = branches(schemas, [column.name for column in stage.columns], stage.is_strict)
    refused = dict(found.refused)
    raw = raw.withColumn(_ID, F.lit(0) if stage.registry is None else F.expr(schema_id("value")))
    ended = F.concat(body, F.expr(f"X'{END}'"))
    read: list[tuple[str, Mapping[str, Fitted]]] = []
    for number, group in enumerate(found.groups):
        place = f"__freshet_avro_{number}"
        try:
            grown = raw.withColumn(place, _decoded(group, ended))
            columns = _fitted(grown, place, stage.columns)
        except (AnalysisException, Py4JJavaError, ValueError) as error:
            refused |= dict.fromkeys(group.writers, cut(foreign_text(error), _MOST_WORDS))
            continue
        raw = grown
        read.append((place, columns))
    values = [_value(column, [of[column.name] for _, of in read if column.name in of]) for column in stage.columns]
    return raw, values, [*_unknown(stage, schemas), *_refused(refused), *_unread(read, refused), *_misfits(stage, read)]


def _decoded(group: Group, ended: SparkColumn) -> SparkColumn:
    options = {**_OPTIONS, "avroSchema": group.reader}
    first, *others = ((F.col(_ID) == F.lit(one), from_avro(ended, writer, options)) for one, writer in group.writers.items())
    case = F.when(*first)
    for condition, value in others:
        case = case.when(condition, value)
    return case


def _fitted(grown: DataFrame, place: str, columns: Sequence[Column]) -> dict[str, Fitted]:
    kind: Any = grown.schema[place].dataType
    have = {column.name: column.type for column in from_spark(kind["value"].dataType.jsonValue())}
    found = {}
    for column in columns:
        if column.name in have:
            try:
                found[column.name] = fitted(f"{place}.value.`{column.name}`", have[column.name], column.type)
            except ValueError as error:
                raise ValueError(f"its field '{column.name}' does not fit {column.type}: {error}") from error
    # Whether Spark takes it shows now, and not when the records are read.
    grown.selectExpr(*(text for one in found.values() for text in (one.value, one.misfit) if text))
    return found


def _value(column: Column, found: Sequence[Fitted]) -> SparkColumn:
    # A record is of one schema: of the others there are nulls.
    texts = [one.value for one in found] or ["NULL"]
    return F.expr(f"CAST(coalesce({', '.join(texts)}) AS {column.type})").alias(column.name)


def _unknown(stage: ReadTopics, schemas: Mapping[int, Schema]) -> list[SparkColumn]:
    if stage.registry is None:
        return []
    subjects = cut(", ".join(stage.subjects), _MOST_WORDS)
    words = F.concat(F.lit("its schema has the id "), F.col(_ID), F.lit(f", which is no version of {subjects}"))
    return [F.when(F.col(_ID).isNotNull() & ~F.col(_ID).isin(list(schemas)), words)]


def _refused(refused: Mapping[int, str]) -> list[SparkColumn]:
    return [
        F.when(F.col(_ID) == F.lit(number), f"its schema{_named(number)} cannot be read: {why}")
        for number, why in refused.items()
    ]


def _unread(read: Iterable[tuple[str, object]], refused: Mapping[int, str]) -> list[SparkColumn]:
    ends = [F.col(f"{place}.end") for place, _ in read]
    if not ends:
        return []
    whole = F.coalesce(*ends).eqNullSafe(F.expr(f"X'{END}'"))
    words = F.concat(
        F.lit("its bytes are not one record of its schema"),
        F.when(F.col(_ID) > 0, F.concat(F.lit(" (id "), F.col(_ID), F.lit(")"))).otherwise(""),
    )
    return [F.when(F.col("value").isNotNull() & F.col(_ID).isNotNull() & ~whole, words)]


def _misfits(stage: ReadTopics, read: Sequence[tuple[str, Mapping[str, Fitted]]]) -> list[SparkColumn]:
    found = []
    for column in stage.columns:
        conditions = [of[column.name].misfit for _, of in read if column.name in of and of[column.name].misfit]
        if conditions:
            found.append(F.when(F.expr(any_of(conditions)), f"{column.name} does not fit {column.type}"))
    return found


def _named(number: int) -> str:
    return f" (id {number})" if number else ""


def _refuse_without_decoder(spark: SparkSession) -> None:
    # PySpark would print how to get it among a command's results.
    jvm: Any = spark._jvm
    if not isinstance(jvm.org.apache.spark.sql.avro.functions, JavaClass):
        raise StateError(
            "AVRO_JARS_MISSING",
            "Spark runs without the jar that it decodes Avro with: it was started for pipelines that read none, or by somebody "
            "else.",
            "Nothing was written, and the checkpoint stays.",
            "Run the pipeline by itself; for a cluster of your own 'freshet jars path --avro' prints the jar.",
        )

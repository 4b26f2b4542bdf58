"""Records become rows: by Spark's own functions, each record once, and none that is read as something that it is not."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.project.model.kafka import KEY, ORIGIN
from freshet.registry.branches import as_record
from freshet.registry.client import Schema
from freshet.registry.wire import is_framed, is_named, payload
from freshet.sources.json_values import TEXT, json_values
from freshet.sources.kafka.read.avro import Coded, decode_avro
from freshet.sources.kafka.reads import ReadTopics

#: Why a record cannot be decoded; null of one that can.
WHY = "__freshet_why"
#: The columns that Spark's source has, and their types.
RAW = (
    ("key", "binary"),
    ("value", "binary"),
    ("topic", "string"),
    ("partition", "int"),
    ("offset", "bigint"),
    ("timestamp", "timestamp"),
    ("timestampType", "int"),
    ("headers", "array<struct<key:string,value:binary>>"),
)


def decode(
    raw: DataFrame,
    stage: ReadTopics,
    also: tuple[str, ...] = (),
    schemas: Mapping[int, Schema] | None = None,
    key_schemas: Mapping[int, Schema] | None = None,
) -> DataFrame:
    """Return a row for each record: its value's columns, what it deletes, its key where that is decoded, ``_kafka``, ``WHY``.

    Args:
        raw: Records, with the columns of ``RAW``.
        stage: What a value is.
        also: Columns that go along.
        schemas: Of Avro: by id, those that values may have been written with; 0 for that of a file.
        key_schemas: By id, those that keys may have been written with.

    Raises:
        StateError: AVRO_JARS_MISSING.
    """
    why = [F.when(F.col("value").isNull(), "it has no value")] if not stage.tombstones else []
    body = F.col("value")
    if stage.format == "json_schema":
        body = F.expr(payload("value"))
        unnamed = ~F.expr(is_framed("value")) & ~F.expr(is_named("value"))
        why.append(F.when(unnamed & F.col("value").isNotNull(), "it does not begin with a schema's id"))
    values: list[SparkColumn]
    if stage.format in ("json", "json_schema", "text"):
        # Spark takes any bytes for a text, and JSON's parser would replace what is none.
        raw = raw.withColumn(TEXT, F.decode(body, "UTF-8"))
        why.append(F.when(F.encode(TEXT, "UTF-8") != body, "its value is no UTF-8"))
    if stage.format == "avro":
        coded = Coded(
            part="value",
            columns=stage.columns,
            schemas=schemas or {},
            subjects=stage.subjects,
            is_strict=stage.is_strict,
        )
        raw, values, wrong = decode_avro(raw, coded)
        why += wrong
    elif stage.format in ("json", "json_schema"):
        raw, values, wrong = json_values(raw, stage.columns, stage.is_strict, F.col("value").isNotNull())
        why += wrong
    else:
        values = [F.col(TEXT if stage.format == "text" else "value").alias("value")]
    deletes = [F.col("value").isNull().alias(IS_DELETED)] if stage.tombstones == "delete" else []
    keyed = []
    if stage.key_columns:
        raw, fields, wrong = decode_avro(raw, key_of(stage, key_schemas or {}))
        keyed = [F.when(F.col("key").isNotNull(), F.struct(*fields)).alias(KEY)]
        why += [F.concat(F.lit("its key: "), one) for one in wrong]
    first = F.coalesce(*why) if len(why) > 1 else why[0] if why else F.lit(None).cast("string")
    return raw.select(*values, *deletes, *keyed, _origin().alias(ORIGIN), first.alias(WHY), *also)


def key_of(stage: ReadTopics, schemas: Mapping[int, Schema]) -> Coded:
    """Return what of the keys of records is read, and by what."""
    if len(stage.key_columns) == 1:
        schemas = {number: as_record(one, stage.key_columns[0].name) for number, one in schemas.items()}
    return Coded(part="key", columns=stage.key_columns, schemas=schemas, subjects=stage.key_subjects)


def original() -> SparkColumn:
    """Return a record as JSON, as the quarantine keeps one that cannot be decoded: bytes that are no text in base64."""

    def shown(name: str) -> SparkColumn:
        text = F.decode(name, "UTF-8")
        return F.when(F.encode(text, "UTF-8") == F.col(name), text)

    def in_base64(name: str) -> SparkColumn:
        return F.when(shown(name).isNull(), F.base64(name))

    parts = [F.col(name) for name in ("topic", "partition", "offset", "timestamp")]
    for name in ("key", "value"):
        parts += [shown(name).alias(name), in_base64(name).alias(f"{name}_base64")]
    return F.to_json(F.struct(*parts))


def _origin() -> SparkColumn:
    kind = F.when(F.col("timestampType") == 1, "LogAppendTime").otherwise("CreateTime")
    return F.struct(
        F.col("topic"),
        F.col("partition"),
        F.col("offset"),
        F.col("timestamp"),
        kind.alias("timestamp_type"),
        F.col("key"),
        F.col("headers"),
        F.col("value").isNull().alias("tombstone"),
    )

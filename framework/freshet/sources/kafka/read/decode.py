"""Records become rows: by Spark's own functions, each record once, and none that is read as something that it is not."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.project.model.kafka import ORIGIN
from freshet.registry.client import Schema
from freshet.registry.wire import is_framed, payload
from freshet.sources.json_values import TEXT, json_values
from freshet.sources.kafka.read.avro import decode_avro
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
    raw: DataFrame, stage: ReadTopics, also: tuple[str, ...] = (), schemas: Mapping[int, Schema] | None = None
) -> DataFrame:
    """Return a row for each record: its value's columns, ``_kafka``, what it deletes, and ``WHY``.

    Args:
        raw: Records, with the columns of ``RAW``.
        stage: What a value is.
        also: Columns that go along.
        schemas: Of Avro: by id, those that values may have been written with; 0 for that of a file.

    Raises:
        StateError: AVRO_JARS_MISSING.
    """
    why = [F.when(F.col("value").isNull(), "it has no value")] if not stage.tombstones else []
    body = F.col("value")
    if stage.registry is not None or stage.format == "json_schema":
        body = F.expr(payload("value"))
        why.append(F.when(~F.expr(is_framed("value")) & F.col("value").isNotNull(), "it does not begin with a schema's id"))
    values: list[SparkColumn]
    if stage.format in ("json", "json_schema", "text"):
        # Spark takes any bytes for a text, and JSON's parser would replace what is none.
        raw = raw.withColumn(TEXT, F.decode(body, "UTF-8"))
        why.append(F.when(F.encode(TEXT, "UTF-8") != body, "its value is no UTF-8"))
    if stage.format == "avro":
        raw, values, wrong = decode_avro(raw, stage, schemas or {}, body)
        why += wrong
    elif stage.format in ("json", "json_schema"):
        raw, values, wrong = json_values(raw, stage.columns, stage.is_strict, F.col("value").isNotNull())
        why += wrong
    else:
        values = [F.col(TEXT if stage.format == "text" else "value").alias("value")]
    deletes = [F.col("value").isNull().alias(IS_DELETED)] if stage.tombstones == "delete" else []
    first = F.coalesce(*why) if len(why) > 1 else why[0] if why else F.lit(None).cast("string")
    return raw.select(*values, *deletes, _origin().alias(ORIGIN), first.alias(WHY), *also)


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

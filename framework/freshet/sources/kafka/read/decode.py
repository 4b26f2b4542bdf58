"""Records become rows: by Spark's own functions, each record once, and none that is read as something that it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.hudi.options import IS_DELETED
from freshet.project.model.kafka import KEY, ORIGIN
from freshet.registry.branches import as_record
from freshet.registry.client import Schema
from freshet.registry.wire import is_framed, is_named, payload
from freshet.sources.kafka.read.avro import Coded, decode_avro
from freshet.sources.kafka.reads import ReadTopics
from freshet.types.columns import Atomic, Column, DataType, Decimal

#: Why a record cannot be decoded; null of one that can.
WHY = "__freshet_why"
_TEXT, _PARSED = "__freshet_text", "__freshet_parsed"
_NO_OBJECT = "it is no JSON object, or a field of it does not fit its column"
_MOST_DIGITS = 38
# By a cast alone 20000 would be a year, 10:15 today, and anything may stand behind a date.
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FORMS = {"timestamp": _DAY, "timestamp_ntz": _DAY, "date": f"{_DAY}$"}
_JSON = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": "corrupt",
    # Else 'NaN' and 'Infinity' are numbers, and 'a' is as good as "a".
    "allowNonNumericNumbers": "false",
    "allowSingleQuotes": "false",
    # By the default, that of the United States, the text "1,50" is a hundred and fifty; here a comma is no part of a number.
    "locale": "de-CH",
}
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
        raw = raw.withColumn(_TEXT, F.decode(body, "UTF-8"))
        why.append(F.when(F.encode(_TEXT, "UTF-8") != body, "its value is no UTF-8"))
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
        raw = raw.withColumn(_PARSED, _parsed(stage.columns))
        found, not_json = _element()
        values = [_value(column).alias(column.name) for column in stage.columns]
        why.append(F.when(not_json, _NO_OBJECT))
        why += [F.when(bad, f"{name} does not fit {kind}") for name, kind, bad in _misfits(found, stage.columns)]
        if stage.is_strict:
            why += _unknown(stage.columns)
    else:
        values = [F.col(_TEXT if stage.format == "text" else "value").alias("value")]
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


def _parsed(columns: Sequence[Column]) -> SparkColumn:
    # Alone, Spark would take the first object of several that stand behind each other, the first element of an array, and no
    # notice of what follows. So the value is the one element of an array, with something behind it that must be read, too.
    fields = ",".join(f"`{c.name}`:{_exact(c.type)}" for c in columns)
    schema = f"struct<v:array<struct<{fields}>>,end:int,corrupt:string>"
    return F.from_json(F.concat(F.lit('{"v":['), F.col(_TEXT), F.lit('],"end":1}')), schema, _JSON)


def _element() -> tuple[SparkColumn, SparkColumn]:
    """Return the one object of a value, and the condition that it is none."""
    parsed = F.col(_PARSED)
    objects = parsed.getField("v")
    found = F.get(objects, 0)
    whole = parsed.getField("corrupt").isNull() & (parsed.getField("end") == 1) & (F.size(objects) == 1) & found.isNotNull()
    return found, F.col("value").isNotNull() & ~F.coalesce(whole, F.lit(False))


def _exact(kind: DataType) -> str:
    """Return the type by which a field is read, where its own would take more than it holds: what does not fit is seen then."""
    match kind:
        case Decimal():
            # All digits behind the point that there is room for: by its own type they would be rounded.
            return str(Decimal(_MOST_DIGITS, _MOST_DIGITS - kind.precision + kind.scale))
        case Atomic("tinyint"):
            # 200 would be -56.
            return "int"
        case Atomic("timestamp" | "timestamp_ntz" | "date"):
            # A number would be seconds since 1970, and a text nearly anything.
            return "string"
    return str(kind)


def _value(column: Column) -> SparkColumn:
    place = f"get({_PARSED}.v, 0).`{column.name.replace('`', '``')}`"
    if _exact(column.type) == str(column.type):
        return F.expr(place)
    cast = f"try_cast({place} AS {column.type})"
    form = _FORMS.get(str(column.type))
    return F.expr(f"CASE WHEN {place} RLIKE '{form}' THEN {cast} END" if form else cast)


def _misfits(found: SparkColumn, columns: Sequence[Column]) -> list[tuple[str, DataType, SparkColumn]]:
    result: list[tuple[str, DataType, SparkColumn]] = []
    for column in columns:
        read, value = found.getField(column.name), _value(column)
        if isinstance(column.type, Decimal) or column.type == Atomic("tinyint"):
            result.append((column.name, column.type, read.isNotNull() & ~F.coalesce(value == read, F.lit(False))))
        elif _exact(column.type) != str(column.type):
            result.append((column.name, column.type, read.isNotNull() & value.isNull()))
        elif column.type in (Atomic("float"), Atomic("double")):
            # Parsers give infinity for 1e999.
            result.append((column.name, column.type, F.abs(read) == float("inf")))
    return result


def _unknown(columns: Sequence[Column]) -> list[SparkColumn]:
    keys = F.json_object_keys(_TEXT)
    more = F.array_except(keys, F.array(*(F.lit(column.name) for column in columns)))
    return [
        F.when(F.size(more) > 0, F.concat(F.lit("it has fields that are no columns: "), F.array_join(more, ", "))),
        F.when(F.size(F.array_distinct(keys)) < F.size(keys), "a field stands twice in it"),
    ]

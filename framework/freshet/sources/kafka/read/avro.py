"""Records of Avro become columns: by Spark's own decoder, each by the schema that it was written with, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from freshet.registry.wire import HEADERS, Part, guid, has_several, is_framed, is_named, payload, schema_id
from freshet.types.columns import Column
from freshet.types.from_json import from_spark

_MOST_WORDS = 300
# By the default a date of before 1582 is an error; other writers than old versions of Spark count by the calendar of today.
_OPTIONS = {"mode": "PERMISSIVE", "datetimeRebaseMode": "CORRECTED"}


@dataclass(frozen=True, kw_only=True)
class Coded:
    """What of a record is Avro: its value, or its key.

    Args:
        part: The column that has it.
        columns: What is read of it.
        schemas: By id, those that it may have been written with; 0 for that of a file.
        subjects: Those whose schemas these are; none for that of a file.
        is_strict: True where it may have no field that is no column.
    """

    part: Part
    columns: Sequence[Column]
    schemas: Mapping[int, Schema]
    subjects: Sequence[str] = ()
    is_strict: bool = False

    @property
    def schema_id(self) -> str:
        """Return the column that holds the id of its schema."""
        return f"__freshet_{self.part}_schema"

    def place(self, number: int) -> str:
        """Return the column that holds what is decoded by schemas of which the same is read."""
        return f"__freshet_{self.part}_avro_{number}"


def decode_avro(raw: DataFrame, coded: Coded) -> tuple[DataFrame, list[SparkColumn], list[SparkColumn]]:
    """Decode a part of records.

    Args:
        raw: The records.
        coded: The part, and by what it is decoded.

    Returns:
        The records with what was decoded; the columns; and why a record cannot be, each null where that is not the reason.

    Raises:
        StateError: AVRO_JARS_MISSING.
    """
    _refuse_without_decoder(raw.sparkSession)
    found = branches(coded.schemas, [column.name for column in coded.columns], coded.is_strict)
    refused = dict(found.refused)
    body = payload(coded.part) if coded.subjects else coded.part
    raw = raw.withColumn(coded.schema_id, F.expr(schema_id(coded.part, _by_guid(coded.schemas)) if coded.subjects else "0"))
    ended = F.expr(f"concat({body}, X'{END}')")
    read: list[tuple[str, Mapping[str, Fitted]]] = []
    for number, group in enumerate(found.groups):
        place = coded.place(number)
        try:
            grown = raw.withColumn(place, _decoded(coded, group, ended))
            columns = _fitted(grown, place, coded.columns)
        except (AnalysisException, Py4JJavaError, ValueError) as error:
            refused |= dict.fromkeys(group.writers, cut(foreign_text(error), _MOST_WORDS))
            continue
        raw = grown
        read.append((place, columns))
    values = [_value(column, [of[column.name] for _, of in read if column.name in of]) for column in coded.columns]
    return raw, values, [*_unknown(coded), *_refused(coded, refused), *_unread(coded, read), *_misfits(coded, read)]


def _by_guid(schemas: Mapping[int, Schema]) -> dict[str, int]:
    return {schema.guid: number for number, schema in schemas.items() if schema.guid}


def _decoded(coded: Coded, group: Group, ended: SparkColumn) -> SparkColumn:
    options, number = {**_OPTIONS, "avroSchema": group.reader}, F.col(coded.schema_id)
    first, *others = ((number == F.lit(one), from_avro(ended, writer, options)) for one, writer in group.writers.items())
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


def _unknown(coded: Coded) -> list[SparkColumn]:
    if not coded.subjects:
        return []
    number, part, header = F.col(coded.schema_id), coded.part, HEADERS[coded.part]
    none = F.lit(f", which is no version of {cut(', '.join(coded.subjects), _MOST_WORDS)}")
    is_there, named, held = F.col(part).isNotNull(), F.expr(is_named(part)), F.expr(guid(part))
    return [
        F.when(is_there & F.expr(has_several(part)), f"it has several headers {header}"),
        F.when(is_there & named & held.isNull(), f"its header {header} holds no GUID of a schema"),
        F.when(is_there & named & number.isNull(), F.concat(F.lit("its schema has the GUID "), held, none)),
        F.when(is_there & ~named & ~F.expr(is_framed(part)), "it does not begin with a schema's id"),
        F.when(number.isNotNull() & ~number.isin(list(coded.schemas)), F.concat(F.lit("its schema has the id "), number, none)),
    ]


def _refused(coded: Coded, refused: Mapping[int, str]) -> list[SparkColumn]:
    return [
        F.when(F.col(coded.schema_id) == F.lit(number), f"its schema{_named(number)} cannot be read: {why}")
        for number, why in refused.items()
    ]


def _unread(coded: Coded, read: Iterable[tuple[str, object]]) -> list[SparkColumn]:
    ends = [F.col(f"{place}.end") for place, _ in read]
    if not ends:
        return []
    whole = F.coalesce(*ends).eqNullSafe(F.expr(f"X'{END}'"))
    number = F.col(coded.schema_id)
    words = F.concat(
        F.lit("its bytes are not one record of its schema"),
        F.when(number > 0, F.concat(F.lit(" (id "), number, F.lit(")"))).otherwise(""),
    )
    return [F.when(F.col(coded.part).isNotNull() & number.isNotNull() & ~whole, words)]


def _misfits(coded: Coded, read: Sequence[tuple[str, Mapping[str, Fitted]]]) -> list[SparkColumn]:
    found = []
    for column in coded.columns:
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

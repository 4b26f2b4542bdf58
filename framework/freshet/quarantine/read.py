"""Read the rows that wait in a pipeline's quarantine, so that they go through it again."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.changelog.fields import EVENT
from freshet.errors import DataError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.project.model.kafka import MESSAGE, ORIGIN, ORIGIN_TYPE
from freshet.quarantine import table as q
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import ReadQuarantine
from freshet.types.columns import Array, Map, Struct
from freshet.types.columns import Column as TargetColumn

_KEPT = (
    "topic string, partition int, offset bigint, timestamp timestamp, key string, key_base64 string, value string, "
    "value_base64 string"
)


def read_quarantine(spark: SparkSession, stage: ReadQuarantine) -> DataFrame:
    """Read waiting rows with the target's columns, as they were before they were cast where they did not fit.

    Args:
        spark: The session.
        stage: Which rows, and what is set in them.

    Raises:
        DataError: BAD_REPAIR: the condition or a repair is no SQL over the quarantine's columns.
    """
    try:
        rows = load_table(spark, stage.table.path)
        if stage.hidden_runs:
            rows = rows.where(~F.col(q.RUN).isin(list(stage.hidden_runs)))
        if stage.where:
            rows = rows.where(stage.where)
        repairs = dict(stage.repairs)
        there = {name.lower() for name in rows.columns}
        if stage.columns == MESSAGE:
            found = messages_of(rows)
        else:
            columns = [_value(column, repairs, there).alias(column.name) for column in stage.columns]
            found = rows.select(*columns, F.col(q.ID))
        found.schema  # noqa: B018 - analysed here, so that its error is named
    except (AnalysisException, ParseException) as error:
        raise DataError(
            "BAD_REPAIR",
            f"{stage.table.name}: {foreign_text(error)}",
            "Nothing was read or written.",
            "Name columns of the quarantine in --where and --repair: freshet quarantine show prints them.",
        ) from error
    return found


def messages_of(rows: DataFrame) -> DataFrame:
    """Return messages as they came, with their ids; a row of the quarantine that is none of them is left out.

    Args:
        rows: Rows of the quarantine, which keep a message as JSON: see ``sources.kafka.read.decode.original``.
    """
    # What the DDL refuses of an event stands there as the row that it is.
    of_messages = rows.where(F.get_json_object(q.ROW, f"$.{EVENT}").isNull())
    kept = of_messages.select(F.col(q.ID), F.from_json(F.col(q.ROW), _KEPT).alias("kept")).where("kept.offset IS NOT NULL")
    told: dict[str, Column] = {name: F.col(f"kept.{name}") for name in ("topic", "partition", "offset", "timestamp")}
    told |= {"key": _bytes("key"), "tombstone": _bytes("value").isNull()}
    origin = F.struct(*(told.get(name, F.lit(None)).cast(str(kind)).alias(name) for name, kind in ORIGIN_TYPE.fields))
    return kept.select(_bytes("value").alias("value"), origin.alias(ORIGIN), F.col(q.ID))


def _bytes(name: str) -> Column:
    return F.coalesce(F.col(f"kept.{name}").cast("binary"), F.unbase64(f"kept.{name}_base64"))


def _value(column: TargetColumn, repairs: dict[str, str], there: set[str]) -> Column:
    if column.name in repairs:
        return F.expr(repairs[column.name])
    if column.name == IS_DELETED:
        return F.lit(False)
    kept = F.col(f"`{column.name}`") if column.name.lower() in there else F.lit(None)
    if isinstance(column.type, Array | Map | Struct) or str(column.type) == "binary":
        return kept
    # A value that did not fit is null here, and stands in the row as it was: by a wider column it may fit now.
    original = F.get_json_object(q.ROW, f"$.{column.name}")
    return F.coalesce(kept.cast("string"), original)

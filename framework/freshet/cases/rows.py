"""Rows of test cases as DataFrames."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from freshet.cases.values import RowSet
from freshet.hudi.options import IS_DELETED
from freshet.types.columns import Array, Atomic, Column, DataType, Map, Struct
from freshet.types.from_json import type_to_spark


def frame(spark: SparkSession, columns: Sequence[Column], rows: RowSet | None, marked: bool = False) -> DataFrame:
    """Return given rows as a DataFrame.

    Args:
        spark: The session.
        columns: The table's columns.
        rows: The rows; None for none.
        marked: True where a row says by ``_hoodie_is_deleted`` that it was deleted, and it was not where it says nothing.
    """
    return frame_of(spark, columns, rows.rows if rows else (), {IS_DELETED: False} if marked else {})


def frame_of(
    spark: SparkSession,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    absent: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return typed rows as a DataFrame.

    Args:
        spark: The session.
        columns: The columns, all nullable.
        rows: Values by column, in the form that ``RowSet`` has.
        absent: What a null stands for, by column.
    """
    instead = absent or {}
    fields = [{"name": c.name, "type": type_to_spark(c.type), "nullable": True, "metadata": {}} for c in columns]
    row_type = StructType.fromJson({"type": "struct", "fields": fields})
    values = [{c.name: instead.get(c.name) if row.get(c.name) is None else row[c.name] for c in columns} for row in rows]
    if not all(_fits_json(c.type) for c in columns):
        return spark.createDataFrame([tuple(row.values()) for row in values], row_type)
    # As one literal: rows of Python would go through a process of Python at every scan, and Spark would know no size of them.
    text = json.dumps([{c.name: _json_value(row[c.name], c.type) for c in columns} for row in values])
    return spark.range(1).select(F.inline(F.from_json(F.lit(text), ArrayType(row_type), {"mode": "FAILFAST"})))


def _fits_json(kind: DataType) -> bool:
    # Spark reads no map from JSON whose keys are not text.
    match kind:
        case Map(key, inner):
            return key == Atomic("string") and _fits_json(inner)
        case Array(element):
            return _fits_json(element)
        case Struct(parts):
            return all(_fits_json(inner) for _, inner in parts)
    return True


def _json_value(value: Any, kind: DataType) -> Any:
    match value, kind:
        case None, _:
            return None
        case list(), Array(element):
            return [_json_value(item, element) for item in value]
        case dict(), Map(_, inner):
            return {key: _json_value(item, inner) for key, item in value.items()}
        case tuple(), Struct(parts):
            return {name: _json_value(item, inner) for (name, inner), item in zip(parts, value, strict=True)}
        case bytes() | bytearray(), _:
            return base64.b64encode(value).decode()
        case bool() | int() | str(), _:
            return value
        case float(), _:
            return value if math.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")
        case datetime(), _:
            return value.isoformat()
    return str(value)

"""DataFrames of a few rows, made within Java.

``createDataFrame`` sends rows through two processes of Python, whenever they are read: four times the CPU of all the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from freshet.cases.rows import frame_of
from freshet.types.columns import Column, Struct
from freshet.types.from_sql import parse_type


def frame(spark: SparkSession, rows: Iterable[Sequence[Any]], schema: str) -> DataFrame:
    """Return rows as a DataFrame.

    Args:
        spark: The session.
        rows: Values in the order of the columns, as Python has them; a struct is a tuple.
        schema: The columns as ``CREATE TABLE`` names them, with commas between.
    """
    columns = _columns(schema)
    return frame_of(spark, columns, [dict(zip((c.name for c in columns), row, strict=True)) for row in rows])


@cache
def _columns(schema: str) -> tuple[Column, ...]:
    kind = parse_type(f"STRUCT<{schema}>")
    assert isinstance(kind, Struct), schema
    return tuple(Column(name=name, type=inner) for name, inner in kind.fields)

"""Read files with Spark: CSV and JSON as the texts that stand there, so that nothing is lost before it is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F

from freshet.landing.files import Files, Group
from freshet.types.columns import Array, Atomic, Column, DataType, Map, Struct
from freshet.types.from_json import from_spark

#: Column that says which file a row is from, as a URL.
FILE = "__freshet_file"
# Spark takes a path for a pattern.
_PATTERN = re.compile(r"([\\*?\[\]{}])")
_ANY: dict[str, str] = {"mode": "FAILFAST"}
# A value in quotes may hold a line's end, and a quote is written twice there (RFC 4180).
_CSV: dict[str, str] = {**_ANY, "header": "true", "multiLine": "true", "escape": '"', "unescapedQuoteHandling": "RAISE_ERROR"}


def columns_of(spark: SparkSession, files: Files, group: Group) -> tuple[Column, ...]:
    """Return the columns of a group of files, with the types that their format gives them.

    Of CSV every column is a text, and of JSON what is no list and no object.

    Args:
        spark: The session.
        files: All of the files.
        group: Some of them.

    Raises:
        ValueError: A type is none that a table can hold.
    """
    if files.format == "csv":
        return tuple(Column(name=name, type=Atomic("string")) for name in group.columns)
    rows = (
        _reader(spark, files, group).parquet(*_paths(group))
        if files.format == "parquet"
        else _reader(spark, files, group).json(list(_paths(group)))
    )
    found = from_spark(rows.schema.json())
    if files.format == "parquet":
        # Times without a zone are taken for UTC, as everywhere.
        return tuple(
            Column(name=c.name, type=Atomic("timestamp") if c.type == Atomic("timestamp_ntz") else c.type) for c in found
        )
    return found


def read_group(spark: SparkSession, files: Files, group: Group, types: Mapping[str, DataType]) -> DataFrame:
    """Read a group of files; a row that cannot be parsed fails the job that reads it.

    Args:
        spark: The session.
        files: All of the files.
        group: Some of them.
        types: The files' columns by name; of CSV and JSON, what is no list and no object is read as text.

    Returns:
        These columns, and which file each row is from.
    """
    reader, paths = _reader(spark, files, group), _paths(group)
    if files.format == "parquet":
        rows = reader.parquet(*paths).select(*(F.col(f"`{name}`") for name in types))
    else:
        reader = reader.schema(
            ", ".join(f"`{name.replace('`', '``')}` {kind if is_nested(kind) else 'string'}" for name, kind in types.items())
        )
        rows = reader.csv(list(paths)) if files.format == "csv" else reader.json(list(paths))
    return rows.withColumn(FILE, F.input_file_name())


def unclosed(spark: SparkSession, files: Files) -> str:
    """Return a CSV file with a quote that nothing closes, as a URL; empty where there is none.

    Spark takes the rest of such a file for the last value of a row, and says nothing (3.5.7).
    """
    if files.format != "csv":
        return ""
    lines = spark.read.text([path for group in files.groups for path in _paths(group)])
    quotes = F.sum(F.length("value") - F.length(F.replace(F.col("value"), F.lit('"'), F.lit(""))))
    odd = lines.groupBy(F.input_file_name().alias(FILE)).agg(quotes.alias("quotes")).where("quotes % 2 <> 0").first()
    return str(odd[FILE]) if odd is not None else ""


def is_nested(kind: DataType) -> bool:
    """Say whether a type is a list, a map or a struct."""
    return isinstance(kind, Array | Map | Struct)


def lost_fields(natural: DataType, declared: DataType) -> str:
    """Return a field of an object in JSON that the declared type has no place for, and Spark would leave out; else nothing.

    Args:
        natural: The type as the files have it.
        declared: The table's.
    """
    match natural, declared:
        case Struct(found), Struct(wanted):
            known = {name.lower(): kind for name, kind in wanted}
            for name, kind in found:
                if name.lower() not in known:
                    return name
                if inner := lost_fields(kind, known[name.lower()]):
                    return f"{name}.{inner}"
        case Struct(found), Map(_, item):
            return next((f"{name}.{inner}" for name, kind in found if (inner := lost_fields(kind, item))), "")
        case Array(one), Array(other):
            return lost_fields(one, other)
    return ""


def may_be_read(natural: DataType, declared: DataType) -> bool:
    """Say whether values of JSON can be read as the declared type, if their texts fit."""
    if not is_nested(declared):
        # A list or an object is kept as its text.
        return not is_nested(natural) or declared == Atomic("string")
    if natural == Atomic("string"):
        # As Spark calls a column that is null everywhere.
        return True
    kinds = {Array: (Array,), Struct: (Struct,), Map: (Struct, Map)}[type(declared)]
    return isinstance(natural, kinds)


def _reader(spark: SparkSession, files: Files, group: Group) -> DataFrameReader:
    if files.format == "csv":
        return spark.read.options(**_CSV, sep=files.delimiter)
    return spark.read.options(**_ANY, multiLine=str(group.whole).lower()) if files.format == "json" else spark.read


def _paths(group: Group) -> tuple[str, ...]:
    return tuple(_PATTERN.sub(r"\\\1", path) for path in group.files)

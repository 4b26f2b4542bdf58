"""The columns of files: as they are, and those that a new table gets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError
from freshet.hudi.options import IS_DELETED
from freshet.landing.file_rows import FILE, columns_of, is_nested, read_group, unclosed
from freshet.landing.files import Files, Group
from freshet.landing.heads import shown
from freshet.landing.odd_lines import told_of
from freshet.landing.plan import GENERATED, MARK, UNTOUCHED
from freshet.landing.texts import guess_types
from freshet.problems import did_you_mean
from freshet.types.columns import PLAIN_NAME, Atomic, Column, DataType


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is said of columns besides their types.

    Args:
        key, ordering, partition_by: Of a new table.
        generated: True where the ordering column is none of the files'.
    """

    key: tuple[str, ...]
    ordering: str
    partition_by: tuple[str, ...]
    generated: bool


def columns_for(
    spark: SparkSession,
    files: Files,
    declared: Sequence[Column],
    asked: Asked,
    table: str,
    told: list[str],
) -> tuple[Column, ...]:
    """Return the columns that a new table gets: as declared, else as the files have them.

    Args:
        spark: The session.
        files: The files.
        declared: Columns whose types are said.
        asked: What else is said.
        table: Its name.
        told: Receives what a person should know.

    Raises:
        DataError: BAD_NAME, UNKNOWN_COLUMN, UNSUPPORTED_TYPE, FILES_DIFFER or ROW_UNREADABLE.
    """
    said = {c.name.lower(): c for c in declared}
    natural = [natural_columns(spark, files, group) for group in files.groups]
    names = list(dict.fromkeys(c.name for columns in natural for c in columns))
    known = {name.lower() for name in names}
    for name, column in said.items():
        if name not in known and name not in (GENERATED, IS_DELETED):
            raise DataError(
                "UNKNOWN_COLUMN",
                f"{table}: no file has the column {column.name} of --columns.",
                UNTOUCHED,
                did_you_mean(column.name, names),
                column=column.name,
            )
        if files.format == "csv" and (is_nested(column.type) or column.type == Atomic("binary")):
            raise DataError(
                "UNSUPPORTED_TYPE",
                f"{table}: {column.name} of a CSV file cannot be read as {column.type}.",
                UNTOUCHED,
                "Land it as STRING.",
                column=column.name,
            )
    kinds: dict[str, DataType] = {}
    for column in (c for columns in natural for c in columns):
        wanted = said[column.name.lower()].type if column.name.lower() in said else column.type
        before = kinds.setdefault(column.name, wanted)
        if before != wanted:
            raise DataError(
                "FILES_DIFFER",
                f"{table}: {column.name} is {before} in one file and {wanted} in another.",
                UNTOUCHED,
                f'Say which it shall be: --columns "{column.name} {str(before).upper()}"',
                column=column.name,
            )
    open_ones = [
        n
        for n, k in kinds.items()
        if files.format != "parquet" and k == Atomic("string") and n.lower() not in said and n.lower() != IS_DELETED
    ]
    refuse_unclosed(spark, files, table)
    if open_ones:
        texts = reduce(
            DataFrame.unionByName,
            (
                read_group(spark, files, group, {c.name: c.type for c in columns}).select(
                    FILE, *(c.name for c in columns if c.name in open_ones)
                )
                for group, columns in zip(files.groups, natural, strict=True)
            ),
        )
        guessed, odd = guess_types(texts, open_ones, files.format == "json", FILE)
        kinds |= guessed
        told += told_of(odd, files, table)
    found = [
        Column(name=said[n.lower()].name if n.lower() in said else n, type=k)
        for n, k in kinds.items()
        if n.lower() != IS_DELETED
    ]
    if asked.generated:
        found.append(Column(name=GENERATED, type=Atomic("timestamp")))
    return (*found, MARK)


def refuse_unclosed(spark: SparkSession, files: Files, table: str) -> None:
    """Refuse a CSV file in which a quote is never closed.

    Raises:
        DataError: ROW_UNREADABLE.
    """
    url = unclosed(spark, files)
    if url:
        file = shown(unquote(url.removeprefix("file://")))
        raise DataError(
            "ROW_UNREADABLE",
            f"{table}: {file} has an odd number of quotes: one is never closed.",
            UNTOUCHED,
            'Close it; a quote that belongs to a value is written twice, and the value within quotes: "5"" wide".',
            file=file,
        )


def natural_columns(spark: SparkSession, files: Files, group: Group) -> tuple[Column, ...]:
    """Return the columns of a group of files as the files have them.

    Raises:
        DataError: BAD_NAME or UNSUPPORTED_TYPE.
    """
    try:
        columns = columns_of(spark, files, group)
        bad = next((c.name for c in columns if not PLAIN_NAME.fullmatch(c.name)), None)
        if bad is None:
            return columns
        raise DataError(
            "BAD_NAME",
            f"{shown(group.files[0])} has a column '{bad[:80]}', which no table of Hudi can have.",
            UNTOUCHED,
            "Write it with the letters A to Z, digits and '_', no digit first.",
            file=group.files[0],
            column=bad,
        )
    except ValueError as error:
        raise DataError(
            "UNSUPPORTED_TYPE",
            f"{shown(group.files[0])}: {error}.",
            UNTOUCHED,
            "Write it as text or a number.",
            file=group.files[0],
        ) from error

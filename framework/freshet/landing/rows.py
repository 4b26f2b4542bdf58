"""The rows of files as a table's: columns matched by name, types made, what does not fit refused with file and column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError, FreshetError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.landing.columns import Asked, natural_columns, refuse_unclosed
from freshet.landing.file_rows import FILE, is_nested, lost_fields, may_be_read, read_group
from freshet.landing.files import Files, Group, named
from freshet.landing.heads import shown
from freshet.landing.misfits import in_words as misfits_in_words
from freshet.landing.misfits import misfits_of, with_lines
from freshet.landing.plan import UNTOUCHED
from freshet.landing.texts import with_types
from freshet.plan.row_parts import enforce_schema_stage
from freshet.problems import did_you_mean
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.quality.contract import enforce_schema
from freshet.quality.refusals import refused_in
from freshet.sinks.failures import in_words
from freshet.types.columns import Atomic, Column, Fit, fit

_FILE_READ = re.compile(r"[Ee]ncountered error while reading file (?P<file>\S+?)\.?(?:\s|$)")
_TORN, _QUOTE = re.compile(r"Malformed CSV record: (.*)"), "Unescaped quote character"
_MALFORMED = (_QUOTE, "Malformed records are detected", "Malformed CSV record")
_OF_TEXTS = ("NOT_OF_TYPE", "OVERFLOW", "BAD_BYTES")
_TO_DO = {
    "OVERFLOW": "Mend the row; or give the column of a new table another type by --columns.",
    "NOT_OF_TYPE": "Write it so; or land the column of a new table as STRING by --columns, and convert it in the SQL.",
    "BAD_BYTES": "Convert the file: iconv -f LATIN1 -t UTF-8 FILE",
    "BAD_PARTITION": "Mend the row, or partition the table by another column.",
    "KEY_AMBIGUOUS": "Mend the row, or make one column of the key's parts.",
    "NULL_VALUE": "Mend the row.",
}


def batch_of(
    spark: SparkSession,
    files: Files,
    spec: PipelineSpec,
    asked: Asked,
    looked_at: bool = True,
) -> tuple[DataFrame, list[str]]:
    """Return the files' rows with the table's columns and types, and which file each is from; and what a person should know.

    Args:
        spark: The session.
        files: The files.
        spec: The table.
        asked: What is said of columns.
        looked_at: Whether the files are to be looked at for quotes that nothing closes; ``columns_for`` has done so.

    Raises:
        DataError: UNKNOWN_COLUMN, COLUMN_MISSING or TYPE_DIFFERS.
    """
    ordering = spec.target.ordering_field
    own = (IS_DELETED, *((ordering,) if asked.generated else ()))
    told: list[str] = []
    parts = []
    if looked_at:
        refuse_unclosed(spark, files, spec.name)
    for group in files.groups:
        columns = natural_columns(spark, files, group)
        _match(files, group, spec, columns, own, told)
        parts.append(_group_rows(spark, files, group, spec, columns))
    rows = reduce(DataFrame.unionByName, parts)
    if asked.generated and ordering not in rows.columns:
        rows = rows.withColumn(ordering, F.current_timestamp())
    # What must not be null is counted, and refused with its number.
    stage = replace(enforce_schema_stage(spec), required=())
    return enforce_schema(rows, stage, "the table", keep=(FILE,)), told


def failed_read(ref: TableRef, error: Exception, files: Files) -> FreshetError:
    """Return the error of files that could not be read, with the file, as far as it is known, and the cause."""
    text = str(error)
    found, torn = _FILE_READ.search(text), _TORN.search(text)
    if refused_in(text) is not None or (found is None and not any(words in text for words in _MALFORMED)):
        return of_files(in_words(ref, text, reading=True), files)
    file = shown(unquote(found["file"].removeprefix("file://"))) if found else named(files)
    cause = foreign_text(error)
    if _QUOTE in text:
        cause = "a quote stands within quotes, where it is written twice"
    elif torn is not None:
        cause = f"the row {torn[1][:200]} has another number of values than the header"
    return DataError(
        "ROW_UNREADABLE",
        f"{ref.name}: {file} cannot be read: {cause}.",
        UNTOUCHED,
        "Mend the row."
        if files.format != "csv"
        else "Mend the file: each row has as many values as the header, "
        "and a value that holds a quote or a line's end stands in quotes.",
        file=file,
        cause=cause,
    )


def of_files(error: FreshetError, files: Files) -> FreshetError:
    """Return an error of a refused value with its file, and with what is to be done about it."""
    if error.code not in _TO_DO:
        return error
    # A value that was a text names its file.
    bare = [path for path in files.paths if error.message.endswith(f" of {path.rpartition('/')[2]}.")]
    at = "" if bare else f"{named(files)}: "
    message = error.message
    if len(bare) == 1:
        message = f"{message.removesuffix(bare[0].rpartition('/')[2] + '.')}{shown(bare[0])}."
    return type(error)(error.code, f"{at}{message}", UNTOUCHED, _TO_DO[error.code], **error.details)


def with_misfits(spark: SparkSession, error: FreshetError, files: Files, spec: PipelineSpec) -> FreshetError:
    """Return the error of a refused value with the first values that are refused, and their lines.

    Args:
        spark: The session.
        error: See ``failed_read``; any other one is returned as it is.
        files: The files.
        spec: The table.
    """
    if error.code not in _OF_TEXTS:
        return error
    try:
        found = with_lines(misfits_of(spark, files, spec), files)
    except (Py4JJavaError, PySparkException):
        # What was found first is told all the same.
        return error
    details = [{"file": one.file, "line": one.line or None, "column": one.column, "value": one.value} for one in found]
    return type(error)(
        error.code, f"{error.message}{misfits_in_words(found)}", error.effect, error.next_step, **error.details, values=details
    )


def _match(
    files: Files,
    group: Group,
    spec: PipelineSpec,
    columns: Sequence[Column],
    own: Sequence[str],
    told: list[str],
) -> None:
    table, file = spec.target, shown(group.files[0])
    wanted = {c.name.lower(): c for c in table.columns}
    there = {c.name.lower() for c in columns}
    for column in columns:
        name = wanted.get(column.name.lower())
        if name is None:
            raise DataError(
                "UNKNOWN_COLUMN",
                f"{file} has a column {column.name}, and {spec.name} has none.",
                UNTOUCHED,
                f"{did_you_mean(column.name, [c.name for c in table.columns])} Leave the column out, or land the file in a "
                "table of its own.",
                file=group.files[0],
                column=column.name,
            )
        if not _fits(files, column, name):
            lost = lost_fields(column.type, name.type) if files.format == "json" else ""
            raise DataError(
                "TYPE_DIFFERS",
                f"{file}: {column.name} is {str(column.type)[:80]}, and in {spec.name} {str(name.type)[:80]}"
                + (f", which has no {lost}." if lost else "."),
                UNTOUCHED,
                "Write the file with the table's type.",
                file=group.files[0],
                column=column.name,
            )
    missing = [c.name for c in table.columns if c.name.lower() not in there and c.name not in own]
    located = [name for name in missing if name in (*table.record_key, *table.partition_by, table.ordering_field)]
    if missing and (located or files.format != "json"):
        raise DataError(
            "COLUMN_MISSING",
            f"{file} has no column {', '.join(located or missing)}, which {spec.name} has: its rows would lose the value.",
            UNTOUCHED,
            did_you_mean((located or missing)[0], [c.name for c in columns])
            if located
            else "Write the column, with nothing in it where the value is null.",
            file=group.files[0],
            column=(located or missing)[0],
        )
    if missing:
        told.append(f"COLUMN_ABSENT: no row of {file} has {', '.join(missing)}: null in all of them")


def _fits(files: Files, column: Column, wanted: Column) -> bool:
    if files.format == "csv":
        return not is_nested(wanted.type) and wanted.type != Atomic("binary")
    if files.format == "json":
        return may_be_read(column.type, wanted.type) and not lost_fields(column.type, wanted.type)
    return fit(column.type, wanted.type) is not Fit.NO


def _group_rows(
    spark: SparkSession,
    files: Files,
    group: Group,
    spec: PipelineSpec,
    columns: Sequence[Column],
) -> DataFrame:
    wanted = {c.name.lower(): c for c in spec.target.columns}
    of_table = {c.name: wanted[c.name.lower()].type for c in columns}
    rows = read_group(spark, files, group, of_table)
    if files.format != "parquet":
        simple = {name: kind for name, kind in of_table.items() if not is_nested(kind)}
        by_lower = {name.lower(): name for name in of_table}
        key = {name: by_lower[name.lower()] for name in spec.target.record_key}
        rounded = [c.name for c in columns if c.type == Atomic("double")]
        rows = with_types(rows, simple, key, FILE, rounded)
    names = {c.name: wanted[c.name.lower()].name for c in columns}
    rows = rows.select(*(F.col(f"`{name}`").alias(to) for name, to in names.items()), FILE)
    absent = [c for c in spec.target.columns if c.name not in names.values() and c.name != spec.target.ordering_field]
    return rows.withColumns({c.name: F.lit(None).cast(str(c.type)) for c in absent})

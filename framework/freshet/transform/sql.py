"""Run a SQL file's statements over the views of the run; an error names the file, line and column."""

from __future__ import annotations

import re

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError, foreign_text
from freshet.plan.stages import RunSql
from freshet.project.syntax.statements import INSTANT_PLACE, Statement

_PLACE = re.compile(r"\(?line (\d+),? pos(?:ition)? (\d+)\)?")
_NAMED = re.compile(r"with name `?(.+?)`? cannot be resolved")


def run_sql(spark: SparkSession, stage: RunSql, instant: str) -> DataFrame:
    """Run the statements in order.

    Args:
        spark: The session that holds the views ``SRC`` and the other inputs.
        stage: The file and its statements.
        instant: Completion time up to which the main source is read; what ``<SRC_INSTANT>`` stands for.

    Returns:
        The last statement's result.

    Raises:
        DataError: SQL_ERROR, with file, line and column.
    """
    result: DataFrame | None = None
    for statement in stage.statements:
        try:
            result = spark.sql(statement.text.replace(INSTANT_PLACE, instant or "0"))
        except (AnalysisException, ParseException) as error:
            raise _located(stage.file, statement, error, instant) from error
    if result is None:
        raise DataError("EMPTY_SQL", f"{stage.file} holds no statement.", "Nothing was written.")
    return result


def _located(file: str, statement: Statement, error: AnalysisException | ParseException, instant: str) -> DataError:
    text = str(error)
    place = _PLACE.search(text)
    # Spark counts lines from 1 and columns from 0, within the statement; the statement keeps its column in the file.
    line = statement.line + int(place[1]) - 1 if place else statement.line
    column = _column_in_file(statement, int(place[1]), int(place[2]), instant) + 1 if place else 1
    sentence = foreign_text(error)
    named = _NAMED.search(sentence)
    return DataError(
        "SQL_ERROR",
        f"{file}:{line}:{column}: {sentence}",
        "Nothing was written, and the checkpoint stays.",
        "Mend the file; `freshet validate --deep` looks at the SQL of all pipelines without a run.",
        file=file,
        line=line,
        column=column,
        name=named[1] if named else "",
    )


def _column_in_file(statement: Statement, line: int, position: int, instant: str) -> int:
    # The instant's digits are not as long as the mark in the file that they stand for.
    longer = len(instant or "0") - len(INSTANT_PLACE)
    for mark in re.finditer(re.escape(INSTANT_PLACE), statement.text.split("\n")[line - 1]):
        if position >= mark.end() + longer:
            position -= longer
    return position

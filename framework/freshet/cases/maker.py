"""Make a test case out of a few real rows: what they are now, and what the transformation makes of them now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.cases.case import SOURCE, Case, Shape, fixture_file, schema_unknown
from freshet.cases.differences import plain_value
from freshet.cases.rows import frame
from freshet.cases.run import transformed
from freshet.cases.session import small, small_session
from freshet.cases.text import case_lines, table_line, with_case
from freshet.cases.values import RowSet
from freshet.errors import DataError, StateError
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.kafka import KAFKA
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.project.model.records import RecordsSpec
from freshet.project.syntax.files import Place
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.source import HudiSource
from freshet.sources.registry import source_of
from freshet.types.columns import Column

# An input of which one row of the source matches thousands is not to fill the file.
_MOST_PER_ROW = 10


def make_case(
    project: Project,
    spec: PipelineSpec,
    shapes: Mapping[str, Shape],
    declared: Collection[str],
    name: str,
    rows: int,
    state: StateReader,
) -> str:
    """Add a case of real rows to the pipeline's file of cases.

    Args:
        project: The project.
        spec: The pipeline.
        shapes: The columns of ``SRC`` and the inputs.
        declared: Names of those that need no declaration in the file.
        name: The case's name.
        rows: How many rows of the source.
        state: Reader of the tables.

    Returns:
        The file, relative to the project.

    Raises:
        StateError: SOURCE_MISSING or EVENTS_HAVE_NO_CASES.
        DataError: SCHEMA_UNKNOWN.
        FreshetError: CASE_EXISTS or NOT_APPENDABLE, before anything is read; what the transformation raises.
    """
    file = fixture_file(spec.name)
    path = Path(project.root) / file
    text = path.read_text("utf-8") if path.is_file() else ""
    # Refused before Spark starts.
    with_case(file, text, name, [f"{name}: {{expect: {{rows: []}}}}"], [])
    if spec.source.changelog is not None:
        raise StateError(
            "EVENTS_HAVE_NO_CASES",
            f"{spec.name}: a case gives rows to a transformation, and a changelog has none.",
            "Nothing was read or written.",
            f"Look at what the next run would change: freshet preview {spec.name}",
        )
    if isinstance(spec.source, RecordsSpec):
        raise StateError(
            "TOPIC_HAS_NO_KEYS" if spec.source.kind == KAFKA else "FILES_HAVE_NO_KEYS",
            f"{spec.name}: the rows that belong together are found by their keys, and records of topics and files have none.",
            "Nothing was read or written.",
            f"Write the case by hand: {file}",
        )
    source = source_of(spec, state)
    assert isinstance(source, HudiSource), "the newest rows are those of a commit"
    for read in (SOURCE, *(item.name for item in spec.inputs)):
        if read not in shapes:
            said, advice = schema_unknown(spec.name, read)
            raise DataError("SCHEMA_UNKNOWN", said, "Nothing was run.", advice)
    spec = small(spec)
    spark = small_session(spec.spark_conf)
    given = {SOURCE: _rows(_newest(spark, source.table, rows), shapes[SOURCE])}
    increment = frame(spark, shapes[SOURCE].columns, given[SOURCE])
    for item in spec.inputs:
        table = load_table(spark, item.table.path) if state.table(item.table) is not None else None
        if table is not None and item.name in shapes:
            found = _matching(table, shapes[item.name], increment, shapes[SOURCE], rows)
            given[item.name] = _rows(found, shapes[item.name])
    case = Case(
        name=name, place=Place(file, 0), given=given, target=None, variables={}, source_instant="", rows=None, after=None
    )
    result = transformed(spark.newSession(), project, spec, case, shapes)
    columns = [c for c in spec.target.columns if c.name in result.columns]
    expected = _rows(result, Shape(columns=tuple(columns)))
    lines = case_lines(name, {table: (shapes[table].columns, held) for table, held in given.items()}, columns, expected)
    tables = [table_line(table, shapes[table]) for table in given if table not in declared]
    made = with_case(file, text, name, lines, tables)
    path.parent.mkdir(exist_ok=True)
    path.write_text(made, encoding="utf-8")
    return file


def _newest(spark: SparkSession, source: TableState, rows: int) -> DataFrame:
    begin, counted = "", 0
    for instant in reversed(source.data_commits):
        begin, info = instant.requested, source.info(instant)
        counted += info.inserts + info.updates
        if counted >= rows:
            break
    table = spark.read.format("hudi").load(source.ref.path)
    # By the newest commits alone, so that a large table is not sorted for a handful of rows.
    newest = table.where(F.col("_hoodie_commit_time") >= begin)
    return newest.orderBy(F.desc("_hoodie_commit_time"), "_hoodie_record_key").limit(rows)


def _matching(table: DataFrame, shape: Shape, increment: DataFrame, source: Shape, rows: int) -> DataFrame:
    shared = {c.name for c in shape.columns} & {c.name for c in source.columns}
    by = [name for name in dict.fromkeys((*shape.record_key, *source.record_key)) if name in shared]
    if not by:
        return table.limit(rows)
    return table.join(F.broadcast(increment.select(*by).distinct()), by, "left_semi").limit(rows * _MOST_PER_ROW)


def _rows(table: DataFrame, shape: Shape) -> RowSet:
    columns: list[Column] = [c for c in shape.columns if c.name in table.columns]
    found = table.select(*(f"`{c.name}`" for c in columns)).collect()
    return RowSet(
        tuple(c.name for c in columns),
        tuple({c.name: plain_value(value, c.type) for c, value in zip(columns, row, strict=True)} for row in found),
    )

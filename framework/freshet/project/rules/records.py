"""What the rows of topics and of files are, and what a pipeline cannot do with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from freshet.problems import Problems, did_you_mean
from freshet.project.model.files import FilesSpec
from freshet.project.model.kafka import KEY, OF_COLUMNS, KafkaSpec
from freshet.project.model.pipeline import InputSpec, TableSpec
from freshet.project.model.records import RecordsSpec
from freshet.project.model.steps import TransformSpec, WriteSpec
from freshet.project.shape.source import Source
from freshet.project.syntax.files import Place
from freshet.project.syntax.statements import INSTANT_PLACE
from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct

_IS_DELETED = "_hoodie_is_deleted"
_MOST_DIGITS = 28
_PLAIN = ("string", "int", "bigint", "smallint", "tinyint", "float", "double", "boolean", "binary", "date", "timestamp")
_DECIMAL = re.compile(r"decimal\(([1-9][0-9]?), ?([0-9][0-9]?)\)")
# Of a column of its own each value is compared with what JSON has; Spark's parser alone changes some in silence.
_CHECKED = (Atomic("tinyint"), Atomic("timestamp"), Atomic("timestamp_ntz"), Atomic("date"))
PlaceOf = Callable[..., Place]
Records = TypeVar("Records", bound=RecordsSpec)


def with_columns(spec: Records, declared: Source | None, table: TableSpec, place: PlaceOf, problems: Problems) -> Records:
    """Return records with the columns of their values: those that are declared, else those of the target.

    Args:
        spec: The source.
        declared: What stands under ``source:``.
        table: The target.
        place: Gives the place of a path of keys.
        problems: Receives UNSUPPORTED_TYPE, BAD_NAME, CONFLICTING_SETTING and NOT_SUPPORTED.
    """
    at = place("source", "columns")
    if isinstance(spec, KafkaSpec) and spec.format not in OF_COLUMNS:
        if declared is not None and declared.columns is not None:
            said = f"source.columns are of JSON and Avro, and the format is {spec.format}."
            problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Remove them, or write 'format: json'.")
        return spec
    if declared is None or declared.columns is None:
        columns = tuple(
            Column(name=column.name, type=column.type) for column in table.columns if column.name.lower() != _IS_DELETED
        )
        line_of = {column.name: (table.file, table.column_lines.get(column.name, 1)) for column in columns}
    else:
        columns = tuple(declared_columns(declared.columns, place, problems, "source", "columns"))
        line_of = {column.name: (at.file, place("source", "columns", column.name).line) for column in columns}
    names = [column.name.lower() for column in columns]
    for column in columns:
        file, line = line_of[column.name]
        is_taken = column.name.lower() == spec.origin.name or (
            column.name.lower() == KEY and declared is not None and bool(declared.key)
        )
        if is_taken or names.count(column.name.lower()) > 1:
            hint = f"Rename it in 'source: {{columns: ...}}'; {spec.origin.name} says where a record came from."
            problems.add(
                file, line, "BAD_NAME", f"'{column.name[:80]}' cannot be a column of a record: the name is taken.", hint
            )
        wrong = _inexact(column.type) if _is_text(spec) else ""
        if wrong:
            hint = "Declare it in 'source: {columns: ...}' as string, and cast it in the SQL."
            said = f"'{column.name[:80]}' is {column.type}: {wrong}."
            problems.add(file, line, "NOT_SUPPORTED", said, hint)
    return replace(spec, columns=columns)


def check_records(
    spec: RecordsSpec,
    table: TableSpec,
    inputs: tuple[InputSpec, ...],
    write: WriteSpec,
    steps: Iterable[TransformSpec],
    place: PlaceOf,
    problems: Problems,
    *,
    event_time: str,
) -> None:
    """Refuse what a pipeline cannot do with records.

    Args:
        spec: The source.
        table: The target.
        inputs: The other inputs.
        write: How the batch reaches the target.
        steps: What makes it.
        place: Gives the place of a path of keys.
        problems: Receives CONFLICTING_SETTING, UNKNOWN_COLUMN and NOT_SUPPORTED.
        event_time: By which a backfill cuts records; empty where none is declared.
    """
    ways = {"files": ("modified", "path"), "kafka": ("timestamp", "offset")}[spec.kind]
    own, order = (f"{spec.origin.name}.{one}" for one in ways)
    if event_time and event_time.lower() not in (own, *(column.name.lower() for column in spec.columns)):
        at = place("backfill")
        known = (own, *(column.name for column in spec.columns))
        said = f"backfill.event_time: '{event_time[:80]}' is no column of a record."
        problems.add(at.file, at.line, "UNKNOWN_COLUMN", said, did_you_mean(event_time, known))
    for step in steps:
        for statement in step.statements:
            if INSTANT_PLACE in statement.text:
                hint = f"Order rows by {order} or {own}."
                said = "<SRC_INSTANT> is a time of a table's commits, and topics and files have none."
                problems.add(step.file, statement.line, "NOT_SUPPORTED", said, hint)
    for one in inputs:
        if one.drives:
            at = place("inputs", one.name, "drives")
            hint = "Remove it, or land the records in a raw table by a pipeline of its own, and let that be the main source."
            said = f"inputs.{one.name}.drives: records of topics and files cannot be found by a key."
            problems.add(at.file, at.line, "NOT_SUPPORTED", said, hint)
    if spec.tombstones == "delete":
        declared = any(column.name.lower() == _IS_DELETED for column in table.columns)
        owned = write.strategy == "rows" or _IS_DELETED in {column.lower() for column in write.columns}
        if not (declared and owned):
            at = place("source", "tombstones")
            hint = f"Add `{_IS_DELETED} BOOLEAN` to {table.file} and select it from <SRC>; or write 'tombstones: row'."
            problems.add(at.file, at.line, "CONFLICTING_SETTING", "The target has no place for the rows to delete.", hint)


def _is_text(spec: RecordsSpec) -> bool:
    """Say whether a value is told by its text alone, and by no type."""
    return isinstance(spec, KafkaSpec | FilesSpec) and spec.format in ("json", "json_schema", "csv")


def declared_columns(columns: dict[str, str], place: PlaceOf, problems: Problems, *path: str) -> Iterator[Column]:
    """Yield columns that a pipeline declares by their names and types.

    Args:
        columns: Types by name, as a DDL writes them.
        place: Gives the place of a path of keys.
        problems: Receives UNSUPPORTED_TYPE.
        path: Where they stand.
    """
    for name, text in columns.items():
        plain = _plain(text)
        if plain is not None:
            yield Column(name=name, type=plain)
            continue
        # sqlglot costs a tenth of a second to import, which an idle run must not pay for a few plain types.
        from freshet.types.from_sql import TypeProblem, parse_type

        try:
            yield Column(name=name, type=parse_type(text))
        except TypeProblem as wrong:
            at = place(*path, name)
            problems.add(at.file, at.line, "UNSUPPORTED_TYPE", f"{'.'.join(path)}.{name}: {wrong}", wrong.hint)


def _plain(text: str) -> DataType | None:
    word = text.strip().lower()
    if word in _PLAIN:
        return Atomic(word)
    found = _DECIMAL.fullmatch(word)
    return Decimal(int(found[1]), int(found[2])) if found and int(found[2]) <= int(found[1]) <= _MOST_DIGITS else None


def _inexact(kind: DataType) -> str:
    """Return in words why a text cannot be read as a type without losing something in silence; empty where it can."""
    if isinstance(kind, Decimal):
        # Numbers are read with ten digits more behind the point, and compared.
        return "" if kind.precision <= _MOST_DIGITS else f"digits beyond {_MOST_DIGITS} could be lost"
    found = next((one for one in _parts(kind) if one != kind and (isinstance(one, Decimal) or one in _CHECKED)), None)
    return f"of {found} within it values could be changed" if found is not None else ""


def _parts(kind: DataType) -> Iterator[DataType]:
    yield kind
    match kind:
        case Array(element):
            yield from _parts(element)
        case Map(key, value):
            yield from _parts(key)
            yield from _parts(value)
        case Struct(fields):
            for _, field in fields:
                yield from _parts(field)

"""The rows of test cases as typed values: from YAML, or from a CSV file beside it."""

from __future__ import annotations

import csv
import decimal
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timezone
from typing import Any

from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.yaml_nodes import ListNode, MapNode, Node, ScalarNode, scalar
from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct
from freshet.types.iso import moment_of

_BYTES = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}


@dataclass(frozen=True)
class RowSet:
    """Rows of one table.

    Args:
        columns: Names of the columns that at least one row has, as the table writes them, in the table's order.
        rows: Values by column. A column that a row leaves out is null where the row is given, and is not compared where it is
            expected. A CSV file leaves none out: its header names them all, and an empty cell is null. A timestamp is aware,
            UTC; a struct is a tuple.
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]


def rows_of(
    node: Node,
    columns: Sequence[Column],
    where: str,
    files: ProjectFiles,
    folder: str,
    problems: Problems,
) -> RowSet:
    """Read the rows under one key.

    Args:
        node: A list of mappings, or the name of a CSV file.
        columns: The table's columns.
        where: What table that is, for messages.
        files: The project's files.
        folder: Where CSV files lie, relative to the project.
        problems: Receives UNKNOWN_COLUMN and BAD_VALUE with line, and what is wrong with the CSV file.
    """
    items = node.items if isinstance(node, ListNode) else _csv_rows(node, columns, files, folder, problems)
    known = {column.name.lower(): column for column in columns}
    found, named = [], set()
    for item in items:
        row: dict[str, Any] = {}
        for name, value in (item.entries if isinstance(item, MapNode) else {}).items():
            column = known.get(name.lower())
            if column is None:
                problems.add(
                    value.file,
                    value.line,
                    "UNKNOWN_COLUMN",
                    f"{where} has no column '{name[:80]}'.",
                    did_you_mean(name, [c.name for c in columns]),
                )
                continue
            named.add(column.name)
            try:
                row[column.name] = value_of(value, column.type)
            except ValueError as error:
                problems.add(value.file, value.line, "BAD_VALUE", f"{column.name}: {error}.")
        found.append(row)
    return RowSet(tuple(c.name for c in columns if c.name in named), tuple(found))


def _csv_rows(
    node: Node,
    columns: Sequence[Column],
    files: ProjectFiles,
    folder: str,
    problems: Problems,
) -> tuple[Node, ...]:
    name = node.text if isinstance(node, ScalarNode) else ""
    file = f"{folder}/{name}"
    text = files.read(file, Place(node.file, node.line), "CSV file", problems)
    if text is None:
        return ()
    reader = csv.reader(io.StringIO(text), strict=True)
    found: list[Node] = []
    try:
        header = next(reader, [])
        for cells in reader:
            if len(cells) != len(header):
                problems.add(
                    file, reader.line_num, "BAD_VALUE", f"the row has {len(cells)} values, and the header {len(header)}."
                )
                continue
            found.append(
                MapNode(
                    {column: scalar(cell or "null", file, reader.line_num) for column, cell in zip(header, cells, strict=True)},
                    file,
                    reader.line_num,
                )
            )
    except csv.Error as error:
        problems.add(file, reader.line_num, "BAD_VALUE", f"not valid CSV: {error}.")
    known = {c.name.lower() for c in columns}
    for column in header:
        # An unknown one is reported once, not for every row.
        if column.lower() not in known:
            problems.add(file, 1, "UNKNOWN_COLUMN", f"There is no column '{column[:80]}'.", did_you_mean(column, known))
    return tuple(
        MapNode({n: v for n, v in row.entries.items() if n.lower() in known}, file, row.line)
        for row in found
        if isinstance(row, MapNode)
    )


def value_of(node: Node, kind: DataType) -> Any:
    """Return a written value as one of a column's type.

    Args:
        node: The value.
        kind: The column's type.

    Raises:
        ValueError: The value is none of that type.
    """
    if isinstance(node, ScalarNode) and node.value is None:
        return None
    match kind, node:
        case Array(element), ListNode(items):
            return [value_of(item, element) for item in items]
        case Map(key, inner), MapNode(entries):
            return {
                value_of(scalar(name, node.file, node.line), key): value_of(entry, inner)
                for name, entry in sorted(entries.items())
            }
        case Struct(fields), MapNode(entries):
            unknown = [name for name in entries if name not in dict(fields)]
            if unknown:
                raise ValueError(f"{kind} has no field '{unknown[0][:80]}'")
            return tuple(value_of(entries[name], inner) if name in entries else None for name, inner in fields)
        case Atomic() | Decimal(), ScalarNode():
            try:
                return _scalar(node, kind)
            except (ValueError, decimal.InvalidOperation) as error:
                raise ValueError(f"'{node.text[:80]}' is no {kind}") from error
    raise ValueError(f"the value is no {kind}")


def _scalar(node: ScalarNode, kind: Atomic | Decimal) -> Any:
    text = node.text
    if isinstance(kind, Decimal):
        value = decimal.Decimal(text)
        exact = value.quantize(decimal.Decimal(1).scaleb(-kind.scale), context=decimal.Context(prec=60))
        if exact != value or len(exact.as_tuple().digits) > kind.precision:
            raise ValueError("more digits than the column has")
        return exact
    match kind.name:
        case "string":
            return text
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case "tinyint" | "smallint" | "int" | "bigint":
            bound, number = 1 << (8 * _BYTES[kind.name] - 1), int(text)
            if -bound <= number < bound:
                return number
        case "float" | "double":
            return float(text)
        case "date":
            return date.fromisoformat(text)
        case "timestamp":
            moment = moment_of(text)
            return moment.astimezone(timezone.utc) if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        case "timestamp_ntz":
            return moment_of(text)
        case "binary":
            return bytearray(text.encode())
    raise ValueError(kind.name)

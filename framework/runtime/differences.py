"""Compare the rows of a test case with what it expects, whatever their order, and say in words what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from chispa import DataFramesNotEqualError
from chispa.row_comparer import are_rows_equal_enhanced
from chispa.rows_comparer import assert_generic_rows_equality
from pyspark.sql import DataFrame, Row

from framework.spec.fixture_values import RowSet
from framework.spec.types import Array, Atomic, Column, DataType, Map, Struct

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Difference:
    """One row in which result and expectation differ.

    Args:
        kind: ``missing``: expected and not there; ``unexpected``: there and not expected; ``differs``: in some columns.
        row: What names the row, in words.
        columns: By column what was expected and what was found, for a row that differs.
    """

    kind: Literal["missing", "unexpected", "differs"]
    row: str
    columns: Mapping[str, tuple[str, str]]

    def __str__(self) -> str:
        if self.kind != "differs":
            return f"{self.kind} row: {self.row}"
        return f"row {self.row}: " + "; ".join(f"{name}: expected {want}, found {got}"
                                               for name, (want, got) in self.columns.items())

    def as_json(self) -> dict[str, object]:
        """Return the difference as a JSON-serialisable mapping."""
        return {"kind": self.kind, "row": self.row,
                "columns": {name: {"expected": want, "found": got} for name, (want, got) in self.columns.items()}}


def differences(expected: RowSet, found: DataFrame, columns: Sequence[Column], key: Sequence[str]) -> tuple[Difference, ...]:
    """Compare a result with the expected rows: only the columns that these name, in whatever order the rows come.

    Args:
        expected: The expected rows.
        found: The result.
        columns: The result's columns, with their types.
        key: Columns that name a row; a row that is there with other values is told from one that is missing.

    Returns:
        Every difference; none where they are equal.
    """
    # Where no row is expected, whatever is there is named by its key.
    named = {c.name: c.type for c in columns if c.name in (expected.columns or key)}
    names = list(named)
    # Every column is computed, those too that nobody compares: a value that is refused is refused in any of them.
    rows = found.collect()
    got = sorted((tuple(plain_value(row[name], kind) for name, kind in named.items()) for row in rows), key=repr)
    want = sorted((tuple(row.get(name) for name in names) for row in expected.rows), key=repr)
    made = Row(*names) if names else Row
    try:
        assert_generic_rows_equality(
            [made(*row) for row in want], [made(*row) for row in got], are_rows_equal_enhanced, {"allow_nan_equality": True},
        )
    except DataFramesNotEqualError:
        return _in_words(want, got, names, [name for name in names if name in key])
    return ()


def plain_value(value: Any, kind: DataType) -> Any:
    """Return a collected value in the form that expected values have; see ``RowSet``."""
    if value is None:
        return None
    match kind:
        case Atomic("timestamp"):
            # Spark hands it over in the zone of this process.
            return value.astimezone(UTC)
        case Array(element):
            return [plain_value(item, element) for item in value]
        case Map(name, inner):
            return {plain_value(k, name): plain_value(v, inner) for k, v in sorted(value.items(), key=repr)}
        case Struct(fields):
            return tuple(plain_value(item, inner) for item, (_, inner) in zip(value, fields, strict=True))
    return value


def shown(value: Any) -> str:
    """Return a value as a test case writes it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ")
        case list():
            return "[" + ", ".join(map(shown, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value.items()) + "}"
        case tuple():
            return "(" + ", ".join(map(shown, value)) + ")"
        case str() if not value or value != value.strip() or value == "null":
            return repr(value)
        case bytearray():
            return bytes(value).hex()
    return str(value)


def _in_words(want: list[Values], got: list[Values], names: list[str], key: list[str]) -> tuple[Difference, ...]:
    missing, unexpected = _without(want, got), _without(got, want)
    found: list[Difference] = []
    at = [names.index(name) for name in key]

    def identity(row: Values) -> str:
        return repr([row[i] for i in at])

    if key:
        wanted, there = Counter(map(identity, missing)), {identity(row): row for row in unexpected}
        for row in list(missing):
            other = there.get(identity(row))
            # A key that stands twice on either side names no one row.
            if other is None or wanted[identity(row)] > 1 or [identity(r) for r in unexpected].count(identity(row)) > 1:
                continue
            missing.remove(row)
            unexpected.remove(other)
            found.append(Difference("differs", _row(row, names, at), {
                name: (shown(row[i]), shown(other[i])) for i, name in enumerate(names) if repr(row[i]) != repr(other[i])
            }))
    every = list(range(len(names)))
    found += [Difference("missing", _row(row, names, every), {}) for row in missing]
    found += [Difference("unexpected", _row(row, names, every), {}) for row in unexpected]
    return tuple(found)


def _without(rows: list[Values], others: list[Values]) -> list[Values]:
    left = Counter(map(repr, others))
    kept = []
    for row in rows:
        if left[repr(row)]:
            left[repr(row)] -= 1
        else:
            kept.append(row)
    return kept


def _row(row: Values, names: list[str], at: list[int]) -> str:
    return ", ".join(f"{names[i]}={shown(row[i])}" for i in at) or "without a column"

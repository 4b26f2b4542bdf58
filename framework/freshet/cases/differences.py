"""Compare the rows of a test case with what it expects, whatever their order, and say in words what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from chispa import DataFramesNotEqualError
from chispa.row_comparer import are_rows_equal_enhanced
from chispa.rows_comparer import assert_generic_rows_equality
from pyspark.sql import Row

from freshet.cases.values import RowSet
from freshet.types.columns import Array, Atomic, Column, DataType, Map, Struct

Values = tuple[Any, ...]


class _LeftOut:
    """Stands for a column that an expected row does not name: whatever is found there is right."""

    def __repr__(self) -> str:
        return "anything"


_LEFT_OUT = _LeftOut()


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
        return f"row {self.row}: " + "; ".join(
            f"{name}: expected {want}, found {got}" for name, (want, got) in self.columns.items()
        )

    def as_json(self) -> dict[str, object]:
        """Return the difference as a JSON-serialisable mapping."""
        return {
            "kind": self.kind,
            "row": self.row,
            "columns": {name: {"expected": want, "found": got} for name, (want, got) in self.columns.items()},
        }


def differences(expected: RowSet, rows: Sequence[Row], columns: Sequence[Column], key: Sequence[str]) -> tuple[Difference, ...]:
    """Compare a result with the expected rows, each by the columns that it names, in whatever order the rows come.

    A null is expected only where it is written: a row of a few columns stands for any row that has these values. Each expected
    row is held against a row of its own.

    Args:
        expected: The expected rows.
        rows: The result.
        columns: The result's columns, with their types.
        key: Columns that name a row; a row that is there with other values is told from one that is missing.

    Returns:
        Every difference; none where they are equal.
    """
    # Where no row is expected, whatever is there is named by its key.
    named = {c.name: c.type for c in columns if c.name in (expected.columns or key)}
    names = list(named)
    got = sorted((tuple(plain_value(row[name], kind) for name, kind in named.items()) for row in rows), key=repr)
    want = sorted((tuple(row.get(name, _LEFT_OUT) for name in names) for row in expected.rows), key=repr)
    if any(value is _LEFT_OUT for row in want for value in row):
        return _in_words(want, got, names, [name for name in names if name in key])
    made = Row(*names) if names else Row
    try:
        assert_generic_rows_equality(
            [made(*row) for row in want],
            [made(*row) for row in got],
            are_rows_equal_enhanced,
            {"allow_nan_equality": True},
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
            return value.astimezone(timezone.utc)
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
    whole = [row for row in want if not _is_partial(row)]
    missing, unexpected = _without(whole, got), _without(got, whole)
    # Rows that leave nothing out come first: which of some equal rows they take makes no difference to the others.
    partial = [row for row in want if _is_partial(row)]
    held = _held(partial, unexpected)
    missing += [row for number, row in enumerate(partial) if number not in held]
    unexpected = [row for number, row in enumerate(unexpected) if number not in held.values()]
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
            found.append(
                Difference(
                    "differs",
                    _row(row, names, at),
                    {name: (shown(row[i]), shown(other[i])) for i, name in enumerate(names) if not _agree(row[i], other[i])},
                )
            )
    every = list(range(len(names)))
    found += [Difference("missing", _row(row, names, every), {}) for row in missing]
    found += [Difference("unexpected", _row(row, names, every), {}) for row in unexpected]
    return tuple(found)


def _is_partial(row: Values) -> bool:
    return any(value is _LEFT_OUT for value in row)


def _agree(wanted: Any, found: Any) -> bool:
    return wanted is _LEFT_OUT or repr(wanted) == repr(found)


def _held(want: list[Values], got: list[Values]) -> dict[int, int]:
    """Give as many expected rows as can be a row of their own; both by their numbers.

    Where the only rows that fit are taken, who took one is asked to take another (augmenting paths of a bipartite matching).
    """
    fits = [[n for n, other in enumerate(got) if all(map(_agree, row, other))] for row in want]
    held: dict[int, int] = {}
    taken: dict[int, int] = {}
    for start in range(len(want)):
        asked_by: dict[int, int] = {}
        asking, free = [start], None
        while asking and free is None:
            row = asking.pop()
            for other in fits[row]:
                if other not in asked_by:
                    asked_by[other] = row
                    if other not in taken:
                        free = other
                        break
                    asking.append(taken[other])
        while free is not None:
            row = asked_by[free]
            before = held.get(row)
            held[row], taken[free] = free, row
            free = before
    return held


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
    return ", ".join(f"{names[i]}={shown(row[i])}" for i in at if row[i] is not _LEFT_OUT) or "without a column"

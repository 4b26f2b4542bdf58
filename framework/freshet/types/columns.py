"""Column types as plain data, and which type may be written into which without losing anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

#: Names that Avro takes for a column or a field, and SQL takes without quotes.
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Atomic:
    """A type without parameters, by Spark's SQL name: ``string``, ``bigint``, ``timestamp`` ..."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Decimal:
    """An exact number of ``precision`` digits, ``scale`` of them behind the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True)
class Array:
    """A list of one element type."""

    element: DataType

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True)
class Map:
    """A map from keys of one type to values of one type."""

    key: DataType
    value: DataType

    def __str__(self) -> str:
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True)
class Struct:
    """Named fields, in order."""

    fields: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return "struct<" + ",".join(f"{name}:{kind}" for name, kind in self.fields) + ">"


DataType = Atomic | Decimal | Array | Map | Struct


def field_names(kind: DataType) -> Iterator[str]:
    """Yield the names of every struct field in a type, however deep."""
    match kind:
        case Array():
            yield from field_names(kind.element)
        case Map():
            yield from field_names(kind.key)
            yield from field_names(kind.value)
        case Struct():
            for name, inner in kind.fields:
                yield name
                yield from field_names(inner)


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table.

    Args:
        name: Name as the DDL writes it; compared without regard to case.
        type: Its type.
        nullable: False where the DDL says NOT NULL.
        comment: The DDL's COMMENT.
    """

    name: str
    type: DataType
    nullable: bool = True
    comment: str = ""


class Fit(Enum):
    """How a value of one type goes into a column of another."""

    SAME = "same"
    WIDENS = "widens"
    CHECKED = "checked"
    NO = "no"


_INTEGRAL = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_FRACTIONAL = ("float", "double")


def fit(source: DataType, target: DataType) -> Fit:
    """Say whether a ``source`` value may be written into a ``target`` column without a cast in the SQL.

    No digit is ever lost in silence: what could overflow is CHECKED row by row, what could lose digits is NO.

    Args:
        source: Type of the batch's column.
        target: Type of the table's column.

    Returns:
        SAME, WIDENS (every value fits), CHECKED (a value may overflow, so each is tested) or NO.
    """
    if source == target or source == Atomic("void"):
        return Fit.SAME if source == target else Fit.WIDENS
    match source, target:
        case Atomic(a), Atomic(b):
            return _fit_atomic(a, b)
        case Atomic(a), Decimal(precision, scale) if a in _INTEGRAL:
            return Fit.WIDENS if precision - scale >= _INTEGRAL[a] else Fit.CHECKED
        case Decimal(p1, s1), Decimal(p2, s2) if s1 <= s2:
            return Fit.WIDENS if p1 - s1 <= p2 - s2 else Fit.CHECKED
        case Array(a), Array(b):
            return _without_checks(fit(a, b))
        case Map(k1, v1), Map(k2, v2):
            return _without_checks(_worst(fit(k1, k2), fit(v1, v2)))
        case Struct(f1), Struct(f2) if [n.lower() for n, _ in f1] == [n.lower() for n, _ in f2]:
            return _without_checks(_worst(*(fit(a, b) for (_, a), (_, b) in zip(f1, f2, strict=True))))
        case _:
            return Fit.NO


def stored(kind: DataType) -> DataType:
    """Return the type that a Hudi table's own schema shows: Avro has no tinyint and no smallint, only int."""
    match kind:
        case Atomic("tinyint" | "smallint"):
            return Atomic("int")
        case Array(element):
            return Array(stored(element))
        case Map(key, value):
            return Map(stored(key), stored(value))
        case Struct(fields):
            return Struct(tuple((name, stored(field)) for name, field in fields))
        case _:
            return kind


def may_widen(table: DataType, ddl: DataType) -> bool:
    """Say whether a table's column of type ``table`` may become ``ddl`` without rewriting its files.

    Follows Hudi 1.0's schema evolution on write: int to long and double, float to double; what could lose digits (int
    or long to float, long to double) is refused here. Nested types element by element; a struct may gain fields, which are
    null in older rows, and may not lose any. Both sides are compared as they are stored, so a SMALLINT column, which
    reads back as int, is no change.
    """
    return _may_widen(stored(table), stored(ddl))


def _may_widen(table: DataType, ddl: DataType) -> bool:
    match table, ddl:
        case _ if table == ddl:
            return True
        case Atomic("int"), Atomic("bigint" | "double"):
            return True
        case Atomic("float"), Atomic("double"):
            return True
        case Array(a), Array(b):
            return _may_widen(a, b)
        case Map(k1, v1), Map(k2, v2):
            return k1 == k2 and _may_widen(v1, v2)
        case Struct(f1), Struct(f2):
            new = {n.lower(): t for n, t in f2}
            return all(n.lower() in new and _may_widen(t, new[n.lower()]) for n, t in f1)
        case _:
            return False


def _fit_atomic(source: str, target: str) -> Fit:
    if source in _INTEGRAL and target in _INTEGRAL:
        return Fit.WIDENS if _INTEGRAL[source] < _INTEGRAL[target] else Fit.CHECKED
    if source in _INTEGRAL and target in _FRACTIONAL:
        # A double holds every int and a float every smallint; beyond that digits could be lost.
        exact = {"float": ("tinyint", "smallint"), "double": ("tinyint", "smallint", "int")}
        return Fit.WIDENS if source in exact[target] else Fit.NO
    widening = {("float", "double"), ("date", "timestamp"), ("timestamp_ntz", "timestamp")}
    return Fit.WIDENS if (source, target) in widening else Fit.NO


def _worst(*fits: Fit) -> Fit:
    order = (Fit.SAME, Fit.WIDENS, Fit.CHECKED, Fit.NO)
    return max(fits, key=order.index, default=Fit.SAME)


def _without_checks(found: Fit) -> Fit:
    # Inside arrays, maps and structs an overflow cannot be told apart from a null, so it is not allowed.
    return Fit.NO if found is Fit.CHECKED else found

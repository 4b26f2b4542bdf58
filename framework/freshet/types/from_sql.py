"""Column types from text: as a DDL writes them and as Spark's ``simpleString()`` does. Needs sqlglot."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError

from freshet.types.columns import Array, Atomic, DataType, Decimal, Map, Struct

DIALECT = "spark"
# sqlglot reads Spark's TIMESTAMP (an instant, shown in the session's zone) as TIMESTAMPTZ.
_NAMES = {
    "TEXT": "string",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INT": "int",
    "BIGINT": "bigint",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "BINARY": "binary",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamp",
    "TIMESTAMPLTZ": "timestamp",
    "TIMESTAMPNTZ": "timestamp_ntz",
    "NULL": "void",
}
_VOID = re.compile(r"(?<![^<,:\s])void(?=\s*(?:[>,]|$))", re.IGNORECASE)
# Spark's own limits and defaults of DECIMAL.
_MAX_PRECISION, _DEFAULT_PRECISION = 38, 10


class TypeProblem(ValueError):
    """A type that a table cannot have; ``hint`` says what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def parse_type(text: str) -> DataType:
    """Read a type written in Spark's SQL.

    Args:
        text: Such as ``DECIMAL(10, 2)`` or ``struct<a:int,b:array<string>>``; ``void`` is known too.

    Returns:
        The type, by its normal name.

    Raises:
        TypeProblem: When it is no type, or one that a Hudi table cannot hold (interval, variant, char, varchar).
    """
    try:
        parsed = exp.DataType.build(_VOID.sub("null", text), dialect=DIALECT)
    except (SqlglotError, RecursionError, ValueError) as error:
        raise TypeProblem(f"'{text[:80]}' is not a type of Spark's SQL.") from error
    return type_of(parsed)


def type_of(node: exp.Expression) -> DataType:
    """Turn sqlglot's syntax tree of a type into a type.

    Raises:
        TypeProblem: As parse_type.
    """
    kind = getattr(node.this, "name", "") if isinstance(node, exp.DataType) else ""
    inner = node.expressions
    if kind in _NAMES and not inner:
        return Atomic(_NAMES[kind])
    match kind:
        case "DECIMAL":
            return _decimal(inner)
        case "ARRAY" if len(inner) == 1:
            return Array(type_of(inner[0]))
        case "MAP" if len(inner) == 2:
            return Map(type_of(inner[0]), type_of(inner[1]))
        case "STRUCT" if inner:
            return Struct(tuple(_field(field) for field in inner))
        case "VARCHAR" | "CHAR" | "NCHAR" | "NVARCHAR":
            raise TypeProblem(f"{_sql(node)} is not supported: Hudi would not check the length.", "Write STRING.")
        case "ARRAY" | "MAP" | "STRUCT":
            raise TypeProblem(
                f"{_sql(node)} does not say what it holds.", "Write ARRAY<STRING>, MAP<STRING, INT>, STRUCT<a: INT>."
            )
        case _:
            raise TypeProblem(f"{_sql(node)} is not a type that a Hudi table can hold.", "Write STRING or BIGINT.")


def _field(field: exp.Expression) -> tuple[str, DataType]:
    if not isinstance(field, exp.ColumnDef) or field.args.get("kind") is None:
        raise TypeProblem(f"the struct field {_sql(field)} has no type.", "Write STRUCT<name: TYPE>.")
    constraints = [constraint.kind for constraint in field.args.get("constraints") or ()]
    if any(not isinstance(kind, exp.CommentColumnConstraint) for kind in constraints):
        raise TypeProblem(f"the struct field '{field.name}' has a constraint, which is not kept.", "Remove it.")
    return field.name, type_of(field.args["kind"])


def _decimal(parameters: list[exp.Expression]) -> Decimal:
    numbers = [int(parameter.name) for parameter in parameters if parameter.name.isdigit()]
    precision, scale = (*numbers, _DEFAULT_PRECISION, 0)[:2] if not numbers else (numbers[0], (*numbers, 0)[1])
    if not (0 < precision <= _MAX_PRECISION and scale <= precision):
        raise TypeProblem(
            f"DECIMAL({precision}, {scale}) is out of bounds.",
            f"At most {_MAX_PRECISION} digits, not more of them behind the point than there are.",
        )
    return Decimal(precision, scale)


def _sql(node: exp.Expression) -> str:
    return node.sql(dialect=DIALECT)[:80].upper()

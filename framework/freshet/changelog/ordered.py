"""Values as texts that compare, byte by byte, as the values do: what reference keys are made of.

Each function takes and returns Spark SQL, and a null, or what is none of the values, becomes null. The texts are ASCII, so that
Spark, Hudi and Python order them alike. Parts of one key are joined by JOINT, which is less than any sign within a part.
"""

from __future__ import annotations

from collections.abc import Sequence

from freshet.types.columns import Atomic, DataType, Decimal

JOINT = "."
#: Digits of a number; those of 2**64, and of what else fits.
DIGITS = 20
_SHIFT = "9223372036854775808BD"
_INTEGRAL = ("tinyint", "smallint", "int", "bigint")


def digits(text: str, width: int = DIGITS) -> str:
    """Return a whole number that is not negative, written as a text of digits, in a fixed width."""
    only = f"length({text}) BETWEEN 1 AND {width} AND translate({text}, '0123456789', '') = ''"
    return f"CASE WHEN {only} THEN lpad({text}, {width}, '0') END"


def signed(number: str) -> str:
    """Return a BIGINT in a fixed width; negative ones come first."""
    return f"lpad(CAST(CAST({number} AS DECIMAL(20,0)) + {_SHIFT} AS STRING), {DIGITS}, '0')"


def joined(parts: Sequence[str]) -> str:
    """Return parts as one key; null where a part is."""
    return parts[0] if len(parts) == 1 else f"concat({f', {chr(39)}{JOINT}{chr(39)}, '.join(parts)})"


def of_type(value: str, kind: DataType) -> str:
    """Return the value of a column as a part of a key.

    Args:
        value: The column.
        kind: Its type.

    Raises:
        ValueError: When values of the type have no order that a text could keep, or none that is meant.
    """
    match kind:
        case Atomic(name) if name in _INTEGRAL:
            return signed(f"CAST({value} AS BIGINT)")
        case Atomic("timestamp"):
            return signed(f"unix_micros({value})")
        case Atomic("date"):
            return signed(f"CAST(datediff({value}, DATE'1970-01-01') AS BIGINT)")
        case Atomic("string"):
            # Hexadecimal digits keep the order of bytes, and are greater than JOINT, so that a shorter text comes first.
            return f"hex({value})"
        case Decimal(precision, scale) if precision <= 36:
            # Shifted so far that every value has the same number of digits, and none is written with an exponent.
            return f"CAST({value} + {2 * 10 ** (precision - scale)}BD AS STRING)"
    raise ValueError(f"a column of type {kind} is no reference key: take a number, a text, a date or a timestamp")

"""How a column's value stands in a JSON message, and the Spark SQL that makes the column's type of it without a loss.

JSON says little of types. How an adapter's source writes them is declared, column by column where it has to be, and what is not
declared is refused: the number 1700000000000 is a time in milliseconds or one in microseconds, and nothing in it says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freshet.changelog.sql import text
from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct

Times = Literal["text", "days", "millis", "micros", "nanos"]
_MOST_DIGITS = 38
#: So that ten digits more than the column has are seen and refused.
_MOST_OF_A_NUMBER = 28
_INTEGRAL = ("tinyint", "smallint", "int", "bigint")
_NESTED = ("string", "boolean", "double", *_INTEGRAL)
_ZONE = "(Z|[+-][0-9]{2}:?[0-9]{2})$"
#: Digits behind the microseconds, which a time of Spark's does not have.
_FINER = "[.][0-9]{6}[0-9]*[1-9]"
_A_DAY = 86_400_000_000
#: Years 1 to 9999, which every reader of a table knows; in seconds since 1970.
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
_A_SECOND = {"millis": 1_000, "micros": 1_000_000}
_TWO_64 = "18446744073709551616BD"


@dataclass(frozen=True, kw_only=True)
class Coding:
    """How a source writes the values of a column.

    Args:
        times: Dates and times: as a text, as days, or as a number of milli-, micro- or nanoseconds since 1970; empty where it
            is not declared.
        zone: The zone of texts that name none, such as ``UTC`` or ``Europe/Oslo``; empty where texts name theirs.
        decimals: As a text, as a number, or as the base64 of the unscaled number.
        scale: Digits behind the point of the source's column, where a value is unscaled; nothing in it says so.
        binary: As base64 or hexadecimal.
        unsigned: True where a number beyond 63 bits comes as a negative one.
        texts: True where every value is a text, numbers too.
    """

    times: Times | Literal[""] = ""
    zone: str = ""
    decimals: Literal["text", "number", "base64"] = "text"
    scale: int = -1
    binary: Literal["base64", "hex"] = "base64"
    unsigned: bool = False
    texts: bool = False


#: Texts, and nothing declared of times.
PLAIN = Coding()


def raw_type(column: Column, coding: Coding) -> str:
    """Return the type by which Spark's JSON reader takes the column, so that no digit is lost and nothing overflows there.

    Args:
        column: The column.
        coding: How the source writes it.

    Raises:
        ValueError: When what is declared does not say how to read the column.
    """
    match column.type:
        case Decimal(precision, _) if coding.decimals == "number" and not coding.texts:
            if precision > _MOST_OF_A_NUMBER:
                raise ValueError(
                    f"'{column.name}' has more digits than a JSON number is read with: let the source write a text"
                )
            return _wide(column.type)
        case Decimal() if coding.decimals == "base64" and not 0 <= coding.scale <= _MOST_DIGITS:
            raise ValueError(f"say how many digits behind the point '{column.name}' has in its source")
        case Atomic("float" | "double") if not coding.texts:
            return "DOUBLE"
        case Array() | Map() | Struct():
            _check_nested(column.name, column.type)
            return str(column.type)
        case Atomic("date" | "timestamp" | "timestamp_ntz") if not coding.times:
            raise ValueError(f"say how the source writes the times of '{column.name}'")
    return "STRING"


def converted(column: Column, coding: Coding, raw: str) -> str:
    """Return the column's value as Spark SQL; null where it does not fit.

    Args:
        column: The column.
        coding: How the source writes it.
        raw: The value as ``raw_type`` says.
    """
    match column.type:
        case Atomic(name) if name in _INTEGRAL:
            return f"try_cast({raw} AS {name.upper()})"
        case Atomic("float" | "double" as name):
            # A number that is too large is read as infinity.
            number = f"try_cast({raw} AS {name.upper()})"
            return f"CASE WHEN abs({number}) < double('Infinity') OR isnan({number}) THEN {number} END"
        case Atomic("boolean"):
            return f"CASE WHEN lower({raw}) IN ('true', '1') THEN true WHEN lower({raw}) IN ('false', '0') THEN false END"
        case Atomic("binary"):
            return f"try_to_binary({raw}, '{coding.binary}')"
        case Decimal():
            return _decimal(coding, column.type, raw)
        case Atomic("date"):
            if coding.times == "days":
                days = f"try_cast({raw} AS INT)"
                first, last = FIRST_SECOND // 86_400, LAST_SECOND // 86_400
                return f"CASE WHEN {days} BETWEEN {first} AND {last} THEN date_add(DATE'1970-01-01', {days}) END"
            is_day = f"{raw} RLIKE '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$'"
            return f"CASE WHEN {is_day} THEN try_cast({raw} AS DATE) END" if coding.times == "text" else _never(column)
        case Atomic("timestamp"):
            return _timestamp(column, coding, raw)
        case Atomic("timestamp_ntz"):
            if coding.times == "text":
                return f"CASE WHEN NOT {raw} RLIKE {text(f'{_ZONE}|{_FINER}')} THEN try_cast({raw} AS TIMESTAMP_NTZ) END"
            micros = _micros(column, coding, raw)
            rest = f"pmod({micros}, {_A_DAY})"
            days = f"CAST(({micros} - {rest}) DIV {_A_DAY} AS INT)"
            interval = f"make_dt_interval({days}, 0, 0, CAST({rest} / 1000000BD AS DECIMAL(18,6)))"
            return f"TIMESTAMP_NTZ'1970-01-01 00:00:00' + {interval}"
    return raw


def _timestamp(column: Column, coding: Coding, raw: str) -> str:
    if coding.times != "text":
        return f"timestamp_micros({_micros(column, coding, raw)})"
    named = f"WHEN {raw} RLIKE {text(_FINER)} THEN NULL WHEN {raw} RLIKE {text(_ZONE)} THEN try_cast({raw} AS TIMESTAMP)"
    # Without a zone Spark would take the session's, and the same message would mean another time on another machine.
    zoned = f"ELSE try_cast(concat({raw}, {text(' ' + coding.zone)}) AS TIMESTAMP) END" if coding.zone else "END"
    return f"CASE {named} {zoned}"


def _micros(column: Column, coding: Coding, raw: str) -> str:
    number = f"try_cast({raw} AS BIGINT)"
    if coding.times == "nanos":
        # All 63 bits of nanoseconds lie between 1677 and 2262.
        return f"CASE WHEN {number} % 1000 = 0 THEN {number} DIV 1000 END"
    if coding.times not in _A_SECOND:
        return _never(column)
    unit = _A_SECOND[coding.times]
    inside = f"{number} BETWEEN {FIRST_SECOND * unit} AND {(LAST_SECOND + 1) * unit - 1}"
    return f"CASE WHEN {inside} THEN {number} * {1_000_000 // unit} END"


def _wide(kind: Decimal) -> str:
    return f"DECIMAL({_MOST_DIGITS},{_MOST_DIGITS - kind.precision + kind.scale})"


def _decimal(coding: Coding, kind: Decimal, raw: str) -> str:
    # More digits behind the point than the column has, other than zeros, would be rounded away.
    digits = f"^[ ]*[+-]?[0-9]+([.][0-9]{{0,{kind.scale}}}0*)?[ ]*$"
    if coding.decimals == "base64":
        fits = f"CASE WHEN h RLIKE {text(digits)} THEN try_cast(h AS {kind}) END"
        return f"transform(array({_unscaled(raw, coding.scale)}), h -> {fits})[0]"
    if coding.decimals == "text" or coding.texts:
        number = f"CASE WHEN {raw} RLIKE {text(digits)} THEN {raw} END"
        if not coding.unsigned:
            return f"try_cast({number} AS {kind})"
        number = f"try_cast({number} AS {_wide(kind)})"
    else:
        number = raw
    if coding.unsigned:
        number = f"CASE WHEN {number} < 0 THEN try_cast({number} + {_TWO_64} AS {_wide(kind)}) ELSE {number} END"
    return f"CASE WHEN try_cast({number} AS {kind}) = {number} THEN try_cast({number} AS {kind}) END"


def _unscaled(raw: str, scale: int) -> str:
    """Return a text of the number whose big-endian two's complement the base64 is, up to 16 bytes."""
    padded = "CASE WHEN length(h) BETWEEN 2 AND 32 THEN lpad(h, 32, CASE WHEN h >= '8' THEN 'F' ELSE '0' END) END"
    high = f"CAST(conv(left(h, 16), 16, 10) AS DECIMAL(20,0)) - CASE WHEN h >= '8' THEN {_TWO_64} ELSE 0BD END"
    low = "CAST(conv(right(h, 16), 16, 10) AS DECIMAL(20,0))"
    number = f"try_add(try_multiply(CAST({high} AS DECIMAL(20,0)), {_TWO_64}), {low})"
    figures, whole = f"lpad(CAST(abs(h) AS STRING), {_MOST_DIGITS + 1}, '0')", _MOST_DIGITS + 1 - scale
    minus = "CASE WHEN h < 0 THEN '-' ELSE '' END"
    pointed = f"concat({minus}, left({figures}, {whole}), '.', right({figures}, {scale}))"
    found = f"hex(try_to_binary({raw}, 'base64'))"
    for step in (padded, number, pointed if scale else "CAST(h AS STRING)"):
        # Each step reads the one before it several times, and it is computed once.
        found = f"transform(array({found}), h -> {step})[0]"
    return found


def _check_nested(name: str, kind: DataType) -> None:
    match kind:
        case Array(element):
            _check_nested(name, element)
        case Map(Atomic("string"), value):
            _check_nested(name, value)
        case Struct(fields):
            for _, inner in fields:
                _check_nested(name, inner)
        case Atomic(atomic) if atomic in _NESTED:
            return
        case _:
            # Spark would round a decimal and take a number for seconds, and say nothing.
            raise ValueError(
                f"the type of '{name}' holds {kind}, of which a loss could not be told: declare the column as STRING"
            )


def _never(column: Column) -> str:
    raise ValueError(f"the times of '{column.name}' are declared in a way that a column of type {column.type} cannot have")

"""Make values of texts: which type all texts of a column fit into, and what one of them is in a given type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.landing.odd_texts import SHOWN, OddTexts, odd_texts_of
from freshet.quality.contract import MARK
from freshet.types.columns import Atomic, DataType, Decimal

# Text that only looks like a number, such as 007, stays one. Of more digits a double would lose some.
_WHOLE = r"^(0|-?[1-9][0-9]{0,18})$"
_NUMBER, _DIGITS = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$", 15
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
_GUESSED = {"boolean": "boolean", "whole": "bigint", "number": "double", "date": "date", "time": "timestamp"}
# What Spark's own cast takes and cuts short: the time of a day for a date, today for a time without a date, a seventh digit.
_AS_DATE = r"^\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*$"
_AS_TIME = r"^\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T].*)?$"
_CUT_TIME = r"\.[0-9]{6}[0-9]*[1-9]"
_AS_REAL = r"^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|[+-]?Infinity)\s*$"
_AS_DECIMAL = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)\s*$"
# What is read in place of bytes that are no UTF-8.
_NO_TEXT = "\ufffd"


def guess_types(
    rows: DataFrame,
    columns: Collection[str],
    times_alone: bool,
    file: str,
) -> tuple[dict[str, DataType], list[OddTexts]]:
    """Return the narrowest type that every text of a column fits into; a column without any value is a text.

    Args:
        rows: Rows of texts.
        columns: Names of columns.
        times_alone: True where texts may be dates and times, and what is a number was told apart already.
        file: Column that says which file a row is from.

    Returns:
        The types, and what has made columns text of which most values are something else.
    """
    found = []
    for name in columns:
        # Quotes around nothing are no value of a number or a time.
        text = F.when(F.col(f"`{name}`") != "", F.col(f"`{name}`"))
        tests = {
            "boolean": F.lower(text).isin("true", "false"),
            "whole": text.rlike(_WHOLE) & F.expr(f"try_cast(`{name}` AS bigint)").isNotNull(),
            "number": text.rlike(_NUMBER) & (_digits(text) <= _DIGITS),
            "date": text.rlike(_DATE) & F.expr(f"try_cast(`{name}` AS date)").isNotNull(),
            "time": text.rlike(_TIME) & F.expr(f"try_cast(`{name}` AS timestamp)").isNotNull(),
        }
        wide = {"numbers": tests["whole"] | tests["number"], "times": tests["time"], "truths": tests["boolean"]}
        codes = text.rlike(_AS_REAL) & (F.trim(text) == text) & ~wide["numbers"]
        counted = {**tests, **wide, "codes": codes, "values": text.isNotNull()}
        where = F.struct(F.col(file).alias("file"), F.substring(text, 1, SHOWN).alias("text"))
        found.append(
            F.struct(
                *(F.count(F.when(test, True)).alias(kind) for kind, test in counted.items()),
                *(F.min(F.when(~test, where)).alias(f"not_{kind}") for kind, test in wide.items()),
            ).alias(name)
        )
    answers = rows.agg(*found).first() if found else None
    kinds: dict[str, DataType] = {}
    odd: list[OddTexts] = []
    for name in columns if answers is not None else ():
        counts = answers[name].asDict()  # type: ignore[index]
        guessed = [kind for kind in _GUESSED if not times_alone or kind in ("date", "time")]
        kinds[name] = Atomic(next((_GUESSED[kind] for kind in guessed if 0 < counts["values"] == counts[kind]), "string"))
        odd += [one for one in (odd_texts_of(name, counts),) if one is not None and kinds[name] == Atomic("string")]
    return kinds, odd


def with_types(
    rows: DataFrame,
    types: Mapping[str, DataType],
    key: Mapping[str, str],
    file: str,
    rounded: Collection[str] = (),
) -> DataFrame:
    """Make values of texts; one that does not fit into its column fails the job that reads it.

    Args:
        rows: Rows of texts.
        types: The columns to make values of, each with its type, which is a simple one.
        key: Columns of the record key, by their names in the table, for the words of a failure.
        file: Column that says which file a row is from.
        rounded: Columns whose texts Spark has made of numbers, of which it keeps some 15 digits.
    """

    def text_of(name: str) -> SparkColumn:
        return F.substring(F.coalesce(F.col(f"`{name}`").cast("string"), F.lit("null")), 1, SHOWN)

    of: list[SparkColumn] = []
    for number, (name, column) in enumerate(key.items()):
        of += [F.lit(f"{', ' if number else ''}{name}="), text_of(column)]
    of += [F.lit(" of "), F.regexp_replace(F.url_decode(F.col(file)), "^.*/", "")]

    def value(name: str, kind: DataType) -> SparkColumn:
        made, fits, code = made_of(F.col(f"`{name}`"), name, kind)
        if name in rounded and (isinstance(kind, Decimal) or kind == Atomic("string")):
            fits = fits & ((_digits(F.col(f"`{name}`")) <= _DIGITS) | ~F.col(f"`{name}`").rlike("[.eE]"))
        told = F.concat(F.lit(f"{MARK}|{code}|{name}|{kind}|"), text_of(name), F.lit("|"), *of, F.lit("|"))
        return F.when(F.col(f"`{name}`").isNotNull() & ~fits, F.raise_error(F.substring(told, 1, 500))).otherwise(made)

    return rows.select(*(value(n, types[n]).alias(n) if n in types else F.col(f"`{n}`") for n in rows.columns))


def made_of(text: SparkColumn, name: str, kind: DataType) -> tuple[SparkColumn, SparkColumn, str]:
    """Return the value of a text, whether the text says nothing else, and by which code it is refused otherwise.

    Args:
        text: The column.
        name: Its name.
        kind: The type to make, a simple one.
    """
    if kind == Atomic("string"):
        return text, ~text.contains(_NO_TEXT), "BAD_BYTES"
    made = F.expr(f"try_cast(`{name}` AS {kind})")
    fits = [made.isNotNull()]
    match kind:
        case Decimal(_, scale):
            behind = F.regexp_extract(text, r"\.([0-9]*?)0*\s*$", 1)
            fits += [text.rlike(_AS_DECIMAL), F.length(behind) <= scale]
        case Atomic("float" | "double"):
            exact = F.expr(f"try_cast(try_cast(`{name}` AS {kind}) AS decimal(38,0)) = try_cast(`{name}` AS decimal(38,0))")
            fits += [text.rlike(_AS_REAL), text.rlike("[.eENI]") | F.coalesce(exact, F.lit(False))]
        case Atomic("date"):
            fits.append(text.rlike(_AS_DATE))
        case Atomic("timestamp"):
            fits += [text.rlike(_AS_TIME), ~text.rlike(_CUT_TIME)]
    empty = text == ""
    return made, empty | reduce(lambda one, other: one & other, fits), "OVERFLOW"


def _digits(text: SparkColumn) -> SparkColumn:
    return F.length(F.regexp_replace(text, r"[eE].*|[^0-9]", ""))

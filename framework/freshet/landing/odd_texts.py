"""Columns that are text because of a few of their values, although most are numbers, times, or true and false. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Of a value so many characters are kept.
SHOWN = 200
#: What most values of a column may be, by how it is counted.
KINDS = {"numbers": "numbers", "times": "dates or times", "truths": "true or false"}
#: The type by which a person may insist on that.
TYPES = {"numbers": "DOUBLE", "dates": "DATE", "dates or times": "TIMESTAMP", "true or false": "BOOLEAN"}


@dataclass(frozen=True, kw_only=True)
class OddTexts:
    """A column of texts that a few values have made one.

    Args:
        column: Its name.
        most: What most of its values are, in words.
        values: How many it has.
        odd: How many of them are something else.
        example: One of these, at most ``SHOWN`` characters of it.
        file: URL of the file that this one stands in.
    """

    column: str
    most: str
    values: int
    odd: int
    example: str
    file: str


def odd_texts_of(column: str, counts: Mapping[str, Any]) -> OddTexts | None:
    """Return what has made a column text; None where it is what most of its values are.

    Args:
        column: Its name.
        counts: ``values``, how many are of each of ``KINDS``, ``date``: days without a time, ``codes``: how many look like a
            number and are none, such as 007; and ``not_<kind>``: the file and the text of a value that is not of this kind.
    """
    for kind, words in KINDS.items():
        fits, example = counts[kind], counts[f"not_{kind}"]
        # A column of codes is text by what it means.
        if fits < counts["values"] < 2 * fits and not (kind == "numbers" and counts["codes"]):
            return OddTexts(
                column=column,
                most="dates" if kind == "times" and counts["date"] == fits else words,
                values=counts["values"],
                odd=counts["values"] - fits,
                example=example["text"],
                file=example["file"],
            )
    return None

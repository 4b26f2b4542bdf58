"""Where in a file a value stands that has made its column text, and what a person is told of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from freshet.landing.files import Files
from freshet.landing.heads import UNPACK, ending_of, shown
from freshet.landing.odd_texts import SHOWN, TYPES, OddTexts

# To look for one value takes a second; where it stands behind them, the file alone is named.
_MOST_CHARACTERS = 64 << 20


def told_of(odd: Sequence[OddTexts], files: Files, table: str) -> list[str]:
    """Return what a person is told of columns that a few values have made text.

    Args:
        odd: The columns.
        files: The files.
        table: The table that is made of them.
    """
    found = []
    for one in odd:
        path = unquote(one.file.removeprefix("file://"))
        line = line_of(path, one.column, one.example, files.delimiter) if files.format == "csv" else 0
        at = f"{shown(path)}, line {line}" if line else shown(path)
        found.append(
            f"TEXT_COLUMN: {one.column} is text though {one.values - one.odd:,} of {one.values:,} values are {one.most}: "
            f"{one.example[:60]!r} is not ({at}). To have it otherwise mend such values, or leave nothing there for null; "
            f'then freshet land {table} --drop, and land the files again, with --columns "{one.column} '
            f'{TYPES[one.most]}"{" (BIGINT for whole numbers)" * (one.most == "numbers")} so that such a value is refused and '
            "named"
        )
    return found


def line_of(path: str, column: str, value: str, delimiter: str) -> int:
    """Return the first of ``lines_of``; 0 where it is not known."""
    return next(lines_of(path, column, value, delimiter), 0)


def lines_of(path: str, column: str, value: str, delimiter: str) -> Iterator[int]:
    """Yield the lines of a CSV file on which the rows with a value in a column end, as far as they are known.

    Args:
        path: The file, packed or not.
        column: The column.
        value: The first ``SHOWN`` characters of the value.
        delimiter: What stands between two values.
    """
    read = 0

    def next_line() -> str:
        nonlocal read
        line = file.readline(_MOST_CHARACTERS)
        read += len(line)
        return line if read <= _MOST_CHARACTERS else ""

    try:
        with UNPACK[ending_of(path)](path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(iter(next_line, ""), delimiter=delimiter)
            number = [name.strip().lower() for name in next((row for row in rows if row), [])].index(column.lower())
            for row in rows:
                if len(row) > number and row[number][:SHOWN] == value:
                    yield rows.line_num
    except (OSError, EOFError, ValueError, csv.Error):
        return

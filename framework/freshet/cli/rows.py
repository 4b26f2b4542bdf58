"""Rows of tables as people and as programs read them: a grid that fits the terminal, CSV, or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from freshet.cli.terminal import width_of

_LONGEST_CELL = 60


def grid(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as aligned columns, or one below the other where they are wider than the terminal.

    Args:
        columns: Names of the columns.
        rows: Values, as Python has them.
    """
    cells = [tuple(cell(value) for value in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    # What is wider than the terminal is torn by it; a pipe takes any width.
    if not sys.stdout.isatty() or sum(widths) + 2 * (len(widths) - 1) <= shutil.get_terminal_size().columns:
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in (columns, *cells)
        )
    width = max(map(len, columns))
    lines: list[str] = []
    for number, row in enumerate(cells, 1):
        lines.append(f"-- row {number} --")
        lines += [f"{name.ljust(width)}  {text}" for name, text in zip(columns, row, strict=True)]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Return a value as one printable line, cut where a terminal shows it."""
    if value is None:
        return "null"
    text = _in_sql(value)
    # A control character would move the cursor, or worse.
    text = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
    return text if len(text) <= _LONGEST_CELL or not sys.stdout.isatty() else text[: _LONGEST_CELL - 3] + "..."


def table(headers: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as aligned columns; where these are wider than the terminal, a block of named values for each row."""
    widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
    width = width_of(sys.stdout)
    if width is None or sum(widths) + 2 * (len(widths) - 1) <= width:
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [headers, *rows]
        )
    label = max(map(len, headers[1:]))
    return "\n".join(
        "\n".join(
            [
                row[0],
                *(
                    f"  {name.lower().ljust(label)}  {cell}"
                    for name, cell in zip(headers[1:], row[1:], strict=True)
                    if cell != "-"
                ),
            ]
        )
        for row in rows
    )


def _in_sql(value: Any) -> str:
    """Return a value as SQL and JSON write it, and not as Python does: true, null, names before the values of a struct."""
    match value:
        case None | bool():
            return json.dumps(value)
        case bytes() | bytearray():
            return value.hex()
        case dict():
            return f"{{{', '.join(f'{_in_sql(key)}: {_in_sql(one)}' for key, one in value.items())}}}"
        case tuple() if names := getattr(value, "__fields__", ()):
            return _in_sql(dict(zip(names, value, strict=False)))
        case list() | tuple():
            return f"[{', '.join(map(_in_sql, value))}]"
        case _:
            return str(value)


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV with a header: nothing for a null, bytes in hexadecimal digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        ["" if value is None else _in_sql(value) if isinstance(value, bytes | bytearray | bool) else value for value in row]
        for row in rows
    )
    return text.getvalue().rstrip("\n")


def json_of(tree: Any) -> str:
    """Return values as JSON: as texts where it has no form for them, bytes in hexadecimal digits."""
    return json.dumps(_json_form(tree), indent=2, default=str, allow_nan=False)


def _json_form(value: Any) -> Any:
    match value:
        case dict():
            return {key: _json_form(one) for key, one in value.items()}
        case list() | tuple():
            return [_json_form(one) for one in value]
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case bytes() | bytearray():
            return value.hex()
        case _:
            return value

"""Markdown that the pages share: cells of tables, and the line that says who writes a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

#: First line of each page.
MADE = "<!-- `python -m tests.reference` writes this page; change what it is made from. -->"


def plain(text: str) -> str:
    """Return a text in which nothing but code spans and links is Markdown or HTML."""
    parts = re.split(r"(`[^`]*`)", text)
    # A word may hold underscores, and neither begin nor end with one.
    return "".join(
        part if part.startswith("`") else re.sub(r"(\*|(?<!\w)_|_(?!\w))", r"\\\1", part).replace("<", "&lt;") for part in parts
    )


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are Markdown already, except for the bars in them."""
    head = tuple(head)
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join("| " + " | ".join(_barless(cell) for cell in line) + " |" for line in lines)


def _barless(cell: str) -> str:
    # GitHub and the site differ in how a bar is written in a code span of a table; HTML means the same to both.
    spans = re.sub(r"`([^`]*\|[^`]*)`", lambda span: f"<code>{html.escape(span[1], quote=False)}</code>", cell)
    return spans.replace("|", "&#124;")

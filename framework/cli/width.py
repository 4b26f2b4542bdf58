"""Text for a terminal: broken between words and never within one, nor within a command that is to be copied."""

from __future__ import annotations

import os
import re
from typing import TextIO

# A command at the end of a line, what stands in backticks, a word.
_TOKENS = re.compile(r"\bfreshet [a-z][^.;]*$|`[^`\n]*`\S*|\S+")


def width_of(stream: TextIO | None) -> int | None:
    """Return how many characters a line of a stream has; None where it is no terminal, which breaks no line."""
    try:
        if stream is None or not stream.isatty():
            return None
        # A terminal that nobody told its size says 0.
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def for_eyes(text: str, stream: TextIO | None) -> str:
    """Return a text with its long lines broken for a stream; as it is where that is no terminal."""
    width = width_of(stream)
    return text if width is None else "\n".join(wrapped(line, width) for line in text.split("\n"))


def wrapped(line: str, width: int) -> str:
    """Break one line between words, and go on below it with an indent; what is longer than a line is left whole.

    Args:
        line: The line.
        width: Characters that fit.
    """
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    lines, now = [], indent
    for token in _TOKENS.finditer(line):
        gap = line[len(line[:token.start()].rstrip()):token.start()] if now.strip() else ""
        if now.strip() and len(now) + len(gap) + len(token[0]) > width:
            lines.append(now)
            now, gap = f"{indent}  ", ""
        now += gap + token[0]
    return "\n".join([*lines, now])

"""What a terminal takes, and text for it: broken between words, and never within a word or a command that is to be copied."""

from __future__ import annotations

import os
import re
from typing import TextIO

# What stands before the words of a line, as in "  logic       changed since ...", or its number.
_LABEL = re.compile(r" +(?:(?:[a-z_]+|<SRC>) {2,}|[0-9]+\. )(?=\S)")
# A command, also with what follows it to the end of the line; what stands in backticks; a word.
_TOKENS = re.compile(r"\bfreshet [a-z][^.;]*$|\bfreshet [a-z]+(?: [\w.-]+){0,2}(?: --\S+)*\S*|`[^`\n]*`\S*|\S+")


def width_of(stream: TextIO | None) -> int | None:
    """Return how many characters a line of a stream has; None where it is no terminal, which breaks no line."""
    try:
        if stream is None or not stream.isatty():
            return None
        # A terminal that nobody told its size says 0.
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def can_be_drawn_on(stream: TextIO | None) -> bool:
    """Say whether lines of a stream can be drawn again and again: a terminal that can, and that nothing else writes to."""
    dumb = os.environ.get("TERM", "dumb") in ("dumb", "unknown", "")
    # It keeps every drawing.
    ci = os.environ.get("CI", "").lower() not in ("", "0", "false")
    jvm_logs = os.environ.get("FRESHET_JVM_LOG", "off").lower() not in ("", "off")
    return width_of(stream) is not None and not (dumb or ci or jvm_logs)


def are_one_place(first: TextIO | None, second: TextIO | None) -> bool:
    """Say whether two streams are read together: one terminal, one file, one pipe."""
    if first is None or second is None:
        return False
    try:
        if first.isatty() and second.isatty():
            return True
        one, other = os.fstat(first.fileno()), os.fstat(second.fileno())
    except (OSError, ValueError):
        return False
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


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
    # A command is to be pasted as it stands; the terminal joins the line that it breaks itself.
    if len(line) <= width or line.lstrip().startswith(("freshet ", "cd ")):
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    labelled = _LABEL.match(line)
    below = " " * (labelled.end() if labelled and labelled.end() <= width // 2 else len(indent)) + "  "
    lines, now = [], indent
    for token in _TOKENS.finditer(line):
        gap = line[len(line[: token.start()].rstrip()) : token.start()] if now.strip() else ""
        if now.strip() and len(now) + len(gap) + len(token[0]) > width:
            lines.append(now)
            now, gap = below, ""
        now += gap + token[0]
    return "\n".join([*lines, now])

"""The lowest lines of a terminal, which are drawn again and again in one place; all else is printed above them."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO, cast

from rich.cells import set_cell_size
from rich.console import Console
from rich.text import Text

# A wider line would be broken by a terminal that gets narrower, until it is drawn again.
_WIDEST = 99
_ERASE_LINE = "\x1b[K"
# The first line by itself: of a screen that is cleared from its very top, tmux would keep what stood there in its history.
_ERASE = f"\r{_ERASE_LINE}\n\x1b[J\x1b[A"
_BAR, _MARK = "━", "●"


class Region:
    """Lines at the end of what a terminal shows.

    Between two drawings the cursor stands at the begin of the first line. So all that is left of the lines is below it, however
    the terminal has wrapped them since, and a line that somebody else prints begins where it should.

    Args:
        stream: The terminal.
        lines: Gives the lines for a width, a bar's two characters and a mark.
    """

    def __init__(self, stream: TextIO, lines: Callable[[int, tuple[str, str], str], list[str]]) -> None:
        self.stream, self.lines = stream, lines
        # Whoever is interrupted by a signal may hold it already.
        self.lock = threading.RLock()
        self.closed = False
        self._partial: dict[int, str] = {}
        self._console = Console(file=io.StringIO(), force_terminal=True, highlight=False)
        self._plain = (stream.encoding or "").lower().replace("-", "") not in ("utf8", "utf8sig")

    def draw(self) -> None:
        """Draw the lines as they are now."""
        with self.lock:
            if not self.closed:
                self._write("\r" + self._drawn())

    def above(self, stream: TextIO, text: str) -> None:
        """Print above the lines, on a stream of the same terminal; a line that is not ended yet waits for its end."""
        with self.lock:
            if self.closed:
                _put(stream, text)
                return
            *whole, rest = (self._partial.get(stream.fileno(), "") + text).split("\n")
            self._partial[stream.fileno()] = rest
            if whole:
                self._write(_ERASE)
                _put(stream, "".join(f"{line}\n" for line in whole))
                self._write(self._drawn())

    def close(self, wait_seconds: float = -1) -> None:
        """Take the lines off the screen.

        Args:
            wait_seconds: How long to wait for whoever draws now; below zero as long as it takes.
        """
        got = self.lock.acquire(timeout=wait_seconds)
        try:
            if not self.closed:
                self.closed = True
                self._write(_ERASE + "".join(rest + "\n" for rest in self._partial.values() if rest))
        finally:
            if got:
                self.lock.release()

    def _drawn(self) -> str:
        columns, rows = _size_of(self.stream)
        width = max(10, min(_WIDEST, columns - 1))
        lines = self.lines(width, *((("#", "-"), "*") if self._plain else ((_BAR, "─"), _MARK)))
        most = max(1, rows - 2)
        if len(lines) > most:
            lines = [*lines[: most - 1], f"  and {len(lines) - most + 1} lines more"]
        if not lines:
            return _ERASE
        text = f"{_ERASE_LINE}\n".join(self._styled(set_cell_size(line, width).rstrip()) for line in lines)
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        return f"{text}{_ERASE_LINE}\x1b[J{up}\r"

    def _styled(self, line: str) -> str:
        text = Text(line.encode("ascii", "replace").decode() if self._plain else line)
        text.highlight_regex(f"{_BAR}+", "green")
        text.highlight_regex(f"^{_MARK}", "cyan")
        with self._console.capture() as drawn:
            self._console.print(text, end="", no_wrap=True, overflow="ignore", crop=False)
        return drawn.get()

    def _write(self, text: str) -> None:
        _put(self.stream, text)


def _put(stream: TextIO, text: str) -> None:
    # At once, so that no half of it is ever seen. Whoever works goes on where the terminal is gone.
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()


class Above:
    """A stream whose text is printed above a region."""

    def __init__(self, stream: TextIO, region: Region) -> None:
        self._stream, self._region = stream, region

    def write(self, text: str) -> int:
        """Print a text."""
        self._region.above(self._stream, text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: whole lines are printed at once."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def printing_above(region: Region) -> tuple[TextIO, TextIO]:
    """Let what is printed stand above a region; return the streams as they were."""
    before = sys.stdout, sys.stderr
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if stream is not None and stream.isatty():
            setattr(sys, name, cast("TextIO", Above(stream, region)))
    return before


def _size_of(stream: TextIO) -> tuple[int, int]:
    try:
        found = os.get_terminal_size(stream.fileno())
    except OSError:
        return 80, 24
    # A terminal that nobody told its size says 0.
    return found.columns or 80, found.lines or 24

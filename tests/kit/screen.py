"""A terminal in memory: a pseudo-terminal whose screen a test reads as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pyte

#: What decides how progress is shown; a test says its own.
DECIDING = ("CI", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES", "FRESHET_JVM_LOG", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


class Terminal:
    """A pseudo-terminal; what is written to it is drawn on a screen of so many columns and lines.

    Args:
        columns, lines: Its size.
    """

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.master, self.slave = pty.openpty()
        self.screen = pyte.HistoryScreen(columns, lines, history=2000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self._turn = threading.Lock()
        self.raw = b""
        self.resize(columns, lines)
        threading.Thread(target=self._read, daemon=True).start()

    def resize(self, columns: int, lines: int = 24) -> None:
        """Make it wider or narrower, as a person does while something runs."""
        with self._turn:
            self.screen.resize(lines, columns)
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def start(self, *words: str, cwd: Path, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process whose three streams are this terminal, and which it controls: a typed Ctrl-C reaches it."""
        return subprocess.Popen(
            words,
            cwd=cwd,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**undecided(os.environ), "TERM": "xterm", **environment},
        )

    def type(self, text: bytes) -> None:
        """Type on its keyboard."""
        os.write(self.master, text)

    def shown(self) -> list[str]:
        """Return the lines of the screen, and those that have left it at the top, without blanks at their ends."""
        with self._turn:
            above = ["".join(line[number].data for number in range(self.screen.columns)) for line in self.screen.history.top]
            lines = [line.rstrip() for line in (*above, *self.screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def settle(self) -> None:
        """Wait until all that was written to it is drawn."""
        # A terminal shows nothing of it.
        mark = b"\0\0\0"
        os.write(self.slave, mark)
        while not self.raw.endswith(mark):
            time.sleep(0.01)

    def until(self, seen: Callable[[list[str]], object], process: subprocess.Popen[bytes] | None = None) -> list[str]:
        """Wait until the screen shows something; a test that waits in vain is ended."""
        while not seen(found := self.shown()):
            assert process is None or process.poll() is None, f"it ended with {process.returncode}:\n" + "\n".join(self.shown())
            time.sleep(0.02)
        return found

    def _read(self) -> None:
        with suppress(OSError):
            while data := os.read(self.master, 65536):
                with self._turn:
                    self.raw += data
                    self._stream.feed(data)


def undecided(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what decides how progress is shown."""
    return {name: value for name, value in environment.items() if name not in DECIDING}

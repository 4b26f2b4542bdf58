"""What the JVM writes to stderr: passed on as it comes, and its last lines kept for the error of a JVM that ends."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

_LINES, _CHUNK = 20, 65536
# Those of a crash: what happened, and where. The rest of the file is for whoever mends a JVM.
_CRASH_MARK, _CRASH_LINES = "#", 12
_PATIENCE_SECONDS = 1.0


class _Log:
    """The last lines of the JVM that this process started."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.reader: Thread | None = None

    def follow(self, read: int, to: int) -> None:
        self.lines.clear()
        self.reader = Thread(target=self._pass_on, args=(read, to), name="jvm-stderr", daemon=True)
        self.reader.start()

    def _pass_on(self, read: int, to: int) -> None:
        begun = b""
        while chunk := os.read(read, _CHUNK):
            with suppress(OSError):
                left = memoryview(chunk)
                while left:
                    left = left[os.write(to, left) :]
            *whole, begun = (begun + chunk).split(b"\n")
            self.lines.extend(line.decode(errors="replace") for line in whole if line.strip())
            begun = begun[-_CHUNK:]
        if begun.strip():
            self.lines.append(begun.decode(errors="replace"))
        os.close(read)
        os.close(to)


_LOG = _Log()


@contextmanager
def stderr_kept() -> Iterator[None]:
    """Let a process that is started meanwhile write to stderr through this one, which keeps its last lines."""
    try:
        ours = os.dup(2)
    except OSError:
        # Nobody reads it.
        yield
        return
    read, write = os.pipe()
    os.dup2(write, 2)
    os.close(write)
    _LOG.follow(read, os.dup(ours))
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def last_lines(pid: int) -> list[str]:
    """Return the last lines of a JVM that has ended: those of its crash, where it wrote of one, else of its stderr.

    Args:
        pid: Its process.
    """
    crash = Path(f"hs_err_pid{pid}.log")
    with suppress(OSError):
        text = crash.read_text(errors="replace").splitlines()
        found = [line.strip("# ") for line in text if line.startswith(_CRASH_MARK) and line.strip("# ")]
        if found:
            return [*found[:_CRASH_LINES], f"see {crash.absolute()}"]
    if _LOG.reader is not None:
        # A worker of Spark's may hold its stderr open for longer.
        _LOG.reader.join(_PATIENCE_SECONDS)
    return list(_LOG.lines)

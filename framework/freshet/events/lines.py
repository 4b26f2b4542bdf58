"""Events as lines of JSON, appended to a file or written to stderr."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from freshet.errors import FreshetError
from freshet.events.event import Event, Listener, redacted

#: Stands for stderr.
STDERR = "-"


@contextmanager
def json_lines(file: str) -> Iterator[Listener]:
    """Yield a listener that writes each event as a line of JSON at once, without secrets.

    Args:
        file: Its path; what it holds stays. ``-`` is stderr.

    Raises:
        FreshetError: EVENTS_NOT_WRITABLE.
    """
    if file == STDERR:
        yield _to_stderr
        return
    descriptor = _opened(file)
    turn = threading.Lock()

    def append(event: Event) -> None:
        rest = line_of(event).encode()
        with turn:
            while rest:
                # In one piece where the disk has room: other processes may append to the same file.
                rest = rest[os.write(descriptor, rest) :]

    try:
        yield append
    finally:
        # What some file systems say only now comes too late for a run that is over.
        with suppress(OSError):
            os.close(descriptor)


def line_of(event: Event) -> str:
    """Return an event as one line of JSON, without secrets."""
    body = redacted(event).as_json()
    try:
        text = json.dumps(body, default=str, allow_nan=False)
    except ValueError:
        # JSON has no NaN and no infinity.
        text = json.dumps(json.loads(json.dumps(body, default=str), parse_constant=str))
    return text + "\n"


def _to_stderr(event: Event) -> None:
    # Looked up each time: a terminal that is drawn on is another file meanwhile.
    if sys.stderr is not None:
        print(line_of(event), end="", file=sys.stderr, flush=True)


def _opened(file: str) -> int:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _not_writable(file, error) from error
    try:
        _end_line(file, descriptor)
    except OSError as error:
        os.close(descriptor)
        raise _not_writable(file, error) from error
    return descriptor


def _end_line(file: str, descriptor: int) -> None:
    """End the line that a full disk has cut off in an earlier run, so that the next one is a line of its own."""
    if not os.path.isfile(file) or os.fstat(descriptor).st_size == 0:
        return
    try:
        with open(file, "rb") as text:
            text.seek(-1, os.SEEK_END)
            is_cut = text.read(1) != b"\n"
    except PermissionError:
        # Who may only append to it cannot look.
        return
    if is_cut:
        os.write(descriptor, b"\n")


def _not_writable(file: str, error: OSError) -> FreshetError:
    return FreshetError(
        "EVENTS_NOT_WRITABLE",
        f"--events: {file} cannot be written: {error.strerror or error}.",
        "Nothing was read or written.",
        "Name a file in a folder that exists and that this process may write to, or - for stderr.",
        file=file,
    )

"""What the lines of ``--events FILE`` tell of runs, by the runs' ids."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from pathlib import Path

from freshet.errors import FreshetError
from freshet.site.facts import LogLine

# Of a file that grows for years the newest part; a run has some dozens of lines of a few hundred bytes.
_MOST_BYTES = 16 << 20
_MOST_LINES = 200
_LONGEST = 1_000


def read_log(files: Iterable[Path]) -> Mapping[str, tuple[LogLine, ...]]:
    """Return what is told of each run, in the order in which it was told.

    Args:
        files: Files that ``--events`` has written; of each the newest 16 MB are read, and of a run the newest 200 lines.
            A line that is none is left out: another process may be in the middle of it.

    Raises:
        FreshetError: EVENTS_NOT_READABLE.
    """
    found: dict[str, deque[LogLine]] = defaultdict(lambda: deque(maxlen=_MOST_LINES))
    for file in files:
        for text in _newest(file):
            line = _line(text)
            if line is not None:
                found[line[0]].append(line[1])
    return {run_id: tuple(lines) for run_id, lines in found.items()}


def _newest(file: Path) -> list[bytes]:
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - _MOST_BYTES))
            return stream.read(_MOST_BYTES).split(b"\n")
    except OSError as error:
        raise FreshetError(
            "EVENTS_NOT_READABLE",
            f"--events: {file} cannot be read: {error.strerror or error}.",
            "Nothing was written.",
            "Name a file that a command has written by its own --events.",
            file=str(file),
        ) from error


def _line(text: bytes) -> tuple[str, LogLine] | None:
    try:
        found = json.loads(text)
        run_id, time = found["run_id"], found["time"]
        level, name, message = (found[key] for key in ("level", "name", "message"))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    texts = (run_id, level, name, message)
    if not run_id or not all(isinstance(one, str) for one in texts) or not isinstance(time, int | float):
        return None
    return run_id, LogLine(time=float(time), level=level, name=name, message=message[:_LONGEST])

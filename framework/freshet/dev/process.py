"""A process that outlives the command that started it: told apart from a later one with its id, and ended by it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

Ended = Literal["gone", "terminated", "killed"]

TERM_SECONDS = 20.0
_KILL_SECONDS = 5.0
_POLL_SECONDS = 0.1
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def start_mark(pid: int) -> str | None:
    """Return what tells a process from every other that ever had its id.

    Args:
        pid: The process's id.

    Returns:
        The boot and the clock tick in which it started, or its start time where there is no /proc; None where no such
        process runs.
    """
    if pid <= 0:
        return None
    if not Path("/proc/self/stat").exists():
        return _mark_by_ps(pid)
    try:
        # The second field is the program's name, which may hold blanks and parentheses.
        state, *others = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    boot = _BOOT_ID.read_text(encoding="ascii").strip() if _BOOT_ID.exists() else ""
    # A zombie is gone: nobody may be there to ask for its exit code.
    return None if state in "ZX" else f"{boot} {others[18]}".strip()


def _mark_by_ps(pid: int) -> str | None:
    done = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    state, _, started = done.stdout.strip().partition(" ")
    return None if not state or state[0] in "ZX" else " ".join(started.split())


def end_process(pid: int, mark: str, term_seconds: float = TERM_SECONDS, by: signal.Signals = signal.SIGTERM) -> Ended:
    """End a process, by SIGTERM and then by SIGKILL, unless its id belongs to another one by now.

    Args:
        pid: The process's id.
        mark: Its ``start_mark``.
        term_seconds: How long SIGTERM may take.
        by: What is sent instead of SIGTERM.
    """
    if start_mark(pid) != mark:
        return "gone"
    _signal(pid, by)
    if _ends_within(pid, mark, term_seconds):
        return "terminated"
    _signal(pid, signal.SIGKILL)
    _ends_within(pid, mark, _KILL_SECONDS)
    return "killed"


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _ends_within(pid: int, mark: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while start_mark(pid) == mark:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True

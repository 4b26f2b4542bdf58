"""Do something again whenever a file of the project was saved, until the keyboard ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from freshet.cli.output import message
from freshet.cli.signals import INTERRUPTED, keyboard_unwinds
from freshet.project.load.on_disk import OnDisk, difference, look, named

#: Says what is to be done, by the files that were saved since the last time, relative to the project; none at first.
Round = Callable[[frozenset[str]], None]
_LOOKS_EVERY = 0.3
# An editor may write a file in several steps, and several files one after the other.
_QUIET_FOR = 0.1


def watch(root: Path, do: Round) -> int:
    """Call ``do`` at once, and again each time that files were saved.

    Files are looked at twice a second or more: it needs nothing of the system, and works on every kind of disk.

    Args:
        root: The project's folder.
        do: What is to be done. Saves that come while it works count for the next time.

    Returns:
        The exit code, once the keyboard has ended it.
    """
    saved: frozenset[str] = frozenset()
    names = named(root)
    seen = look(root, names)
    while True:
        do(saved)
        message(f"{_now()} watching {root.resolve()}; Ctrl-C ends it")
        try:
            with keyboard_unwinds():
                now = _changed(root, names, seen)
        except KeyboardInterrupt:
            message(f"{_now()} stopped by the keyboard; no case was running")
            return INTERRUPTED
        saved = difference(seen, now)
        names = named(root)
        # What a file was that is only named now does not matter.
        seen = {**look(root, names), **now}
        message(f"{_now()} saved: {', '.join(sorted(saved))}")


def _changed(root: Path, names: frozenset[str], seen: OnDisk) -> OnDisk:
    before = seen
    while True:
        now = look(root, names)
        if now != seen and now == before:
            return now
        time.sleep(_LOOKS_EVERY if now == seen else _QUIET_FOR)
        before = now


def _now() -> str:
    return time.strftime("%H:%M:%SZ", time.gmtime())

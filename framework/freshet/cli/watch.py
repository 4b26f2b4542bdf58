"""Do something again whenever a file of the project was saved, until the keyboard ends it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from freshet.cli.output import message
from freshet.cli.signals import INTERRUPTED, keyboard_unwinds

#: Says what is to be done, by the files that were saved since the last time, relative to the project; none at first.
Round = Callable[[frozenset[str]], None]
_FOLDERS = ("pipelines", "ddl", "transformers", "configs")
_ENDINGS = (".yml", ".yaml", ".sql", ".py", ".csv", ".json")
# A pipeline may name files anywhere in the project.
_NAMED = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:sql|py|json)\b")
_LOOKS_EVERY = 0.3
# An editor may write a file in several steps, and several files one after the other.
_QUIET_FOR = 0.1

_State = Mapping[str, tuple[int, int, int]]


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
    names = _named(root)
    seen = _look(root, names)
    while True:
        do(saved)
        message(f"{_now()} watching {root.resolve()}; Ctrl-C ends it")
        try:
            with keyboard_unwinds():
                now = _changed(root, names, seen)
        except KeyboardInterrupt:
            message(f"{_now()} stopped by the keyboard; no case was running")
            return INTERRUPTED
        saved = _difference(seen, now)
        names = _named(root)
        # What a file was that is only named now does not matter.
        seen = {**_look(root, names), **now}
        message(f"{_now()} saved: {', '.join(sorted(saved))}")


def _changed(root: Path, names: frozenset[str], seen: _State) -> _State:
    before = seen
    while True:
        now = _look(root, names)
        if now != seen and now == before:
            return now
        time.sleep(_LOOKS_EVERY if now == seen else _QUIET_FOR)
        before = now


def _now() -> str:
    return time.strftime("%H:%M:%SZ", time.gmtime())


def _difference(before: _State, now: _State) -> frozenset[str]:
    return frozenset(name for name in {*before, *now} if before.get(name) != now.get(name))


def _look(root: Path, names: frozenset[str]) -> _State:
    found = {}
    for name in {*names, *_held(root)}:
        try:
            stat = (root / name).stat()
        except OSError:
            continue
        # An editor may put another file in its place, with the time of the old one.
        found[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return found


def _held(root: Path) -> list[str]:
    found = []
    for top in _FOLDERS:
        for folder, below, files in os.walk(root / top):
            below[:] = [name for name in below if name != "__pycache__" and not name.startswith(".")]
            place = Path(folder).relative_to(root).as_posix()
            found += [f"{place}/{name}" for name in files if name.endswith(_ENDINGS) and not name.startswith(".")]
    return found


def _named(root: Path) -> frozenset[str]:
    found: set[str] = set()
    for file in (root / "pipelines").glob("*.y*ml"):
        try:
            found.update(_NAMED.findall(file.read_text("utf-8", errors="replace")))
        except OSError:
            continue
    return frozenset(found)

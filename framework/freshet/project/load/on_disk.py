"""The project's files as they lie on the disk: whether one was saved since, without reading it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_FOLDERS = ("pipelines", "ddl", "transformers", "configs")
_ENDINGS = (".yml", ".yaml", ".sql", ".py", ".csv", ".json")
# A pipeline may name files anywhere in the project.
_NAMED = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:sql|py|json)\b")

#: By each file's name, relative to the project: what changes when it is saved.
OnDisk = Mapping[str, tuple[int, int, int]]


def look(root: Path, names: frozenset[str]) -> OnDisk:
    """Look at the files of a project's folders.

    Args:
        root: The project's folder.
        names: Further files, see ``named``; one that is not there is left out.
    """
    found = {}
    for name in {*names, *_held(root)}:
        try:
            stat = (root / name).stat()
        except OSError:
            continue
        # An editor may put another file in its place, with the time of the old one.
        found[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return found


def difference(before: OnDisk, now: OnDisk) -> frozenset[str]:
    """Return the names of the files that were saved, made or deleted between two looks."""
    return frozenset(name for name in {*before, *now} if before.get(name) != now.get(name))


def named(root: Path) -> frozenset[str]:
    """Return the names that pipelines mention and that may be files, wherever in the project."""
    found: set[str] = set()
    for file in (root / "pipelines").glob("*.y*ml"):
        try:
            found.update(_NAMED.findall(file.read_text("utf-8", errors="replace")))
        except OSError:
            continue
    return frozenset(found)


def _held(root: Path) -> list[str]:
    found = []
    for top in _FOLDERS:
        for folder, below, files in os.walk(root / top):
            below[:] = [name for name in below if name != "__pycache__" and not name.startswith(".")]
            place = Path(folder).relative_to(root).as_posix()
            found += [f"{place}/{name}" for name in files if name.endswith(_ENDINGS) and not name.startswith(".")]
    return found

"""Write the pages into a folder, and take away what an earlier writing has left there and is no page any longer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from freshet.errors import FreshetError

#: Says that a folder holds a site, and which files of it freshet has written.
MARK = ".freshet-site.json"


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages; each file is replaced as a whole, so that a reader never sees half of one.

    Args:
        folder: Where; made where it is not there.
        pages: The text of each file, by its path below the folder.

    Raises:
        FreshetError: NOT_A_SITE: the folder holds something else. SITE_NOT_WRITABLE.
    """
    try:
        before = _written(folder)
        _write(folder / MARK, json.dumps({"version": 1, "files": sorted({*before, *pages})}))
        # What leads to the other pages comes last.
        for path in sorted(pages, key=lambda path: path == "index.html"):
            _write(folder / path, pages[path])
        for path in sorted(before - pages.keys()):
            with suppress(FileNotFoundError):
                _inside(folder, path).unlink()
        _write(folder / MARK, json.dumps({"version": 1, "files": sorted(pages)}))
    except OSError as error:
        raise FreshetError(
            "SITE_NOT_WRITABLE",
            f"{folder} cannot be written: {error.strerror or error}.",
            "Pages of before may stand beside new ones.",
            "Name a folder that can be written: freshet site --out FOLDER",
        ) from error


def _written(folder: Path) -> set[str]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return set()
    if not names:
        return set()
    with suppress(ValueError, KeyError, TypeError):
        if MARK in names:
            found = json.loads((folder / MARK).read_text("utf-8"))["files"]
            if all(isinstance(name, str) for name in found):
                return set(found)
    raise FreshetError(
        "NOT_A_SITE",
        f"{folder} is not empty, and holds no site that freshet has written.",
        "Nothing was written.",
        "Name an empty folder, or one that is not there yet: freshet site --out FOLDER",
    )


def _inside(folder: Path, path: str) -> Path:
    found = folder / path
    # The mark is a file that anybody may have changed.
    if not found.resolve().is_relative_to(folder.resolve()):
        raise FileNotFoundError(path)
    return found


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise

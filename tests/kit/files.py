"""Files below a root as a pipeline's main source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from freshet.project.model.files import FilesSpec
from freshet.project.model.pipeline import TableRef
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.reads import File
from tests.kit.memory import COLUMNS

#: When files in memory are listed, in milliseconds since 1970: all of them are quiet by then.
NOW = 1_800_000_000_000
DAY, HOUR, MINUTE = 86_400_000, 3_600_000, 60_000


def a_files_spec(root: str = "/lake/landing", **changes: Any) -> FilesSpec:
    """Return files of JSON as a main source."""
    settings: dict[str, Any] = {
        "table": TableRef(root, root),
        "max_commits": 5,
        "missing_checkpoint": "ERROR",
        "full_scan_when_expired": False,
        "incremental_format": "auto",
        "columns": COLUMNS,
    }
    return FilesSpec(**{**settings, **changes})


def a_file(path: str, modified: int = 0, size: int = 10) -> File:
    """Return a file that was modified so many milliseconds before ``NOW``, a day by default."""
    return File(path, size, NOW - (modified or DAY))


def a_listing(*files: File | Iterable[File]) -> Listing:
    """Return what there is."""
    flat = [one for item in files for one in ([item] if isinstance(item, File) else item)]
    return Listing(files=tuple(flat), asked_ms=NOW)

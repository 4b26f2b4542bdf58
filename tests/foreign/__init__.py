"""Tables that freshet did not make, as files with the rows that each version of them has.

``python -m tests.foreign`` writes them anew. A test unpacks one, and so pays for no write.
"""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(file.name.removesuffix(".tar.xz") for file in FOLDER.glob("*.tar.xz")))


@dataclass(frozen=True)
class Version:
    """A table after one of its commits.

    Args:
        completed: Completion time of the commit.
        what: What it did, in words.
        rows: Rows of a plain snapshot read, sorted: id, ts, v, day.
    """

    completed: str
    what: str
    rows: tuple[tuple[Any, ...], ...]


def unpack(name: str, folder: Path) -> tuple[Version, ...]:
    """Unpack a table.

    Args:
        name: One of ``NAMES``.
        folder: Where its base path will be.

    Returns:
        What it held after each of its commits, oldest first.
    """
    folder.mkdir(parents=True)
    with tarfile.open(FOLDER / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    told = json.loads((FOLDER / "versions.json").read_text("utf-8"))[name]
    return tuple(Version(one["completed"], one["what"], tuple(map(tuple, one["rows"]))) for one in told)

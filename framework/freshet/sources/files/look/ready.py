"""Which files are there to be read, and which are left alone. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from freshet.project.model.files import FilesSpec
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.reads import File
from freshet.sources.hudi.reads import counted

#: How the name of a file ends that is still being written, by those that write and then rename.
UNFINISHED = (".tmp", "._copying_", ".part", ".filepart", ".inprogress", ".crdownload")
_HIDDEN = (".", "_")


@dataclass(frozen=True, kw_only=True)
class Ready:
    """Files below a root, sorted out.

    Args:
        files: Those that can be read.
        held: Those that a marker will complete, or that are read with other tables: later, however old they are by then.
        left: How many are left alone, by the reason in words.
        captured: Where in a database's log they end all together; empty where that is not known.
    """

    files: tuple[File, ...]
    held: tuple[File, ...]
    left: Mapping[str, int]
    captured: str = ""

    @property
    def words(self) -> str:
        """Return in words what is left alone; empty where nothing is."""
        return ", ".join(f"{counted(number, 'file')} {why}" for why, number in sorted(self.left.items()))


def ready_of(spec: FilesSpec, listing: Listing) -> Ready:
    """Sort out the files of a listing.

    Args:
        spec: What is read.
        listing: What there is.
    """
    wanted = pattern_of(spec.pattern or "**")
    complete = {_folder(file.path) for file in listing.files if spec.marker and _name(file.path) == spec.marker}
    quiet = listing.asked_ms - 1000 * spec.quiet_seconds
    files, held, left, beyond = [], [], Counter[str](), 0
    for file in listing.files:
        if _is_hidden(file.path) or _name(file.path) == spec.marker or not wanted.fullmatch(file.path):
            continue
        if listing.upto is not None and not listing.upto.has(listing.folder, file.path):
            beyond += 1
            held.append(file)
            continue
        if file.modified > listing.asked_ms:
            left["modified in the future"] += 1
        elif file.modified > quiet:
            left["modified too short a time ago"] += 1
        elif not file.size and spec.empty == "wait":
            left["without a byte"] += 1
        elif spec.marker and _folder(file.path) not in complete:
            left[f"in a folder without {spec.marker}"] += 1
            held.append(file)
        else:
            files.append(file)
    captured = listing.upto.position if listing.upto is not None and not left else ""
    if beyond and listing.upto is not None:
        where = listing.upto.position or "the beginning"
        left[f"beyond {where}, up to where the tables of the ingest are published together"] = beyond
    return Ready(files=tuple(files), held=tuple(held), left=left, captured=captured)


@lru_cache(maxsize=256)
def pattern_of(pattern: str) -> re.Pattern[str]:
    """Return a pattern of paths as a regular expression.

    Args:
        pattern: ``*`` and ``?`` stand for characters of one name, ``**`` for any folders; without ``/`` it is the name's alone.
    """
    text = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        text += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part) or re.escape(part)
    return re.compile(text if "/" in pattern or pattern == "**" else f"(?:.*/)?{text}", re.DOTALL)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.split("/")) or path.lower().endswith(UNFINISHED)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]

"""What of the files below a root there is, as data."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.sources.files.look.upto import Upto
from freshet.sources.files.reads import File


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The files below a root at one moment.

    Args:
        files: Every one of them.
        asked_ms: When that was, in milliseconds since 1970.
        folder: Name of the root.
        upto: Of a table that is published together with others: up to where in the log of their database; None for all.
    """

    files: tuple[File, ...]
    asked_ms: int
    folder: str = ""
    upto: Upto | None = None

"""What of the files below a root there is, as data."""

from __future__ import annotations

from dataclasses import dataclass

from freshet.sources.files.reads import File


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The files below a root at one moment.

    Args:
        files: Every one of them.
        asked_ms: When that was, in milliseconds since 1970.
    """

    files: tuple[File, ...]
    asked_ms: int

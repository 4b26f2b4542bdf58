"""Positions that somebody sets: a time after which files are read, or an end."""

from __future__ import annotations

from datetime import datetime, timezone

from freshet.errors import StateError
from freshet.project.model.files import FilesSpec
from freshet.sources.files.look.facts import Listing
from freshet.sources.files.position import FilesPosition, after_time, iso_of
from freshet.types.iso import moment_of

_ENDS = ("earliest", "latest")


def text_by_hand(text: str) -> str:
    """Return a position that somebody sets in its one form.

    Args:
        text: A time of ISO 8601, ``earliest`` or ``latest``.

    Raises:
        ValueError: It is none of these, in words.
    """
    text = text.strip()
    if text.lower() in _ENDS:
        return text.lower()
    found = _milliseconds(text)
    if found is None:
        raise ValueError(
            "a position in files is the time after which they are read that they were modified (2026-08-01T10:15:00Z; without "
            "a zone it is UTC), earliest or latest."
        )
    return iso_of(found)


def position_by_hand(name: str, spec: FilesSpec, listing: Listing | None, text: str) -> FilesPosition:
    """Return the position of a text in its one form.

    Args:
        name: The pipeline's name, for messages.
        spec: Its source.
        listing: The files as they stand; None where there is no such folder.
        text: The position; empty for one before all files.

    Raises:
        StateError: SOURCE_MISSING.
    """
    if text in ("", "earliest"):
        return after_time(spec.place, 0)
    if text == "latest":
        if listing is None:
            raise StateError(
                "SOURCE_MISSING",
                f"{name}: there is no folder {spec.place} that could tell which files are the latest.",
                "The checkpoint stays.",
                "Make the folder, or name a time.",
                path=spec.place,
            )
        # What is modified in the future is never read, and no mark.
        return after_time(spec.place, max((f.modified for f in listing.files if f.modified <= listing.asked_ms), default=0))
    return after_time(spec.place, _milliseconds(text) or 0)


def refuse_ahead(name: str, listing: Listing, text: str) -> None:
    """Raise CHECKPOINT_AHEAD for a time that has not come yet."""
    found = _milliseconds(text) if text not in _ENDS else None
    if found is not None and found > listing.asked_ms:
        raise StateError(
            "CHECKPOINT_AHEAD",
            f"{name}: {text} has not come yet, and files that come before it would never be read.",
            "The checkpoint stays.",
            f"The latest that can be set: freshet checkpoint set {name} latest",
        )


def _milliseconds(text: str) -> int | None:
    try:
        found = moment_of(text)
    except ValueError:
        return None
    # Digits alone are a day to Python, and may be anything to whoever wrote them.
    if text.isdigit():
        return None
    moment = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    whole = moment.astimezone(timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    milliseconds = whole.days * 86_400_000 + whole.seconds * 1000 + whole.microseconds // 1000
    return max(0, milliseconds)

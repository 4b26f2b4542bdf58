"""What is said of a backup whose place the log does not have."""

from __future__ import annotations

from freshet.errors import StateError

_STAYS = "Nothing was captured."


def too_old(place: str, why: str) -> StateError:
    """Return the error of a log that is not kept from a place on.

    Args:
        place: What the backup names.
        why: Why it is not kept, in words.
    """
    return StateError(
        "BACKUP_TOO_OLD",
        f"a backup is as of {place}, and the log is not kept from there on: {why}.",
        _STAYS,
        "Take 'position:' out of the pipelines, and run the same command again: it keeps the log, and says the place from "
        "which on. Make the backup then, and write that place.",
        place=place,
    )


def not_of_log(place: str, why: str) -> StateError:
    """Return the error of a place that is none of the log.

    Args:
        place: What the backup names.
        why: Why it is none, in words.
    """
    return StateError(
        "BACKUP_NOT_OF_LOG",
        f"a backup is as of {place}: {why}.",
        _STAYS,
        "Correct 'position:' in the pipelines: it is of another server, or of another time of this one.",
        place=place,
    )

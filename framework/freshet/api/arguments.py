"""What a caller in Python may pass, held as the command line holds its words."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import get_args

from freshet.backfill.chunks import BackfillRequest, BadRange, Reprocess
from freshet.errors import Exit, FreshetError
from freshet.types.iso import moment_of

_NOTHING = "Nothing was read or written."


class Usage(FreshetError):
    """A call is wrong, whatever the files and the tables say."""

    exit_code = Exit.USAGE


def at_least(least: int, **given: int) -> None:
    """Refuse a number that is too small.

    Args:
        least: The smallest that is allowed.
        given: The argument, by its name.

    Raises:
        Usage: USAGE.
    """
    for name, value in given.items():
        if value < least:
            raise Usage("USAGE", f"{name}={value!r} is less than {least}.", _NOTHING)


def asked_backfill(
    start: date | str,
    end: date | str,
    chunk: str,
    reprocess: Reprocess,
    accept_changes: bool,
) -> BackfillRequest:
    """Return what a caller asks for as a request.

    Args:
        start, end: A date, a moment, or one as ISO 8601 writes it; one without a zone is UTC.
        chunk, reprocess, accept_changes: See ``BackfillRequest``.

    Raises:
        Usage: USAGE.
        BadRange: BAD_RANGE.
    """
    known = get_args(Reprocess)
    if reprocess not in known:
        raise Usage("USAGE", f"reprocess={reprocess!r} is none of {', '.join(known)}.", _NOTHING)
    return BackfillRequest(
        start=_moment(start), end=_moment(end), chunk=chunk, reprocess=reprocess, accept_changes=accept_changes
    )


def _moment(given: date | str) -> datetime:
    try:
        found = moment_of(given if isinstance(given, str) else given.isoformat())
    except (ValueError, AttributeError):
        raise BadRange(
            "BAD_RANGE",
            f"{given!r} is no time.",
            _NOTHING,
            "Write a date, such as 2026-01-05, or a moment, such as 2026-01-05T13:00.",
        ) from None
    return found if found.tzinfo is None else found.astimezone(timezone.utc).replace(tzinfo=None)

"""What stands in a lease's file: written by its holder, read by whoever comes next, damaged by anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from freshet.credentials import tree_without_credentials

_TEXTS = ("run_id", "what", "pipeline", "host", "since", "doing")
_NUMBERS = ("pid", "reads_commits", "reads_rows")
# The end of the year 9999, in seconds since 1970: no moment lies behind it.
_LAST_MOMENT = 253402300799.0


def record_in(file: IO[str]) -> dict[str, Any]:
    """Return what a holder wrote of itself, without the values that no holder writes; empty where it is no record."""
    file.seek(0)
    try:
        found = json.loads(file.read())
    except (ValueError, RecursionError):
        return {}
    return known_values(found) if isinstance(found, dict) else {}


def known_values(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a holder's record without the values that no holder writes, and without credentials."""
    known: dict[str, Any] = tree_without_credentials({key: value for key, value in found.items() if _can_be(key, value)})
    return known


def sign(file: IO[str], text: str) -> None:
    """Write a text into a lease, instead of what stood there."""
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def holder_in(file: IO[str]) -> str:
    """Return in words who holds a lease."""
    return holder_from(record_in(file))


def holder_from(holder: Mapping[str, Any]) -> str:
    """Return in words who holds a lease, by what the holder has written of itself."""
    if not holder:
        return "another run"
    run_id, pid, host, since = (holder.get(key, "unknown") for key in ("run_id", "pid", "host", "since"))
    return f"{holder.get('what', 'run')} {run_id} (pid {pid} on {host}, since {since})"


def _can_be(key: str, value: object) -> bool:
    if key in ("begun", "ended"):
        # Not of NaN, either.
        return isinstance(value, float) and 0 <= value <= _LAST_MOMENT
    if key in _NUMBERS:
        return type(value) is int
    return isinstance(value, str) if key in _TEXTS else True

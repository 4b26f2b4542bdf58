"""What a call over HTTP asks a backfill to do, by the words of its query. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from freshet.backfill.chunks import BackfillRequest, Reprocess
from freshet.serve.access import Refused

_FORMS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
_KEYS = ("start", "end", "chunk", "reprocess", "accept_changes")
_TRUTH = {"": True, "1": True, "true": True, "0": False, "false": False}


def backfill_asked(query: Mapping[str, str]) -> BackfillRequest:
    """Return the backfill that a query asks for.

    Args:
        query: Its words: ``start`` and ``end``, and as the command has them ``chunk``, ``reprocess`` and ``accept_changes``.

    Raises:
        Refused: SERVE_QUERY.
    """
    unknown = sorted(query.keys() - set(_KEYS))
    if unknown:
        raise _refused(f"there is no {unknown[0][:80]!r}; there are {', '.join(_KEYS)}")
    known: tuple[Reprocess, ...] = get_args(Reprocess)
    reprocess = next((one for one in known if one == query.get("reprocess", "none")), None)
    if reprocess is None:
        raise _refused(f"reprocess is one of {', '.join(known)}")
    accept = query.get("accept_changes", "0").lower()
    if accept not in _TRUTH:
        raise _refused("accept_changes is 1 or 0")
    return BackfillRequest(
        start=_moment(query, "start"),
        end=_moment(query, "end"),
        chunk=query.get("chunk", ""),
        reprocess=reprocess,
        accept_changes=_TRUTH[accept],
    )


def _moment(query: Mapping[str, str], key: str) -> datetime:
    for form in _FORMS:
        try:
            return datetime.strptime(query.get(key, ""), form)
        except ValueError:
            continue
    raise _refused(f"{key} is a day or a moment, UTC")


def _refused(why: str) -> Refused:
    return Refused(400, "SERVE_QUERY", f"{why}.", next_step="Write for instance ?start=2026-01-01&end=2026-02-01.")

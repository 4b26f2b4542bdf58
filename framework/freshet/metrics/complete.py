"""Whether a promise of completeness is kept: by the windows that are due, and those that soon will be. Pure."""

from __future__ import annotations

from typing import Literal

from freshet.account.windows import Completeness, WindowFill, named
from freshet.sources.hudi.reads import counted

Result = Literal["kept", "at_risk", "broken"]
#: A promise of which so much is used up may be broken before anybody looks again.
AT_RISK = 0.75


def judge_completeness(found: Completeness | None, promised: float, now: float) -> tuple[Result, str]:
    """Return what has become of a promise, and why.

    Args:
        found: How complete the windows are; None where nobody could look.
        promised: Which part of a window's events is there once it is due, from 0 to 1.
        now: Seconds since 1970.
    """
    if found is None or found.error:
        return "at_risk", f"how complete it is cannot be told: {found.error if found is not None else 'nobody could look'}"
    below = [one for one in found.of("short") if (one.share or 0.0) < promised]
    if below:
        worst = min(below, key=lambda one: one.share or 0.0)
        more = f"; so do {counted(len(below) - 1, 'other window')}" if len(below) > 1 else ""
        return "broken", f"{_lacks(worst, found.unit)}, and {share_words(promised)} is promised{more}"
    # Of a window that lacks fewer than it may, what nobody can place may be the rest.
    doubtful = [one for one in found.of("short", "unknown") if one.in_doubt]
    if doubtful:
        return "at_risk", f"the window of {named(doubtful[0].begin)}: {doubtful[0].why}"
    for one in found.of("open"):
        end, share = one.begin + found.window_seconds, one.share
        if share is not None and share < promised and now - end > AT_RISK * (one.due - end):
            return "at_risk", f"{_lacks(one, found.unit)}, which is due at {named(one.due)}"
    due = found.of("complete", "short")
    if not due:
        return "kept", "no window with events is due"
    return (
        "kept",
        f"{counted(len(due), 'window')} with events {'is' if len(due) == 1 else 'are'} due, and as complete as promised",
    )


def _lacks(one: WindowFill, unit: str) -> str:
    of = "" if one.at_source is None else f" of {counted(one.at_source, unit)}"
    return f"the window of {named(one.begin)} lacks {one.missing:,}{of} ({one.why})"


def share_words(share: float) -> str:
    """Return a share as a percentage that does not round up to all."""
    words = f"{share * 100:.3f}".rstrip("0").rstrip(".")
    return "99.999%" if words == "100" and share < 1 else f"{words}%"

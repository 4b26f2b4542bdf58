"""What the process does with each pipeline, as its pages show it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from freshet.secrets import redact
from freshet.site.live_facts import InGap, LastLook, ServedNow
from freshet.site.tone import Tone
from freshet.site.words import size

#: What each phase of ``Entry`` is called, and how it is to be taken.
PHASES: Mapping[str, tuple[Tone, str]] = {
    "resting": ("idle", "at rest"),
    "due": ("work", "due"),
    "looking": ("work", "looking"),
    "ready": ("work", "about to run"),
    "running": ("work", "running"),
    "backoff": ("warn", "rests after a failure"),
    "paused": ("warn", "paused"),
}


def served_now(name: str, shown: Mapping[str, Any], last: Mapping[str, Any] | None) -> ServedNow:
    """Return what is done with a pipeline.

    Args:
        name: Its name.
        shown: As ``Agenda.shown`` returns it.
        last: As ``Found.shown`` returns it; None before the first look.
    """
    tone, label = PHASES[shown["phase"]]
    return ServedNow(
        # One with a secret in its name can be called by nobody who reads a page.
        name=name if redact(name) == name else "",
        kind=shown["kind"],
        state=shown["phase"],
        tone=tone,
        label=label,
        waiting_seconds=shown["waiting_seconds"],
        next=shown["next"],
        after=tuple(shown["after"]),
        failures=shown["failures"],
        last=_last(last) if last else None,
    )


def in_gap(shown: Mapping[str, Any], slugs: Mapping[str, str]) -> InGap:
    """Return what is done in gaps for a pipeline.

    Args:
        shown: As ``Chore.shown`` returns it.
        slugs: The pages' names, by the pipelines' names.
    """
    return InGap(
        slug=slugs[shown["pipeline"]],
        what=shown["what"],
        state=shown["phase"],
        words=shown["words"],
        step=shown["step"],
        steps=shown["steps"],
        waiting_seconds=shown["waiting_seconds"],
    )


def _last(found: Mapping[str, Any]) -> LastLook:
    error = found["error"] or {}
    return LastLook(
        what=found["what"],
        outcome=found["outcome"],
        ended=datetime.fromisoformat(found["ended"]).timestamp(),
        seconds=found["seconds"],
        code=str(error.get("code", "")),
        message=str(error.get("message", "")) or found["message"],
    )


def spark_in_words(shown: Mapping[str, Any]) -> str:
    """Return what becomes of the Spark session.

    Args:
        shown: As ``Warm.shown`` returns it.
    """
    recycled = f", started anew {shown['recycled']} times" if shown["recycled"] else ""
    if not shown["up"]:
        return f"Spark is not started{recycled}."
    used = (shown["python_bytes"] or 0) + (shown["jvm_bytes"] or 0)
    most = f" of {size(shown['most_bytes'])}" if shown["most_bytes"] else ""
    return f"Spark is warm{recycled}; {size(used)}{most} of memory."

"""Where a pipeline stands, from what was measured of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from freshet.metrics.measured import Measured
from freshet.metrics.slo import objectives_of
from freshet.site.facts import INVALID, Promise, Standing, Trouble, Waits
from freshet.site.tone import Tone, worst
from freshet.site.words import state_in_words
from freshet.status.logic_report import LogicReport, logic_lines

_TONES: dict[str, Tone] = {"up_to_date": "ok", "behind": "idle", "new": "idle", "waiting": "idle"}
# What is wrong although the state itself is well.
_OF_TROUBLES = {
    "run_failed": "last run failed",
    "schedule_missed": "no run has begun",
    "freshness": "too late",
    "max_runtime": "too slow",
    "audit": "rows differ",
}


def standing_from(found: Measured, troubles: Sequence[Trouble], logic: LogicReport | None, audit: str) -> Standing:
    """Return where a pipeline stands.

    Args:
        found: What was measured of it.
        troubles: What is wrong with it.
        logic: By which logic its rows were made; None where nothing is known.
        audit: What its last audit found, in words.
    """
    status, running = found.looked.status, found.running
    told = next((_OF_TROUBLES[one.kind] for one in troubles if one.tone == "bad" and one.kind in _OF_TROUBLES), "")
    label = ", ".join(filter(None, (state_in_words(status.state), told)))
    own: Tone = "work" if running else _TONES.get(status.state, "bad")
    success = found.runs.success if found.runs is not None else ""
    return Standing(
        state=status.state,
        tone=worst([own, *(one.tone for one in troubles)]) if troubles else own,
        label=f"{label}, {_at_work(running[0])}" if running else label,
        last_commit=status.last_commit,
        last_success=success or status.last_commit,
        checkpoint=status.checkpoint,
        zone=status.source_zone,
        horizon=status.horizon,
        minutes_to_horizon=status.minutes_to_horizon,
        waits=tuple(Waits(**vars(one)) for one in found.waiting),
        waits_for=status.waits_for,
        running=_at_work(running[0]) if running else "",
        running_seconds=max(0.0, found.now - running[1]) if running else None,
        doing=str((status.running or {}).get("doing") or ""),
        overdue_seconds=found.overdue,
        promises=tuple(Promise(**vars(one)) for one in objectives_of(found)),
        logic=tuple(logic_lines(logic, datetime.fromtimestamp(found.now, timezone.utc))),
        audit=audit,
    )


def invalid_standing() -> Standing:
    """Return the standing of a pipeline whose files are wrong."""
    return Standing(state=INVALID, tone="bad", label=state_in_words(INVALID))


def _at_work(what: Any) -> str:
    return "running" if what == "run" else f"{what} at work"

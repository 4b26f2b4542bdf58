"""The words of ``freshet status``."""

from __future__ import annotations

import time
from datetime import datetime, timezone

from freshet.hudi.instants import readable
from freshet.metrics.slo import in_words
from freshet.sources.hudi.reads import counted
from freshet.status.logic_report import logic_in_short
from freshet.status.status import PipelineStatus


def waiting_words(s: PipelineStatus) -> str:
    """Return what a pipeline waits for; empty where it waits for nothing."""
    return f"{s.pipeline}: waits for the first run of {', '.join(s.waits_for)}" if s.waits_for else ""


def captured_words(s: PipelineStatus) -> str:
    """Return up to where in its database's log a table is; empty where it is not published together with others."""
    return f"{s.pipeline}: holds its database up to {s.captured}" if s.captured else ""


def logic_words(s: PipelineStatus) -> str:
    """Return which logic made the target's rows, where that is not one alone."""
    words = logic_in_short(s.logic)
    return f"{s.pipeline}: {words}; what renews it: `freshet plan {s.pipeline}`" if words else ""


def running_words(s: PipelineStatus) -> str:
    """Return what is at work; empty where nothing is."""
    if s.running is None:
        return ""
    what, begun, doing = (s.running.get(key) for key in ("what", "begun", "doing"))
    since = f" since {_age(time.time() - begun)}" if isinstance(begun, float) else ""
    return f"{s.pipeline}: {'running' if what in (None, 'run') else what}{since}" + (f": {doing}" if doing else "")


def _age(seconds: float) -> str:
    if seconds < 60:
        return f"{max(0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def backfill_words(s: PipelineStatus) -> str:
    """Return which backfill is unfinished; empty where none is."""
    if not (s.backfill or s.backfill_running):
        return ""
    goes_on = "running" if s.backfill_running else "not running: the same `freshet backfill` goes on with it"
    return f"{s.pipeline}: backfill {s.backfill or 'begun'}, {goes_on}"


def latency_words(s: PipelineStatus) -> str:
    """Return how late the events of the last commit were published; empty where nobody counted them."""
    if s.latency is None:
        return ""
    seconds, future, untimed = s.latency["seconds"], s.latency["future"], s.latency["untimed"]
    parts = []
    if seconds:
        shares = (("p50", "half"), ("p95", "95%"), ("p99", "99%"), ("max", "all"))
        after = ", ".join(f"{words} within {in_words(seconds[name])}" for name, words in shares if name in seconds)
        parts.append(f"{counted(s.latency['events'], 'event')} of the last commit published: {after}")
    if future:
        ahead = in_words(s.latency["ahead_seconds"])
        parts.append(f"{counted(future, 'event')} from the future, by {ahead} at most: a clock is ahead")
    if untimed:
        parts.append(f"{counted(untimed, 'event')} without a time")
    return f"{s.pipeline}: {'; '.join(parts)}" if parts else ""


def row_of(s: PipelineStatus) -> tuple[str, ...]:
    """Return a pipeline's row in the table."""
    # Of a source without commits, such as topics, rows alone wait.
    commits = (counted(s.commits_behind, "commit"),) if s.commits_behind else ()
    age = f"{s.minutes_behind:g} min" if commits else _age(60 * s.minutes_behind)
    behind = ", ".join((*commits, counted(s.rows_behind, "row"), age)) if commits or s.rows_behind else "-"
    left = "-" if s.minutes_to_horizon is None else f"{s.minutes_to_horizon:g} min"
    now = datetime.now(timezone.utc)
    last, position = readable(s.last_commit, now=now), readable(s.checkpoint, s.source_zone, now)
    return (s.pipeline, s.state, last or "-", position or "-", behind, left)

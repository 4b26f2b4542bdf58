"""Choose how far back the commits of an input are read. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from freshet.plan.logged import in_logs
from freshet.plan.reads import Window, counted
from freshet.plan.whole_files import in_whole_files
from freshet.plan.window import lost_since
from freshet.spec.model import InputSpec
from freshet.state.table import TableState


def look_back(one: InputSpec, state: TableState, window: Window, news: Window | None, read_upto: str) -> Window:
    """Choose what of an input is read by its look-back.

    Args:
        one: The input.
        state: Its table.
        window: What is read of the main source.
        news: What of the input drives this run; None where nothing does.
        read_upto: Completion time up to which the main source was read before; empty before the first run.

    Returns:
        The commits up to the newest; the whole table where all of it is needed, or its history does not reach so far.
    """
    if not state.commits:
        return Window("idle", reason="the table has no commit yet")
    end = state.commits[-1].completed
    whole = Window("whole_table", end_inclusive=end)
    if window.kind == "whole_table":
        return replace(whole, reason="all of it, as the whole source is read")
    if news is not None and news.kind == "whole_table":
        return replace(whole, reason="all of it, as all of it drives")
    # What drives must be seen too, and may be older than the main source's window: then the look-back counts from there.
    begin = _earlier(min(read_upto, _just_before(news.begin_inclusive)) if news else read_upto, one.lookback_seconds)
    found = state.commits_between(begin_exclusive=begin)
    if lost_since(state, begin, found):
        return replace(whole, reason="all of it, as the look-back reaches further than the table's history")
    if not found:
        return Window("idle", end_inclusive=end, reason=f"no commit since {begin}")
    return Window(
        "increment", found[0].completed, found[-1].completed, tuple(i.requested for i in found),
        sum(state.info(i).rows for i in found), whole_files=in_whole_files(state, found),
        logs=in_logs(state, found),
        reason=f"{counted(len(found), 'commit')} since {begin}",
    )


def _just_before(instant: str) -> str:
    return str(int(instant) - 1).zfill(len(instant))


def _earlier(instant: str, seconds: int) -> str:
    try:
        moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S") - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return "0"
    return moment.strftime("%Y%m%d%H%M%S") + instant[14:]

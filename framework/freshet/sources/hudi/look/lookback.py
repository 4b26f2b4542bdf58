"""Choose how far back the commits of an input are read. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from freshet.hudi.instants import is_named_in_utc
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import InputSpec
from freshet.sources.hudi.look.logged import in_logs
from freshet.sources.hudi.look.whole_files import in_whole_files
from freshet.sources.hudi.look.window import lost_since
from freshet.sources.hudi.reads import Window, counted

# From UTC-12 to UTC+14, and the hour that a clock skips in spring.
_ANY_TWO_ZONES, _ONE_ZONE = 26 * 3600, 3600


def look_back(
    one: InputSpec,
    state: TableState,
    source: TableState,
    window: Window,
    news: Window | None,
    read_upto: str,
) -> Window:
    """Choose what of an input is read by its look-back.

    Args:
        one: The input.
        state: Its table.
        source: The main source.
        window: What is read of the main source.
        news: What of the input drives this run; None where nothing does.
        read_upto: Completion time up to which the main source was read before; empty before the first run.

    Returns:
        The commits up to the newest; the whole table where all of it is needed, or its history does not reach so far.
    """
    if not state.commits:
        return Window(kind="idle", reason="the table has no commit yet")
    end = state.commits[-1].completed
    whole = Window(kind="whole_table", end_inclusive=end)
    if window.kind == "whole_table":
        return replace(whole, reason="all of it, as the whole source is read")
    if news is not None and news.kind == "whole_table":
        return replace(whole, reason="all of it, as all of it drives")
    more = _further(state, source)
    begin = _earlier(min(read_upto, window.begin_inclusive) if window.late else read_upto, one.lookback_seconds + more)
    if news:
        # What drives must be seen too, and may be older than the main source's window: then the look-back counts from there.
        # What began at that time itself comes after this text.
        begin = min(begin, _earlier(news.begin_inclusive, one.lookback_seconds + _further(state, state))[:-1])
    found = state.commits_between(begin_exclusive=begin)
    if lost_since(state, begin, found):
        return replace(whole, reason="all of it, as the look-back reaches further than the table's history")
    if not found:
        return Window(kind="idle", end_inclusive=end, reason=f"no commit since {begin}")
    return Window(
        kind="increment",
        begin_inclusive=found[0].completed,
        end_inclusive=found[-1].completed,
        requested=tuple(i.requested for i in found),
        rows=sum(state.info(i).rows for i in found),
        whole_files=in_whole_files(state, found),
        logs=in_logs(state, found),
        reason=f"{counted(len(found), 'commit')} since {begin}"
        + (f", {more // 3600} h more than the look-back: the time zone of the commits' names is not known" if more else ""),
    )


def _further(state: TableState, source: TableState) -> int:
    """Return how many seconds more a look-back must go to hold the rows that it promises: see docs/reading.md."""
    if is_named_in_utc(state) and is_named_in_utc(source):
        return 0
    return _ONE_ZONE if state.ref.path == source.ref.path else _ANY_TWO_ZONES


def _earlier(instant: str, seconds: int) -> str:
    try:
        moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S") - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return "0"
    return moment.strftime("%Y%m%d%H%M%S") + instant[14:]

"""Count the event times of rows within an aggregation that is made of them anyway."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, GroupedData, Row
from pyspark.sql import functions as F

from freshet.event_times.counted import LAGS, MOST_WINDOWS, Counted

# Of a row: its event's time, and the window that this is of, in milliseconds since 1970.
_TIME, _WINDOW = "__freshet_event_time", "__freshet_event_window"
_EARLIER, _BEYOND, _NONE = -1, -2, -3
_SHARES = (0.5, 0.95, 0.99)
# No latency from before it is a number that Spark has; a changelog takes whatever time its producer wrote.
_FURTHEST_MS = -(2**62)
_LEVEL, _ROWS = "__freshet_level", "__freshet_timed_rows"


def grouped(rows: DataFrame, time_ms: Column, window_seconds: int, by: Sequence[Column] = ()) -> GroupedData:
    """Group rows such that one aggregation gives their sum, and counts by window and group.

    Args:
        rows: The rows.
        time_ms: The event's time in milliseconds since 1970; null where a row does not count, or has none.
        window_seconds: Length of the windows; 0 for none.
        by: Groups within the windows.
    """
    now = F.unix_millis(F.current_timestamp())
    size = F.lit(window_seconds * 1000)
    last = now - F.pmod(now, size) if window_seconds else F.lit(0)
    begin = F.col(_TIME) - F.pmod(F.col(_TIME), size)
    window = (
        F.when(F.col(_TIME).isNull(), F.lit(_NONE))
        .when(begin > last, F.lit(_BEYOND))
        .when(begin <= last - size * MOST_WINDOWS, F.lit(_EARLIER))
        .otherwise(begin)
        .cast("bigint")
    )
    time = time_ms.cast("bigint")
    timed = rows.withColumn(_TIME, F.when(time < _FURTHEST_MS, F.lit(_FURTHEST_MS)).otherwise(time))
    if not window_seconds:
        return timed.rollup(*by)
    return timed.withColumn(_WINDOW, window).rollup(_WINDOW, *by)


def aggregates(counts: Column | None = None) -> tuple[Column, ...]:
    """Return what the aggregation of ``grouped`` rows has to hold beside what else is asked of them.

    Args:
        counts: Whether a row counts as an event, whether it has a time or none; None for all rows.
    """
    time, now = F.col(_TIME), F.unix_millis(F.current_timestamp())
    past = time <= now
    lag = F.when(past, now - time)
    return (
        F.grouping_id().alias(_LEVEL),
        F.count(time).alias(_ROWS),
        F.count_if(past).alias("__freshet_past"),
        F.count_if(time.isNull() & (F.lit(True) if counts is None else counts)).alias("__freshet_untimed"),
        F.max(F.when(~past, time - now)).alias("__freshet_ahead"),
        F.min(lag).alias("__freshet_min"),
        F.max(lag).alias("__freshet_max"),
        F.percentile_approx(lag, list(_SHARES), 10_000).alias("__freshet_shares"),
        F.max(now).alias("__freshet_now"),
    )


def total_of(found: Sequence[Row]) -> Row | None:
    """Return the row of all rows together; None where there were none: of no rows Spark makes no sum in groups."""
    return max(found, key=lambda row: int(row[_LEVEL]), default=None)


def groups_of(found: Sequence[Row]) -> list[Row]:
    """Return the rows of the smallest groups, by window and group."""
    return [row for row in found if not row[_LEVEL]]


def counted_of(found: Sequence[Row], window_seconds: int) -> Counted | None:
    """Return what an aggregation tells of event times; None where there was no row.

    Args:
        found: Its rows, the columns of ``aggregates`` among them.
        window_seconds: As for ``grouped``.
    """
    total = total_of(found)
    if total is None:
        return None
    by_window: dict[int, int] = {}
    for row in groups_of(found) if window_seconds else ():
        by_window[int(row[_WINDOW])] = by_window.get(int(row[_WINDOW]), 0) + int(row[_ROWS])
    now, events, shares = int(total["__freshet_now"]), int(total["__freshet_past"]), total["__freshet_shares"] or ()
    lags = dict(zip(LAGS, (total["__freshet_min"], *shares, total["__freshet_max"]), strict=True)) if events else {}
    size = window_seconds * 1000
    return Counted(
        at_ms=now,
        events=events,
        lags_ms={name: int(lag) for name, lag in lags.items()},
        untimed=int(total["__freshet_untimed"]),
        future=int(total[_ROWS]) - events,
        ahead_ms=int(total["__freshet_ahead"] or 0),
        window_seconds=window_seconds,
        windows={begin // 1000: count for begin, count in sorted(by_window.items()) if begin >= 0 and count},
        earlier=by_window.get(_EARLIER, 0),
        first=(now - now % size - size * (MOST_WINDOWS - 1)) // 1000 if size else 0,
        beyond=by_window.get(_BEYOND, 0),
    )

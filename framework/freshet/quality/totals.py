"""Aggregate a batch once: what each rule found, how old the newest row is, and the event times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from freshet.event_times.counted import Counted
from freshet.project.model.checks import CheckSpec, FreshnessRule
from freshet.project.model.promises import EventTimes
from freshet.quality.event_times import aggregates, counted_of, grouped, total_of
from freshet.quality.rows import RowCheck


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of a batch's rows.

    Args:
        live: Whether a row is one that stays.
        dropped: Whether a rule drops a row.
        deletes: Whether a dropped row deletes its older row.
        wanted: Whether it should.
        row_checks: The rules over rows.
        times: The checks of freshness.
    """

    live: Column
    dropped: Column
    deletes: Column
    wanted: Column
    row_checks: Sequence[RowCheck]
    times: Sequence[CheckSpec]


def totals_of_batch(marked: DataFrame, asked: Asked, event_times: EventTimes | None) -> tuple[Row, Counted | None]:
    """Return the sums over a batch, and its event times where they are counted; one pass.

    Args:
        marked: The batch, with a column for each rule.
        asked: What is asked.
        event_times: Whose event times are counted; None for none.
    """
    plain = (
        F.count(F.lit(1)).alias("rows"),
        F.count_if(asked.live).alias("live"),
        F.count_if(asked.dropped).alias("dropped"),
        F.count_if(asked.deletes).alias("deletes"),
        F.count_if(asked.wanted & ~asked.deletes).alias("undeletable"),
        *(F.count_if(one.bad).alias(one.bad) for one in asked.row_checks),
        *(F.count_if(one.counted).alias(one.counted) for one in asked.row_checks if one.counted),
        *(
            F.max(F.when(asked.live, F.col(f"`{c.rule.column}`").cast("timestamp"))).alias(f"newest_{n}")
            for n, c in enumerate(asked.times)
            if isinstance(c.rule, FreshnessRule)
        ),
    )
    if event_times is not None:
        stays = ~asked.dropped
        time = F.when(stays, F.unix_millis(F.col(f"`{event_times.column}`").cast("timestamp")))
        groups = grouped(marked, time, event_times.window_seconds)
        found = _with_ages(groups.agg(*plain, *aggregates(stays)), asked.times).collect()
        total = total_of(found)
        if total is not None:
            return total, counted_of(found, event_times.window_seconds)
    return _with_ages(marked.agg(*plain), asked.times).collect()[0], None


def _with_ages(sums: DataFrame, times: Sequence[CheckSpec]) -> DataFrame:
    numbers = range(len(times))
    return sums.select(
        # As text and seconds: Python has no time after the year 9999.
        "*",
        *(F.col(f"newest_{n}").cast("string").alias(f"newest_text_{n}") for n in numbers),
        *((F.unix_seconds(F.current_timestamp()) - F.unix_seconds(f"newest_{n}")).alias(f"age_{n}") for n in numbers),
        *(F.unix_seconds(f"newest_{n}").alias(f"newest_at_{n}") for n in numbers),
    ).drop(*(f"newest_{n}" for n in numbers))

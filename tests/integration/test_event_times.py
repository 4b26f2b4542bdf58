"""Event times are counted within the pass that the checks make, and in the reading of a changelog, on frames in memory.

That a commit keeps them, and what is read of it, a whole run proves at the end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.event_times.counted import LAGS, MOST_WINDOWS, Counted, counted_in
from freshet.hudi.checkpoint import TIMES_KEY
from freshet.plan.checks import CheckBatch
from freshet.project.model.checks import CheckSpec, RowRule
from freshet.project.model.pipeline import TableRef
from freshet.project.model.promises import EventTimes
from freshet.quality.event_times import aggregates, counted_of, grouped, groups_of
from freshet.quality.gate import Gated, check_batch
from tests.kit.commands import freshet
from tests.kit.frames import frame
from tests.kit.lake import Lake, rows

HOUR = 3600
TIMES = EventTimes(column="at", window_seconds=HOUR, lateness_seconds=HOUR)


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def batch(spark: SparkSession, items: Sequence[tuple[str, int | None, int]]) -> DataFrame:
    """Return rows whose events were so many seconds ago; None for no time."""
    made = frame(spark, items, "id string, ago int, amount int")
    return made.select("id", "amount", F.expr("current_timestamp() - make_interval(0, 0, 0, 0, 0, 0, ago)").alias("at"))


def checked(spark: SparkSession, items: Sequence[tuple[str, int | None, int]], *checks: CheckSpec) -> Gated:
    stage = CheckBatch(
        checks=checks,
        record_key=("id",),
        history=(),
        quarantine=TableRef("derived.q", "/q") if checks else None,
        event_times=TIMES,
    )
    return check_batch(spark, stage, batch(spark, items))


def counted(found: Gated) -> Counted:
    assert found.event_times is not None
    return found.event_times


def test_latency_and_windows_of_a_batch(spark: SparkSession) -> None:
    ago = [1, 2, 3, 4, *(5 for _ in range(95)), 400 * HOUR]
    found = counted(checked(spark, [*((str(n), one, 1) for n, one in enumerate(ago)), ("none", None, 1)]))
    assert (found.events, found.untimed, found.future, found.earlier, found.beyond) == (100, 1, 0, 1, 0)
    # From the first to the others; how long after the rows were made they were counted, no test knows.
    assert [(found.lags_ms[name] - found.lags_ms["min"]) // 1000 for name in LAGS] == [0, 4, 4, 4, 400 * HOUR - 1]
    assert found.lags_ms["min"] >= 1000
    assert sum(found.windows.values()) == 99
    assert set(found.windows) <= {found.at_ms // 1000 // HOUR * HOUR - n * HOUR for n in (0, 1)}
    assert found.first == found.at_ms // 1000 // HOUR * HOUR - (MOST_WINDOWS - 1) * HOUR


def test_events_from_the_future_are_counted_and_have_no_latency(spark: SparkSession) -> None:
    found = counted(checked(spark, [("a", 10, 1), ("b", -2 * HOUR, 1), ("c", -5 * HOUR, 1)]))
    assert (found.events, found.future, found.beyond, sum(found.windows.values())) == (1, 2, 2, 1)
    assert 4 * HOUR * 1000 < found.ahead_ms <= 5 * HOUR * 1000
    assert len(set(found.lags_ms.values())) == 1
    assert found.lags_ms["min"] >= 10_000
    alone = counted(checked(spark, [("a", -2 * HOUR, 1)]))
    assert (alone.events, alone.lags_ms) == (0, {})


def test_dropped_rows_are_not_published_and_not_counted(spark: SparkSession) -> None:
    """And what the checks count is the same as without event times."""
    rule = CheckSpec(name="good", severity="drop", line=0, rule=RowRule("amount < 0"))
    found = checked(spark, [("a", 10, 1), ("b", 20, -1), ("c", None, -1)], rule)
    assert (found.count, found.dropped_count, counted(found).events, counted(found).untimed) == (3, 2, 1, 0)


def test_a_batch_without_rows(spark: SparkSession) -> None:
    found = checked(spark, [])
    assert (found.count, found.is_empty, found.event_times) == (0, True, None)


def test_event_times_cost_no_pass_of_their_own(spark: SparkSession) -> None:
    items = [("a", 10, 1), ("b", 20, 1)]
    plain = CheckBatch(checks=(), record_key=("id",), history=(), quarantine=None)
    counts = {}
    for name, stage in (("plain", plain), ("timed", replace(plain, event_times=TIMES))):
        spark.sparkContext.setJobGroup(name, name)
        check_batch(spark, stage, batch(spark, items))
        counts[name] = len(spark.sparkContext.statusTracker().getJobIdsForGroup(name))
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert counts["timed"] == counts["plain"] > 0


def test_groups_within_windows_add_up(spark: SparkSession) -> None:
    """As the reading of a changelog counts: by reason, of which those that go aside have no time."""
    now = int(time.time())
    items = [("a", None, now - 5), ("b", None, now - 2 * HOUR), ("c", "odd", now), ("d", "odd", now), ("e", "no", now)]
    made = frame(spark, items, "id string, reason string, seconds bigint")
    merges = F.col("reason").isNull()
    time_ms = F.when(merges, F.col("seconds") * 1000)
    for window in (HOUR, 0):
        asked = grouped(made, time_ms, window, [F.col("reason")]).agg(F.count(F.lit(1)).alias("n"), *aggregates(merges))
        found = asked.collect()
        by_reason: dict[Any, int] = {}
        for row in groups_of(found):
            by_reason[row["reason"]] = by_reason.get(row["reason"], 0) + row["n"]
        assert by_reason == {None: 2, "odd": 2, "no": 1}
        told = counted_of(found, window)
        assert told is not None
        assert (told.events, told.untimed, sum(told.windows.values())) == (2, 0, 2 if window else 0)
        assert told.lags_ms["min"] >= 5000


def test_of_a_time_that_no_clock_tells_the_latency_is_long_and_not_negative(spark: SparkSession) -> None:
    first = F.col("id") == 0
    made = spark.range(2).select(F.when(first, F.lit(-(2**63))).otherwise(F.lit(2**63 - 1)).alias("ms"))
    told = counted_of(grouped(made, F.col("ms"), HOUR).agg(*aggregates()).collect(), HOUR)
    assert told is not None
    assert (told.events, told.earlier, told.future, told.beyond) == (1, 1, 1, 1)
    assert min(told.lags_ms["min"], told.ahead_ms) > 2**61


DECLARED = "event_times: {column: at}\nslo: {completeness: 99.9%}\n"


def test_a_run_says_how_late_its_rows_are_and_a_reader_which_windows_it_lacks(tmp_path: Path, spark: SparkSession) -> None:
    lake = Lake(spark, tmp_path)
    long_ago = int(time.time()) - 4 * HOUR
    lake.land(rows(("a", long_ago, "1.00"), ("b", long_ago, "2.00")))
    sql = "SELECT id, ts, amount, day, timestamp_seconds(ts) AS at FROM <SRC>"
    lake.pipeline(sql=sql, columns=",\n  at TIMESTAMP", top=DECLARED)
    lake.pipeline("down", source="derived.copy", top="event_times: {}\nslo: {completeness: 99.9%}\n")
    lake.run_ok()
    lake.run_ok("down")
    (commit,) = lake.state().data_commits
    told = counted_in(lake.state().info(commit).extra[TIMES_KEY])
    window = long_ago // HOUR * HOUR
    assert told is not None
    assert (told.events, told.windows) == (2, {window: 2})
    assert TIMES_KEY not in lake.state("derived.down").info(lake.state("derived.down").data_commits[-1]).extra
    copy, down = freshet(lake, "status")["pipelines"]
    assert copy["latency"]["seconds"]["min"] >= 4 * HOUR
    assert (copy["latency"]["events"], down["latency"]) == (2, None)
    assert [one["result"] for one in (*copy["slo"], *down["slo"])] == ["kept", "kept"]
    assert filled(lake) == [(2, 2, "complete")]
    lake.land(rows(("c", long_ago, "3.00")))
    lake.run_ok()
    assert filled(lake) == [(3, 2, "short")]
    (slo,) = freshet(lake, "status", "down")["pipelines"][0]["slo"]
    assert slo["result"] == "broken"
    assert "lacks 1 of 3 rows (1 row wait)" in slo["reason"]
    lake.run_ok("down")
    assert filled(lake) == [(3, 3, "complete")]


def filled(lake: Lake) -> list[tuple[int, int, str]]:
    (found,) = freshet(lake, "status", "down", "--completeness")["pipelines"]
    assert (found["error"], found["note"]) == ("", "")
    return [(one["at_source"], one["taken"], one["fill"]) for one in found["windows"]]

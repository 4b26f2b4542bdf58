"""What happens to a source between two reads of it, or within one: commits that go, and rows that are written again."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from freshet.sources.hudi.read.inputs import drive_rows
from freshet.sources.hudi.read.reader import read_identified
from freshet.sources.hudi.reads import DriveRows, ReadIncrement
from tests.integration.test_reads import JOIN, ONE_COMMIT, inputs, land_tips, stage
from tests.kit.lake import Lake, rows

LAZY = {
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}


def test_a_commit_between_others_that_was_taken_back_is_refused(lake: Lake) -> None:
    """Kind: see tests/unit/plan/test_taken_back.py. Where several writers clean failed writes lazily, Hudi takes back any."""
    lake.pipeline()
    for key, day in (("a", "2026-01-05"), ("bad", "2026-01-06"), ("c", "2026-01-07")):
        lake.land(rows((key, 1, "1"), day=day), **LAZY)
    lake.run_ok()
    _, bad, last = lake.state("raw.events").commits
    for key, value in LAZY.items():
        lake.spark.conf.set(key, value)
    try:
        lake.spark.sql("DROP TABLE IF EXISTS lazily")
        lake.spark.sql(f"CREATE TABLE lazily USING hudi LOCATION '{lake.path('raw.events')}'")
        lake.spark.sql(f"CALL rollback_to_instant(table => 'lazily', instant_time => '{bad.requested}')").collect()
    finally:
        for key in LAZY:
            lake.spark.conf.unset(key)
    assert [row[0] for row in lake.rows("raw.events")] == ["a", "c"]
    error = lake.run().error
    assert error is not None
    assert (error.code, error.details["commits"], error.details["standing"]) == (
        "SOURCE_ROLLED_BACK",
        [bad.requested],
        last.completed,
    )
    # The way out that keeps its rows.
    lake.set_checkpoint(error.details["standing"])
    assert lake.run_ok().outcome == "idle"
    lake.land(rows(("d", 1, "1")))
    lake.run_ok()
    assert [row[0] for row in lake.rows()] == ["a", "bad", "c", "d"]


def pend(lake: Lake, before: str) -> Iterable[Path]:
    """Begin a commit that was requested just before a time, and leave it; returns its files."""
    timeline, name = Path(lake.path("raw.events")) / ".hoodie/timeline", str(int(before) - 1)
    files = (timeline / f"{name}.commit.requested", timeline / f"{name}.inflight")
    for file in files:
        file.touch()
    return files


def test_a_row_that_is_written_again_while_it_is_read_comes_once(lake: Lake) -> None:
    """Kind: a version that cannot be travelled to: while an older commit is pending, or after a change of the schema."""
    lake.pipeline(
        sql=JOIN,
        columns=", tip DECIMAL(10,2), copies BIGINT",
        hoodie=ONE_COMMIT,
        top=inputs(tips="table: raw.tips, read: incremental, lookback: 1h, drives: {trip: id}"),
    )
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    land_tips(lake, ("t1", 1, "a", "0.10"))
    lake.run_ok()
    lake.land(rows(("a", 2, "2")))
    first = lake.state("raw.events").commits[-1].requested
    pending = pend(lake, first)
    land_tips(lake, ("t1", 2, "a", "0.20"), ("t2", 2, "b", "0.30"))
    plan = lake.plan()
    read, drive = stage(plan, ReadIncrement), stage(plan, DriveRows)
    assert (read.window.requested, read.as_of, drive.as_of) == ((first,), "", "")

    # Between the two reads.
    source = read_identified(lake.spark, read)
    assert source.count() == 1
    for file in pending:
        file.unlink()
    lake.land(rows(("a", 3, "3")))
    driven = drive_rows(lake.spark, drive, source)
    assert sorted((row.id, row.ts) for row in driven.collect()) == [("a", 2), ("b", 1)]

    # Before both, and after the window, which ends with the first of the two commits.
    pend(lake, first)
    assert stage(lake.plan(), ReadIncrement).window.requested == (first,)
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "ts", "tip", "copies") == [
        ("a", 3, Decimal("0.20"), 1),
        ("b", 1, Decimal("0.30"), 1),
    ]

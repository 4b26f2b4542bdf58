"""How the other inputs are read on real tables: look-back, what drives, affected partitions, versions, sums per day."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame

from freshet.errors import FreshetError
from freshet.hudi.timeline import TimelineState
from freshet.plan.stages import Plan
from freshet.run.executor import execute
from freshet.run.write_session import write_session
from freshet.sources.hudi.read.inputs import read_partitions
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import ReadLookback, ReadPartitions
from tests.kit.lake import Lake, Row, rows

CDC = {"hoodie.table.cdc.enabled": "true"}
MOR = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
SHORT_HISTORY = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}
ONE_COMMIT = {"hoodie.streamer.source.hoodieincr.num_instants": 1}
TIPS = "id string, ts bigint, trip string, tip decimal(10,2), day string"
RIDES = "id string, ts bigint, driver string, amount decimal(10,2), day string"
DAYS = [f"2026-01-0{number}" for number in range(1, 6)]
# `copies` shows a trip that came into <SRC> twice.
JOIN = """
    SELECT s.id, s.ts, s.amount, s.day, t.tip, count(*) OVER (PARTITION BY s.id) AS copies
    FROM <SRC> s LEFT JOIN tips t ON t.trip = s.id"""


def inputs(**declared: str) -> str:
    return "inputs:\n" + "".join(f"  {name}: {{{text}}}\n" for name, text in declared.items())


def tipped(lake: Lake, drives: bool = True, lookback: str = "1h", **pipeline: Any) -> None:
    driving = ", drives: {trip: id}" if drives else ""
    lake.pipeline(
        sql=JOIN,
        columns=", tip DECIMAL(10,2), copies BIGINT",
        top=inputs(tips=f"table: raw.tips, read: incremental, lookback: {lookback}{driving}"),
        **pipeline,
    )


def land_tips(lake: Lake, *items: tuple[str, int, str, str], operation: str = "upsert", **options: str) -> str:
    batch = [(key, ts, trip, Decimal(tip), "2026-01-05") for key, ts, trip, tip in items]
    return lake.land(batch, operation, "raw.tips", TIPS, **options)


def joined(lake: Lake) -> list[Row]:
    """Return the whole join, computed anew from both tables."""
    tips = dict(lake.rows("raw.tips", "trip", "tip"))
    return [(key, amount, tips.get(key), 1) for key, amount in lake.rows("raw.events", "id", "amount")]


def standing(lake: Lake) -> list[Row]:
    return lake.rows("derived.copy", "id", "amount", "tip", "copies")


def vector(lake: Lake) -> dict[str, str]:
    checkpoint = lake.state().latest_checkpoint()
    return {name: position.instant for name, position in checkpoint.positions.items()} if checkpoint else {}


def changed(lake: Lake, *key: str) -> list[str]:
    """Return the keys of the rows that the last commit wrote."""
    frame = lake.spark.read.format("hudi").load(lake.path("derived.copy"))
    written = frame.where(frame["_hoodie_commit_time"] == lake.state().commits[-1].requested)
    return sorted(" ".join(row) for row in written.select(*(key or ("id",))).collect())


def stage(plan: Plan, kind: type[Any], view: str = "") -> Any:
    (found,) = [s for s in plan.stages if isinstance(s, kind) and (not view or s.view == view)]
    return found


def failed(lake: Lake) -> FreshetError:
    error = lake.run().error
    assert error is not None
    return error


class TestLookback:
    def test_a_join_of_two_streams_equals_the_whole_join(self, lake: Lake) -> None:
        tipped(lake)
        trips = lake.land(rows(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1")))
        tips = land_tips(lake, ("t1", 1, "a", "0.10"), ("t2", 1, "early", "0.20"), **CDC)
        lake.run_ok()
        assert (standing(lake), vector(lake)) == (joined(lake), {"SRC": trips, "tips": tips})

        # A tip that landed before its trip.
        trips = lake.land(rows(("early", 2, "2")))
        lake.run_ok()
        assert (standing(lake), vector(lake)) == (joined(lake), {"SRC": trips, "tips": tips})
        assert changed(lake) == ["early"]

        # A tip that lands after its trip, while no trip changes.
        tips = land_tips(lake, ("t3", 3, "b", "0.30"), **CDC)
        assert lake.plan().window.kind == "driven"
        driven = lake.run_ok()
        assert (driven.inserts, driven.updates, changed(lake)) == (0, 1, ["b"])
        assert (standing(lake), vector(lake)) == (joined(lake), {"SRC": trips, "tips": tips})
        assert lake.run_ok().outcome == "idle"

        # In one run: a tip is deleted, one names another trip now, and a trip changes together with its tip.
        lake.land([("t3", 4, "b", Decimal("0.30"), "2026-01-05")], "delete", "raw.tips", TIPS, **CDC)
        land_tips(lake, ("t2", 5, "c", "0.20"), ("t1", 5, "a", "0.50"), **CDC)
        lake.land(rows(("a", 5, "5")))
        lake.run_ok()
        assert (changed(lake), standing(lake)) == (["a", "b", "c", "early"], joined(lake))

    def test_a_drain_bounded_by_commits_leaves_nothing_behind(self, lake: Lake) -> None:
        tipped(lake, hoodie=ONE_COMMIT)
        lake.land(rows(*((key, 1, "1") for key in "abc")))
        land_tips(lake, ("t0", 1, "a", "0.10"))
        lake.run_ok()
        trips = lake.land(rows(("c", 2, "2")))
        tips = [land_tips(lake, (f"t{number}", 2, key, "0.20")) for number, key in enumerate("bc", 1)]
        plan = lake.plan()
        assert plan.checkpoint_after is not None
        assert (plan.window.waiting_commits, plan.checkpoint_after.positions["tips"].instant) == (1, tips[0])
        assert len(lake.run_ok(drain=True).commits) == 2
        assert (standing(lake), vector(lake)) == (joined(lake), {"SRC": trips, "tips": tips[-1]})
        assert lake.run_ok().outcome == "idle"

    def test_what_is_older_than_the_look_back_is_not_read(self, lake: Lake) -> None:
        tipped(lake, drives=False, lookback="1s")
        # Else the two tables' times may be of different zones.
        lake.land_options |= {"hoodie.table.timeline.timezone": "UTC"}
        land_tips(lake, ("t1", 1, "late", "0.10"))
        time.sleep(1.1)
        lake.land(rows(("a", 1, "1")))
        lake.run_ok()
        land_tips(lake, ("t2", 2, "b", "0.20"))
        lake.land(rows(("late", 2, "2"), ("b", 2, "2")))
        looked = stage(lake.plan(), ReadLookback).window
        assert (looked.kind, looked.requested) == ("increment", (lake.state("raw.tips").commits[-1].requested,))
        lake.run_ok()
        assert [row[:3] for row in standing(lake)][1:] == [
            ("b", Decimal("2.00"), Decimal("0.20")),
            ("late", Decimal("2.00"), None),
        ]

    def test_beyond_the_tables_history_a_look_back_reads_all_and_what_drives_has_expired(self, lake: Lake) -> None:
        tipped(lake)
        lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
        land_tips(lake, ("t1", 1, "late", "0.10"), **SHORT_HISTORY)
        lake.run_ok()
        for ts in range(2, 6):
            land_tips(lake, ("t2", ts, "b", f"0.{ts}0"), **SHORT_HISTORY)
        before = standing(lake)
        error = failed(lake)
        assert (error.code, error.details["input"]) == ("CHECKPOINT_EXPIRED", "tips")
        assert standing(lake) == before

        tipped(lake, drives=False)
        lake.land(rows(("late", 2, "2"), ("b", 2, "2")))
        assert stage(lake.plan(), ReadLookback).window.kind == "whole_table"
        lake.run_ok()
        assert standing(lake) == joined(lake)

    def test_a_source_that_is_read_whole_is_joined_with_all(self, lake: Lake) -> None:
        tipped(lake, lookback="0s")
        lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
        land_tips(lake, ("t1", 1, "a", "0.10"))
        lake.run_ok()
        # The look-back of no time still holds the tip that drives.
        land_tips(lake, ("t2", 2, "b", "0.20"))
        lake.run_ok()
        assert standing(lake) == joined(lake)
        lake.set_checkpoint(None)
        lake.land(rows(("c", 3, "3")))
        lake.run_ok()
        assert standing(lake) == joined(lake)

    def test_a_deleted_trip_is_not_driven_and_an_unknown_column_is_named(self, lake: Lake) -> None:
        lake.pipeline(
            sql="SELECT s.*, t.tip FROM <SRC> s LEFT JOIN tips t ON t.trip = s.id",
            columns=", tip DECIMAL(10,2), _hoodie_is_deleted BOOLEAN",
            top=inputs(tips="table: raw.tips, read: incremental, drives: {trip: id}"),
        )
        lake.land(rows(("a", 1, "1"), ("b", 1, "1")), **CDC)
        land_tips(lake, ("t1", 1, "b", "0.10"))
        lake.run_ok()
        lake.land(rows(("a", 2, "1")), "delete", **CDC)
        land_tips(lake, ("t2", 2, "a", "0.20"), ("t1", 2, "b", "0.30"))
        lake.run_ok()
        assert lake.rows("derived.copy", "id", "tip") == [("b", Decimal("0.30"))]
        # And alone: <SRC> holds no row but the driven one.
        land_tips(lake, ("t1", 3, "b", "0.40"))
        lake.run_ok()
        assert lake.rows("derived.copy", "id", "tip") == [("b", Decimal("0.40"))]
        lake.pipeline(
            sql="SELECT s.*, null AS tip FROM <SRC> s",
            columns=", tip DECIMAL(10,2), _hoodie_is_deleted BOOLEAN",
            top=inputs(tips="table: raw.tips, read: incremental, drives: {ride: id}"),
        )
        land_tips(lake, ("t1", 4, "b", "0.50"))
        assert failed(lake).code == "DRIVES_NOT_FOUND"


def scanned(frame: DataFrame) -> tuple[int, int]:
    """Return the files and the partitions that the scan of an executed plan opened, by its own metrics."""
    frame.collect()
    (scan,) = [node for node in _nodes(frame._jdf.queryExecution().executedPlan()) if node.metrics().contains("numFiles")]
    return tuple(int(scan.metrics().apply(name).value()) for name in ("numFiles", "numPartitions"))  # type: ignore[return-value]


def _nodes(node: Any) -> list[Any]:
    children = node.children()
    return [node, *(found for number in range(children.size()) for found in _nodes(children.apply(number)))]


class TestAffectedPartitions:
    @pytest.mark.parametrize("kind", [{}, MOR], ids=["cow", "mor"])
    def test_no_other_partition_is_read(self, lake: Lake, kind: dict[str, str]) -> None:
        day_before = "date_format(date_sub(day,1),'yyyy-MM-dd')"
        lake.pipeline(
            sql="""
                SELECT s.id, s.ts, s.amount, s.day,
                       (SELECT count(*) FROM today) AS today, (SELECT count(*) FROM around) AS around
                FROM <SRC> s""",
            columns=", today BIGINT, around BIGINT",
            top=inputs(
                today="table: raw.events, read: affected_partitions, on: {day: day}",
                around=f'table: raw.events, read: affected_partitions, on: {{day: [day, "{day_before}"]}}',
            ),
        )
        lake.land([row for day in DAYS for row in rows(("a", 1, "1"), day=day)], **kind)
        lake.run_ok()
        lake.land(rows(("a", 2, "2"), ("b", 2, "2"), day=DAYS[3]), **kind)
        plan, source = lake.plan(), load_table(lake.spark, lake.path("raw.events")).where(f"day = '{DAYS[3]}'")
        today, around = stage(plan, ReadPartitions, "today"), stage(plan, ReadPartitions, "around")
        assert (today.known, around.known) == (((DAYS[3],),), None)
        for one, partitions in ((today, 1), (around, 2)):
            frame, names = read_partitions(lake.spark, one, source)
            files, opened = scanned(frame)
            assert (len(names), opened) == (partitions, partitions)
            assert files <= 2 * partitions
            assert {row.day for row in frame.collect()} == {name.removeprefix("day=") for name in names}
        if not kind:
            lake.run_ok()
            assert [row for row in lake.rows("derived.copy", "day", "id", "today", "around") if row[0] == DAYS[3]] == [
                (DAYS[3], "a", 2, 3),
                (DAYS[3], "b", 2, 3),
            ]

    def test_null_and_empty_values_and_an_expression_that_fails(self, lake: Lake) -> None:
        def declare(sql_of_day: str) -> None:
            lake.pipeline(
                sql="SELECT s.id, s.ts, s.amount, coalesce(s.day, '') || '-' AS day, r.n FROM <SRC> s LEFT JOIN "
                "(SELECT coalesce(day, '') AS day, count(*) AS n FROM rest GROUP BY 1) r ON r.day = coalesce(s.day, '')",
                columns=", n BIGINT",
                top=inputs(rest=f'table: raw.events, read: affected_partitions, on: {{day: "{sql_of_day}"}}'),
            )

        declare("day")
        lake.land([("a", 1, Decimal(1), None), ("b", 1, Decimal(1), "x"), ("c", 1, Decimal(1), None)])
        lake.run_ok()
        assert lake.rows("derived.copy", "id", "n") == [("a", 2), ("b", 1), ("c", 2)]
        for ts, sql_of_day in ((2, "day"), (3, "concat(day, '')")):
            declare(sql_of_day)
            lake.land([("a", ts, Decimal(1), None), (f"d{ts}", 1, Decimal(1), None)])
            lake.run_ok()
            assert ("a", ts + 1, ts) in lake.rows("derived.copy", "id", "n", "ts")
        for sql_of_day in ("dya", "raise_error('no')"):
            declare(sql_of_day)
            lake.land([("a", 4, Decimal(1), "x")])
            error = failed(lake)
            assert (error.code, error.details["input"]) == ("PARTITIONS_NOT_FOUND", "rest")


def test_as_of_the_runs_start_nothing_later_is_seen(lake: Lake) -> None:
    counts = "SELECT id, ts, amount, day, (SELECT count(*) FROM start) AS n, (SELECT count(*) FROM ago) AS ago FROM <SRC>"
    lake.pipeline(
        sql=counts,
        columns=", n BIGINT, ago BIGINT",
        top=inputs(start="table: raw.events, as_of: run_start", ago="table: raw.events, as_of: checkpoint"),
    )
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("b", 2, "2")))
    plan = lake.plan()
    lake.land(rows(("c", 3, "3")))
    spec = lake.spec()
    with write_session(spec, lambda event: None, "run") as session:
        execute(plan, spec, str(lake.project_root), "base", TimelineState(), session, "run", lambda words: None)
    assert lake.rows("derived.copy", "id", "n", "ago") == [("a", 1, 0), ("b", 2, 1)]
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "n", "ago") == [("a", 1, 0), ("b", 2, 1), ("c", 3, 2)]


def test_a_pipeline_joins_with_what_stands_in_its_own_target(lake: Lake) -> None:
    lake.pipeline(
        sql="""
        SELECT s.id, s.ts, cast(s.amount + coalesce(o.amount, 0) AS decimal(10,2)) AS amount, s.day
        FROM <SRC> s LEFT JOIN old o ON o.id = s.id""",
        top=inputs(old="table: derived.copy"),
    )
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "5"), ("b", 2, "2")))
    lake.run_ok()
    assert lake.rows() == rows(("a", 2, "6"), ("b", 2, "2"))


SUMS = """
    WITH touched AS (
      SELECT driver, day FROM <SRC>
      UNION
      SELECT b.driver, b.day FROM before b JOIN <SRC> s ON b.id = s.id
    )
    SELECT t.driver AS id, <SRC_INSTANT> AS ts, cast(sum(r.amount) AS decimal(10,2)) AS amount, t.day,
           count(r.id) = 0 AS _hoodie_is_deleted
    FROM touched t LEFT JOIN rest r ON r.driver = t.driver AND r.day = t.day
    GROUP BY t.driver, t.day"""


def test_sums_per_driver_and_day_follow_every_change(lake: Lake) -> None:
    lake.pipeline(
        sql=SUMS,
        columns=", _hoodie_is_deleted BOOLEAN",
        top=inputs(
            rest="table: raw.rides, read: affected_partitions, on: {day: day}",
            before="table: raw.rides, read: affected_partitions, on: {day: day}, as_of: checkpoint",
        ),
        source="raw.rides",
    )

    def land(*items: tuple[str, int, str, str, str], operation: str = "upsert") -> None:
        lake.land(
            [(key, ts, driver, Decimal(amount), day) for key, ts, driver, amount, day in items],
            operation,
            "raw.rides",
            RIDES,
            **CDC,
        )

    def after(*items: tuple[str, int, str, str, str], operation: str = "upsert") -> list[str]:
        """Land rides, run, hold the sums against those of the whole table; return the driver-days that were written."""
        land(*items, operation=operation)
        lake.run_ok()
        whole: dict[tuple[str, str], Decimal] = {}
        for driver, amount, day in lake.rows("raw.rides", "driver", "amount", "day"):
            whole[driver, day] = whole.get((driver, day), Decimal(0)) + amount
        assert lake.rows("derived.copy", "id", "amount", "day") == sorted(
            ((driver, total, day) for (driver, day), total in whole.items()), key=str
        )
        return changed(lake, "id", "day")

    monday, tuesday = DAYS[:2]
    after(
        ("1", 1, "ann", "1.50", monday),
        ("2", 1, "ann", "2", monday),
        ("3", 1, "bob", "4", monday),
        ("4", 1, "bob", "8", tuesday),
        ("5", 1, "bob", "16", monday),
    )
    assert after(("1", 2, "ann", "1", monday)) == [f"ann {monday}"]
    # Ann loses a ride of hers, Bob the only one of his Tuesday.
    gone = after(("2", 3, "ann", "2", monday), ("4", 3, "bob", "8", tuesday), operation="delete")
    assert (gone, len(lake.rows())) == ([f"ann {monday}"], 2)
    # A ride moves from one driver to the other; then the last one goes over too.
    assert after(("3", 4, "ann", "4", monday)) == [f"ann {monday}", f"bob {monday}"]
    assert after(("5", 5, "ann", "16", monday)) == [f"ann {monday}"]


def test_a_sql_error_after_the_instant_names_its_column_in_the_file(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id,\n  <SRC_INSTANT> AS ts, <SRC_INSTANT> + amuont AS amount, day FROM <SRC>")
    lake.land(rows(("a", 1, "1")))
    error = failed(lake)
    assert (error.code, error.details["line"], error.details["column"]) == ("SQL_ERROR", 2, 40)

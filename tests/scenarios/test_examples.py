"""The example pipelines of the drivers, round by round, against plain SQL over the raw tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.demo.place import Place
from tests.feeds.drivers import DriverFeed
from tests.feeds.rides import RideFeed
from tests.kit.whole import WHOLE

TRIPS, DAYS, DIM, STATUS = (
    "derived.trip_earnings",
    "derived.driver_daily_earnings",
    "derived.dim_driver",
    "derived.driver_status",
)
DRIVERS = 12
# Drives on after its profile was deleted.
GONE = "d00002"
# What says how far the source was read, and the mark of deleted rows: neither is a matter of what the rows hold.
APART = ("computed_upto", "_hoodie_is_deleted")

EXPECTED = {
    TRIPS: """
        SELECT t.trip_id, t.driver_id, t.requested_at, t.status, t.datestr, coalesce(p.amount, 0) AS tip_amount,
               t.fare_amount + t.toll_amount + coalesce(p.amount, 0) - cast(t.fare_amount * 25 / 100 AS decimal(10,2))
                 AS driver_earnings
        FROM trips t
        LEFT JOIN (SELECT trip_id, sum(amount) AS amount FROM courier_tips GROUP BY trip_id) p ON p.trip_id = t.trip_id""",
    DAYS: """
        SELECT driver_id, datestr, count(*) AS trips, count(CASE status WHEN 'completed' THEN 1 END) AS completed_trips,
               sum(tip_amount) AS tip_amount, sum(driver_earnings) AS earnings, min(requested_at) AS first_trip_at,
               max(requested_at) AS last_trip_at
        FROM priced GROUP BY driver_id, datestr""",
    DIM: """
        SELECT d.driver_id, d.name, d.tier, d.city_id, min(p.requested_at) AS first_trip_at,
               max(p.requested_at) AS last_trip_at, count(DISTINCT p.datestr) AS active_days, count(p.trip_id) AS trips,
               coalesce(sum(p.driver_earnings), 0) AS earnings
        FROM driver_profiles d LEFT JOIN priced p ON p.driver_id = d.driver_id
        GROUP BY d.driver_id, d.name, d.tier, d.city_id""",
    STATUS: """
        SELECT *, timestampdiff(SECOND, started_at, ended_at) AS seconds, status IN ('online', 'on_trip') AS is_working
        FROM driver_status""",
}


class Drivers:
    """The four pipelines in one place, and both feeds of their raw tables."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.rides = RideFeed(place.spark, place.raw, place.dim, drivers=DRIVERS)
        self.drivers = DriverFeed(place.spark, place.raw, drivers=DRIVERS)

    def run(self, *names: str) -> None:
        self.place.freshet("run", *(names or ("trip_earnings", "--tag", "drivers")), "--drain")

    def check(self, *tables: str) -> None:
        """Hold the tables against their SQL over the raw tables as they stand now."""
        spark = self.place.spark
        for name in ("trips", "courier_tips", "driver_profiles", "driver_status"):
            self.place.rows(f"raw.{name}").createOrReplaceTempView(name)
        spark.sql(EXPECTED[TRIPS]).createOrReplaceTempView("priced")
        for table in tables or EXPECTED:
            expected = spark.sql(EXPECTED[table])
            ours = self.place.rows(table, "derived")
            names = expected.columns if table == TRIPS else [c for c in ours.columns if c not in APART]
            assert set(names) == set(expected.columns)
            ours, expected = (_as_text(frame, names) for frame in (ours, expected))
            found, wanted = sorted(map(tuple, ours.collect())), sorted(map(tuple, expected.collect()))
            assert wanted, f"{table} is empty, which proves nothing"
            assert found == wanted, table

    def written(self, table: str, *columns: str) -> list[tuple[str, ...]]:
        """Return the rows that the table's last commit wrote."""
        frame = self.place.spark.read.format("hudi").load(self.place.path(table))
        last = max(instant.requested for instant in self.place.state(table).data_commits)
        return sorted(tuple(row) for row in frame.where(F.col("_hoodie_commit_time") == last).select(*columns).collect())

    def trips(self, condition: str = "true") -> list[Row]:
        """Return trips as they stand in raw.trips, oldest first."""
        return self.place.rows("raw.trips").where(condition).orderBy("requested_at", "trip_id").collect()


def _as_text(frame: DataFrame, names: list[str]) -> DataFrame:
    kinds = dict(frame.dtypes)
    amounts = {name: F.col(name).cast("decimal(38,2)") for name in names if kinds[name].startswith("decimal")}
    return frame.select(*(F.coalesce(amounts.get(n, F.col(n)).cast("string"), F.lit("null")).alias(n) for n in names))


@pytest.fixture(scope="module")
def drivers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Drivers:
    """Return the place after the first run of all."""
    found = Drivers(Place(tmp_path_factory.mktemp("drivers"), spark))
    found.rides.land_dimensions()
    found.rides.land(80, days=3)
    found.drivers.land_profiles()
    found.drivers.land_statuses(90, days=3)
    found.run()
    found.check()
    return found


def test_several_rounds_equal_a_recompute_of_the_raw_tables(drivers: Drivers) -> None:
    rides, feed = drivers.rides, drivers.drivers
    rounds: tuple[tuple[Callable[[], object], ...], ...] = (
        # new, corrected, late
        (
            lambda: rides.land_increment(20, 10),
            lambda: rides.late_tip(3),
            lambda: feed.land_statuses(30),
            lambda: feed.change_statuses(40),
            lambda: feed.move("d00001", GONE),
        ),
        # reassigned, deleted, repeated, out of order, on top of that; more commits than one run reads
        (
            lambda: rides.reassign(8),
            lambda: rides.delete(6),
            lambda: rides.repeat(10),
            lambda: rides.land_stale(10),
            lambda: rides.land_increment(10, 20),
            lambda: rides.reassign(8),
            lambda: feed.land_stale_profile("d00001", "d00003"),
            lambda: feed.delete_profile(GONE),
            lambda: feed.change_profiles(5_000),
            lambda: feed.repeat_statuses(9),
            lambda: feed.land_stale_statuses(20),
            lambda: feed.delete_statuses(9),
        ),
    )
    at_once = (tuple(change for changes in rounds for change in changes),)
    for changes in rounds if WHOLE else at_once:
        for change in changes:
            change()
        drivers.run()
        drivers.check()


def test_a_late_tip_and_a_correction_write_their_own_driver_days(drivers: Drivers) -> None:
    days = ("driver_id", "datestr")
    (tipped, *_) = drivers.trips("status = 'completed'")
    drivers.rides.late_tip(trip_id=tipped.trip_id)
    changed = [tipped.trip_id, *drivers.rides.land_increment(0, 2)]
    drivers.run()
    touched = {(trip.driver_id, trip.datestr) for trip in drivers.trips() if trip.trip_id in changed}
    assert drivers.written(DAYS, *days) == sorted(touched)
    assert drivers.written(DIM, "driver_id") == sorted({(driver,) for driver, _ in touched if driver != GONE})

    (trip_id,) = drivers.rides.reassign(trip_ids=[tipped.trip_id])
    drivers.run()
    (moved,) = drivers.trips(f"trip_id = '{trip_id}'")
    assert moved.driver_id != tipped.driver_id
    standing = {tuple(row) for row in drivers.place.rows(DAYS).select(*days).collect()}
    both = {(one.driver_id, one.datestr) for one in (tipped, moved)}
    assert drivers.written(DAYS, *days) == sorted(both & standing)


@pytest.mark.nightly
def test_days_and_first_trips_go_with_their_last_trip(drivers: Drivers) -> None:
    (first, *_) = drivers.trips(f"driver_id <> '{GONE}'")
    driver = f"driver_id = '{first.driver_id}'"
    day = drivers.trips(f"{driver} AND datestr = '{first.datestr}'")
    drivers.rides.delete(trip_ids=[trip.trip_id for trip in day])
    drivers.run()
    assert drivers.place.rows(DAYS).where(driver).where(f"datestr = '{first.datestr}'").count() == 0
    (row,) = drivers.place.rows(DIM).where(driver).collect()
    assert row.first_trip_at > first.requested_at

    # And all others: the driver stays, without a trip.
    drivers.rides.delete(trip_ids=[trip.trip_id for trip in drivers.trips(driver)])
    drivers.run()
    (row,) = drivers.place.rows(DIM).where(driver).collect()
    assert (row.trips, row.active_days, row.earnings, row.first_trip_at, row.last_trip_at) == (0, 0, 0, None, None)
    drivers.check()
    for name in ("trip_earnings", "driver_daily_earnings", "dim_driver", "driver_status"):
        # Of tables that are right an audit says so.
        drivers.place.freshet("audit", name, "--all")
    drivers.place.freshet("audit", "trip_earnings", "--sample", "40%")


@pytest.mark.nightly
def test_a_backfill_mends_days_and_leaves_the_checkpoints(drivers: Drivers) -> None:
    place = drivers.place
    first = place.rows(DAYS).agg(F.min("datestr")).collect()[0][0]
    positions = [place.position(table) for table in (DAYS, STATUS)]
    end = str(date.fromisoformat(first) + timedelta(days=1))
    for name in ("driver_daily_earnings", "driver_status"):
        place.freshet("backfill", name, "--start", first, "--end", end)
    assert [place.position(table) for table in (DAYS, STATUS)] == positions
    # dim_driver hears of the replaced days, and finds in them what it has.
    drivers.run()
    drivers.check()

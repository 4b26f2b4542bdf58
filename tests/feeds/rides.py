"""The rides feed: drivers, trips and courier tips, made inside Spark from a seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.feeds.landing import RawTable, drawn, money

_CITIES = [  # city_id, name, country, currency, tax rate
    (1, "Amsterdam", "NL", "EUR", "0.2100"),
    (2, "Chicago", "US", "USD", "0.1025"),
    (3, "Lisbon", "PT", "EUR", "0.2300"),
    (4, "London", "GB", "GBP", "0.2000"),
    (5, "Sao Paulo", "BR", "BRL", "0.1700"),
]
FIRST_NAMES = ["Ana", "Bola", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena"]
LAST_NAMES = ["Almeida", "Bakker", "Costa", "Diaz", "Evans", "Fischer", "Grant", "Haddad", "Ito", "Jansen", "Khan"]


@dataclass
class _Clock:
    next_trip: int = 0
    days: int = 0
    landings: int = 0


class RideFeed:
    """Lands rides, one commit per landing of a table; the same calls with the same seed give the same rows.

    A later feed object over the same ``raw_root`` goes on where the last one stopped, in another process too.

    Args:
        spark: A session with the Hudi bundle.
        raw_root: Local folder of the raw tables: trips, drivers, courier_tips.
        dim_root: Local folder of cities; ``dim`` beside ``raw_root`` where not given.
        seed: Seed of all that is drawn.
        first_day: Day of the first trips.
        drivers: Number of drivers.
        cdc: Whether raw.trips records changes (``hoodie.table.cdc.enabled``), so that deletes can be read.
        table_type: Table type of raw.trips.
        buckets: Buckets per partition of raw.trips and raw.courier_tips.
    """

    def __init__(
        self,
        spark: SparkSession,
        raw_root: str | Path,
        dim_root: str | Path | None = None,
        *,
        seed: int = 7,
        first_day: date = date(2026, 1, 5),
        drivers: int = 50,
        cdc: bool = True,
        table_type: str = "COPY_ON_WRITE",
        buckets: int = 1,
    ) -> None:
        raw = Path(raw_root)
        options = {"hoodie.datasource.write.table.type": table_type}
        if cdc:
            options["hoodie.table.cdc.enabled"] = "true"
        self.spark, self.seed, self.drivers = spark, seed, drivers
        self.trips = RawTable(str(raw / "trips"), ("trip_id",), "updated_at", "datestr", buckets, options)
        self.tips = RawTable(str(raw / "courier_tips"), ("tip_id",), "tipped_at", "datestr", buckets)
        self._drivers = RawTable(str(raw / "drivers"), ("driver_id",), "joined_on")
        self._cities = RawTable(str(Path(dim_root or raw.parent / "dim") / "cities"), ("city_id",), "valid_from")
        self._midnight = int(datetime(first_day.year, first_day.month, first_day.day, tzinfo=timezone.utc).timestamp())
        self._file = raw / ".rides.json"
        self._clock = _Clock(**json.loads(self._file.read_text())) if self._file.exists() else _Clock()

    @property
    def now(self) -> datetime:
        """The feed's time, UTC: two hours past the last landed day, and a minute for each landing."""
        hours = timedelta(days=self._clock.days, hours=2, minutes=self._clock.landings)
        return datetime.fromtimestamp(self._midnight, timezone.utc) + hours

    def land_dimensions(self) -> None:
        """Land raw.drivers and dim.cities; their rows never change afterwards."""
        cities = self.spark.createDataFrame(
            _CITIES, "city_id int, name string, country string, currency string, tax_rate string"
        )
        self._cities.land(
            cities.withColumns(
                {
                    "tax_rate": F.col("tax_rate").cast("decimal(5,4)"),
                    "valid_from": F.to_date(F.lit("2020-01-01")),
                }
            )
        )
        number = F.col("id")
        self._drivers.land(
            self.spark.range(0, self.drivers, 1, 1).select(
                driver_id(number).alias("driver_id"),
                F.concat_ws(" ", self._one_of(FIRST_NAMES, "first", number), self._one_of(LAST_NAMES, "last", number)).alias(
                    "name"
                ),
                self._one_of(["blue", "blue", "blue", "gold", "gold", "platinum"], "tier", number).alias("tier"),
                self._city(number).alias("city_id"),
                F.date_add(F.to_date(F.lit("2021-01-01")), self._draw("joined", number, 1500).cast("int")).alias("joined_on"),
            )
        )

    def land_first_day(self, trips: int = 1000) -> None:
        """Land the dimensions, the first day's trips, and the tips that every fourth of them got at once."""
        self.land_dimensions()
        self.land(trips)

    def land(self, trips: int, days: int = 1, *, tips: bool = True) -> None:
        """Land ``trips`` new trips over the ``days`` next days as one commit; made for millions.

        Args:
            trips: Number of new trips.
            days: Number of days (partitions) that they spread over.
            tips: Whether to land, before the trips, the prompt tips of every fourth of them.
        """
        rows = self._new_trips(trips, days)
        if tips:
            tipped = rows.where(self._draw("tipped", F.col("trip_id"), 4) == 0)
            paid_at = F.timestamp_seconds(F.unix_timestamp("requested_at") + F.col("duration_s") + 300)
            self.tips.land(self._tips_for(tipped, paid_at))
        # A first upsert only inserts; saying so spares Hudi to merge a million rows with nothing.
        self.trips.land(rows, "upsert" if self._clock.landings else "insert")
        self._advance(trips, days)

    def land_increment(self, trips: int = 100, updates: int = 20) -> list[str]:
        """Land the next day's trips and adjusted fares of old ones, as one commit.

        Args:
            trips: Number of new trips.
            updates: Number of old trips, of any day, whose fare is adjusted or that are disputed.

        Returns:
            The identifiers of the updated trips.
        """
        changed = self._pick(updates)
        rows = self._adjusted(self._current(changed))
        rows = rows.unionByName(self._new_trips(trips, 1)) if trips else rows
        self.trips.land(rows)
        self._advance(trips, 1 if trips else 0)
        return changed

    def late_tip(self, n: int = 1, *, trip_id: str | None = None, datestr: str | None = None) -> list[str]:
        """Land tips that come now, for old trips.

        As the rides service does it: the tip goes to raw.courier_tips (one commit), and then the trip is written
        again with a newer ``updated_at`` (another commit), so that whoever reads only raw.trips hears of it.

        Args:
            n: Number of trips that get a tip.
            trip_id: The trip; drawn where not given.
            datestr: Draw only trips of this day; the oldest day where neither is given.

        Returns:
            The identifiers of the tipped trips.
        """
        chosen = [trip_id] if trip_id else self._pick(n, datestr or self.first_datestr)
        touched = self._current(chosen).withColumn("updated_at", self._now())
        self.tips.land(self._tips_for(touched, self._now()))
        self.trips.land(touched)
        self._advance()
        return chosen

    def delete(self, n: int = 1, *, trip_ids: Sequence[str] = ()) -> list[str]:
        """Delete trips (as one commit) and return their identifiers; ``n`` are drawn where none are named."""
        chosen = list(trip_ids) or self._pick(n)
        self.trips.land(self._current(chosen).withColumn("updated_at", self._now()), "delete")
        self._advance()
        return chosen

    def adjust(self, basis_points: int) -> None:
        """Land adjusted fares of so many of 10,000 trips, of all days alike, as one commit; made for millions."""
        drawn_now = self._draw(f"adjusted{self._clock.landings}", F.col("trip_id"), 10_000)
        self.trips.land(self._adjusted(self.trips.read(self.spark).where(drawn_now < basis_points)))
        self._advance()

    def reassign(self, n: int = 1, *, trip_ids: Sequence[str] = ()) -> list[str]:
        """Give trips to another driver (as one commit) and return their identifiers; ``n`` are drawn where none are named."""
        chosen = list(trip_ids) or self._pick(n)
        old = F.substring("driver_id", 2, 20).cast("bigint")
        further = 1 + self._draw(f"reassigned{self._clock.landings}", F.col("trip_id"), max(self.drivers - 1, 1))
        self.trips.land(
            self._current(chosen).withColumns(
                {
                    "driver_id": driver_id(F.pmod(old + further, F.lit(self.drivers).cast("bigint"))),
                    "updated_at": self._now(),
                }
            )
        )
        self._advance()
        return chosen

    def repeat(self, n: int = 1) -> list[str]:
        """Land trips once more as they stand (as one commit), as a sender does that heard no answer."""
        return self._land_again(n, {})

    def land_stale(self, n: int = 1) -> list[str]:
        """Land, too late, how trips once were (as one commit): what stands is newer and must stay."""
        hour = F.expr("INTERVAL 1 HOUR")
        return self._land_again(n, {"fare_amount": money(F.lit(1)), "updated_at": F.col("updated_at") - hour})

    @property
    def first_datestr(self) -> str:
        """The oldest day, as trips write it."""
        return datetime.fromtimestamp(self._midnight, timezone.utc).strftime("%Y-%m-%d")

    def _new_trips(self, count: int, days: int) -> DataFrame:
        first = self._clock.next_trip
        n = F.col("n")
        driver = self._draw("driver", n, self.drivers)
        # Evenly over the days; a hash would leave some day of a small landing empty.
        day = F.lit(self._clock.days) + F.pmod(n, F.lit(days))
        metres = 800 + self._draw("metres", n, 24_000)
        rows = (
            self.spark.range(first, first + count)
            .withColumnRenamed("id", "n")
            .withColumns(
                {
                    "day": day,
                    "driver": driver,
                    "metres": metres,
                    "duration": 180 + metres / 1000 * 120 + self._draw("traffic", n, 600),
                    "luck": self._draw("status", n, 100),
                    "surge": self._one_of([100, 100, 100, 120, 150, 200], "surge", n),
                }
            )
        )
        cents = F.floor((250 + F.col("metres") / 1000 * 135 + F.col("duration") / 60 * 25) * F.col("surge") / 100)
        cancelled = F.col("luck") < 5
        toll = F.when(self._draw("toll", n, 12) == 0, F.lit(350)).otherwise(F.lit(0))
        return rows.select(
            F.concat(F.lit("t"), F.lpad(n.cast("string"), 9, "0")).alias("trip_id"),
            driver_id(F.col("driver")).alias("driver_id"),
            F.concat(F.lit("r"), F.lpad(self._draw("rider", n, 100_000).cast("string"), 6, "0")).alias("rider_id"),
            self._city(F.col("driver")).alias("city_id"),
            F.when(cancelled, "cancelled").when(F.col("luck") < 7, "disputed").otherwise("completed").alias("status"),
            F.timestamp_seconds(F.lit(self._midnight) + F.col("day") * 86_400 + self._draw("second", n, 86_400)).alias(
                "requested_at"
            ),
            F.when(cancelled, 0).otherwise(F.col("metres")).cast("int").alias("distance_m"),
            F.when(cancelled, 0).otherwise(F.col("duration")).cast("int").alias("duration_s"),
            money(F.when(cancelled, 400).otherwise(cents)).alias("fare_amount"),
            money(F.when(cancelled, 0).otherwise(toll)).alias("toll_amount"),
            F.lit(self._now_after(days)).cast("timestamp").alias("updated_at"),
            F.date_format(F.date_add(F.lit(self.first_datestr).cast("date"), F.col("day").cast("int")), "yyyy-MM-dd").alias(
                "datestr"
            ),
        )

    def _adjusted(self, trips: DataFrame) -> DataFrame:
        cut = F.lit(100) - self._draw(f"cut{self._clock.landings}", F.col("trip_id"), 30)
        return trips.withColumns(
            {
                "fare_amount": (F.col("fare_amount") * cut / 100).cast("decimal(10,2)"),
                "status": F.when(cut < 75, "disputed").otherwise(F.col("status")),
                "updated_at": self._now(),
            }
        )

    def _land_again(self, n: int, changes: dict[str, Column]) -> list[str]:
        chosen = self._pick(n)
        self.trips.land(self._current(chosen).withColumns(changes) if changes else self._current(chosen))
        self._advance()
        return chosen

    def _tips_for(self, trips: DataFrame, tipped_at: Column) -> DataFrame:
        landing = self._clock.landings
        return trips.select(
            F.concat(F.col("trip_id"), F.lit(f"-{landing}")).alias("tip_id"),
            "trip_id",
            money(100 + self._draw(f"tip{landing}", F.col("trip_id"), 60) * 25).alias("amount"),
            tipped_at.alias("tipped_at"),
            # By UTC, whatever the session's time zone is.
            F.date_from_unix_date(F.floor(F.unix_timestamp(tipped_at) / 86_400).cast("int")).cast("string").alias("datestr"),
        )

    def _pick(self, n: int, datestr: str | None = None) -> list[str]:
        if n == 0:
            return []
        rows = self.trips.read(self.spark)
        rows = rows.where(F.col("datestr") == datestr) if datestr else rows
        order = F.xxhash64(F.lit(self.seed), F.lit(self._clock.landings), F.col("trip_id"))
        return [row.trip_id for row in rows.select("trip_id").orderBy(order, "trip_id").limit(n).collect()]

    def _current(self, trip_ids: list[str]) -> DataFrame:
        wanted = self.spark.createDataFrame([(one,) for one in trip_ids], "trip_id string")
        return self.trips.read(self.spark).join(F.broadcast(wanted), "trip_id", "left_semi")

    def _advance(self, trips: int = 0, days: int = 0) -> None:
        before = self._clock
        self._clock = _Clock(before.next_trip + trips, before.days + days, before.landings + 1)
        self._file.write_text(json.dumps(asdict(self._clock)))

    def _now_after(self, days: int) -> datetime:
        return self.now + timedelta(days=days)

    def _now(self) -> Column:
        return F.lit(self.now).cast("timestamp")

    def _draw(self, what: str, by: Column, below: int) -> Column:
        return drawn(self.seed, what, by, below=below)

    def _one_of(self, values: Sequence[str | int], what: str, by: Column) -> Column:
        return F.element_at(F.array(*map(F.lit, values)), (self._draw(what, by, len(values)) + 1).cast("int"))

    def _city(self, driver: Column) -> Column:
        return (self._draw("city", driver, len(_CITIES)) + 1).cast("int")


def driver_id(number: Column) -> Column:
    """Return the identifier of a driver by number; the same in all feeds."""
    return F.format_string("d%05d", number)

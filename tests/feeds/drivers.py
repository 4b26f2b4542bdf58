"""The drivers feed: profiles that change and what each driver did when, made inside Spark from a seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.feeds.landing import Operation, RawTable, drawn
from tests.feeds.rides import FIRST_NAMES, LAST_NAMES, driver_id

_TIERS = ["blue", "blue", "blue", "gold", "gold", "platinum"]
_STATUSES = ["online", "on_trip", "on_trip", "offline"]
_CITIES = 5
# Of the changes of statuses: how many per cent are of the last two days.
_RECENT_PERCENT = 80
_RECENT_DAYS = 2
_CDC = {"hoodie.table.cdc.enabled": "true"}


@dataclass
class _Clock:
    next_status: int = 0
    days: int = 0
    landings: int = 0


class DriverFeed:
    """Lands profiles and statuses, one commit per call; the same calls with the same seed give the same rows.

    The drivers have the identifiers that ``RideFeed`` gives them. Both tables record changes, so that deletes can be read.
    A later feed object over the same ``raw_root`` goes on where the last one stopped.

    Args:
        spark: A session with the Hudi bundle.
        raw_root: Local folder of the raw tables: driver_profiles, driver_status.
        seed: Seed of all that is drawn.
        first_day: Day of the first statuses.
        drivers: Number of drivers.
        buckets: Buckets of raw.driver_profiles, and per partition of raw.driver_status.
    """

    def __init__(
        self,
        spark: SparkSession,
        raw_root: str | Path,
        *,
        seed: int = 7,
        first_day: date = date(2026, 1, 5),
        drivers: int = 50,
        buckets: int = 1,
    ) -> None:
        raw = Path(raw_root)
        self.spark, self.seed, self.drivers = spark, seed, drivers
        self.profiles = RawTable(str(raw / "driver_profiles"), ("driver_id",), "updated_at", "", buckets, _CDC)
        self.statuses = RawTable(str(raw / "driver_status"), ("status_id",), "updated_at", "datestr", buckets, _CDC)
        self._midnight = int(datetime(first_day.year, first_day.month, first_day.day, tzinfo=timezone.utc).timestamp())
        self._file = raw / ".drivers.json"
        self._clock = _Clock(**json.loads(self._file.read_text())) if self._file.exists() else _Clock()

    @property
    def now(self) -> datetime:
        """The feed's time, UTC: two hours past the last landed day, and a minute for each landing."""
        return self._now_after(0)

    # --- profiles -------------------------------------------------------------------------------------------------

    def land_profiles(self) -> None:
        """Land a profile of every driver; made for millions."""
        number = F.col("id")
        self.profiles.land(
            self.spark.range(self.drivers).select(
                driver_id(number).alias("driver_id"),
                F.concat_ws(" ", self._one_of(FIRST_NAMES, "first", number), self._one_of(LAST_NAMES, "last", number)).alias(
                    "name"
                ),
                self._one_of(_TIERS, "tier", number).alias("tier"),
                (self._draw("city", number, _CITIES) + 1).cast("int").alias("city_id"),
                self._now().alias("updated_at"),
            ),
            "insert",
        )
        self._advance()

    def change_profiles(self, basis_points: int) -> None:
        """Land another tier and city of so many of 10,000 drivers; made for millions."""
        rows = self.profiles.read(self.spark).where(self._drawn_now("driver_id", 10_000) < basis_points)
        self._land(self.profiles, rows.withColumns(self._other_profile()))

    def move(self, *drivers: str) -> None:
        """Land another tier and city of these drivers."""
        self._land(self.profiles, self._of(drivers).withColumns(self._other_profile()))

    def land_stale_profile(self, *drivers: str) -> None:
        """Land, too late, what the profiles of these drivers once were: what stands is newer and must stay."""
        hour = F.expr("INTERVAL 1 HOUR")
        self._land(
            self.profiles,
            self._of(drivers).withColumns(
                {
                    "name": F.lit("Nobody"),
                    "updated_at": F.col("updated_at") - hour,
                }
            ),
        )

    def delete_profile(self, *drivers: str) -> None:
        """Delete the profiles of these drivers."""
        self._land(self.profiles, self._of(drivers).withColumn("updated_at", self._now()), "delete")

    def _other_profile(self) -> dict[str, Column]:
        turn = f"changed{self._clock.landings}"
        return {
            "tier": self._one_of(_TIERS, turn, F.col("driver_id")),
            "city_id": (F.pmod(F.col("city_id") + self._draw(turn, F.col("driver_id"), _CITIES - 1), F.lit(_CITIES)) + 1).cast(
                "int"
            ),
            "updated_at": self._now(),
        }

    def _of(self, drivers: Sequence[str]) -> DataFrame:
        return self.profiles.read(self.spark).where(F.col("driver_id").isin(*drivers))

    # --- statuses -------------------------------------------------------------------------------------------------

    def land_statuses(self, statuses: int, days: int = 1) -> None:
        """Land new statuses, spread over the ``days`` next days, as one commit; of every tenth the end is not known yet."""
        n, first = F.col("n"), self._clock.next_status
        day = F.lit(self._clock.days) + F.pmod(n, F.lit(days))
        begin = F.lit(self._midnight) + day * 86_400 + self._draw("second", n, 86_400)
        ended = F.when(self._draw("open", n, 10) > 0, F.timestamp_seconds(begin + 60 + self._draw("lasted", n, 7_200)))
        rows = (
            self.spark.range(first, first + statuses)
            .withColumnRenamed("id", "n")
            .select(
                F.format_string("s%010d", n).alias("status_id"),
                driver_id(self._draw("driver", n, self.drivers)).alias("driver_id"),
                self._one_of(_STATUSES, "status", n).alias("status"),
                F.timestamp_seconds(begin).alias("started_at"),
                ended.alias("ended_at"),
                F.lit(self._now_after(days)).cast("timestamp").alias("updated_at"),
                F.date_from_unix_date(F.floor(begin / 86_400).cast("int")).cast("string").alias("datestr"),
            )
        )
        self.statuses.land(rows, "upsert" if first else "insert")
        self._advance(statuses, days)

    def change_statuses(self, changes: int) -> None:
        """Land another end of about so many statuses, 80% of them of the last two days, as one commit; made for millions."""
        rows = self.statuses.read(self.spark)
        since = datetime.fromtimestamp(self._midnight, timezone.utc) + timedelta(days=self._clock.days - _RECENT_DAYS)
        recent = F.col("datestr") >= f"{since:%Y-%m-%d}"
        counts = rows.agg(F.count_if(recent).alias("recent"), F.count("*").alias("all")).collect()[0]
        million = 1_000_000
        share_recent, share_old = (
            round(million * changes * percent / 100 / max(of, 1))
            for percent, of in ((_RECENT_PERCENT, counts.recent), (100 - _RECENT_PERCENT, counts["all"] - counts.recent))
        )
        luck = self._drawn_now("status_id", million)
        chosen = rows.where(F.when(recent, luck < share_recent).otherwise(luck < share_old))
        self._land(
            self.statuses,
            chosen.withColumns(
                {
                    "ended_at": F.timestamp_seconds(F.unix_timestamp("started_at") + 30 + self._drawn_now("status_id", 7_200)),
                    "updated_at": self._now(),
                }
            ),
        )

    def repeat_statuses(self, n: int) -> None:
        """Land statuses once more as they stand, as a sender does that heard no answer."""
        self._land(self.statuses, self._some(n))

    def land_stale_statuses(self, n: int) -> None:
        """Land, too late, what statuses once were: what stands is newer and must stay."""
        hour = F.expr("INTERVAL 1 HOUR")
        self._land(
            self.statuses,
            self._some(n).withColumns(
                {
                    "status": F.lit("offline"),
                    "ended_at": F.lit(None).cast("timestamp"),
                    "updated_at": F.col("updated_at") - hour,
                }
            ),
        )

    def delete_statuses(self, n: int) -> None:
        """Delete statuses."""
        self._land(self.statuses, self._some(n).withColumn("updated_at", self._now()), "delete")

    def _some(self, n: int) -> DataFrame:
        rows = self.statuses.read(self.spark)
        chosen = rows.select("status_id").orderBy(self._drawn_now("status_id", 1 << 40), "status_id").limit(n).collect()
        return rows.where(F.col("status_id").isin(*(row.status_id for row in chosen)))

    # --- both -----------------------------------------------------------------------------------------------------

    def _land(self, table: RawTable, rows: DataFrame, operation: Operation = "upsert") -> None:
        table.land(rows, operation)
        self._advance()

    def _advance(self, statuses: int = 0, days: int = 0) -> None:
        before = self._clock
        self._clock = _Clock(before.next_status + statuses, before.days + days, before.landings + 1)
        self._file.write_text(json.dumps(asdict(self._clock)))

    def _now_after(self, days: int) -> datetime:
        spent = timedelta(days=self._clock.days + days, hours=2, minutes=self._clock.landings)
        return datetime.fromtimestamp(self._midnight, timezone.utc) + spent

    def _now(self) -> Column:
        return F.lit(self.now).cast("timestamp")

    def _draw(self, what: str, by: Column, below: int) -> Column:
        return drawn(self.seed, what, by, below=below)

    def _drawn_now(self, by: str, below: int) -> Column:
        return self._draw(f"landing{self._clock.landings}", F.col(by), below)

    def _one_of(self, values: Sequence[str], what: str, by: Column) -> Column:
        return F.element_at(F.array(*map(F.lit, values)), (self._draw(what, by, len(values)) + 1).cast("int"))

"""The story of the rides: what drivers earn, however late the tips come, and after a run that was killed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.demo.place import DemoFailed, Place
from tests.demo.processes import idle_tick, killed_run
from tests.feeds.rides import RideFeed

EARNINGS, PAYOUT = "derived.trip_earnings", "derived.payout_lines"
_ALL = ("--tag", "rides")
_NAMES = ("trip_earnings", "payout_lines")
_FIRST_DAYS = 4


class Rides:
    """The steps, in their order; each checks what it shows.

    Args:
        place: Where it plays. Where it holds the tables of an earlier demo, the story goes on from there.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.goes_on = (place.raw / "trips").exists()
        self.feed = RideFeed(place.spark, place.raw, place.dim)

    def tell(self, trips: int) -> None:
        """Tell the whole story.

        Args:
            trips: Trips of the first load; the increments are a tenth of it.

        Raises:
            DemoFailed: Something is not as it should be.
        """
        increment = max(trips // 10, 10)
        place = self.place
        place.say("raw.trips -> trip_earnings -> payout_lines: two pipelines. Their files: pipelines/, ddl/, transformers/.")
        place.step("1. More days of trips" if self.goes_on else "1. First load")
        self.first_load(trips)
        place.step("2. An increment")
        self.increment(increment)
        place.step("3. A late tip")
        self.late_tip()
        place.step("4. A tick that finds nothing new")
        self.idle()
        place.step("5. A run is killed while it writes")
        self.killed(increment)
        place.step("6. And repeated")
        self.repeated()
        place.step("7. The proof: recompute everything from nothing, and compare")
        self.proof()
        place.step("Done")
        place.freshet("status", *_NAMES)
        place.say(f"\nThe incremental result equals a full recompute. The tables stay in {place.folder}.")

    def first_load(self, trips: int, days: int = _FIRST_DAYS) -> None:
        """Land the first days and run both pipelines."""
        self.place.say("Upstream writes its raw tables (some 20 s at first) ...")
        self.feed.land_dimensions()
        self.feed.land(trips, days)
        self.place.say(f"{trips:,} trips of {days} days have landed in raw.trips, with the tips that riders gave at once.")
        self.place.freshet("run", *_ALL)

    def increment(self, trips: int) -> None:
        """Land a further day and run both pipelines; only what is new is read."""
        changed = self.feed.land_increment(trips, trips // 5)
        self.place.say(f"{trips} trips of the next day have landed, and {len(changed)} older fares were adjusted.")
        self.place.freshet("plan", "trip_earnings")
        self.place.freshet("run", *_ALL)

    def late_tip(self) -> tuple[DataFrame, DataFrame]:
        """Land a tip for a trip of the oldest day and run; returns the trip's row before and after, as local data.

        Raises:
            DemoFailed: The tip did not arrive.
        """
        day = self.feed.first_datestr
        untipped = (F.col("datestr") == day) & (F.col("tip_count") == 0) & (F.col("status") == "completed")
        found = self.place.rows(EARNINGS).where(untipped).orderBy("trip_id").first()
        if found is None:
            raise DemoFailed(f"every trip of {day} has a tip already: start anew, without --keep.")
        trip = found.trip_id
        before = self._row(trip)
        self.place.say(f"Trip {trip} of {day} had no tip. {EARNINGS} before:")
        self.place.show(before)
        now = self.feed.now
        self.feed.late_tip(trip_id=trip)
        self.place.say(f"Its rider tips now, {now:%Y-%m-%d %H:%M}. A job that reprocesses the last days would never see it.")
        self.place.freshet("run", *_ALL)
        after = self._row(trip)
        self.place.say(f"{EARNINGS} after:")
        self.place.show(after)
        if after.collect()[0].tip_amount <= before.collect()[0].tip_amount:
            raise DemoFailed(f"the tip did not reach trip {trip}.")
        return before, after

    def idle(self) -> float:
        """Run both pipelines in a process of their own while nothing is new; returns seconds."""
        commits = self._commits()
        seconds = idle_tick(self.place, self.place.arguments("run", *_ALL))
        if self._commits() != commits:
            raise DemoFailed("the idle tick committed.")
        self.place.say(f"{seconds:.2f} s, the start of Python included. No JVM was started and nothing was committed.")
        return seconds

    def killed(self, trips: int) -> None:
        """Land an increment and kill the run that writes it."""
        self.feed.land_increment(trips, trips // 5)
        self.place.say(f"{trips} more trips have landed. The run, a process with a JVM of its own, is killed once it writes.")
        before = self._standing()
        killed_run(self.place, "trip_earnings", EARNINGS)
        if self._standing() != before:
            raise DemoFailed(f"the killed run changed {EARNINGS}: {before} became {self._standing()}.")
        self.place.say(f"{EARNINGS} is as it was: {before[0]:,} rows, checkpoint {before[1]}.")

    def repeated(self) -> None:
        """Run again after the kill; Hudi rolls back what the killed run left behind."""
        before = self._standing()
        self.place.freshet("run", *_ALL)
        after = self._standing()
        if not (after[0] > before[0] and after[1] > before[1]):
            raise DemoFailed(f"the repeat should have added rows and moved the checkpoint: {before} became {after}.")

    def proof(self) -> None:
        """Recompute both tables elsewhere and compare."""
        self.place.recompute(*_ALL)
        self.place.prove_equal(EARNINGS, PAYOUT)

    def _row(self, trip: str) -> DataFrame:
        columns = ("trip_id", "fare_amount", "tip_amount", "driver_earnings", "tip_delay_band", "updated_at")
        row = self.place.rows(EARNINGS).where(F.col("trip_id") == trip).select(*columns)
        # Read now: a DataFrame would read the table as it stands when it is looked at.
        return self.place.spark.createDataFrame(row.collect(), row.schema)

    def _standing(self) -> tuple[int, str]:
        return self.place.rows(EARNINGS).count(), self.place.position(EARNINGS)

    def _commits(self) -> list[object]:
        return [self.place.state(table).commits for table in (EARNINGS, PAYOUT)]

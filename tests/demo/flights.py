"""The story of the flights: real ones, landed day by day with corrections, a run after every landing."""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import functions as F

from tests.demo.place import DemoFailed, Place
from tests.feeds.flights import FlightFeed

DELAYS = "derived.flight_delays"
_PIPELINE = "flight_delays"


def land_and_run(place: Place, first: date, days: int) -> list[str]:
    """Land days one by one, run after each, and prove that a full recompute gives the same rows.

    Args:
        place: Where it plays.
        first: First day, of 2013.
        days: Number of days.

    Returns:
        The checkpoint after each run.

    Raises:
        DemoFailed: A run failed, the checkpoint did not move, no correction arrived, or the rows differ.
    """
    feed = FlightFeed(place.spark, place.raw)
    place.step("Airlines, planes and a year of weather land")
    feed.land_dimensions()
    positions: list[str] = []
    for number in range(days):
        day = first + timedelta(days=number)
        place.step(f"{day} lands" + (", with corrections of the day before" if number else ""))
        feed.land_day(day, correct=number > 0)
        place.freshet("run", _PIPELINE)
        positions.append(place.position(DELAYS))
        if positions != sorted(set(positions)):
            raise DemoFailed(f"the checkpoint did not move forward: {positions}.")
    place.step("The proof: recompute everything from nothing, and compare")
    place.recompute(_PIPELINE)
    place.prove_equal(DELAYS)
    if days > 1:
        place.say(f"{_corrected(place):,} of these rows were corrected a day after they had landed.")
    return positions


def _corrected(place: Place) -> int:
    # What lands with its own day carries the next morning's time; a correction comes a day later.
    late = F.col("landed_at").cast("date") > F.date_add(F.col("flight_date").cast("date"), 1)
    count = place.rows(DELAYS).where(late).count()
    if not count:
        raise DemoFailed("no correction arrived, so that the comparison proves little.")
    return count

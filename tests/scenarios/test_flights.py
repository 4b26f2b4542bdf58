"""Real flights landed in daily commits with corrections, a run after every landing: the rows of a full recompute."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.demo.flights import DELAYS, land_and_run
from tests.demo.place import Place
from tests.feeds.flights import FlightFeed
from tests.kit.whole import WHOLE

# Summer time ends within: an hour of the weather comes twice by local time.
FIRST_DAY, DAYS = (date(2013, 10, 30), 8) if WHOLE else (date(2013, 11, 2), 2)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_audits_after_sixty_commits_with_late_corrections_are_no_alarm(spark: SparkSession, tmp_path: Path) -> None:
    """Flights of a day are corrected the day after, and again a week later; each run takes several commits, and not the last.

    A few carriers alone: what a commit costs is not its rows.
    """
    place, first = Place(tmp_path / "flights", spark), date(2013, 9, 8)
    feed = FlightFeed(spark, place.raw)
    feed.land_dimensions()
    for number in range(60):
        day = first + timedelta(days=number)
        before = {day - timedelta(days=back): back for back in (1, 7) if back <= number and (back == 1 or number % 5 == 0)}
        feed.land_few(day, ("AS", "F9", "HA", "OO"), before)
        if number % 6 == 4:
            place.freshet("run", "flight_delays", "--drain")
        if number in (22, 34):
            # Commits wait: it is the checkpoint's version that is recomputed.
            place.freshet("audit", "flight_delays", "--all")
    place.freshet("audit", "flight_delays", "--sample", "20%", "--seed", "sixty")
    place.freshet("run", "flight_delays", "--drain")
    place.freshet("audit", "flight_delays", "--all")
    rows = place.rows(DELAYS)
    corrected = rows.where("cast(landed_at AS date) > date_add(cast(flight_date AS date), 6)").count()
    assert (rows.select("flight_date").distinct().count(), corrected > 20) == (60, True)


def test_a_run_after_every_landing_equals_a_full_recompute(
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    place = Place(tmp_path / "flights", spark)
    positions = land_and_run(place, FIRST_DAY, DAYS)
    assert len(positions) == DAYS
    assert positions == sorted(set(positions))
    assert positions[-1] == place.state("raw.flights").commits[-1].completed

    rows = place.rows(DELAYS)
    assert rows.select("flight_date").distinct().count() == DAYS
    # Of a left join that found nothing at all, nobody would notice in the comparison.
    assert rows.where("airline IS NULL").count() == 0
    assert 0 < rows.where("manufacturer IS NULL").count() < rows.count() / 2
    assert rows.where("visibility_mi IS NOT NULL").count() > rows.count() * 0.9

    commits = place.state(DELAYS).commits
    place.freshet("run", "flight_delays")
    assert place.state(DELAYS).commits == commits
    place.freshet("audit", "flight_delays", "--all")

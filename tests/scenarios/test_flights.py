"""Real flights landed in daily commits with corrections, a run after every landing: the rows of a full recompute."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from pyspark.sql import SparkSession

from tests.demo.flights import DELAYS, land_and_run
from tests.demo.place import Place
from tests.kit.whole import WHOLE

# Summer time ends within: an hour of the weather comes twice by local time.
FIRST_DAY, DAYS = (date(2013, 10, 30), 8) if WHOLE else (date(2013, 11, 2), 2)


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

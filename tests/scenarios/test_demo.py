"""What `make demo` tells, as a test: the same functions on a smaller slice."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.demo.place import RECOMPUTED, DemoFailed, Place
from tests.demo.rides import EARNINGS, PAYOUT, Rides


@pytest.fixture(scope="module")
def rides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Rides:
    """First load and increment have run."""
    told = Rides(Place(tmp_path_factory.mktemp("demo"), spark))
    told.first_load(trips=120, days=2)
    told.increment(trips=20)
    return told


def test_a_late_tip_reaches_its_trip_and_its_pay_slip(rides: Rides) -> None:
    before, after = (frame.collect()[0] for frame in rides.late_tip())
    tip = after.tip_amount
    assert (before.tip_amount, before.tip_delay_band, after.tip_delay_band) == (Decimal(0), "none", "late")
    assert tip > 0
    assert after.driver_earnings == before.driver_earnings + tip
    lines = rides.place.rows(PAYOUT).where(f"trip_id = '{after.trip_id}'").collect()
    assert {line.line: line.amount for line in lines}["tip"] == tip
    assert sum(line.amount for line in lines) == after.driver_earnings


def test_an_idle_tick_starts_no_jvm_and_commits_nothing(rides: Rides) -> None:
    # It fails where a JVM is started, or a commit made. How long it takes is measured by `make bench`.
    rides.idle()


@pytest.mark.nightly
def test_a_killed_run_and_its_repeat_equal_a_full_recompute(rides: Rides) -> None:
    before = rides.place.rows(EARNINGS).count()
    rides.killed(trips=20)
    rides.repeated()
    assert rides.place.rows(EARNINGS).count() == before + 20
    rides.proof()
    for name in ("trip_earnings", "payout_lines"):
        # Of tables that are right an audit says so.
        rides.place.freshet("audit", name, "--all")


def test_the_proof_can_fail(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Place(tmp_path / "demo", spark)
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "v",
        "hoodie.metadata.enable": "false",
    }
    for derived, ids in (("derived", (1, 2)), (RECOMPUTED, (1, 3))):
        rows = spark.createDataFrame([(i, i) for i in ids], "id int, v int").coalesce(1)
        rows.write.format("hudi").options(**options).save(place.path("derived.t", derived))
    with pytest.raises(DemoFailed, match="NOT equal"):
        place.prove_equal("derived.t")


def test_a_folder_that_no_demo_made_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "thesis.txt"
    kept.write_text("years of work")
    with pytest.raises(DemoFailed, match="Nothing was touched"):
        Place(tmp_path)
    assert kept.exists()

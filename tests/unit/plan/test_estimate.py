"""What a run will cost, by what earlier ones have cost; and how well that would have foretold them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from freshet.plan.estimate import FEWEST, Past, estimate


def runs(seconds: Callable[[int], float], *rows: int) -> list[Past]:
    return [Past(rows=n, seconds=seconds(n), written_bytes=100 * n, file_groups=8) for n in rows]


def test_a_line_goes_on() -> None:
    found = estimate(5000, runs(lambda n: 3 + n / 1000, 1000, 2000, 3000, 4000, 6000))
    assert found is not None
    assert found.seconds.value == pytest.approx(8.0, rel=1e-3)
    assert found.written_bytes.value == pytest.approx(500_000, rel=1e-3)
    assert (found.file_groups.value, found.file_groups.error) == (8, 0)
    assert (found.seconds.error, found.runs, found.is_beyond) == (pytest.approx(0.0, abs=0.06), 5, False)


def test_a_power_goes_on() -> None:
    found = estimate(6400, runs(lambda n: 0.1 * n**0.5, 100, 400, 900, 1600, 2500))
    assert found is not None
    assert found.seconds.value == pytest.approx(8.0, rel=0.02)


def test_what_does_not_follow_from_the_rows_is_what_is_usual() -> None:
    """Of COPY_ON_WRITE with few buckets each run writes all files anew."""
    found = estimate(10_000, runs(lambda n: 7.0, 10, 20, 5000, 40, 3))
    assert found is not None
    assert (found.seconds.value, found.seconds.error) == (7.0, 0.0)


def test_too_few_runs_tell_nothing() -> None:
    assert estimate(10, runs(float, *range(1, FEWEST))) is None
    assert estimate(10, runs(float, *range(1, FEWEST + 1))) is not None
    assert estimate(10, [Past(rows=0, seconds=1.0, written_bytes=1, file_groups=1)] * 9) is None


def test_one_run_that_hung_moves_it_little() -> None:
    past = runs(lambda n: 3 + n / 1000, 1000, 2000, 3000, 4000, 5000, 6000, 7000)
    past[3] = Past(rows=4000, seconds=900.0, written_bytes=400_000, file_groups=8)
    found = estimate(4000, past)
    assert found is not None
    assert found.seconds.value == pytest.approx(7.0, rel=0.1)


def test_the_error_is_that_of_runs_that_the_curve_had_not_seen() -> None:
    chance = random.Random(7)
    noisy = runs(lambda n: (3 + n / 1000) * chance.uniform(0.8, 1.25), *(chance.randint(500, 9000) for _ in range(25)))
    found = estimate(4000, noisy)
    assert found is not None
    assert 0.02 < found.seconds.error < 0.25
    wild = runs(lambda n: 10 ** chance.uniform(0, 3), *(chance.randint(500, 9000) for _ in range(25)))
    untold = estimate(4000, wild)
    assert untold is not None
    assert untold.seconds.error > 0.5, "what cannot be foretold says so"


def test_a_run_says_nothing_of_its_own_error() -> None:
    """Each was half of the one before: what the last one took is off by 100% each time, and all others by more."""
    past = [Past(rows=100, seconds=seconds, written_bytes=1, file_groups=1) for seconds in (1.0, 2.0, 4.0, 8.0)]
    found = estimate(100, past)
    assert found is not None
    assert 1.0 < found.seconds.value < 1.5
    assert 1.0 < found.seconds.error < 2.0


def test_a_table_that_grows_costs_what_it_has_come_to() -> None:
    """Of COPY_ON_WRITE each run writes the whole table anew, whatever it reads."""
    past = [Past(rows=50, seconds=5.0, written_bytes=size, file_groups=8) for size in range(30_000, 10_000, -1000)]
    found = estimate(50, past)
    assert found is not None
    assert found.written_bytes.value == pytest.approx(30_000, rel=0.01)
    assert found.written_bytes.error < 0.1


def recorded() -> list[Past]:
    """Return runs over a table of COPY_ON_WRITE with 10 buckets that grew from 50,000 rows, the oldest first."""
    file = Path(__file__).with_name("recorded_runs.json")
    return [Past(**one) for one in json.loads(file.read_text("utf-8"))]


@pytest.mark.parametrize("quantity", ["seconds", "written_bytes", "file_groups"])
def test_runs_that_were_recorded_are_foretold_by_those_before(quantity: str) -> None:
    """Off by 30% at most, in the median, and the error that is told beforehand is no better than that."""
    past = recorded()
    missed = []
    for number in range(FEWEST, len(past)):
        found = estimate(past[number].rows, past[:number][::-1])
        assert found is not None
        real = getattr(past[number], quantity)
        missed.append(abs(getattr(found, quantity).value - real) / real)
    assert median(missed) <= 0.3
    told = estimate(1000, past[::-1])
    assert told is not None
    assert getattr(told, quantity).error <= 0.3


def test_what_lies_far_out_is_said() -> None:
    past = runs(float, 10, 20, 30, 40)
    near, far = estimate(160, past), estimate(161, past)
    assert near is not None
    assert far is not None
    assert (near.is_beyond, far.is_beyond) == (False, True)


def test_runs_that_all_read_as_many_rows() -> None:
    found = estimate(500, runs(lambda n: 4.0, 100, 100, 100, 100))
    assert found is not None
    assert found.seconds.value == 4.0


def test_as_json() -> None:
    found = estimate(5000, runs(lambda n: 3 + n / 1000, 1000, 2000, 3000, 4000))
    assert found is not None
    assert found.as_json()["seconds"] == {"value": 8.0, "median_error": 0.054}
    assert set(found.as_json()) == {"rows", "runs", "is_beyond", "seconds", "written_bytes", "file_groups"}

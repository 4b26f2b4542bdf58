"""The strip of the last runs, and numbers in words."""

from __future__ import annotations

import pytest

from freshet.site.strip import strip_of
from freshet.site.words import duration, share, size, when
from tests.kit.facts import BEGIN, a_run
from tests.kit.memory import at


def test_a_failure_is_higher_than_any_success_and_an_idle_run_lower() -> None:
    found = strip_of(
        [
            a_run(5, "killed"),
            a_run(4, "failed", seconds=0.1, code="OVERFLOW"),
            a_run(3, seconds=100.0),
            a_run(2, seconds=1.0),
            a_run(1, "idle", count=7, seconds=0.2),
        ]
    )
    idle, short, long, failed, killed = (bar.height for bar in found.bars)
    assert idle < short < long < failed == killed == found.height
    assert [bar.x for bar in found.bars] == sorted(bar.x for bar in found.bars), "the oldest on the left"
    assert found.label == "last runs: 7 idle, 2 committed, 1 failed, 1 killed; the newest killed"
    assert found.bars[3].title.endswith("failed, 100 ms, OVERFLOW")


def test_what_is_no_run_is_left_out_and_of_many_the_newest_are_shown() -> None:
    assert strip_of([a_run(1, what="service"), a_run(2, what="backfill")]).bars == ()
    many = strip_of([a_run(number, seconds=None) for number in range(60, 0, -1)])
    assert len(many.bars) == 24
    assert many.bars[-1].title.startswith("2026-08-01")
    assert many.bars[-1].x + many.bar_width <= many.width


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "-"),
        (0, "0 ms"),
        (0.25, "250 ms"),
        (4.21, "4.2 s"),
        (59, "59 s"),
        (240, "4 min"),
        (9000, "2.5 h"),
        (1e6, "12 days"),
    ],
)
def test_durations(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


def test_sizes_and_shares() -> None:
    assert [size(count) for count in (0, 2048, 15_300, 4_200_000, 3_000_000_000)] == [
        "0.0 kB",
        "2.0 kB",
        "15 kB",
        "4.2 MB",
        "3.0 GB",
    ]
    assert [share(part, of) for part, of in ((1, 3), (0, 0), (3, 3))] == [33, 100, 100]


def test_moments_have_an_age_where_their_zone_is_known() -> None:
    shown = when(at(0), BEGIN + 180)
    assert '<time datetime="2026-08-01T10:15:00Z">2026-08-01 10:15:00Z</time>' in shown
    assert "3 min ago" in shown
    assert when(at(0), BEGIN, "LOCAL") == "2026-08-01 10:15:00 LOCAL"
    assert when("", BEGIN) == "-"
    assert when("<b>", BEGIN) == "&lt;b&gt;"

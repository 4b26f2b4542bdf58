"""When a schedule is due, as Vixie cron has it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from freshet.metrics.cron import schedule_of

# A Saturday.
NOW = datetime(2026, 8, 1, 10, 15, 30, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("*/30 * * * *", "2026-08-01 10:30"),
        ("15 * * * *", "2026-08-01 11:15"),
        ("0 2 * * *", "2026-08-02 02:00"),
        ("5-10,50 9-10 * * *", "2026-08-01 10:50"),
        ("0 8 * * mon-fri", "2026-08-03 08:00"),
        ("0 8 * * 7", "2026-08-02 08:00"),
        ("0 0 1 jan *", "2027-01-01 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("20/10 * * * *", "2026-08-01 10:20"),
        # Both days are given: one of them is enough.
        ("0 12 13 * fri", "2026-08-07 12:00"),
        ("0 12 1-31/2 * *", "2026-08-01 12:00"),
        ("59 23 31 12 *", "2026-12-31 23:59"),
        ("* * * * *", "2026-08-01 10:16"),
    ],
)
def test_the_next_time(text: str, due: str) -> None:
    schedule = schedule_of(text)
    assert schedule is not None
    assert schedule.next_after(NOW) == datetime.fromisoformat(due).replace(tzinfo=timezone.utc)


def test_a_day_that_never_comes() -> None:
    schedule = schedule_of("0 0 30 2 *")
    assert schedule is not None
    assert schedule.next_after(NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "H * * * *",
        "0 0 * *",
        "60 * * * *",
        "0 0 0 * *",
        "0 0 * * 8",
        "10-5 * * * *",
        "*/0 * * * *",
        "0 0 ? * *",
        "a b c d e",
    ],
)
def test_what_cannot_be_understood_is_none(text: str) -> None:
    assert schedule_of(text) is None

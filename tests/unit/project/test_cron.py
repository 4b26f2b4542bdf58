"""When a schedule is due, as Debian's cron has it; and which one is none, with its place."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.cron import Schedule, fault_of_schedule, is_zone
from tests.kit.project import BASE, a_project
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML_FILE, yml

# A Saturday.
NOW = datetime(2026, 8, 1, 10, 15, 30, tzinfo=timezone.utc)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("*/30 * * * *", "2026-08-01 10:30"),
        ("15 * * * *", "2026-08-01 11:15"),
        ("0 2 * * *", "2026-08-02 02:00"),
        ("5-10,50 9-10 * * *", "2026-08-01 10:50"),
        ("0 8 * * mon,wed", "2026-08-03 08:00"),
        ("0 8 * * 7", "2026-08-02 08:00"),
        ("0 0 1 jan *", "2027-01-01 00:00"),
        ("0 0 29 2 *", "2028-02-29 00:00"),
        ("20/10 * * * *", "2026-08-01 10:20"),
        # Both days are given: one of them is enough.
        ("0 12 13 * fri", "2026-08-07 12:00"),
        ("0 12 1-31/2 * *", "2026-08-01 12:00"),
        ("59 23 31 12 *", "2026-12-31 23:59"),
        ("* * * * *", "2026-08-01 10:16"),
        ("0 6 L * *", "2026-08-31 06:00"),
    ],
)
def test_the_next_time(text: str, due: str) -> None:
    assert fault_of_schedule(text) == ""
    assert Schedule(text).next_after(NOW) == utc(due)


@pytest.mark.parametrize(
    ("text", "after", "due"),
    [
        ("0 6 * * *", "2026-08-01 10:15", "2026-08-02 04:00"),
        ("0 6 * * *", "2026-12-01 10:15", "2026-12-02 05:00"),
        # On 29 March half past two does not exist in Berlin, and the run comes when the clocks were put forward.
        ("30 2 * * *", "2026-03-28 12:00", "2026-03-29 01:00"),
        # On 25 October it exists twice: once is enough for a day's run, and every hour has its own.
        ("30 2 * * *", "2026-10-25 00:30", "2026-10-26 01:30"),
        ("30 * * * *", "2026-10-25 00:30", "2026-10-25 01:30"),
    ],
)
def test_a_schedule_in_its_own_time_zone(text: str, after: str, due: str) -> None:
    assert Schedule(text, "Europe/Berlin").next_after(utc(after)) == utc(due)


@pytest.mark.parametrize(
    "text",
    [
        "H * * * *",
        "0 0 * *",
        "0 0 * * * *",
        "60 * * * *",
        "0 0 0 * *",
        "0 0 * * 8",
        "10-5 * * * *",
        "*/0 * * * *",
        "0 0 ? * *",
        "a b c d e",
        "@hourly",
        "0 0 30 2 *",
        "0 0 31 2,4 *",
        f"{'9' * 5000} * * * *",
    ],
)
def test_a_broken_schedule_is_refused_at_its_line(problems_of: Check, text: str) -> None:
    assert seen(problems_of({YML_FILE: yml(f'schedule: "{text}"')})) == [(YML_FILE, 7, "BAD_VALUE")]


@pytest.mark.parametrize("name", ["Berlin", "Europe", "../etc/passwd", "", "/etc/localtime", "Europe/Berlin\n"])
def test_a_zone_that_is_none_is_refused_at_its_line(problems_of: Check, name: str) -> None:
    assert not is_zone(name)
    text = name.replace("\n", "\\n")
    assert seen(problems_of({YML_FILE: yml(f'schedule_zone: "{text}"')})) == [(YML_FILE, 7, "BAD_VALUE")]


@pytest.mark.parametrize(
    ("lines", "line", "code"),
    [
        (("continuous: {min_interval: 0s}",), 7, "BAD_VALUE"),
        (("continuous: {min_interval: soon}",), 7, "BAD_VALUE"),
        (("continuous: {interval: 1s}",), 7, "UNKNOWN_KEY"),
        (("continuous: true",), 7, "WRONG_TYPE"),
        (("continuous:",), 7, "BAD_VALUE"),
        (("continuous: {}", 'schedule: "0 * * * *"'), 7, "CONFLICTING_SETTING"),
    ],
)
def test_what_is_wrong_with_a_continuous_pipeline(problems_of: Check, lines: tuple[str, ...], line: int, code: str) -> None:
    assert seen(problems_of({YML_FILE: yml(*lines)})) == [(YML_FILE, line, code)]


def test_when_a_pipeline_runs_is_a_part_of_its_specification(tmp_path: Path) -> None:
    berlin = {"configs/base.yml": BASE + "schedule_zone: Europe/Berlin\n"}
    one = load_project(a_project(tmp_path / "a", files={**berlin, YML_FILE: yml('schedule: "0 6 * * *"')}), environ={})
    assert (one.pipelines[0].schedule, one.pipelines[0].schedule_zone) == ("0 6 * * *", "Europe/Berlin")
    assert one.pipelines[0].interval_seconds is None
    two = load_project(a_project(tmp_path / "b", files={YML_FILE: yml("continuous: {}")}), environ={}).pipelines[0]
    assert (two.schedule, two.schedule_zone, two.interval_seconds) == ("", "UTC", 30)


def test_of_what_cannot_be_understood_no_time_is_next() -> None:
    """An environment may be served on a machine that knows fewer zones than the one that validated it."""
    assert Schedule("0 6 * * *", "Nowhere/Land").next_after(NOW) is None
    assert Schedule("H 6 * * *").next_after(NOW) is None

"""``status --completeness`` and the latency that ``status`` shows, in words."""

from __future__ import annotations

from pathlib import Path

from freshet.account.windows import Completeness, WindowFill
from freshet.cli.completeness_text import completeness_words
from freshet.cli.state_text import latency_words
from freshet.event_times.counted import Latency
from freshet.status.status import PipelineStatus
from tests.kit.timeline import a_table, a_target
from tests.unit.cli.conftest import Freshet, parsed

HOUR = 3600


def test_windows_are_told_with_what_they_lack() -> None:
    windows = (
        WindowFill(begin=0, due=HOUR, at_source=1200, published=1100, fill="complete"),
        WindowFill(begin=HOUR, due=2 * HOUR, at_source=100, missing=25, published=75, fill="short", why="25 rows wait"),
        WindowFill(begin=2 * HOUR, due=3 * HOUR, published=7, fill="unknown", why="9 rows may be of it"),
    )
    found = Completeness(pipeline="earnings", source="raw.trips", windows=windows, window_seconds=HOUR, note="by commits")
    broken = Completeness(pipeline="other", source="raw.x", error="there is none")
    lines = [line.split() for line in completeness_words([found, broken]).splitlines()]
    assert lines[1] == ["earnings", "1970-01-01T00:00:00Z", "1,200", "1,200", "1,100", "100%", "complete"]
    assert lines[2] == ["earnings", "1970-01-01T01:00:00Z", "100", "75", "75", "75%", "short"]
    assert lines[3] == ["earnings", "1970-01-01T02:00:00Z", "-", "-", "7", "-", "unknown"]
    below = [" ".join(line) for line in lines[4:]]
    assert below == [
        "earnings: the window of 1970-01-01T01:00:00Z is short: 25 rows wait",
        "earnings: the window of 1970-01-01T02:00:00Z is unknown: 9 rows may be of it",
        "earnings: by commits",
        "other: there is none",
    ]


def test_a_project_by_its_files(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    assert "no pipeline has event_times" in freshet("status", "--completeness").stdout
    declared = ("--set", "event_times.window=1h")
    (told,) = parsed(freshet("status", "--completeness", "--output", "json", *declared))["pipelines"]
    assert (told["pipeline"], told["windows"], told["error"]) == ("payments", [], "")
    assert "only a scan could" in told["note"]
    assert freshet("status", "--completeness", "--metrics").exit_code == 2


def test_latency_in_words() -> None:
    seconds = {"min": 1.0, "p50": 30.0, "p95": 240.0, "p99": 300.0, "max": 7200.0}
    latency = Latency(events=1204, seconds=seconds, future=3, ahead_seconds=8.0, untimed=2)
    assert latency_words(PipelineStatus(pipeline="p", state="up_to_date", latency=latency.as_json())) == (
        "p: 1,204 events of the last commit published: half within 30 s, 95% within 4 min, 99% within 5 min, all within 2 h; "
        "3 events from the future, by 8 s at most: a clock is ahead; 2 events without a time"
    )
    assert latency_words(PipelineStatus(pipeline="p", state="new")) == ""

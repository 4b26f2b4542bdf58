"""``event_times:`` of a pipeline and what ``slo.completeness`` promises of them, checked with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import EventTimes, Slo
from tests.kit.project import a_project
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import DDL_FILE, PAYMENTS, YML_FILE, yml


def loaded(root: Path, *overrides: str) -> PipelineSpec:
    return load_project(root, None, overrides, environ={}).pipelines[0]


def test_windows_are_seconds_and_a_share_is_of_one(tmp_path: Path) -> None:
    plain = loaded(a_project(tmp_path / "a"))
    text = ("slo: {completeness: 99.5%}", "event_times: {column: updated_at, window: 15m, lateness: 2h}")
    spec = loaded(a_project(tmp_path / "b", files={YML_FILE: yml(*text)}), "event_times.lateness=3h")
    assert plain.event_times is None
    assert spec.event_times == EventTimes(column="updated_at", window_seconds=900, lateness_seconds=10_800)
    assert spec.slo == Slo(completeness=0.995)
    assert spec.fingerprint == plain.fingerprint, "to count rows makes none"


def test_windows_of_the_source_need_no_column(tmp_path: Path) -> None:
    spec = loaded(a_project(tmp_path, files={YML_FILE: yml("event_times: {}")}))
    assert spec.event_times == EventTimes(window_seconds=3600, lateness_seconds=3600)


@pytest.mark.parametrize(
    ("text", "line", "code", "said"),
    [
        (("event_times: {window: 7m}",), 7, "BAD_VALUE", "equal pieces"),
        (("event_times: {window: 30s}",), 7, "BAD_VALUE", "a minute or more"),
        (("event_times: {window: 1m, lateness: 1d}",), 7, "BAD_VALUE", "200 windows"),
        (("event_times: {column: updated}",), 7, "UNKNOWN_COLUMN", "no column 'updated'"),
        (("event_times: {column: id}",), 7, "BAD_VALUE", "an event time is a timestamp"),
        (
            ("write: {strategy: partial_update, columns: [amount]}", "event_times: {column: seen}"),
            8,
            "CONFLICTING_SETTING",
            "hold",
        ),
        (("slo:", "  completeness: 99.9%"), 8, "MISSING_KEY", "no event_times"),
        (("event_times: {}", "slo:", "  completeness: 101%"), 9, "BAD_VALUE", "at most 100%"),
        (("event_times: {}", "slo:", "  completeness: 0.999"), 9, "WRONG_TYPE", "string"),
        (("event_times: {windows: 1h}",), 7, "UNKNOWN_KEY", "windows"),
    ],
)
def test_what_cannot_be_counted_is_refused_at_its_line(
    problems_of: Check, text: tuple[str, ...], line: int, code: str, said: str
) -> None:
    found = problems_of({YML_FILE: yml(*text), DDL_FILE: PAYMENTS.replace("TIMESTAMP\n", "TIMESTAMP,\n  seen TIMESTAMP\n")})
    assert seen(found) == [(YML_FILE, line, code)]
    assert said in found[0].message

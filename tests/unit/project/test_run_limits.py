"""``run:``: how long a run may take, in configs and pipelines, checked with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.limits import RunLimits
from tests.kit.project import BASE, a_project
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML_FILE, yml


def limits(root: Path, *overrides: str) -> RunLimits:
    return load_project(root, None, overrides, environ={}).pipelines[0].limits


def test_the_layers_give_a_runs_limits(tmp_path: Path) -> None:
    assert limits(a_project(tmp_path / "a")) == RunLimits(None, 1800)
    configs = {"configs/base.yml": BASE + "run: {timeout: 6h, stalled_after: 10m}\n"}
    root = a_project(tmp_path / "b", files={**configs, YML_FILE: yml("run: {timeout: 2h}")})
    assert limits(root) == RunLimits(7200, 600)
    assert limits(root, "run.stalled_after=0s") == RunLimits(7200, 0)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  timeout: soon", "BAD_VALUE"),
        ("  timeout: 60", "WRONG_TYPE"),
        ("  stalled: 1h", "UNKNOWN_KEY"),
        ("  stalled_after: -1m", "BAD_VALUE"),
    ],
)
def test_what_is_no_duration_is_refused_at_its_line(problems_of: Check, text: str, code: str) -> None:
    found = problems_of({YML_FILE: yml("run:", text)})
    assert seen(found) == [(YML_FILE, 8, code)]


def test_data_skipping_cannot_be_set(problems_of: Check) -> None:
    found = problems_of({YML_FILE: yml("  hoodie.enable.data.skipping: true")})
    assert seen(found) == [(YML_FILE, 7, "RESERVED_KEY")]

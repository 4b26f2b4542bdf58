"""A checkpoint set by hand makes no table that nobody asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.run.result import RunResult
from tests.kit.timeline import a_table
from tests.unit.cli.conftest import Freshet, parsed


def test_a_missing_target_is_made_only_where_that_is_asked_for(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []

    def noted(*arguments: object) -> RunResult:
        made.append(arguments)
        return RunResult(pipeline="payments", outcome="committed", run_id="r", commits=("20260801101500020",))

    monkeypatch.setattr("freshet.cli.state.set_checkpoint", noted)
    a_table(root, "raw/events", 10, 20)
    words = ("checkpoint", "set", "payments", "20260801101500010", "--output", "json")
    refused = freshet(*words)
    assert (refused.exit_code, parsed(refused)["error"]["code"], made) == (5, "TARGET_MISSING", [])
    assert parsed(refused)["error"]["next"].endswith("--create")
    assert freshet(*words, "--create").exit_code == 0
    assert len(made) == 1

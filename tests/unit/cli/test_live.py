"""The live lines of a run on a terminal."""

from __future__ import annotations

import time

import pytest

from framework.cli.live import live_progress
from framework.metrics.events import Event

# Rich draws ten times a second.
_DRAWN_SECONDS = 0.3


def test_each_pipeline_at_work_has_a_line_and_one_that_is_through_leaves_its_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")

    def drawn() -> str:
        capsys.readouterr()
        time.sleep(_DRAWN_SECONDS)
        return capsys.readouterr().err

    with live_progress() as listen:
        assert "starting" in drawn()
        listen(Event("phase", "a", "reading [1] commit"))
        listen(Event("phase", "b", "starting Spark"))
        both = drawn()
        assert ("a: reading [1] commit" in both, "b: starting Spark" in both, "starting\x1b" in both) == (True, True, False)
        capsys.readouterr()
        listen(Event("committed", "a", "committed 1"))
        assert "a: committed 1" in capsys.readouterr().err
        listen(Event("phase", "b", "writing"))
        left = drawn()
        assert ("a: " in left, "b: writing" in left) == (False, True)
        listen(Event("failed", "b", "no"))
        listen(Event("phase", "c", "reading"))
        left = drawn()
        assert ("b: " in left, "c: reading" in left) == (False, True)

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

    def shows(*words: str, without: tuple[str, ...] = ()) -> None:
        """Wait until the lines hold these words and none of the others; a test that waits in vain is ended."""
        found = ""
        while not all(one in found for one in words) or any(one in found for one in without):
            capsys.readouterr()
            time.sleep(_DRAWN_SECONDS)
            found = capsys.readouterr().err

    with live_progress() as listen:
        shows("starting")
        listen(Event("phase", "a", "reading [1] commit"))
        listen(Event("phase", "b", "starting Spark"))
        shows("a: reading [1] commit", "b: starting Spark", without=("starting\x1b",))
        capsys.readouterr()
        listen(Event("committed", "a", "committed 1"))
        assert "a: committed 1" in capsys.readouterr().err
        listen(Event("phase", "b", "writing"))
        shows("b: writing", without=("a: ",))
        listen(Event("failed", "b", "no"))
        listen(Event("phase", "c", "reading"))
        shows("c: reading", without=("b: ",))

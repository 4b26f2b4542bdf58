"""What the pages that a process serves are made of: looked at beside the loop, now and then, and kept."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from freshet.events.kinds import Notice
from freshet.secrets import REDACTOR
from freshet.serve import live
from freshet.serve.kept_log import KeptLog
from freshet.serve.live import LivePages
from freshet.serve.loading import Wanted, load_valid
from freshet.serve.seen import served_now, spark_in_words
from freshet.site.live_facts import Live
from tests.kit.project import a_project

NOW = Live(now=1e9, started=1e9)
SECONDS = 60


class Kept:
    """Pages that are kept, and the loop that looks after them.

    Args:
        root: The project's folder.
    """

    def __init__(self, root: Path) -> None:
        a_project(root)
        wanted = Wanted(root=root)
        self.loaded = load_valid(wanted)
        self.pages, self.steady, self.runs = LivePages(wanted), 1000.0, 0

    def look(self) -> bool:
        """Look as the loop does; returns whether the tables are looked at anew."""
        before = self.pages._aside._thread
        self.pages.look(self.loaded, self.runs, self.steady)
        return self.pages._aside._thread is not before

    def looked(self) -> None:
        """Wait until the tables have been looked at, and take it over."""
        thread = self.pages._aside._thread
        assert thread is not None
        thread.join(SECONDS)
        assert not self.look()

    def page(self, path: str = "index.html") -> str | None:
        return self.pages.page(path, "base", NOW, self.steady)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_the_tables_are_looked_at_once_and_then_while_somebody_reads(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    monkeypatch.setattr(
        live, "facts_of", lambda *asked, real=live.facts_of, **more: gate.wait(SECONDS) and real(*asked, **more)
    )
    assert not kept.look(), "nobody has asked for a page"
    assert kept.page("nothing.css") is None
    assert kept.page("site.css") is not None
    assert not kept.look()
    assert "for the first time" in str(kept.page("pipelines/payments.html"))
    assert kept.look()
    assert kept.pages.is_looking
    assert "for the first time" in str(kept.page()), "no request waits for it"
    kept.pages._asked = None
    gate.set()
    kept.looked()
    kept.steady += 3600
    assert not kept.look(), "nobody has asked for a page"
    text = str(kept.page())
    assert "payments" in text
    assert "SOURCE_MISSING" in text
    assert kept.page("pipelines/other.html") is None
    assert kept.look(), "somebody has"
    kept.looked()
    kept.steady += 3
    assert not kept.look()
    kept.runs += 1
    assert kept.look(), "a run has ended"


def test_a_page_that_there_is_not_is_said_with_the_way_to_those_that_are(kept: Kept) -> None:
    """Before the first look and after it; it makes nobody look at the tables."""
    REDACTOR.register("PASSWORD", "hunter2hunter2")

    def said(target: str) -> str:
        return kept.pages.missing(target, "base", NOW)

    assert 'href="../index.html">All pipelines' in said("/pipelines/hunter2hunter2.html?a=/b")
    assert "hunter2" not in said("/pipelines/hunter2hunter2.html?a=/b")
    assert 'href="index.html">All pipelines' in said("/gone.html")
    assert 'href="../../index.html">All pipelines' in said("/a/b/")
    assert 'href="index.html">All pipelines' in said("gone")
    assert not kept.look()


def test_what_takes_long_is_done_seldom(kept: Kept) -> None:
    kept.page()
    assert kept.look()
    kept.looked()
    kept.pages._took = 30.0
    kept.page()
    kept.steady += 200
    kept.page()
    assert not kept.look()
    kept.steady += 101
    kept.page()
    assert kept.look()


def test_what_cannot_be_looked_at_leaves_what_was_seen(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.page()
    assert kept.look()
    kept.looked()

    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("garbled")

    monkeypatch.setattr(live, "facts_of", fails)
    kept.page()
    kept.steady += 60
    assert kept.look()
    kept.looked()
    assert "garbled" in kept.pages.failed
    assert "payments" in str(kept.page())


def test_what_a_run_told_is_kept_and_no_more_than_may_be() -> None:
    log = KeptLog()
    log(Notice(pipeline="", code="X", message="of nobody", run_id="r"))
    log(Notice(pipeline="a", code="X", message="of no run"))
    assert log.lines() == {}
    for number in range(300):
        for line in range(3 if number else 200):
            log(Notice(pipeline="a", code="X", message=f"{line}" * 999, run_id=f"r{number}", time=float(line)))
    kept = log.lines()
    assert (len(kept), next(iter(kept)), list(kept)[-1]) == (200, "r100", "r299")
    assert [line.time for line in kept["r299"]] == [0.0, 1.0, 2.0]
    assert max(len(line.message) for line in kept["r299"]) == 500


def test_how_a_pipeline_is_served_in_words() -> None:
    shown = {"kind": "scheduled", "phase": "backoff", "waiting_seconds": 0, "next": 1e9, "after": [], "failures": 2}
    last = {
        "what": "run",
        "outcome": "failed",
        "ended": "2026-08-01T10:15:00+00:00",
        "seconds": 2.0,
        "message": "failed",
        "error": {"code": "OVERFLOW", "message": "too large"},
    }
    found = served_now("a", shown, last)
    assert (found.tone, found.label, found.failures) == ("warn", "rests after a failure", 2)
    assert found.last is not None
    assert (found.last.code, found.last.message) == ("OVERFLOW", "too large")
    assert served_now("a", shown, None).last is None
    REDACTOR.register("PASSWORD", "hunter2hunter2")
    assert served_now("hunter2hunter2", shown, None).name == "", "nobody can call what no page may name"


def test_spark_in_words() -> None:
    shown = {"up": False, "recycled": 0, "python_bytes": 1 << 30, "jvm_bytes": 1 << 30, "most_bytes": None}
    assert spark_in_words(shown) == "Spark is not started."
    assert spark_in_words({**shown, "up": True, "recycled": 2}) == "Spark is warm, started anew 2 times; 2.1 GB of memory."

"""What dies in the middle of a run: the run itself between its entries and its commit, and the HBase under it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from freshet.dev.hbase.look import look
from freshet.dev.hbase.server import start as start_hbase
from freshet.run.result import RunResult
from tests.kit.commands import kill_when, many, start
from tests.kit.hbase import HBaseLake
from tests.kit.lake import rows

pytestmark = pytest.mark.waits
# One entry a second and task: what a run puts is seen long before its commit.
SLOWLY = {"hoodie.index.hbase.max.qps.per.region.server": "1"}
FIRST = rows(("a", 1, "1"), ("b", 1, "1"), ("c", 1, "1"))
# New keys, of which each costs a second; a key that moves, whose entry is overwritten; an update, which writes none.
NEW, MOVED, UPDATED = many(40, ts=2), rows(("a", 2, "2"), day="2026-01-06"), rows(("b", 2, "2"))
WHOLE = sorted([*NEW, *MOVED, *UPDATED, *rows(("c", 1, "1"))], key=str)


def waiting(hlake: HBaseLake, kind: str) -> HBaseLake:
    """Fill a target, land a second commit, and make the pipeline slow."""
    hlake.pipeline(table_type=kind)
    hlake.land(FIRST)
    hlake.run_ok()
    hlake.land([*NEW, *MOVED, *UPDATED])
    hlake.pipeline(table_type=kind, hoodie=SLOWLY)
    return hlake


def half_put(hlake: HBaseLake) -> Callable[[], bool]:
    """Return whether the run has overwritten one entry and put others."""

    def happened() -> bool:
        entries = hlake.entries()
        return entries["a"][0] == "2026-01-06" and len(entries) > 4

    return happened


def unchanged(hlake: HBaseLake, before: str) -> None:
    """Hold the table to what stood before the second run."""
    assert (hlake.rows(), hlake.position(), len(hlake.state().commits)) == (FIRST, before, 1)


def repeated(hlake: HBaseLake, kind: str, before: str) -> None:
    """Run the pipeline again, and hold the table to a recompute, the index to the table."""
    hlake.pipeline(table_type=kind)
    done = hlake.run_ok()
    if kind == "cow":
        assert (done.inserts, done.moves) == (40, 1)
    assert hlake.rows() == WHOLE
    assert hlake.position() > before
    hlake.agree()
    assert hlake.verify().agrees
    # What was rolled back misleads no later run.
    hlake.land(rows(("a", 3, "3"), ("k000000", 3, "3"), ("k000039", 3, "3")))
    hlake.run_ok()
    assert len(hlake.places()) == len(WHOLE)
    hlake.agree()
    assert hlake.run_ok().outcome == "idle"


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_run_killed_between_its_entries_and_its_commit_is_repeated_right(hlake: HBaseLake, kind: str) -> None:
    before = waiting(hlake, kind).position()
    process = start(hlake, "run", "copy")
    kill_when(half_put(hlake), process)
    unchanged(hlake, before)
    left = hlake.entries()
    assert left["a"][0] == "2026-01-06", "an entry of the commit that never came"
    assert 4 < len(left) < len(WHOLE)
    repeated(hlake, kind, before)


def end(hlake: HBaseLake, how: signal.Signals) -> None:
    """End the HBase of the tests."""
    pid = look(hlake.hbase.directory).pid
    assert pid
    os.kill(pid, how)
    deadline = time.monotonic() + 30
    while look(hlake.hbase.directory).state != "down":
        assert time.monotonic() < deadline
        time.sleep(0.1)


def bring_back(hlake: HBaseLake) -> None:
    """Start the HBase of the tests again, on its data and its port."""
    found = start_hbase(hlake.hbase.directory, wait_seconds=120)
    assert (found.state, found.port) == ("up", hlake.hbase.port)


def test_an_hbase_killed_in_the_middle_of_a_run_loses_and_doubles_nothing(hlake: HBaseLake) -> None:
    before = waiting(hlake, "cow").position()
    ended: list[RunResult] = []
    run = threading.Thread(target=lambda: ended.append(hlake.run()))
    run.start()
    try:
        happened, deadline = half_put(hlake), time.monotonic() + 60
        while not happened():
            assert run.is_alive(), ended
            assert time.monotonic() < deadline
        end(hlake, signal.SIGKILL)
        # 25 s were seen: the client's few retries, each of several connections.
        run.join(timeout=120)
        assert ended, "the run goes on for minutes"
        assert ended[0].error is not None
        assert (ended[0].outcome, ended[0].error.code) == ("failed", "HBASE_UNREACHABLE")
        unchanged(hlake, before)
        # Without a cluster the next run ends at once.
        again = hlake.run()
        assert again.error is not None
        assert again.error.code == "HBASE_UNREACHABLE"
    finally:
        bring_back(hlake)
        run.join()
    repeated(hlake, "cow", before)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_an_hbase_that_was_away_between_two_runs_of_one_session(hlake: HBaseLake, how: signal.Signals) -> None:
    hlake.pipeline()
    hlake.land(FIRST)
    hlake.run_ok()
    end(hlake, how)
    bring_back(hlake)
    hlake.land([*NEW, *MOVED, *UPDATED])
    hlake.run_ok()
    assert hlake.rows() == WHOLE
    hlake.agree()

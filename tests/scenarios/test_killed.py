"""A run that dies, and two at once: separate processes, as a scheduler and an impatient hand start them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.kit.commands import kill, slow, start, until
from tests.kit.gate import Gate
from tests.kit.lake import Lake, rows

pytestmark = pytest.mark.waits


@pytest.fixture
def waiting(lake: Lake) -> Lake:
    """A target with one row, and a second commit waiting in the source."""
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "2"), ("b", 2, "2")))
    return lake


DAY = "2026-01-05"
WHOLE = rows(("a", 2, "2"), ("b", 2, "2"))


@pytest.mark.parametrize("words", [(), ("--full-refresh",)], ids=["run", "full refresh"])
def test_a_run_killed_before_its_commit_is_repeated_right(waiting: Lake, words: tuple[str, ...]) -> None:
    """At once: its JVM notices the end of Python by itself, and the next run waits for it."""
    flag, before, files = slow(waiting, milliseconds=60_000), waiting.position(), waiting.files()
    process = start(waiting, "run", "copy", *words)
    until(flag.exists, process)
    until(lambda: any((waiting.root / "derived/copy/.hoodie/timeline").glob("*.inflight")), process)
    kill(process)
    assert (waiting.files(), waiting.position()) == (files, before)

    slow(waiting, milliseconds=0)
    repeated = waiting.run_ok()
    assert (repeated.outcome, waiting.rows()) == ("committed", WHOLE)
    positions = [c.main.instant for _, _, c in waiting.state().checkpoints() if c.main]
    assert (positions[0] > before, positions) == (True, sorted(set(positions), reverse=True))
    assert waiting.run_ok().outcome == "idle"


@pytest.mark.parametrize("left", [None, "", "#Properties saved\nhoodie.table.version=8\nhoodie.table.na"])
def test_what_is_left_of_tables_that_never_began_is_removed_and_they_are_made(lake: Lake, left: str | None) -> None:
    """Of the target and of its quarantine; to Hudi a table is there as soon as its folder ``.hoodie`` is."""
    lake.pipeline(top="checks: [{name: negative, where: amount < 0, severity: drop}]\n")
    lake.land(rows(("a", 1, "1"), ("b", 1, "-1")))
    spec = lake.spec()
    for table in (spec.target.ref, spec.quarantine):
        folder = Path(table.path) / ".hoodie"
        (folder / "timeline" / "history").mkdir(parents=True)
        if left is not None:
            (folder / "hoodie.properties").write_text(left)
    assert lake.plan().checkpoint_before is None
    done = lake.run_ok()
    assert (done.outcome, done.quarantined, lake.rows()) == ("committed", 1, rows(("a", 1, "1")))
    assert lake.run_ok().outcome == "idle"


def test_a_run_killed_after_its_commit_and_before_it_reported_leaves_nothing_to_repeat(waiting: Lake) -> None:
    before = waiting.position()
    commits = len(waiting.state().commits)
    process = start(waiting, "run", "copy")
    until(lambda: len(waiting.state().commits) > commits, process)
    kill(process)
    assert waiting.position() > before
    assert waiting.run_ok().outcome == "idle"
    assert waiting.rows() == WHOLE


def test_of_two_runs_at_once_the_later_ends_with_already_running_or_waits(waiting: Lake) -> None:
    gate = Gate(waiting)
    waiting.pipeline(transform="[transformers/copy.sql, transformers/gate.py]")
    first = start(waiting, "run", "copy", environment={"GATE": str(gate.folder)})
    until(lambda: gate.reached(DAY), first)

    second = start(waiting, "run", "copy")
    out, err = second.communicate()
    assert second.returncode == 4, err
    assert first.poll() is None, "it did not wait for the first one"
    error = json.loads(out)["runs"][0]["error"]
    assert (error["code"], error["retryable"]) == ("ALREADY_RUNNING", True)
    assert str(first.pid) in error["message"]

    third = start(waiting, "run", "copy", "--wait", "120")
    assert third.stderr is not None
    assert any("is being written by run" in line for line in third.stderr)
    gate.open(DAY)
    out, err = third.communicate()
    assert third.returncode == 0, err
    assert json.loads(out)["runs"][0]["outcome"] == "idle"
    first.communicate()
    assert first.returncode == 0
    assert waiting.rows() == WHOLE


def test_the_jvm_of_a_killed_run_is_waited_for(waiting: Lake) -> None:
    flag = slow(waiting, milliseconds=60_000)
    process = start(waiting, "run", "copy")
    until(flag.exists, process)
    kill(process)
    slow(waiting, milliseconds=0)
    result = waiting.run_ok()
    assert (result.outcome, waiting.rows()) == ("committed", WHOLE)
    positions = [c.main.instant for _, _, c in waiting.state().checkpoints() if c.main]
    assert positions == sorted(positions, reverse=True)
    assert len(set(positions)) == len(positions)


def test_stdout_holds_the_result_alone(waiting: Lake) -> None:
    process = start(waiting, "run", "copy")
    out, err = process.communicate(timeout=120)
    run = json.loads(out)["runs"][0]
    assert (process.returncode, run["outcome"], run["updates"] + run["inserts"]) == (0, "committed", 2)
    assert "writing derived.copy" in err
    assert os.environ.get("FRESHET_JVM_LOG") or "WARN" not in err

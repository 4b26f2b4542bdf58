"""What all runs of a pipeline came to is summed where records are pruned and folded."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from freshet.project.model.pipeline import TableRef
from freshet.run import records
from freshet.run.last_runs import last_runs
from freshet.run.records import remembered, write_record
from freshet.run.totals import Totals, count, totals_of
from freshet.storage.conditional import DirectoryStore, Stored
from tests.kit.memory import a_spec, a_table_spec

COMMITTED: dict[str, Any] = {
    "what": "run",
    "outcome": "committed",
    "seconds": {"total": 8.5, "write": 3.0},
    "rows": {"inserts": 3, "updates": 2, "deletes": 1, "moves": 0, "quarantined": 4, "read": 12},
    "source_commits": 2,
    "conflicts": 1,
    "waited_seconds": 7,
}


def a_target(root: Path) -> TableRef:
    return TableRef("derived.earnings", str(root / "lake" / "earnings"))


def test_sums() -> None:
    once = Totals().plus(COMMITTED)
    assert once.runs == {"committed": 1}
    assert once.rows == {"read": 12, "inserted": 3, "updated": 2, "deleted": 1, "moved": 0, "quarantined": 4}
    assert (once.seconds, once.commits, once.conflicts, once.waited_seconds) == (8.5, 2, 1, 7.0)
    twice = once.plus(COMMITTED)
    assert (twice.runs["committed"], twice.rows["read"], twice.seconds) == (2, 24, 17.0)


def test_every_result_is_counted_and_what_is_no_run_is_not() -> None:
    found = Totals()
    for record in (
        {"what": "run", "outcome": "idle"},
        {"what": "run", "outcome": "failed", "error": {"code": "OVERFLOW"}},
        {"what": "full refresh", "outcome": "committed"},
        {"what": "run", "outcome": "failed", "error": {"code": "ALREADY_RUNNING"}},
        {"what": "run", "outcome": "killed"},
        {"what": "backfill", "outcome": "done", "rows": {"written": 7}},
        {"what": "service", "outcome": "done"},
    ):
        found = found.plus(record)
    assert found.runs == {"idle": 1, "failed": 1, "committed": 1, "busy": 1, "killed": 1}


def test_runs_add_up_beyond_their_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are pruned, and idle ones are folded; the sums know of all."""
    monkeypatch.setattr(records, "KEPT", 2)
    target = a_target(tmp_path)
    for number in range(5):
        write_record(target, "earnings", {**COMMITTED, "begun": f"2026080110150000{number}", "ended": "20260801101501000"})
        with remembered(target, "earnings", "run") as told:
            told["outcome"] = "idle"
    assert totals_of(target, "earnings").runs == {"committed": 5, "idle": 5}
    assert totals_of(target, "another").runs == {}


def test_the_file_is_no_record(tmp_path: Path) -> None:
    target = a_target(tmp_path)
    count(target, "earnings", COMMITTED)
    spec = a_spec(inputs=(), target=a_table_spec(ref=target))
    assert last_runs(spec).last is None


def test_two_that_end_at_the_same_moment_are_both_counted(tmp_path: Path) -> None:
    target = a_target(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: count(target, "earnings", COMMITTED), range(12)))
    assert totals_of(target, "earnings").runs == {"committed": 12}


def test_who_was_overtaken_counts_upon_what_stands_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command ends between the look and the write."""
    target = a_target(tmp_path)
    count(target, "earnings", COMMITTED)
    store = DirectoryStore()

    class Overtaken(DirectoryStore):
        looks = 0

        def read(self, path: str) -> Stored | None:
            found = store.read(path)
            self.looks += 1
            if self.looks == 1 and found is not None:
                told = json.loads(found.data)
                store.swap(path, json.dumps({**told, "runs": {"committed": 7}}).encode(), found.tag)
            return found

    overtaken = Overtaken()
    monkeypatch.setattr("freshet.run.totals.conditional_store", lambda *_, **more: overtaken)
    count(target, "earnings", COMMITTED)
    assert totals_of(target, "earnings").runs == {"committed": 8}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": 3}', '{"runs": {"idle": "x"}, "rows": {}}'])
def test_what_is_no_record_of_sums_begins_anew(tmp_path: Path, text: str) -> None:
    target = a_target(tmp_path)
    count(target, "earnings", COMMITTED)
    (file,) = (tmp_path / "lake" / ".freshet").rglob("earnings.totals/*.json")
    file.write_text(text)
    assert totals_of(target, "earnings") == Totals()
    count(target, "earnings", COMMITTED)
    assert json.loads(file.read_text())["runs"] == {"committed": 1}


def test_what_cannot_be_counted_harms_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(records, "count", broken)
    target = a_target(tmp_path)
    with remembered(target, "earnings", "run") as told:
        told["outcome"] = "idle"
    assert [one["outcome"] for one in records.read_records(target, "earnings", 5)[0]] == ["idle"]


def failed(target: TableRef, what: str, second: int, **more: Any) -> None:
    begun = f"202608011015{second:02}000"
    write_record(target, "earnings", {"what": what, "begun": begun, "ended": begun, "outcome": "failed", **more})


def done(target: TableRef, what: str, second: int, outcome: str = "done") -> None:
    begun = f"202608011015{second:02}000"
    write_record(target, "earnings", {"what": what, "begun": begun, "ended": begun, "outcome": outcome})


def test_a_backfill_that_failed_is_seen_behind_a_run_that_succeeded(tmp_path: Path) -> None:
    target = a_target(tmp_path)
    spec = a_spec(inputs=(), target=a_table_spec(ref=target))
    done(target, "run", 1, "committed")
    failed(target, "backfill", 2, error={"code": "X", "message": "no"})
    done(target, "run", 3, "committed")
    found = last_runs(spec)
    assert found.last is not None
    assert (found.last.begun, found.failures) == ("20260801101503000", 0)
    assert found.others["backfill"].outcome == "failed"
    done(target, "backfill", 4)
    assert last_runs(spec).others["backfill"].outcome == "done"

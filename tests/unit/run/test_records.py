"""What runs record of themselves beside their table: bounded, folded, redacted, and never in a run's way."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import DataError, RetryableError
from freshet.project.model.pipeline import TableRef
from freshet.run import record_files, records
from freshet.run.records import folder_of, of_run, read_records, remember_killed, remembered, tell_stopped, write_record
from freshet.run.result import RunResult
from freshet.secrets import REDACTOR
from freshet.storage import files as storage
from freshet.storage import remote


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    return TableRef("derived.copy", str(tmp_path / "derived" / "copy"))


def write(table: TableRef, begun: int, outcome: str = "committed", **more: Any) -> None:
    write_record(table, "copy", {"what": "run", "begun": f"20260801{begun:09d}", "outcome": outcome, **more})


def read(table: TableRef, limit: int = 1000, **how: Any) -> list[tuple[int, str, int]]:
    """Return begin, result and count of each record, the newest first."""
    found, _ = read_records(table, "copy", limit, **how)
    return [(int(one["begun"][8:]), one["outcome"], one.get("count", 1)) for one in found]


def test_runs_of_one_kind_in_a_row_are_one_record(table: TableRef) -> None:
    """Idle ones, those that found the target taken, and those that an upstream kept from running; each commit stands alone."""
    taken, failed = ({"error": {"code": code, "message": ""}} for code in ("ALREADY_RUNNING", "CHECK_FAILED"))
    for begun, outcome, more in (
        (1, "idle", {}),
        (2, "idle", {}),
        (3, "committed", {}),
        (4, "committed", {}),
        (5, "idle", {}),
        (6, "failed", taken),
        (7, "failed", taken),
        (8, "failed", failed),
        (9, "failed", failed),
        (10, "skipped", {}),
        (11, "skipped", {}),
        (12, "idle", {}),
        (13, "idle", {"what": "service"}),
    ):
        write(table, begun, outcome, **more)
    assert read(table) == [
        (13, "idle", 1),
        (12, "idle", 1),
        (10, "skipped", 2),
        (9, "failed", 1),
        (8, "failed", 1),
        (6, "failed", 2),
        (5, "idle", 1),
        (4, "committed", 1),
        (3, "committed", 1),
        (1, "idle", 2),
    ]
    assert read(table, failed=True, limit=2) == [(10, "skipped", 2), (9, "failed", 1)]
    assert [begun for begun, _, _ in read(table, since="20260801000000007")] == [13, 12, 10, 9, 8, 6]
    assert read_records(table, "copy", 1, since="20260801000000013")[0][0]["what"] == "service"


def test_the_newest_ones_are_kept(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "KEPT", 5)
    for begun in range(1, 10):
        write(table, begun)
    assert [begun for begun, _, _ in read(table)] == [9, 8, 7, 6, 5]
    folder = Path(folder_of(table, "copy"))
    assert len(list(folder.iterdir())) == 5, "nothing half written is left"


def test_what_cannot_be_read_is_left_out_and_named(table: TableRef) -> None:
    """A record that was cut, one of a later version, another thing by that name; what has another name is none."""
    for begun in range(1, 6):
        write(table, begun, "idle" if begun > 4 else "committed")
    folder = Path(folder_of(table, "copy"))
    names = sorted(file.name for file in folder.iterdir())
    (folder / names[0]).write_bytes((folder / names[0]).read_bytes()[:40])
    (folder / names[1]).write_text('{"version": 9, "begun": "20260801000000002", "what": "run", "outcome": "committed"}')
    (folder / names[2]).write_text("[]")
    (folder / names[4]).write_bytes(b"\xff")
    (folder / "readme.txt").write_text("of somebody else")
    found, unreadable = read_records(table, "copy", 10)
    assert ([one["begun"][-1] for one in found], unreadable) == (["4"], [names[4], names[2], names[1], names[0]])
    write(table, 6, "idle")
    assert read(table)[0] == (6, "idle", 1), "upon one that is cut nothing is counted"


def test_nothing_keeps_a_run_from_its_result(table: TableRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No place to write, a store that does not answer: neither fails a run, nor does it wait for long."""
    (tmp_path / "derived").write_text("a file where a folder should be")
    with remembered(table, "copy", "run") as told:
        told.update(of_run(RunResult(pipeline="copy", outcome="idle")))
    never = threading.Event()

    class Hanging(storage.LocalStorage):
        def names(self, folder: str) -> list[str]:
            never.wait()
            raise TimeoutError

    monkeypatch.setattr(records, "storage_for", lambda path: Hanging())
    monkeypatch.setattr(records, "_PATIENCE_SECONDS", 0.01)
    write(TableRef("derived.copy", "s3a://lake/derived/copy"), 1)
    never.set()


def test_what_a_block_raises_is_told_by_code_and_first_line(table: TableRef) -> None:
    """An error of freshet's, any other, and an end that is no error."""
    for error in (DataError("BAD_EVENT_TIME", "first\nsecond"), ValueError("odd"), KeyboardInterrupt()):
        with pytest.raises(type(error)), remembered(table, "copy", "backfill"):
            raise error
    found = {one["error"]["code"]: one for one in read_records(table, "copy", 9)[0]}
    assert set(found) == {"BAD_EVENT_TIME", "UNEXPECTED_ERROR", "INTERRUPTED"}
    assert (found["BAD_EVENT_TIME"]["error"]["message"], found["BAD_EVENT_TIME"]["outcome"]) == ("first", "failed")


def test_no_secret_is_written(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None)):
        monkeypatch.setattr(REDACTOR, name, empty)
    REDACTOR.register("DB_PASSWORD", "hunter2-hunter2")
    failed = RetryableError("STORAGE_UNREACHABLE", "cannot log in with hunter2-hunter2")
    with remembered(table, "copy", "run") as told:
        told.update(of_run(RunResult(pipeline="copy", outcome="failed", error=failed)))
    (file,) = Path(folder_of(table, "copy")).iterdir()
    assert "hunter2" not in file.read_text()
    assert "${env.DB_PASSWORD}" in file.read_text()


def test_a_killed_run_is_told_by_the_next_one(table: TableRef) -> None:
    """By what it left in its lease; not one that failed, which told it itself, nor a chunk, whose backfill has a lease too."""
    left = {
        "run_id": "r",
        "what": "run",
        "pipeline": "copy",
        "pid": 7,
        "host": "here",
        "begun": 1785579300.5,
        "doing": "writing",
    }
    for other in (
        {},
        {**left, "failed": True},
        {**left, "what": "chunk of a backfill"},
        {"run_id": "of an older freshet"},
        {**left, "pipeline": ""},
    ):
        remember_killed(table, other)
    assert read(table) == []
    remember_killed(table, left)
    (found,) = read_records(table, "copy", 9, failed=True)[0]
    assert (found["outcome"], found["begun"]) == ("killed", "20260801101500500")
    assert "pid 7 on here" in found["reason"]
    assert "writing" in found["reason"]


def test_two_writers_at_once_lose_nothing_but_a_count(table: TableRef) -> None:
    threads = [threading.Thread(target=write, args=(table, n, "committed")) for n in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read(table)) == 20


def test_an_object_store_holds_records_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pyarrow's file systems, within the process as for S3, and in a process of its own as for the others."""
    place = f"file://{tmp_path}"
    stores: tuple[storage.Storage, ...] = (storage.ArrowStorage(place), remote.ProcessStorage(place))
    monkeypatch.setattr(records, "is_local", lambda path: False)
    monkeypatch.setattr(record_files, "local_path", lambda path: path)
    monkeypatch.setattr(records, "_PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(records, "KEPT", 2)
    for number, store in enumerate(stores):
        monkeypatch.setattr(records, "storage_for", lambda path, store=store: store)
        table = TableRef("derived.copy", f"{place}/derived{number}/copy")
        for begun, outcome in ((1, "committed"), (2, "idle"), (3, "idle"), (4, "committed"), (5, "committed")):
            write(table, begun, outcome)
        assert read(table) == [(5, "committed", 1), (4, "committed", 1)]
        (folder,) = (tmp_path / f"derived{number}" / ".freshet").glob("*.runs")
        assert folder.name == "copy.runs"
        assert all(json.loads(file.read_bytes()) for file in (folder / "copy").iterdir())
    assert isinstance(stores[1], remote.ProcessStorage)
    stores[1].end()


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": [1]},
        {"seconds": {"total": "x"}},
        {"seconds": {"total": float("inf")}},
        {"checks": {"a": 1}},
        {"checks": [1, "x"]},
        {"error": "words"},
        {"error": {"code": 1}},
        {"commits": None},
        {"rows": {"inserts": "many"}},
        {"reason": 3},
        {"version": 2},
    ],
)
def test_a_record_that_holds_anything_else_is_left_out_and_named(table: TableRef, wrong: dict[str, object]) -> None:
    """Kind: whatever a file of such a name holds, or that it is none."""
    write(table, 1)
    folder = Path(folder_of(table, "copy"))
    (good,) = folder.iterdir()
    other = folder / f"20260801000000009-00000000{good.name[good.name.index('.') :]}"
    other.write_text(json.dumps({**json.loads(good.read_text()), **wrong}))
    nested = folder / "20260801000000008-00000000.done.json"
    nested.write_text("[" * 100_000)
    (folder / "20260801000000007-00000000.done.json").mkdir()
    found, unreadable = read_records(table, "copy", 9)
    assert (len(found), unreadable) == (1, [other.name, nested.name, "20260801000000007-00000000.done.json"])


def test_a_run_that_was_stopped_is_told_once(table: TableRef) -> None:
    """By the process that ends where it stands; the next run finds its lease as a killed one's, and does not tell it again."""
    block = remembered(table, "copy", "full refresh")
    block.__enter__()
    left = {"begun": time.time(), "pipeline": "copy", "what": "run", "pid": 1, "host": "h"}
    tell_stopped("the keyboard")
    remember_killed(table, left)
    (found,) = read_records(table, "copy", 9)[0]
    assert (found["what"], found["outcome"], found["error"]["message"]) == ("full refresh", "failed", "stopped by the keyboard")
    remember_killed(table, {**left, "begun": time.time() + 60})
    assert [one["outcome"] for one in read_records(table, "copy", 9)[0]] == ["killed", "failed"]
    block.__exit__(None, None, None)

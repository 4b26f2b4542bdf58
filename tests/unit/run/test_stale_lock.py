"""Hudi's lock is removed where its owner is a writer of this machine that is gone, and never by its age.

Of the kind: whoever else may hold the lock. The members: a run, a backfill or a service of freshet, killed or failed; their
JVM that outlives them; another tool or another machine, with a heartbeat and without one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from freshet.lease import local as lease
from freshet.lease import others, stale_lock
from freshet.lease.local import Lease, backfill_lease, hold_lease, service_lease
from freshet.lease.stale_lock import clear_stale_lock
from freshet.project.model.pipeline import TableRef
from tests.unit.run.test_lease import Told, another_process, beside

LEASES: dict[str, Callable[[TableRef], TableRef]] = {
    "run": lambda table: table,
    "backfill": backfill_lease,
    "service": service_lease,
}


@pytest.fixture(autouse=True)
def waiting_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_lock, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(lease, "ORPHAN_SECONDS", 0.05)
    monkeypatch.setattr(others, "ORPHAN_SECONDS", 0.05)


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    return TableRef("derived.earnings", str(tmp_path / "earnings"))


def a_file(table: TableRef, name: str, seconds_old: float = 0) -> Path:
    file = Path(table.path) / ".hoodie" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (time.time() - seconds_old,) * 2)
    return file


def killed(ref: TableRef, seconds_ago: float) -> None:
    """Leave a lease behind as a holder that was killed does: nobody has it, and it is still signed."""
    with hold_lease(ref, "run-1", 0, [].append):
        pass
    path = Path(ref.path)
    file = path.parent / ".freshet" / f"{path.name}.lease"
    file.write_text(json.dumps({"run_id": "run-1", "pid": 1, "host": "h", "since": "", "begun": time.time() - seconds_ago}))


def cleared(table: TableRef, told: list[str] | None = None) -> bool:
    with hold_lease(table, "run-2", 0, [].append) as held:
        return clear_stale_lock(table, held, [].append if told is None else told.append)


@pytest.mark.parametrize("age", [0, 61, 3600, 86400])
def test_a_lock_that_no_killed_writer_of_this_machine_left_is_not_freshets_to_remove(table: TableRef, age: float) -> None:
    """Another machine's or another tool's, however old, with and without a heartbeat."""
    assert not cleared(table)
    lock = a_file(table, "lock", age)
    assert not cleared(table)
    a_file(table, ".heartbeat/20260801101500000")
    assert not cleared(table)
    # Nor one that was made before the killed one began.
    killed(table, age - 10)
    assert not cleared(table)
    assert lock.exists()


@pytest.mark.parametrize("who", LEASES)
def test_a_lock_that_a_killed_writer_left_is_removed_at_once(table: TableRef, who: str) -> None:
    killed(LEASES[who](table), 10)
    lock, told = a_file(table, "lock", 5), list[str]()
    a_file(table, ".heartbeat/20260801101500000", 121)
    assert cleared(table, told)
    assert (lock.exists(), told) == (False, [])


def test_a_lock_that_a_failed_writer_left_is_removed_and_a_later_one_is_not(table: TableRef) -> None:
    """Python lives, and its JVM ended within the commit; what is locked after that is somebody else's."""
    with suppress(ZeroDivisionError), hold_lease(backfill_lease(table), "run-1", 0, [].append):
        a_file(table, "lock")
        raise ZeroDivisionError
    assert cleared(table)
    later = a_file(table, "lock", -60)
    assert not cleared(table)
    assert later.exists()


def test_when_a_killed_writer_was_first_missed_is_kept(table: TableRef) -> None:
    killed(backfill_lease(table), 86400)
    assert not cleared(table)
    time.sleep(0.01)
    lock = a_file(table, "lock", -60)
    assert not cleared(table)
    assert lock.exists()


def test_a_writer_that_ended_well_left_nothing(table: TableRef) -> None:
    with hold_lease(table, "run-1", 0, [].append):
        lock = a_file(table, "lock")
    assert not cleared(table)
    assert lock.exists()


def test_a_heartbeat_that_goes_on_keeps_the_lock(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_lock, "_HEARTBEAT_SECONDS", 0.3)
    monkeypatch.setattr(stale_lock, "_SLACK_SECONDS", 0.1)
    killed(table, 10)
    lock, told = a_file(table, "lock", 5), list[str]()
    # It is of the year to come, which never grows old.
    a_file(table, ".heartbeat/20260801101500000", -86400)
    assert not cleared(table, told)
    assert (lock.exists(), len(told)) == (True, 1)


def test_the_killed_writers_own_last_heartbeat_is_waited_for(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_lock, "_HEARTBEAT_SECONDS", 0.3)
    killed(table, 10)
    lock, told = a_file(table, "lock", 5), list[str]()
    a_file(table, ".heartbeat/20260801101500000")
    assert cleared(table, told)
    assert (lock.exists(), len(told)) == (False, 1)


def test_a_lock_that_another_writer_of_this_machine_may_hold_is_left_and_not_waited_for(table: TableRef) -> None:
    killed(table, 3600)
    lock = a_file(table, "lock", 61)
    held = Lease(beside(table, "writer"), {"begun": time.time() - 3600})
    for other in (backfill_lease(table), service_lease(table)):
        with hold_lease(table, "run-2", 0, [].append), hold_lease(other, "run-3", 0, [].append):
            assert not clear_stale_lock(table, held)
    for ending in ("writer", "backfill.writer", "service.writer"):
        with another_process("lockf", beside(table, ending)):
            assert not clear_stale_lock(table, held), ending
    assert lock.exists()


def test_the_jvm_of_a_writer_that_was_ended_this_moment_is_waited_for(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a command that is ended by the keyboard and repeated at once; the repeat must not wait for Hudi's own expiry."""
    monkeypatch.setattr(others, "ORPHAN_SECONDS", 60.0)
    killed(backfill_lease(table), 10)
    lock = a_file(table, "lock", 5)
    with another_process("lockf", beside(table, "backfill.writer")) as process:
        told = Told(process.kill)
        assert cleared(table, told)
    assert (lock.exists(), len(told)) == (False, 1)

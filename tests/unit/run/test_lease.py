"""One writer per target, and nothing left behind by one that was killed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from freshet.errors import Exit, FreshetError, RetryableError, StateError
from freshet.lease import local as lease
from freshet.lease.local import hold_lease, holder_of, is_running
from freshet.project.model.pipeline import TableRef

# flock and lockf as another process takes them, without the time that importing freshet would cost.
HOLD = """
import fcntl, os, sys
file = open(sys.argv[2], "a+")
getattr(fcntl, sys.argv[1])(file, fcntl.LOCK_EX)
if sys.argv[1] == "flock":
    file.truncate(0)
    file.write('{"run_id": "run-7", "pid": %d, "host": "worker-3", "since": "2026-08-01T10:15:00+0000"}' % os.getpid())
    file.flush()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def polling_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_POLL_SECONDS", 0.01)


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    (tmp_path / ".freshet").mkdir()
    return TableRef("derived.earnings", str(tmp_path / "earnings"))


def beside(table: TableRef, ending: str) -> Path:
    path = Path(table.path)
    return path.parent / ".freshet" / f"{path.name}.{ending}"


@contextmanager
def another_process(how: str, file: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-S", "-c", HOLD, how, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


class Told(list[str]):
    """What a waiting writer says; with its first words something happens, so that nothing depends on the moment."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = then

    def append(self, words: str) -> None:
        super().append(words)
        if len(self) == 1:
            self._then()


def take(table: TableRef, wait_seconds: float = 0.0, words: list[str] | None = None) -> None:
    with hold_lease(table, "run-9", wait_seconds, [].append if words is None else words.append):
        pass


def test_a_second_holder_ends_at_once_and_is_told_who_holds_it(table: TableRef) -> None:
    with hold_lease(table, "run-1", 0.0, pytest.fail), pytest.raises(RetryableError) as refused:
        take(table)
    error = refused.value
    assert (error.code, error.exit_code, error.retryable) == ("ALREADY_RUNNING", Exit.RETRY, True)
    assert f"run run-1 (pid {os.getpid()}" in error.message
    assert "--wait 600" in error.next_step


def test_another_process_holds_it(table: TableRef) -> None:
    with another_process("flock", beside(table, "lease")) as process, pytest.raises(RetryableError) as refused:
        take(table)
    assert f"run run-7 (pid {process.pid} on worker-3, since 2026-08-01T10:15:00+0000)" in refused.value.message


def test_a_holder_that_has_not_signed_yet(table: TableRef) -> None:
    with hold_lease(table, "run-1", 0.0, pytest.fail):
        beside(table, "lease").write_text("")
        with pytest.raises(RetryableError) as refused:
            take(table)
    assert "another run" in refused.value.message


def test_other_targets_are_free(table: TableRef) -> None:
    with hold_lease(table, "run-1", 0.0, pytest.fail):
        take(TableRef("derived.tips", table.path + "_too"))


def test_waits_says_so_once_and_then_gets_it(table: TableRef) -> None:
    held = hold_lease(table, "run-1", 0.0, pytest.fail)
    held.__enter__()
    words = Told(lambda: held.__exit__(None, None, None))
    take(table, wait_seconds=60.0, words=words)
    assert len(words) == 1
    assert "run-1" in words[0]


def test_the_wait_ends(table: TableRef) -> None:
    start = time.monotonic()
    with hold_lease(table, "run-1", 0.0, pytest.fail), pytest.raises(RetryableError):
        take(table, wait_seconds=0.1)
    assert time.monotonic() - start >= 0.1


def test_is_free_again_after_the_run_and_after_a_failed_run(table: TableRef) -> None:
    take(table)
    with pytest.raises(ZeroDivisionError), hold_lease(table, "run-1", 0.0, pytest.fail):
        raise ZeroDivisionError
    take(table)


def test_a_killed_run_leaves_nothing_behind(table: TableRef) -> None:
    with another_process("flock", beside(table, "lease")) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        words: list[str] = []
        take(table, words=words)
    assert not words


def test_the_jvm_of_a_killed_run_is_waited_for_though_no_wait_was_asked(table: TableRef) -> None:
    with another_process("lockf", beside(table, "writer")) as process:
        words = Told(process.kill)
        take(table, wait_seconds=0.0, words=words)
    assert len(words) == 1
    assert "the JVM of a run that was killed" in words[0]


def test_a_jvm_that_does_not_end_is_named(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "ORPHAN_SECONDS", 0.05)
    with another_process("lockf", beside(table, "writer")), pytest.raises(RetryableError) as refused:
        take(table)
    assert refused.value.code == "ALREADY_RUNNING"
    assert "the JVM of a run that was killed" in refused.value.message
    take(table)


def test_the_writers_lock_file_is_beside_the_table_and_not_in_it(table: TableRef) -> None:
    with hold_lease(table, "run-1", 0.0, pytest.fail) as held:
        assert held.writer_file == beside(table, "writer")
    assert not Path(table.path).exists()


def test_a_remote_table_is_leased_in_the_machines_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path))
    remote = TableRef("derived.earnings", "s3a://lake/derived/earnings")
    with hold_lease(remote, "run-1", 0.0, pytest.fail) as held:
        assert tmp_path in held.writer_file.parents
        with pytest.raises(RetryableError):
            take(remote)
        take(TableRef("derived.tips", "s3a://lake/derived/tips"))


@pytest.fixture
def may_only_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody open a file for writing, as root may whatever its rights are."""

    def guarded(file: Path, mode: str = "r", **more: str) -> IO[str]:
        if mode != "r":
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return open(file, mode, **more)

    monkeypatch.setattr(lease, "open", guarded, raising=False)


def test_who_may_only_read_is_told_whether_a_run_goes_on(table: TableRef, request: pytest.FixtureRequest) -> None:
    with another_process("flock", beside(table, "lease")):
        request.getfixturevalue("may_only_read")
        assert is_running(table)
        found = holder_of(table)
        assert found is not None
        assert found["run_id"] == "run-7"
    assert not is_running(table)
    assert holder_of(table) is None


def test_who_may_not_even_read_is_told_so(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not known is not guessed: a backfill would write beside a run."""

    def refused(*_: object, **__: object) -> IO[str]:
        raise PermissionError(errno.EACCES, "Permission denied")

    beside(table, "lease").touch()
    monkeypatch.setattr(lease, "open", refused, raising=False)
    for ask in (is_running, holder_of):
        with pytest.raises(StateError) as said:
            ask(table)
        assert said.value.code == "STORAGE_REFUSED"


def test_a_writers_file_of_another_user(table: TableRef, monkeypatch: pytest.MonkeyPatch) -> None:
    """As its JVM made it: the lease is free, and the table is not written; nor is a run remembered that never was."""

    def guarded(file: Path, mode: str = "r", **more: str) -> IO[str]:
        if str(file).endswith(".writer"):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return open(file, mode, **more)

    monkeypatch.setattr(lease, "open", guarded, raising=False)
    with pytest.raises(StateError) as said:
        take(table)
    assert said.value.code == "NOT_WRITABLE"
    assert beside(table, "lease").read_text() == ""


@pytest.mark.parametrize("place", ["/dev/null/x/derived/copy", "/proc/nowhere/copy", "/sys/fs/nowhere/copy"])
def test_a_place_that_cannot_be_written_is_named(place: str) -> None:
    """A file in place of a folder, and file systems that refuse everybody; Spark is not started for it."""
    with pytest.raises(StateError) as refused, hold_lease(TableRef("derived.copy", place), "run-1", 0, print):
        pytest.fail("it was written")
    assert (refused.value.code, refused.value.retryable, refused.value.details["table"]) == ("NOT_WRITABLE", False, place)


@pytest.mark.parametrize(
    ("number", "code", "retryable"),
    [
        (errno.ENOSPC, "STORAGE_FULL", False),
        (errno.EROFS, "NOT_WRITABLE", False),
        (errno.ESTALE, "STORAGE_UNREACHABLE", True),
    ],
)
def test_what_a_disk_says_meanwhile_is_told_apart(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    number: int,
    code: str,
    retryable: bool,
) -> None:
    def refused(file: object, text: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(lease, "sign", refused)
    with pytest.raises(FreshetError) as said, hold_lease(TableRef("derived.copy", str(tmp_path / "copy")), "run-1", 0, print):
        pytest.fail("it was written")
    assert (said.value.code, said.value.retryable) == (code, retryable)

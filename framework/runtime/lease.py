"""One writer per target: a lease that the kernel takes back when its holder dies, however it dies.

Two files stand beside the table. ``<table>.lease`` is locked by the run (flock: it also tells two runs of one process
apart). ``<table>.writer`` is locked by the run's JVM (fcntl, as Java does it): a JVM whose Python was killed may still
end a commit, so the next run waits for it before it reads the checkpoint. For a remote table both stand in the
machine's cache, and hold runs of this machine apart only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from framework.errors import RetryableError
from framework.runtime.jars import jar_dir
from framework.spec.model import TableRef
from framework.state.storage import is_local, local_path

# A chunk of a backfill that must not run beside a run ends by itself; the run waits for it, whatever it was told.
_CHUNK_SECONDS = 1800.0
_CHUNK = "chunk of a backfill"
# A commit holds Hudi's lock for seconds.
_LOCK_SECONDS = 60.0
# A JVM whose Python is gone ends within seconds; no user chose to wait for it.
_ORPHAN_SECONDS = 60.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Lease:
    """A held lease.

    Args:
        writer_file: Lock file for the JVM that writes.
    """

    writer_file: Path


@contextmanager
def hold_lease(
    target: TableRef, run_id: str, wait_seconds: float, on_wait: Callable[[str], None], chunk: bool = False,
) -> Iterator[Lease]:
    """Hold the target's lease.

    Args:
        target: The table to write.
        run_id: Shown to whoever finds the lease taken.
        wait_seconds: How long to wait for another run; 0 ends at once.
        on_wait: Told once, in words, when there is something to wait for.
        chunk: True for a chunk of a backfill that must not run beside a run: a run waits for it.

    Yields:
        The lease.

    Raises:
        RetryableError: ALREADY_RUNNING.
    """
    stem = _stem(target)
    stem.parent.mkdir(parents=True, exist_ok=True)
    writer = stem.with_name(stem.name + ".writer")
    with open(stem.with_name(stem.name + ".lease"), "a+", encoding="utf-8") as file:
        _wait(lambda: _try_flock(file), lambda: _CHUNK_SECONDS if _CHUNK in _holder(file) else wait_seconds, on_wait,
              lambda: _already_running(target, _holder(file), wait_seconds))
        file.seek(0)
        file.truncate()
        file.write(json.dumps({"run_id": run_id, "what": _CHUNK if chunk else "run", "pid": os.getpid(),
                               "host": socket.gethostname(), "since": time.strftime("%Y-%m-%dT%H:%M:%S%z")}))
        file.flush()
        _wait(lambda: _is_free(writer), lambda: max(wait_seconds, _ORPHAN_SECONDS), on_wait,
              lambda: _already_running(target, "the JVM of a run that was killed", wait_seconds))
        yield Lease(writer)


def is_running(target: TableRef) -> bool:
    """Say whether somebody holds the target's lease now; asks without taking it for longer than the question."""
    file = _stem(target).with_name(_stem(target).name + ".lease")
    if not file.exists():
        return False
    with open(file, "a+", encoding="utf-8") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def backfill_lease(target: TableRef) -> TableRef:
    """Return what a backfill of the target holds a lease on: not the target itself, whose runs go on."""
    return TableRef(f"{target.name} (backfill)", f"{target.path}.backfill")


def service_lease(target: TableRef) -> TableRef:
    """Return what the table services of the target hold a lease on, beside its runs and backfills."""
    return TableRef(f"{target.name} (services)", f"{target.path}.service")


def clear_stale_lock(target: TableRef, on_wait: Callable[[str], None] = lambda words: None) -> bool:
    """Remove the file of Hudi's lock that a killed writer left behind; says whether there was one.

    To be called by whoever holds one of the target's leases: where the others are free, nobody who writes by freshet on
    this machine can hold the lock, and one who takes it now finds the old file first. Hudi itself would wait for minutes.

    Args:
        target: The table; only a local one is looked at.
        on_wait: Told once, in words, while the file is too young to tell it from that of another tool's commit.
    """
    if not is_local(target.path):
        return False
    lock = Path(local_path(target.path)) / ".hoodie" / "lock"
    told = False
    while (age := _age_of(lock)) is not None and not _held_by_others(target):
        if age > _LOCK_SECONDS:
            lock.unlink(missing_ok=True)
            return True
        if not told:
            on_wait(f"{target.name} is locked by another tool, or a writer that died: waiting {_LOCK_SECONDS - age:.0f} s")
            told = True
        time.sleep(_POLL_SECONDS)
    return False


def _age_of(lock: Path) -> float | None:
    try:
        return time.time() - lock.stat().st_mtime
    except OSError:
        return None


def _held_by_others(target: TableRef) -> bool:
    writers = [stem.with_name(stem.name + ".writer") for stem in (_stem(target), _stem(backfill_lease(target)))]
    held = [one for one in (target, backfill_lease(target), service_lease(target)) if is_running(one)]
    return len(held) > 1 or not all(_is_free(file) for file in writers if file.exists())


def _stem(target: TableRef) -> Path:
    if is_local(target.path):
        path = Path(local_path(target.path))
        return path.parent / ".freshet" / path.name
    return jar_dir().parent / "leases" / hashlib.sha256(target.path.encode()).hexdigest()[:32]


def _wait(
    taken: Callable[[], bool], seconds: Callable[[], float], on_wait: Callable[[str], None],
    failure: Callable[[], RetryableError],
) -> None:
    begin, told = time.monotonic(), False
    while not taken():
        if time.monotonic() >= begin + seconds():
            raise failure()
        if not told:
            on_wait(failure().message)
            told = True
        time.sleep(_POLL_SECONDS)


def _try_flock(file: IO[str]) -> bool:
    # More than once: who only asks whether a run goes on holds the lock for the moment of the question.
    for pause in (0.01, 0.02, 0.04, 0):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(pause)
    return False


def _is_free(path: Path) -> bool:
    with open(path, "a", encoding="utf-8") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def _holder(file: IO[str]) -> str:
    file.seek(0)
    try:
        holder = json.loads(file.read())
    except ValueError:
        return "another run"
    return f"{holder.get('what', 'run')} {holder['run_id']} (pid {holder['pid']} on {holder['host']}, since {holder['since']})"


def _already_running(target: TableRef, holder: str, wait_seconds: float) -> RetryableError:
    return RetryableError(
        "ALREADY_RUNNING", f"{target.name} is being written by {holder}.", "Nothing was read or written.",
        f"Wait for it, or set a longer wait than {wait_seconds:g} s: --set lease.wait_seconds=600", target=target.path,
    )

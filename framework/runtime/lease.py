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
    target: TableRef, run_id: str, wait_seconds: float, on_wait: Callable[[str], None],
) -> Iterator[Lease]:
    """Hold the target's lease.

    Args:
        target: The table to write.
        run_id: Shown to whoever finds the lease taken.
        wait_seconds: How long to wait for another run; 0 ends at once.
        on_wait: Told once, in words, when there is something to wait for.

    Yields:
        The lease.

    Raises:
        RetryableError: ALREADY_RUNNING.
    """
    stem = _stem(target)
    stem.parent.mkdir(parents=True, exist_ok=True)
    writer = stem.with_name(stem.name + ".writer")
    with open(stem.with_name(stem.name + ".lease"), "a+", encoding="utf-8") as file:
        _wait(lambda: _try_flock(file), wait_seconds, on_wait, lambda: _already_running(target, _holder(file), wait_seconds))
        file.seek(0)
        file.truncate()
        file.write(json.dumps({"run_id": run_id, "pid": os.getpid(), "host": socket.gethostname(),
                               "since": time.strftime("%Y-%m-%dT%H:%M:%S%z")}))
        file.flush()
        _wait(lambda: _is_free(writer), max(wait_seconds, _ORPHAN_SECONDS), on_wait,
              lambda: _already_running(target, "the JVM of a run that was killed", wait_seconds))
        yield Lease(writer)


def _stem(target: TableRef) -> Path:
    if is_local(target.path):
        path = Path(local_path(target.path))
        return path.parent / ".freshet" / path.name
    return jar_dir().parent / "leases" / hashlib.sha256(target.path.encode()).hexdigest()[:32]


def _wait(
    taken: Callable[[], bool], seconds: float, on_wait: Callable[[str], None], failure: Callable[[], RetryableError],
) -> None:
    deadline, told = time.monotonic() + seconds, False
    while not taken():
        if time.monotonic() >= deadline:
            raise failure()
        if not told:
            on_wait(failure().message)
            told = True
        time.sleep(_POLL_SECONDS)


def _try_flock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
    return f"run {holder['run_id']} (pid {holder['pid']} on {holder['host']}, since {holder['since']})"


def _already_running(target: TableRef, holder: str, wait_seconds: float) -> RetryableError:
    return RetryableError(
        "ALREADY_RUNNING", f"{target.name} is being written by {holder}.", "Nothing was read or written.",
        f"Wait for it, or set a longer wait than {wait_seconds:g} s: --set lease.wait_seconds=600", target=target.path,
    )

"""One writer per target: a lease that the kernel takes back when its holder dies, however it dies.

Two files stand beside the table. ``<table>.lease`` is locked by the run (flock: it also tells two runs of one process apart).
``<table>.writer`` is locked by the run's JVM (fcntl, as Java does it): a JVM whose Python was killed may still end a commit,
so the next run waits for it before it reads the checkpoint. Of a remote table each machine has its own: see ``lease.stored``.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from freshet.errors import RetryableError
from freshet.jvm.jars import jar_dir
from freshet.lease.held import Lease
from freshet.lease.text import holder_in, record_in, sign
from freshet.project.model.pipeline import TableRef
from freshet.secrets import redact_tree
from freshet.storage.failures import failure_of, not_writable
from freshet.storage.files import is_local, local_path

# A chunk of a backfill that must not run beside a run ends by itself; the run waits for it, whatever it was told.
CHUNK, CHUNK_SECONDS = "chunk of a backfill", 1800.0
# A JVM whose Python is gone ends within seconds; no user chose to wait for it.
ORPHAN_SECONDS = 60.0
_POLL_SECONDS = 0.1


@contextmanager
def hold_lease(
    target: TableRef,
    run_id: str,
    wait_seconds: float,
    on_wait: Callable[[str], None],
    chunk: bool = False,
    what: str = "run",
    pipeline: str = "",
) -> Iterator[Lease]:
    """Hold the target's lease, and yield it.

    Args:
        target: The table to write.
        run_id: Shown to whoever finds the lease taken.
        wait_seconds: How long to wait for another run; 0 ends at once.
        on_wait: Told once, in words, when there is something to wait for.
        chunk: True for a chunk of a backfill that must not run beside a run: a run waits for it.
        what, pipeline: What the holder does otherwise, in words, and whose run it is.

    Raises:
        RetryableError: ALREADY_RUNNING.
        StateError: NOT_WRITABLE or STORAGE_FULL.
    """
    stem = stem_of(target)
    writer = stem.with_name(stem.name + ".writer")
    with _opened(target, stem) as file:
        _wait(
            lambda: try_flock(file),
            lambda: CHUNK_SECONDS if CHUNK in holder_in(file) else wait_seconds,
            on_wait,
            lambda: already_running(target, holder_in(file), wait_seconds),
        )
        left = record_in(file)
        mine = {
            "run_id": run_id,
            "what": CHUNK if chunk else what,
            "pipeline": pipeline,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "begun": time.time(),
        }
        try:
            # Another user's JVM may have made it.
            open(writer, "a", encoding="utf-8").close()
            sign(file, json.dumps(mine))
        except OSError as error:
            raise not_writable(target, error) from error
        try:
            _wait(
                lambda: is_free(writer),
                lambda: max(wait_seconds, ORPHAN_SECONDS),
                on_wait,
                lambda: already_running(target, "the JVM of a run that was killed", wait_seconds),
            )
            yield Lease(writer, left, lambda told: sign(file, json.dumps({**mine, **redact_tree(told)})))
        except BaseException:
            # Its JVM may be gone without having given Hudi's lock back: see ``stale_lock``.
            sign(file, json.dumps({**mine, "ended": time.time(), "failed": True}))
            raise
        sign(file, "")


def _opened(target: TableRef, stem: Path) -> IO[str]:
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        return open(stem.with_name(stem.name + ".lease"), "a+", encoding="utf-8")
    except OSError as error:
        raise not_writable(target, error) from error


def is_running(target: TableRef) -> bool:
    """Say whether somebody holds the target's lease now; asks without taking it for longer than the question."""
    try:
        # Who may only look at the table may ask, too.
        with open(stem_of(target).with_name(stem_of(target).name + ".lease"), encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        raise failure_of(target, error) from error
    return False


def holder_of(target: TableRef) -> Mapping[str, Any] | None:
    """Return what the holder of the target's lease has written of itself; None where nobody holds it.

    Its ``what`` is in words, as ``doing`` is; ``begun`` is in seconds since 1970.
    """
    if not is_running(target):
        return None
    with open(stem_of(target).with_name(stem_of(target).name + ".lease"), encoding="utf-8") as file:
        # It may be about to write what it does.
        for pause in (0.01, 0.02, 0):
            found = record_in(file)
            if found:
                break
            time.sleep(pause)
    return found


class LocalLeases:
    """The leases of this machine."""

    hold = staticmethod(hold_lease)
    holder = staticmethod(holder_of)
    is_held = staticmethod(is_running)


def backfill_lease(target: TableRef) -> TableRef:
    """Return what a backfill of the target holds a lease on: not the target itself, whose runs go on."""
    return TableRef(f"{target.name} (backfill)", f"{target.path}.backfill")


def service_lease(target: TableRef) -> TableRef:
    """Return what the table services of the target hold a lease on, beside its runs and backfills."""
    return TableRef(f"{target.name} (services)", f"{target.path}.service")


def stem_of(target: TableRef) -> Path:
    """Return the path, without an ending, of what this machine keeps beside a table."""
    if is_local(target.path):
        path = Path(local_path(target.path))
        return path.parent / ".freshet" / path.name
    return jar_dir().parent / "leases" / hashlib.sha256(target.path.encode()).hexdigest()[:32]


def _wait(
    taken: Callable[[], bool],
    seconds: Callable[[], float],
    on_wait: Callable[[str], None],
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


def try_flock(file: IO[str]) -> bool:
    """Take the lock of an open lease, where nobody has it; says whether it was taken."""
    # More than once: who only asks whether a run goes on holds the lock for the moment of the question.
    for pause in (0.01, 0.02, 0.04, 0):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(pause)
    return False


def is_free(path: Path) -> bool:
    """Say whether no JVM holds a lock file."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def already_running(target: TableRef, holder: str, wait_seconds: float) -> RetryableError:
    """Return the error of a lease that somebody holds."""
    return RetryableError(
        "ALREADY_RUNNING",
        f"{target.name} is being written by {holder}.",
        "Nothing was read or written.",
        f"Wait for it: the same command with --wait 600 waits so many seconds, and not {wait_seconds:g}.",
        target=target.path,
    )

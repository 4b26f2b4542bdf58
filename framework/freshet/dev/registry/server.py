"""Start and stop the stub of a schema registry as a process of its own; its port and its schemas stay from start to start."""

from __future__ import annotations

import fcntl
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from freshet.cache import cache_dir
from freshet.dev.process import Ended, end_process, start_mark
from freshet.dev.registry.stub import HOST, SCHEMAS
from freshet.errors import FreshetError, RetryableError

_STATE, _LOG, _LOCK = "registry.json", "registry.log", "registry.lock"
_OURS = (_STATE, _LOG, _LOCK, SCHEMAS)
_POLL_SECONDS = 0.05
# Below the ports that outgoing connections are given (Linux from 32768, macOS from 49152), so that none of them takes a
# port between two starts.
_PORTS = range(20_000, 32_000)


@dataclass(frozen=True, kw_only=True)
class Process:
    """A stub's process.

    Args:
        port: Its port, kept from the first start on.
        pid: Id of its last process; 0 where there was none.
        mark: That process's ``start_mark``.
    """

    port: int
    pid: int = 0
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A stub as it is found.

    Args:
        state: ``up`` where it answers, ``starting`` where its process runs and does not, else ``down``.
        directory: Where its schemas, port and log are.
        port: Its port; 0 before the first start.
        pid: Its process; 0 where none runs.
    """

    state: str
    directory: Path
    port: int
    pid: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON-serialisable mapping."""
        url = self.url if self.port else None
        return {"state": self.state, "directory": str(self.directory), "port": self.port, "pid": self.pid, "url": url}


def look(directory: Path | None = None) -> Found:
    """Return whether a stub is up, and where.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.

    Raises:
        FreshetError: DEV_REGISTRY_STATE.
    """
    place = _place(directory)
    kept = _read(place)
    if kept is None or not _runs(kept):
        return Found(state="down", directory=place, port=kept.port if kept else 0, pid=0)
    return Found(state="up" if _answers(kept.port) else "starting", directory=place, port=kept.port, pid=kept.pid)


def start(directory: Path | None = None, wait_seconds: float = 20.0) -> Found:
    """Start a stub and wait until it answers; one that is up is returned as it is.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.
        wait_seconds: How long it may take.

    Raises:
        RetryableError: DEV_REGISTRY_BUSY.
        FreshetError: DEV_REGISTRY_STATE, DEV_REGISTRY_DIRECTORY or DEV_REGISTRY_NOT_STARTED.
    """
    place = _place(directory)
    with _held(place):
        kept = _read(place)
        if kept is None or not _runs(kept):
            kept = _launch(place, Process(port=kept.port if kept else _free_port()))
        deadline = time.monotonic() + wait_seconds
        while not _answers(kept.port):
            if not _runs(kept) or time.monotonic() > deadline:
                end_process(kept.pid, kept.mark)
                raise _not_started(place, kept)
            time.sleep(_POLL_SECONDS)
    return look(directory)


def stop(directory: Path | None = None, purge: bool = False) -> tuple[Found, Ended]:
    """Stop a stub; its schemas stay unless they are to be deleted.

    Args:
        directory: Where its files lie; by default ``registry`` in the cache.
        purge: Delete its schemas, port and log too.

    Returns:
        What it was, and how it ended.

    Raises:
        RetryableError: DEV_REGISTRY_BUSY.
        FreshetError: DEV_REGISTRY_STATE.
    """
    found = look(directory)
    if not found.port:
        return found, "gone"
    with _held(found.directory):
        kept = _read(found.directory)
        ended = end_process(kept.pid, kept.mark) if kept else "gone"
        if purge:
            for name in _OURS:
                (found.directory / name).unlink(missing_ok=True)
            if not any(found.directory.iterdir()):
                found.directory.rmdir()
    return found, ended


def _place(directory: Path | None) -> Path:
    return (directory or cache_dir() / "registry").absolute()


def _runs(kept: Process) -> bool:
    return kept.pid > 0 and start_mark(kept.pid) == kept.mark


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _free_port() -> int:
    for port in random.sample(_PORTS, 100):
        with socket.socket() as found, suppress(OSError):
            found.bind((HOST, port))
            return port
    raise FreshetError(
        "DEV_REGISTRY_NOT_STARTED",
        f"a hundred ports of {HOST} between {_PORTS.start} and {_PORTS.stop} are taken.",
        "Nothing was started.",
        "Look who listens on them: ss -ltnp",
    )


def _launch(place: Path, state: Process) -> Process:
    with open(place / _LOG, "wb") as log:
        # A session of its own: the keyboard's interrupt and the terminal's end are not for it.
        process = subprocess.Popen(
            [sys.executable, "-m", "freshet.dev.registry.stub", str(place), str(state.port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    started = replace(state, pid=process.pid, mark=start_mark(process.pid) or "")
    try:
        handle, name = tempfile.mkstemp(prefix=".registry-", dir=place)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(started), file)
        os.replace(name, place / _STATE)
    except BaseException:
        # Nobody would know of it.
        end_process(started.pid, started.mark)
        raise
    return started


def _read(place: Path) -> Process | None:
    try:
        return Process(**json.loads((place / _STATE).read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise FreshetError(
            "DEV_REGISTRY_STATE",
            f"{place / _STATE} cannot be read: {error}.",
            "Nothing was started or stopped.",
            f"End its process, if there is one, and remove the file; {SCHEMAS} can stay.",
        ) from error


@contextmanager
def _held(place: Path) -> Iterator[None]:
    try:
        place.mkdir(parents=True, exist_ok=True)
        strangers = [one.name for one in place.iterdir() if one.name not in _OURS and not one.name.startswith(".")]
        if strangers:
            raise OSError(f"it holds files that are not of a stub of freshet's, such as {strangers[0]}")
        lock = open(place / _LOCK, "a", encoding="utf-8")  # noqa: SIM115 - closed by the `with` below
    except OSError as error:
        raise FreshetError(
            "DEV_REGISTRY_DIRECTORY",
            f"{place} cannot be used: {error.strerror or error}.",
            "Nothing was started.",
            "Name another directory by --dir, or another cache by FRESHET_CACHE.",
        ) from error
    with lock:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RetryableError(
                "DEV_REGISTRY_BUSY",
                f"another command starts or stops the stub in {place}.",
                "Nothing was changed.",
                "Wait for it, and run the same command again.",
            ) from error
        yield


def _not_started(place: Path, kept: Process) -> FreshetError:
    said = (place / _LOG).read_text("utf-8", errors="replace").strip().splitlines()[-1:]
    return FreshetError(
        "DEV_REGISTRY_NOT_STARTED",
        f"the stub in {place} does not answer on port {kept.port}: {said[0][:300] if said else 'it says nothing'}",
        "Nothing runs; its schemas are as they were.",
        f"Where another program has its port: freshet dev registry down --purge --dir {place}, which deletes its schemas.",
    )

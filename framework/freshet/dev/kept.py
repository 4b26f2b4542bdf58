"""The directory of a server that freshet starts: its state, its log, its lock; the same for each kind of server."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from freshet.cache import cache_dir
from freshet.errors import FreshetError, RetryableError

_VERSION = 1
_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Server:
    """One kind of server.

    Args:
        name: Its name, for messages.
        short: Its name in the command and in the names of its files.
        busy, unusable, unreadable: Codes: another command starts or stops it; its directory cannot be used; its state cannot
            be read.
        not_started, port_taken, running: And: it did not start; another program has its port; it runs otherwise.
    """

    name: str
    short: str
    busy: str
    unusable: str
    unreadable: str
    not_started: str
    port_taken: str
    running: str = ""


@dataclass(frozen=True)
class Place:
    """The files of one server; a kind of server names itself.

    Args:
        directory: Absolute path of the directory that holds them.
    """

    server: ClassVar[Server]

    directory: Path

    @property
    def state(self) -> Path:
        """The state file; where it stands, the directory is freshet's."""
        return self.directory / f"{self.server.short}.json"

    @property
    def log(self) -> Path:
        """What the last process said; what it said before is at most one more file, with a number."""
        return self.directory / f"{self.server.short}.log"

    @property
    def logs(self) -> list[Path]:
        """The log and what was said before, as far as they are there."""
        return sorted(self.directory.glob(f"{self.log.name}*"))

    @property
    def conf(self) -> Path:
        """The directory of its settings."""
        return self.directory / "conf"

    @property
    def data(self) -> Path:
        """What it keeps."""
        return self.directory / "data"

    @property
    def lock(self) -> Path:
        """Locked by whoever starts or stops it."""
        return self.directory / f"{self.server.short}.lock"

    @property
    def temporary(self) -> str:
        """How names of files begin that are being written."""
        return f".{self.server.short}-"


def directory_of(server: Server, directory: Path | None) -> Path:
    """Return the absolute path of a directory, by default that of the kind of server in the cache."""
    return (directory or cache_dir() / server.short).expanduser().absolute()


def read_json(place: Place) -> dict[str, Any] | None:
    """Read a state's fields; None where there is none.

    Raises:
        FreshetError: That the state cannot be read.
    """
    try:
        content = json.loads(place.state.read_text(encoding="utf-8"))
        if content.pop("version") == _VERSION:
            return dict(content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise unreadable(place, str(error)) from error
    raise unreadable(place, "it is of another version of freshet")


def unreadable(place: Place, reason: str) -> FreshetError:
    """Return the error of a state that cannot be read."""
    return FreshetError(
        place.server.unreadable,
        f"{place.state} cannot be read: {reason}.",
        "Nothing was started or stopped.",
        f"End its process, if there is one, and remove the file; the data in {place.data} can stay.",
        file=str(place.state),
    )


def write_state(place: Place, state: Any) -> None:
    """Write the state, a dataclass, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=place.temporary, dir=place.directory)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"version": _VERSION, **asdict(state)}, file, indent=2)
    os.replace(name, place.state)


@contextmanager
def hold_directory(place: Place, wait_seconds: float, tell: Callable[[str], None]) -> Iterator[None]:
    """Make the directory where there is none, and hold it: one at a time starts, stops or deletes.

    Args:
        place: The directory.
        wait_seconds: How long to wait for another command.
        tell: Told once, in words, when there is something to wait for.

    Raises:
        RetryableError: That another command holds it.
        FreshetError: That it cannot be written, or holds what is not freshet's.
    """
    deadline, told = time.monotonic() + wait_seconds, False
    name = place.server.name
    while True:
        try:
            place.directory.mkdir(parents=True, exist_ok=True)
            file = open(place.lock, "a", encoding="utf-8")  # noqa: SIM115 - closed by the `with` below
        except FileNotFoundError:
            continue  # deleted in between, by --purge
        except OSError as error:
            raise _unusable(place, f"cannot be written: {error.strerror or error}") from error
        with file:
            if _try_flock(file.fileno()) and _is_still(place.lock, file.fileno()):
                if not place.state.exists() and _others(place):
                    place.lock.unlink()
                    raise _unusable(place, f"holds files that are not of {_a(name)} of freshet's")
                yield
                return
        if time.monotonic() >= deadline:
            raise RetryableError(
                place.server.busy,
                f"another command starts or stops the {name} in {place.directory}.",
                "Nothing was changed.",
                "Wait for it, and run the same command again.",
                directory=str(place.directory),
            )
        if not told:
            tell(f"another command starts or stops the {name} in {place.directory}: waiting for it")
            told = True
        time.sleep(_POLL_SECONDS)


def delete_files(place: Place) -> None:
    """Delete what freshet put into the directory, and the directory where nothing else is in it.

    To be called by whoever holds the directory.
    """
    for folder in (place.data, place.conf):
        if folder.exists():
            shutil.rmtree(folder)
    # The state goes last of what matters, so that a purge that was killed can be repeated.
    for file in (*place.logs, *place.directory.glob(f"{place.temporary}*"), place.state, place.lock):
        file.unlink(missing_ok=True)
    with suppress(OSError):
        place.directory.rmdir()


def end_of_log(place: Place, lines: int = 10) -> str:
    """Return the last lines of the log, each on a line of its own, for an error."""
    text = place.log.read_text(encoding="utf-8", errors="replace") if place.log.exists() else ""
    return "".join(f"\n  {line[:300]}" for line in text.splitlines()[-lines:]) or " nothing"


def _a(name: str) -> str:
    return f"an {name}" if name.startswith("H") else f"a {name}"


def _unusable(place: Place, why: str) -> FreshetError:
    return FreshetError(
        place.server.unusable,
        f"{place.directory} {why}.",
        "Nothing was started.",
        "Name another directory by --dir, or another cache by FRESHET_CACHE.",
        directory=str(place.directory),
    )


def _others(place: Place) -> list[Path]:
    # Not what a command left that was killed while it wrote the first state.
    return [path for path in place.directory.iterdir() if path != place.lock and not path.name.startswith(place.temporary)]


def _try_flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(path: Path, descriptor: int) -> bool:
    # Who waited for a purge holds the lock of a file that is no longer there.
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False

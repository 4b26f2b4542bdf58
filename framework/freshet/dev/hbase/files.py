"""The directory of an HBase that freshet starts: its state, its settings, its lock."""

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

from freshet.errors import FreshetError, RetryableError
from freshet.jvm.jars import jar_dir

ZNODE = "/hbase"
LOG = "hbase.log"
_VERSION = 1
_TEMPORARY = ".hbase-"
_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known of an HBase whether it runs or not.

    Args:
        port: ZooKeeper's port, kept from the first start on.
        region_servers: How many region servers it was last started with.
        pid: Id of its last process; 0 where there was none.
        mark: That process's ``start_mark``.
        launched_ms: Milliseconds since 1970 just before it was started.
        initialized: Whether that process was seen to be ready; its log says so once, and does not keep it.
    """

    port: int
    region_servers: int
    pid: int = 0
    mark: str = ""
    launched_ms: int = 0
    initialized: bool = False


@dataclass(frozen=True)
class Place:
    """The files of one HBase.

    Args:
        directory: Absolute path of the directory that holds them.
    """

    directory: Path

    @property
    def state(self) -> Path:
        """The state file; where it stands, the directory is freshet's."""
        return self.directory / "hbase.json"

    @property
    def log(self) -> Path:
        """What the last process said; what it said before is at most one more file, with a number."""
        return self.directory / LOG

    @property
    def logs(self) -> list[Path]:
        """The log and what was said before, as far as they are there."""
        return sorted(self.directory.glob(f"{LOG}*"))

    @property
    def conf(self) -> Path:
        """The directory of ``hbase-site.xml``, first on the class path."""
        return self.directory / "conf"

    @property
    def data(self) -> Path:
        """HBase's files and ZooKeeper's."""
        return self.directory / "data"

    @property
    def lock(self) -> Path:
        """Locked by whoever starts or stops this HBase."""
        return self.directory / "hbase.lock"


def default_directory() -> Path:
    """Return ``hbase`` in ``$FRESHET_CACHE``, by default in ``~/.cache/freshet``."""
    return jar_dir().parent / "hbase"


def read_state(place: Place) -> State | None:
    """Read the state; None where there is none.

    Raises:
        FreshetError: HBASE_STATE_UNREADABLE.
    """
    try:
        content = json.loads(place.state.read_text(encoding="utf-8"))
        if content.pop("version") == _VERSION:
            return State(**content)
        reason = "it is of another version of freshet"
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = str(error)
    raise FreshetError(
        "HBASE_STATE_UNREADABLE",
        f"{place.state} cannot be read: {reason}.",
        "Nothing was started or stopped.",
        f"End its process, if there is one, and remove the file; the data in {place.data} can stay.",
        file=str(place.state),
    )


def write_state(place: Place, state: State) -> None:
    """Write the state, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=place.directory)
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
        RetryableError: HBASE_BUSY.
        FreshetError: HBASE_DIRECTORY: it cannot be written, or holds what is not freshet's.
    """
    deadline, told = time.monotonic() + wait_seconds, False
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
                    raise _unusable(place, "holds files that are not of an HBase of freshet's")
                yield
                return
        if time.monotonic() >= deadline:
            raise RetryableError(
                "HBASE_BUSY",
                f"another command starts or stops the HBase in {place.directory}.",
                "Nothing was changed.",
                "Wait for it, and run the same command again.",
                directory=str(place.directory),
            )
        if not told:
            tell(f"another command starts or stops the HBase in {place.directory}: waiting for it")
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
    for file in (*place.logs, *place.directory.glob(f"{_TEMPORARY}*"), place.state, place.lock):
        file.unlink(missing_ok=True)
    with suppress(OSError):
        place.directory.rmdir()


def _unusable(place: Place, why: str) -> FreshetError:
    return FreshetError(
        "HBASE_DIRECTORY",
        f"{place.directory} {why}.",
        "Nothing was started.",
        "Name another directory by --dir, or another cache by FRESHET_CACHE.",
        directory=str(place.directory),
    )


def _others(place: Place) -> list[Path]:
    # Not what a command left that was killed while it wrote the first state.
    return [path for path in place.directory.iterdir() if path != place.lock and not path.name.startswith(_TEMPORARY)]


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

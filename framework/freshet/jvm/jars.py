"""Pinned jars: fetched once by the Ivy inside PySpark, checked by SHA-256, kept in a cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from freshet.cache import cache_dir
from freshet.errors import cut
from freshet.jvm.ivy import JarError, fetch_with_ivy

_VERIFIED_FILE = ".verified.json"
# In the folder of a fetch that is at work.
_LOCK = "lock"
_ABANDONED_SECONDS = 86_400
# Of what Ivy says; the names of the jars come first.
_MOST_WORDS = 300


@dataclass(frozen=True)
class Jar:
    """A pinned jar: its file name and the SHA-256 of its content in hex."""

    name: str
    sha256: str


@dataclass(frozen=True)
class JarSet:
    """Jars that are needed together: an Ivy file with exact versions, and their hashes as ``sha256sum`` writes them."""

    ivy: Path
    sums: Path


_HERE = Path(__file__).resolve().parent
# Apart: those of `freshet dev` must not get onto Spark's class path, those of a source only where a pipeline reads it.
SPARK_JARS = JarSet(_HERE / "ivy.xml", _HERE / "jars.sha256")
KAFKA_SOURCE_JARS = JarSet(_HERE / "ivy-kafka-source.xml", _HERE / "jars-kafka-source.sha256")
AVRO_JARS = JarSet(_HERE / "ivy-avro.xml", _HERE / "jars-avro.sha256")
HBASE_JARS = JarSet(_HERE / "ivy-hbase.xml", _HERE / "jars-hbase.sha256")
KAFKA_SERVER_JARS = JarSet(_HERE / "ivy-kafka.xml", _HERE / "jars-kafka.sha256")


@dataclass(frozen=True)
class Found:
    """What the cache holds of a pinned jar.

    Args:
        jar: The jar.
        path: Where it is kept.
        sha256: Of the file's content; empty where there is no file.
    """

    jar: Jar
    path: Path
    sha256: str

    @property
    def state(self) -> str:
        """``ok``, ``missing`` or ``altered``."""
        return "missing" if not self.sha256 else "ok" if self.sha256 == self.jar.sha256 else "altered"


Fetch = Callable[[Path], str]
"""Puts jars into the given empty directory and returns what it had to say about failures."""


def jar_dir() -> Path:
    """Return the directory of cached jars."""
    return cache_dir() / "jars"


def declared_jars(wanted: JarSet = SPARK_JARS) -> tuple[Jar, ...]:
    """Read the names and hashes of pinned jars, in the order of the file of hashes."""
    pairs = (line.split(maxsplit=1) for line in wanted.sums.read_text(encoding="utf-8").splitlines() if line.strip())
    return tuple(Jar(name.strip().lstrip("*"), sha256) for sha256, name in pairs)


def missing_jars(wanted: JarSet = SPARK_JARS) -> tuple[Jar, ...]:
    """Return the pinned jars that the cache lacks."""
    return tuple(jar for jar in declared_jars(wanted) if not (jar_dir() / jar.name).is_file())


def look_at_jars(wanted: JarSet = SPARK_JARS) -> tuple[Found, ...]:
    """Hash the pinned jars that the cache holds, whether that was done before or not."""
    paths = {jar: jar_dir() / jar.name for jar in declared_jars(wanted)}
    return tuple(Found(jar, path, _sha256(path) if path.is_file() else "") for jar, path in paths.items())


def resolve_jars(wanted: JarSet = SPARK_JARS, fetch: Fetch | None = None) -> tuple[Path, ...]:
    """Return the pinned jars' paths, after fetching what the cache lacks and checking all of them.

    A jar is hashed when it is first seen and whenever its size or times change, not on every call. Two processes may
    call this at once: each works in a directory of its own and moves finished, checked files into place.

    Args:
        wanted: The jars.
        fetch: How to download; by default Ivy with the set's Ivy file.

    Returns:
        Absolute paths, in the order of the file of hashes.

    Raises:
        JarError: ``JAR_MISSING`` when a jar could not be downloaded, ``JAR_ALTERED`` when a file's hash is another.
        JavaNotFound: A download is due and there is no Java to run Ivy.
    """
    jars, missing = declared_jars(wanted), missing_jars(wanted)
    directory = jar_dir()
    verified = _read_verified(directory)
    seen: dict[str, list[str | int]] = {}
    for jar in jars:
        path = directory / jar.name
        if jar in missing:
            continue
        mark = _mark(path, jar.sha256)
        if verified.get(jar.name) != mark:
            _check(path, jar, f"Remove it with 'rm {path}' and run the same command again.")
        seen[jar.name] = mark
    if missing:
        try:
            _download(missing, directory, fetch or partial(fetch_with_ivy, ivy=wanted.ivy, names=[jar.name for jar in missing]))
        except OSError as error:
            raise JarError(
                "JAR_MISSING",
                f"{missing[0].name} could not be put into {directory}: {error.strerror or error}.",
                "Nothing was started.",
                "Make room there or set FRESHET_CACHE to a directory you may write to, and run the same command again.",
                jar=missing[0].name,
                directory=str(directory),
            ) from error
        seen |= {jar.name: _mark(directory / jar.name, jar.sha256) for jar in missing}
    if not seen.items() <= verified.items():
        # With the other set's marks, whose jars lie beside these.
        _write_verified(directory, verified | seen)
    return tuple(directory / jar.name for jar in jars)


def _download(missing: tuple[Jar, ...], directory: Path, fetch: Fetch) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    _remove_left(directory)
    # Beside the jars, so that the last step is a rename within one file system, hence all or nothing.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as work, _at_work(Path(work)):
        into = Path(work) / "lib"
        into.mkdir()
        said = fetch(into)
        absent = [jar for jar in missing if not (into / jar.name).is_file()]
        if absent:
            names = ", ".join(jar.name for jar in absent)
            raise JarError(
                "JAR_MISSING",
                f"could not download {names}." + (f" Ivy says: {cut(said, _MOST_WORDS)}." if said else ""),
                "Nothing was started; the cache is unchanged.",
                "Check the network and run the same command again, or set FRESHET_IVY_SETTINGS to an Ivy settings file that "
                f"names a repository of yours, or bring these files into {directory} by hand, where freshet checks their "
                f"SHA-256 (freshet jars verify):\n{sums_of(missing)}",
                jar=absent[0].name,
                directory=str(directory),
                jars=[vars(jar) for jar in missing],
            )
        for jar in missing:
            _check(
                into / jar.name,
                jar,
                "Nothing was kept. Do not use that repository before you know why; FRESHET_IVY_SETTINGS names another one.",
            )
        for jar in missing:
            os.replace(into / jar.name, directory / jar.name)


@contextmanager
def _at_work(work: Path) -> Iterator[None]:
    with (work / "new").open("wb") as file:
        # The operating system takes it back from a process that dies. It gets its name when it is held, so that nobody finds it
        # free before; and none in a file system that has no locks.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
            os.rename(work / "new", work / _LOCK)
        yield


def _remove_left(directory: Path) -> None:
    """Remove what fetches left that were killed: those whose lock is free, and without one what is older than a day."""
    for path in (*directory.glob(".fetch-*"), *directory.glob(".verified-*")):
        with suppress(OSError):
            lock = path / _LOCK
            if not lock.is_file():
                is_left = time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
            else:
                with lock.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_left = True
            if is_left and path.is_dir():
                shutil.rmtree(path)
            elif is_left:
                path.unlink()


def sums_of(jars: Iterable[Jar]) -> str:
    """Return jars as ``sha256sum`` writes them, and reads them with ``-c``."""
    return "\n".join(f"{jar.sha256}  {jar.name}" for jar in jars)


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def _check(path: Path, jar: Jar, next_step: str) -> None:
    found = _sha256(path)
    if found != jar.sha256:
        raise JarError(
            "JAR_ALTERED",
            f"{path} is not the pinned jar: its SHA-256 is {found}, expected was {jar.sha256}.",
            "It was not used and nothing was started.",
            next_step,
            jar=jar.name,
            path=str(path),
            found=found,
            expected=jar.sha256,
        )


def _mark(path: Path, sha256: str) -> list[str | int]:
    # The change time too: unlike the modification time, a copy over the file cannot set it back.
    stat = path.stat()
    return [sha256, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _read_verified(directory: Path) -> dict[str, object]:
    try:
        content = json.loads((directory / _VERIFIED_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_verified(directory: Path, marks: Mapping[str, object]) -> None:
    # A cache that may only be read (a container image's) is hashed each time instead.
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=".verified-", dir=directory)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(marks, file)
        os.replace(name, directory / _VERIFIED_FILE)

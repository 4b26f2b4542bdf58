"""An archive of the classes of Spark and Hudi, which Java maps instead of reading and checking them at every start.

This is Java's own "class data sharing" (manual of ``java``, -XX:SharedArchiveFile). It holds only classes of the class path
that Java starts with, so with an archive the pinned jars stand there and not in ``spark.jars``: behind Spark's own jars, for
the bundle has other versions of some of their classes, and the first of a name wins.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from freshet.cache import cache_dir
from freshet.errors import FreshetError
from freshet.jvm.hbase_site import site_jar
from freshet.jvm.jars import resolve_jars
from freshet.jvm.java import find_java_home, java_command

CLASS_PATH = "spark.driver.extraClassPath"
_TRAINING_SECONDS = 600
# Some 190 MB each. Those of other environments, Javas and releases stay for who still uses them.
_KEPT = 3
# Stands behind the end of a finished archive: Java looks only at the beginning, and would die of a file that was cut off.
_END = b"freshet: whole"
# Raise it when the training loads other classes.
_RECIPE = "2"
# What may put things on the class path that have to be found before ``spark.jars``, or set another class path.
_OF_THE_USER = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "PYSPARK_SUBMIT_ARGS")


@dataclass(frozen=True)
class ClassData:
    """An archive, and what Java must be started with to use it.

    Args:
        archive: The file. Java does without, and says nothing, where it does not fit.
        base: Archive of Java's own classes that it builds upon; None where Java brings one.
        class_path: What the class path begins with; Java uses the archive only if nothing stands before it.
    """

    archive: Path
    base: Path | None
    class_path: str

    @property
    def made(self) -> bool:
        """Whether the archive is there, and whole."""
        try:
            with self.archive.open("rb") as content:
                content.seek(-len(_END), os.SEEK_END)
                return content.read() == _END
        except OSError:
            return False

    @property
    def java_options(self) -> str:
        """What maps the archive."""
        files = f"{self.base}:{self.archive}" if self.base else str(self.archive)
        return f"-XX:SharedArchiveFile={files} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"


def find_class_data(conf: Mapping[str, str], jars: tuple[Path, ...]) -> ClassData | None:
    """Return the archive that a session can use; None where there is none, and all stays as without."""
    try:
        data = usable_class_data(conf, jars)
    except OSError:
        # The cache cannot be written, so that it lacks the jar that stands on the class path.
        return None
    if data is None or not data.made:
        return None
    with suppress(OSError):
        # Those that were not used for the longest time make room for others.
        os.utime(data.archive)
    return data


def usable_class_data(conf: Mapping[str, str], jars: tuple[Path, ...]) -> ClassData | None:
    """Name the archive that a session could use, whether it is there or not.

    Args:
        conf: The project's ``spark:`` settings.
        jars: The pinned jars.

    Returns:
        None on a cluster, whose executors get the jars through ``spark.jars``, and where the class path may begin otherwise.
    """
    master, spark_home = conf.get("spark.master", "local"), _spark_home()
    if (master != "local" and not master.startswith("local[")) or conf.get(CLASS_PATH):
        return None
    if spark_home is None or (spark_home / "conf").is_dir() or any(os.environ.get(name) for name in _OF_THE_USER):
        return None
    home = find_java_home()
    # Java compares paths, sizes and times itself: a key that misses something costs time, not a wrong class.
    key = hashlib.sha256(f"{_RECIPE} {home} {(home / 'release').read_text('utf-8', errors='replace')}".encode())
    # The site before the bundle, which has one of its own.
    ours = (site_jar(), *jars)
    for jar in [*sorted((spark_home / "jars").glob("*.jar")), *ours]:
        stat = jar.stat()
        # Whole seconds, as Java compares them: a layer of a container image keeps no more.
        key.update(f"{jar} {stat.st_size} {int(stat.st_mtime)}\n".encode())
    archive = cache_dir() / "class_data" / f"{key.hexdigest()[:16]}.jsa"
    base = None if (home / "lib" / "server" / "classes.jsa").is_file() else archive.with_suffix(".base")
    return ClassData(archive, base, ":".join([f"{spark_home}/jars/*", *map(str, ours)]))


def make_archive(data: ClassData, train: Callable[[ClassData, Path], str] | None = None) -> None:
    """Make an archive, whole or not at all.

    Args:
        data: What to make; another process may be making the same.
        train: Writes the archive to a path and returns what it has to say of a failure; by default a small job in a process
            of its own (``class_data_training``).

    Raises:
        FreshetError: CLASS_DATA_FAILED: the training left no archive.
        OSError: The cache cannot be written.
    """
    folder = data.archive.parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".make-", dir=folder) as work:
        made = Path(work) / data.archive.name
        said = (train or _train)(data, made)
        if not made.is_file():
            raise FreshetError("CLASS_DATA_FAILED", f"the training left no archive of classes: {said or 'it said nothing'}")
        made.chmod(0o644)
        with made.open("ab") as content:
            content.write(_END)
        os.replace(made, data.archive)
    for old in sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime)[:-_KEPT]:
        old.unlink(missing_ok=True)
        old.with_suffix(".base").unlink(missing_ok=True)


def _train(data: ClassData, archive: Path) -> str:
    options = f"-XX:ArchiveClassesAtExit={archive}"
    if data.base:
        # The archive names its base by path: made in its place, not beside it.
        options += f" -XX:SharedArchiveFile={data.base}"
        _run([str(java_command(find_java_home())), "-Xshare:dump", f"-XX:SharedArchiveFile={data.base}"])
    return _run([sys.executable, "-m", "freshet.jvm.class_data_training", options, data.class_path])


def _run(command: list[str]) -> str:
    # The JVM inherits the pipe, which so ends with it: it writes the archive after Python has ended.
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_TRAINING_SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end after {_TRAINING_SECONDS} seconds"
    return "; ".join(line.strip() for line in done.stderr.splitlines() if line.strip())[-1000:]


def _spark_home() -> Path | None:
    # As PySpark finds it, without importing PySpark.
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec and spec.origin else None


def main() -> int:
    """Make the archive where there is none; the entry point of ``python -m freshet.jvm.class_data``. Never fails."""
    try:
        data = usable_class_data({}, resolve_jars())
        if data is None:
            print("no archive of classes: the environment sets a class path of its own")
        elif not data.made:
            print(f"making an archive of classes, a minute once, with which runs start sooner: {data.archive}", flush=True)
            make_archive(data)
    except (FreshetError, OSError) as error:
        print(f"no archive of classes, so runs start some seconds later: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Time whole processes, in turn and after a warm-up, and say what came out as minimum, median and maximum."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from freshet.jvm.jars import SPARK_JARS, JarSet, declared_jars
from freshet.jvm.java import find_java_home, java_command

_HERE = Path(__file__).resolve().parent
ROOT = _HERE.parents[1]
RESULTS = ROOT / "build" / "bench"
#: The engines that freshet is measured against.
ENGINES = JarSet(_HERE / "ivy.xml", _HERE / "jars.sha256")


@dataclass(frozen=True)
class Timed:
    """One finished process.

    Args:
        wall_seconds: From its start to its end.
        output: Its stdout.
    """

    wall_seconds: float
    output: str


def timed(command: Sequence[str]) -> Timed:
    """Run a command from the repository's root and time it.

    Raises:
        RuntimeError: It failed; the message ends with its stderr.
    """
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        raise failed(command, done.returncode, done.stderr)
    return Timed(wall, done.stdout)


def overrides_of(folder: Path) -> list[str]:
    """Return the settings that put a project's tables below a folder."""
    return [f"vars.{name}_root={folder / name}" for name in ("raw", "derived", "dim")]


def failed(command: Sequence[str], code: int, errors: str) -> RuntimeError:
    """Return a failed command as an error that ends with its stderr."""
    return RuntimeError(f"{' '.join(command)} ended with {code}:\n{errors[-3000:]}")


def freshet(*words: str, module: str = "freshet") -> list[str]:
    """Return the command line of one freshet command, or of a module's that changes something of freshet's first."""
    return [sys.executable, "-m", module, *words]


def set_words(settings: Mapping[str, object]) -> list[str]:
    """Return the words that give a freshet command settings of its own."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return minimum, median and maximum, rounded to milliseconds."""
    return {"min": round(min(values), 3), "median": round(statistics.median(values), 3), "max": round(max(values), 3)}


def show(name: str, figures: dict[str, float], bound: float | None = None, unit: str = "s") -> bool:
    """Print one figure; return whether its median keeps the bound."""
    kept = bound is None or figures["median"] <= bound
    limit = "" if bound is None else f"  (at most {bound:g}: {'kept' if kept else 'MISSED'})"
    shown = "  ".join(f"{which} {value:<7g}" for which, value in figures.items())
    print(f"{name:<40} {shown} {unit}{limit}", flush=True)
    return kept


def save(part: str, figures: dict[str, object]) -> Path:
    """Write one part's figures as JSON below ``build/bench``, which git ignores, with what they were taken on and how."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{part}.json"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    taken = {"command": " ".join(["python -m tests.benchmarks", *sys.argv[1:]]), "at": now, **machine()}
    path.write_text(json.dumps({"part": part, "taken": taken, **figures}, indent=1) + "\n", encoding="utf-8")
    return path


def machine() -> dict[str, object]:
    """Return the machine, the commit, and the versions of what decides about speed."""
    with open("/proc/meminfo", encoding="utf-8") as lines:
        memory = int(next(lines).split()[1]) / 2**20
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    java = subprocess.run([java_command(find_java_home()), "-version"], capture_output=True, text=True, check=False).stderr
    jars = [jar.name.removesuffix(".jar") for wanted in (SPARK_JARS, ENGINES) for jar in declared_jars(wanted)]
    return {
        "commit": commit.stdout.strip(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "java": java.splitlines()[0] if java else "",
        "jars": jars,
        **{name: version(name) for name in ("pyspark", "fastavro", "pydantic", "sqlglot", "great-expectations")},
    }

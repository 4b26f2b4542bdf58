"""``freshet`` as a user types it, in the test's own Spark or in a process of its own that may be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from freshet.cli.main import main
from tests.kit.lake import Lake, Row, rows

ROOT = Path(__file__).resolve().parents[2]
SLOW_STEP = """\
import pathlib, time
from pyspark.sql import functions as F

def transform(inputs, context):
    pathlib.Path({flag!r}).touch()
    # Holds the write back, inside Spark, for as long as the test wants.
    return inputs["SRC"].where(F.expr("java_method('java.lang.Thread', 'sleep', cast({milliseconds} as bigint)) <> 'never'"))
"""


def freshet(lake: Lake, *words: str, code: int = 0) -> dict[str, Any]:
    """Run a command in this process, which shares the tests' Spark.

    Args:
        lake: The lake whose project it is for.
        words: What is typed behind ``freshet``.
        code: The exit code that it must end with.

    Returns:
        What it prints as JSON.
    """
    done = CliRunner().invoke(main, [*words, "--output", "json", "-C", str(lake.project_root)])
    assert done.exit_code == code, f"{words} ended with {done.exit_code}: {done.output}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(lake: Lake, *words: str, code: int = 5) -> dict[str, Any]:
    """Run a command that must be refused; returns its error. A run's is in its list of runs."""
    found = freshet(lake, *words, code=code)
    error: dict[str, Any] = found["error"] if "error" in found else found["runs"][0]["error"]
    return error


def start(
    lake: Lake,
    *words: str,
    settings: Iterable[str] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a command in a process of its own, which is the head of its process group."""
    more = [word for one in settings for word in ("--set", one)]
    return subprocess.Popen(
        [sys.executable, "-m", "freshet", *words, "--output", "json", "-C", str(lake.project_root), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> dict[str, Any]:
    """Wait for a process; returns what it printed as JSON."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err[-3000:]
    found: dict[str, Any] = json.loads(out)
    return found


def until(happened: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120, every: float = 0.02) -> None:
    """Wait until something has happened while a process runs; looks at it every so many seconds."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(every)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill Python as a machine's out-of-memory killer would; its JVM notices by itself."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def slow(lake: Lake, milliseconds: int) -> Path:
    """Make the pipeline's last step sleep while Spark evaluates it; return a file that appears when that is about to begin."""
    flag = lake.root / "writing"
    flag.unlink(missing_ok=True)
    lake.write_file("transformers/slow.py", SLOW_STEP.format(flag=str(flag), milliseconds=milliseconds))
    lake.pipeline(transform="[transformers/copy.sql, transformers/slow.py]" if milliseconds else "")
    return flag


def kill_when(happened: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120) -> None:
    """Kill a process and all that it started, Spark's JVM too, as soon as something has happened."""
    try:
        until(happened, process, seconds, every=0.002)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def many(count: int, ts: int = 1, day: str = "2026-01-05", head: str = "k") -> list[Row]:
    """Return so many event rows, keyed by numbers."""
    return rows(*((f"{head}{number:06d}", ts, "1") for number in range(count)), day=day)

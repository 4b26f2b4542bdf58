"""``freshet`` as a user types it, in the test's own Spark or in a process that may be killed; and HBase as it then stands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from framework.cli.main import main
from framework.index.hbase import HBase
from tests.integration.lake import Lake, Row, rows

ROOT = Path(__file__).resolve().parents[2]
_HBASE = "org.apache.hudi.org.apache.hadoop.hbase"


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


def start(lake: Lake, *words: str, settings: Iterable[str] = ()) -> subprocess.Popen[str]:
    """Start a command in a process of its own, which is the head of its process group."""
    more = [word for one in settings for word in ("--set", one)]
    return subprocess.Popen(
        [sys.executable, "-m", "framework", *words, "--output", "json", "-C", str(lake.project_root), *more],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> dict[str, Any]:
    """Wait for a process; returns what it printed as JSON."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err[-3000:]
    found: dict[str, Any] = json.loads(out)
    return found


def kill_when(happened: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120) -> None:
    """Kill a process and all that it started, Spark's JVM too, as soon as something has happened."""
    deadline = time.monotonic() + seconds
    try:
        while not happened():
            assert process.poll() is None, process.communicate()[1][-3000:]
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.002)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def many(count: int, ts: int = 1, day: str = "2026-01-05", head: str = "k") -> list[Row]:
    """Return so many event rows, keyed by numbers."""
    return rows(*((f"{head}{number:06d}", ts, "1") for number in range(count)), day=day)


def family_of(cluster: HBase) -> dict[str, str]:
    """Return how HBase keeps Hudi's column family of the index table: compression, encoding, versions, bloom filter."""
    admin = cluster.java.admin()
    try:
        family = admin.getDescriptor(_name(cluster)).getColumnFamily(b"_s")
        return {
            "compression": str(family.getCompressionType()), "encoding": str(family.getDataBlockEncoding()),
            "versions": str(family.getMaxVersions()), "bloom": str(family.getBloomFilterType()),
        }
    finally:
        admin.close()


def _name(cluster: HBase) -> Any:
    return getattr(cluster.classes._gateway_client, "x", None)

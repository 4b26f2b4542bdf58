"""A run that is stopped while it writes, or whose JVM is: one line, the documented code, and the repeat is right."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.kit.commands import slow, start, until
from tests.kit.lake import Lake, rows


def _java_of(pid: int) -> int:
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True, check=True)
    return next(int(line.split()[0]) for line in children.stdout.splitlines() if "java" in line)


@pytest.mark.parametrize(
    ("number", "whose", "exit_code", "code"),
    [
        (signal.SIGINT, "command", 130, "INTERRUPTED"),
        (signal.SIGTERM, "command", 143, "INTERRUPTED"),
        (signal.SIGKILL, "java", 4, "JAVA_ENDED"),
    ],
)
def test_a_run_that_is_stopped_while_it_writes(
    lake: Lake,
    number: signal.Signals,
    whose: str,
    exit_code: int,
    code: str,
) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    flag = slow(lake, milliseconds=60_000)
    process = start(lake, "run", "copy")
    until(flag.exists, process)
    until(lambda: any((lake.root / "derived/copy/.hoodie/timeline").glob("*.requested")), process)
    os.kill(process.pid if whose == "command" else _java_of(process.pid), number)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in said, said.count(code)) == (exit_code, False, 1), said
    document = json.loads(out)
    error = document.get("error") or document["runs"][0]["error"]
    assert (error["code"], error["retryable"]) == (code, code == "JAVA_ENDED")
    slow(lake, milliseconds=0)
    assert (lake.run_ok().outcome, lake.rows()) == ("committed", rows(("a", 1, "1")))

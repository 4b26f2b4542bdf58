"""``freshet test --watch`` with Spark, in a terminal and in a pipe: cases run again with each save, until Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.kit.commands import ROOT, until
from tests.kit.lake import Lake
from tests.kit.screen import Terminal

pytestmark = [pytest.mark.waits, pytest.mark.nightly]
TABLES = 'tables:\n  SRC: {schema: "id string, ts bigint, amount decimal(10,2), day string", key: id, ordering: ts}\n'
CASES = (
    TABLES
    + """\
cases:
  a: {given: {SRC: [{id: a, ts: 1, amount: 2, day: d}]}, expect: {rows: [{id: a, amount: 2}]}}
  on_tables: {given: {target: [], SRC: [{id: a, ts: 1, amount: 2, day: d}]}, expect: {target: [{id: a, amount: 2}]}}
"""
)
STEP = """\
from pyspark.sql import functions as F
from transformers.lib.money import RATE, times

def transform(inputs, context):
    return inputs["SRC"].withColumn("amount", F.udf(times, "decimal(10,2)")("amount"))
"""
MONEY = "RATE = {rate}\n\ndef times(amount):\n    return amount * RATE\n"
PASSED, FAILED = ("2 cases of 1 of 1 pipeline: {} passed, {} failed".format(*counts) for counts in ((2, 0), (0, 2)))


@pytest.fixture
def project(lake: Lake) -> Lake:
    lake.write_file("transformers/step.py", STEP)
    lake.write_file("transformers/lib/money.py", MONEY.format(rate=1))
    lake.pipeline(transform="[transformers/copy.sql, transformers/step.py]")
    lake.write_file("pipelines/tests/copy.yml", CASES)
    return lake


def test_in_a_terminal(project: Lake) -> None:
    """A helper that is changed reaches the Python of Spark's workers in the same session; a wrong file ends nothing."""
    # Wide enough for whatever folder the tests lie in.
    terminal = Terminal(200, 40)
    process = terminal.start(sys.executable, "-m", "freshet", "test", "--watch", "-C", str(project.project_root), cwd=ROOT)

    def waits_after(line: str, times: int) -> None:
        terminal.until(lambda lines: Counter(lines)[line] == times and "watching" in lines[-1], process)

    waits_after(PASSED, 1)
    project.write_file("transformers/lib/money.py", MONEY.format(rate=3))
    waits_after(FAILED, 1)
    assert any("row id=a: amount: expected 2.00, found 6.00" in line for line in terminal.shown())
    project.write_file("transformers/lib/money.py", "def times(amount:")
    terminal.until(lambda lines: any(line.startswith("transformers/lib/money.py:1: PYTHON_SYNTAX") for line in lines), process)
    project.write_file("transformers/lib/money.py", MONEY.format(rate=1))
    waits_after(PASSED, 2)
    terminal.type(b"\x03")
    process.wait(timeout=60)
    terminal.settle()
    assert process.returncode == 130
    lines = terminal.shown()
    assert lines[-1].endswith("stopped by the keyboard; no case was running")
    assert not re.search(r"Traceback|Exception|[●━─]", "\n".join(lines))


def test_in_a_pipe(project: Lake, tmp_path: Path) -> None:
    """Each round is out when it is through; Ctrl-C within a case leaves none of its tables."""
    out, err, place = tmp_path / "out", tmp_path / "err", tmp_path / "tmp"
    place.mkdir()
    slow = "import time\n" + MONEY.format(rate=1).replace("    return", "    time.sleep(60)\n    return")
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "freshet", "test", "--watch", "-C", str(project.project_root)],
            cwd=ROOT,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(place)},
        )
    until(lambda: PASSED in out.read_text() and "watching" in err.read_text(), process, every=0.1)
    project.write_file("transformers/lib/money.py", slow)
    until(lambda: "copy: case 1 of 2: a" in err.read_text().partition("saved:")[2], process, every=0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert "INTERRUPTED: stopped by the keyboard." in err.read_text()
    assert list(place.glob("freshet-test-*")) == []

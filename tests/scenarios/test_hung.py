"""A run that hangs in its JVM is ended, with its threads in the log, and leaves a table that the next run goes on with."""

from __future__ import annotations

import json
import subprocess
import sys

from framework.errors import Exit
from framework.runtime.lease import is_running
from tests.kit.commands import ROOT, slow
from tests.kit.lake import Lake, rows


def test_a_run_that_takes_longer_than_it_may_is_ended_and_the_next_one_goes_on(lake: Lake) -> None:
    """Of the kind: any call that does not come back. A task that sleeps is one; those of locks and of Python are in
    ``unit/runtime/test_watchdog``."""
    lake.pipeline()
    lake.land(rows(("a", 1, "1.00")))
    flag = slow(lake, 600_000)
    command = [sys.executable, "-m", "framework", "run", "copy", "--project", str(lake.project_root), "--output", "json",
               "--set", "run.timeout=12s"]
    # A limit of the test's own, far below the ten minutes that the step takes.
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False)
    (result,) = json.loads(done.stdout)["runs"]
    assert (done.returncode, result["outcome"], result["error"]["code"]) == (Exit.FAILED, "failed", "RUN_TIMEOUT"), done.stderr
    assert "RUN_TIMEOUT" in done.stderr
    assert "Python thread MainThread" in done.stderr
    # On a machine that takes as long to start a JVM there is none to look at.
    assert 'JVM thread "' in done.stderr or not flag.exists()
    assert not is_running(lake.spec().target.ref)
    slow(lake, 0)
    assert lake.run_ok().outcome == "committed"
    assert [row[0] for row in lake.rows()] == ["a"]

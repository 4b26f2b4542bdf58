"""A run that hangs in its JVM is ended, with its threads in the log, and leaves a table that the next run goes on with."""

from __future__ import annotations

import json

from freshet.errors import Exit
from freshet.lease.local import is_running
from tests.kit.commands import slow, start
from tests.kit.lake import Lake, rows


def test_a_run_that_takes_longer_than_it_may_is_ended_and_the_next_one_goes_on(lake: Lake) -> None:
    """Of the kind: any call that does not come back. A task that sleeps is one; those of locks and of Python are in
    ``unit/runtime/test_watchdog``."""
    lake.pipeline()
    lake.land(rows(("a", 1, "1.00")))
    flag = slow(lake, 600_000)
    process = start(lake, "run", "copy", settings=["run.timeout=12s"])
    # A limit of the test's own, far below the ten minutes that the step takes.
    out, err = process.communicate(timeout=90)
    (result,) = json.loads(out)["runs"]
    assert (process.returncode, result["outcome"], result["error"]["code"]) == (Exit.FAILED, "failed", "RUN_TIMEOUT"), err
    assert "RUN_TIMEOUT" in err
    assert "Python thread MainThread" in err
    # On a machine that takes as long to start a JVM there is none to look at.
    assert 'JVM thread "' in err or not flag.exists()
    assert not is_running(lake.spec().target.ref)
    slow(lake, 0)
    assert lake.run_ok().outcome == "committed"
    assert [row[0] for row in lake.rows()] == ["a"]

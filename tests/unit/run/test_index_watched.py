"""Work on an index is watched as a run is: it holds the target's lease, so that what hangs in it would stop all runs.

Of the kind: every command that holds a lease and starts Spark: run, replay, backfill and service are in test_watchdog.py and
the scenarios. Here a session that never comes stands for whatever hangs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from freshet.errors import FreshetError
from freshet.events.event import Event
from freshet.hudi.table import MemoryState
from freshet.index.hbase.building import Layout
from freshet.index.ops import benchmark as index_benchmark
from freshet.index.ops import work as index
from freshet.index.ops.benchmark import benchmark_cluster
from freshet.index.ops.check import verify_index
from freshet.index.ops.make import bootstrap_index, rebuild_index
from freshet.index.ops.migrate import migrate_index
from freshet.lease.local import is_running
from freshet.project.model.limits import RunLimits
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, Project, TableRef
from freshet.run import watchdog
from freshet.run.watchdog import Pulse
from tests.kit.memory import a_spec, a_table_spec, a_target

LAYOUT = Layout(1 << 20, "GZ", "FAST_DIFF")
COMMANDS: dict[str, Callable[..., Any]] = {
    "bootstrap": lambda *them: bootstrap_index(*them, LAYOUT),
    "rebuild": lambda *them: rebuild_index(*them, LAYOUT),
    "verify": verify_index,
    "migrate": lambda *them: migrate_index(*them, LAYOUT, "HBASE"),
    "benchmark": lambda project, spec, state, listen: benchmark_cluster(project, spec, listen),
}


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (RunLimits(timeout_seconds=0.2, stalled_seconds=0), "RUN_TIMEOUT"),  # type: ignore[arg-type]
        (RunLimits(stalled_seconds=0.2), "RUN_STALLED"),  # type: ignore[arg-type]
    ],
    ids=["timeout", "stalled"],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_work_on_an_index_that_hangs_is_logged_and_ended(
    command: str,
    limits: RunLimits,
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended, events = Flag(), list[Event]()

    def hung(*_: object) -> None:
        assert ended.wait(10), "nobody watches"
        raise ConnectionError("the JVM is gone")

    for module in (index, index_benchmark):
        monkeypatch.setattr(module, "session_for", hung)
    monkeypatch.setattr(watchdog, "spark_pulse", lambda: Pulse((), False, 7.0))
    monkeypatch.setattr(watchdog, "end_jvm", ended.set)
    ref = TableRef("derived.earnings", str(tmp_path / "earnings"))
    hbase = HBaseSpec(quorum="zk", port=2181, znode="/hbase", table="earnings", server_rate=100, shares={}, client={})
    spec = replace(a_spec(target=replace(a_table_spec(), ref=ref)), index=IndexSpec("HBASE", {}, hbase), limits=limits)
    state = MemoryState({ref.path: replace(a_target(index=None), ref=ref)})
    with pytest.raises(FreshetError) as failed:
        COMMANDS[command](Project(str(tmp_path), "", (spec,), {}), spec, state, events.append)
    assert failed.value.code == code
    (told,) = [event.message for event in events if event.name == "notice"]
    assert (told.partition(":")[0], "test_index_watched.py" in told) == (code, True)
    assert not is_running(ref)

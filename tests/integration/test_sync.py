"""A catalogue that does not answer: the rows are published, the run says so by a code of its own, and the next run repeats it.

Of the kind: what fails after the commit, by a real tool of Hudi's; what becomes of runs is in ``unit/runtime/test_sync``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import Exit
from freshet.project.model.pipeline import TableRef
from freshet.run import catalogue
from tests.kit.lake import Lake, rows

NO_METASTORE = {
    "hoodie.datasource.hive_sync.enable": "true",
    "hoodie.datasource.hive_sync.mode": "hms",
    # Nobody listens on this port.
    "hoodie.datasource.hive_sync.metastore.uris": "thrift://127.0.0.1:1",
}


def test_a_sync_that_fails_is_repeated_by_the_next_run(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.pipeline(hoodie=NO_METASTORE)
    lake.land(rows(("a", 1, "1.00")))
    done = lake.run()
    assert done.error is not None, done
    assert (done.outcome, done.error.code, done.error.exit_code) == ("committed", "SYNC_FAILED", Exit.SYNC)
    assert "HiveSyncTool" in done.error.message
    assert len(done.error.message) < 600
    assert [row[0] for row in lake.rows()] == ["a"]

    # What the tool is called with is what Hudi itself calls it with; a metastore is more than a test can start.
    called: list[tuple[str, tuple[str, ...], str]] = []

    def answers(_: object, table: TableRef, tools: tuple[str, ...], options: dict[str, str]) -> None:
        called.append((table.path, tools, options["hoodie.datasource.hive_sync.metastore.uris"]))

    monkeypatch.setattr(catalogue, "sync_catalogue", answers)
    again = lake.run()
    assert (again.outcome, again.error) == ("idle", None)
    assert called == [(str(Path(lake.path("derived.copy"))), ("org.apache.hudi.hive.HiveSyncTool",), "thrift://127.0.0.1:1")]
    assert lake.run().outcome == "idle"
    assert len(called) == 1

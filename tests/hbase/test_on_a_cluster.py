"""An HBASE index on a Spark standalone cluster of two workers: what it needs reaches the executors."""

from __future__ import annotations

from tests.kit.cluster import settings
from tests.kit.commands import ended, many, start
from tests.kit.hbase import HBaseLake
from tests.kit.lake import rows


def test_bootstrap_run_and_verify_on_two_workers(hlake: HBaseLake, master: str) -> None:
    hlake.pipeline()
    # Enough for an HFile of each task.
    hlake.land(many(100_000), "bulk_insert")
    conf = settings(master)[1::2]
    done = ended(start(hlake, "index", "bootstrap", "copy", settings=conf))
    assert (done["entries"], done["hfiles"]) == (100_000, 2)
    hlake.land(rows(("k000007", 2, "2"), ("new", 2, "2"), day="2026-01-07"))
    run = ended(start(hlake, "run", "copy", settings=conf))["runs"][0]
    assert run["outcome"] == "committed"
    assert len(hlake.places()) == 100_001
    hlake.agree()
    found = ended(start(hlake, "index", "verify", "copy", settings=conf))
    assert (found["rows"], found["agrees"]) == (100_001, True)

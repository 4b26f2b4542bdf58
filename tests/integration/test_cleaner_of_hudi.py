"""Hudi 1.0.2's cleaner deletes a log that a planned compaction names (apache/hudi issue 19290); through freshet it does not.

Hudi alone first, in the steps of the issue: a log whose request time lies before its base file's, a compaction that is planned
for it, a clean, and the compaction fails. Two orders of these steps do it by Hudi's own defaults:

* The compaction's instant was given in whole seconds, as HoodieCompactor's --instant-time and run_compaction's timestamp take
  it. Where the newest slice's time is not as long as a commit's completion time, ``CompletionTimeQueryViewV2`` gives the
  request time for the completion time (line 168). So the log lies before its base file, in a slice that nobody needs.
* A clean that was to roll back a writer, whose heartbeat stood still, died before it did. The writer lived, and committed; the
  next clean rolls its commit back (``BaseHoodieTableServiceClient.rollbackFailedWrites``), whoever reads it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from freshet.hudi.options import SEVERAL_WRITERS
from freshet.hudi.timeline import TimelineState
from freshet.run.pending import carry_out, pending_compactions
from freshet.run.service import Service, ServiceResult, run_services, service_client
from tests.kit.backfills import NBCC, OCC
from tests.kit.lake import Lake, rows

RAW = "raw.beside"
SERVICES = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
KEEPS_ONE = {"hoodie.clean.commits.retained": "1", "hoodie.bucket.index.num.buckets": "1"}
BARE = {"hoodie.metadata.enable": "false", "hoodie.embed.timeline.server": "false"}
OF_OTHERS = {**SEVERAL_WRITERS, **SERVICES, **KEEPS_ONE, **BARE, "hoodie.datasource.write.table.type": "MERGE_ON_READ"}


class Timeline:
    """A table's timeline on disk, where a writer's commit waits until it is told to complete."""

    def __init__(self, lake: Lake, table: str) -> None:
        self.folder = Path(lake.path(table))
        self.held = lake.root / "held"
        self.held.mkdir(exist_ok=True)

    def hold(self) -> str:
        """Have the newest commit be one that is still being written; returns its request time."""
        newest = max((self.folder / ".hoodie/timeline").glob("*_*.deltacommit"))
        requested = newest.name.partition("_")[0]
        newest.rename(self.held / requested)
        return requested

    def complete(self, requested: str, completed: str) -> None:
        (self.held / requested).rename(self.folder / f".hoodie/timeline/{requested}_{completed}.deltacommit")

    def logs(self, requested: str) -> list[str]:
        return [file.name for file in self.folder.rglob(f".*_{requested}.log.*") if not file.name.endswith(".crc")]


@contextmanager
def a_client(lake: Lake) -> Iterator[tuple[Any, Any]]:
    """Give Hudi's write client of the raw table, as a process of its own would have it, and the option that is empty."""
    jvm: Any = lake.spark._jvm
    options = jvm.java.util.HashMap()
    for key, value in {
        **OF_OTHERS,
        **NBCC,
        "hoodie.table.name": "beside",
        "hoodie.index.type": "BUCKET",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "day",
        "hoodie.compact.inline.max.delta.commits": "1",
    }.items():
        options.put(key, value)
    scala = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(options)
    client = jvm.org.apache.hudi.HoodieCLIUtils.createHoodieWriteClient(
        lake.spark._jsparkSession, lake.path(RAW), scala, jvm.scala.Option.empty()
    )
    try:
        yield client, jvm.org.apache.hudi.common.util.Option.empty()
    finally:
        client.close()


def in_whole_seconds(client: Any) -> str:
    """Return the instant of the next whole second, in seconds."""
    now = datetime.strptime(client.createNewInstantTime()[:14], "%Y%m%d%H%M%S")
    return f"{now + timedelta(seconds=1):%Y%m%d%H%M%S}"


def planned_logs(lake: Lake, path: str, compaction: str) -> list[str]:
    jvm: Any = lake.spark._jvm
    meta = meta_client(lake, path)
    plan = jvm.org.apache.hudi.common.util.CompactionUtils.getCompactionPlan(meta, compaction)
    return [str(log) for operation in items(plan.getOperations()) for log in items(operation.getDeltaFilePaths())]


def items(found: Any) -> list[Any]:
    """Return the items of one of Avro's lists, at whose end Py4J fails."""
    return [found.get(place) for place in range(found.size())]


def meta_client(lake: Lake, path: str) -> Any:
    jvm: Any = lake.spark._jvm
    storage = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(lake.spark.sparkContext._jsc.hadoopConfiguration())
    return jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder().setConf(storage).setBasePath(path).build()


def plan_rollback(lake: Lake, client: Any, requested: str) -> None:
    """Do what a clean does first for a writer whose heartbeat stands still; then it dies."""
    jvm: Any = lake.spark._jvm
    engine = jvm.org.apache.hudi.client.common.HoodieSparkEngineContext(lake.spark.sparkContext._jsc)
    table = jvm.org.apache.hudi.table.HoodieSparkTable.create(client.getConfig(), engine)
    begun = table.getMetaClient().getActiveTimeline().filterInflights().getInstants()
    (late,) = [instant for instant in begun if instant.requestedTime() == requested]
    table.scheduleRollback(engine, client.createNewInstantTime(), late, False, False, False)


@pytest.mark.parametrize("how", ["a compaction in whole seconds", "a rollback left behind"])
def test_hudis_cleaner_deletes_a_log_that_a_compaction_is_planned_for(lake: Lake, how: str) -> None:
    def land(ts: int, mode: dict[str, str]) -> None:
        lake.land(rows(("a", ts, f"{ts}.00")), table=RAW, **OF_OTHERS, **mode)

    land(1, OCC)
    timeline = Timeline(lake, RAW)
    with a_client(lake) as (client, nothing):
        land(2, NBCC)
        late = timeline.hold()
        land(3, NBCC)
        base = client.scheduleCompaction(nothing).get()
        carry_out(client, nothing, base)
        assert late < base
        if how == "a rollback left behind":
            plan_rollback(lake, client, late)
        timeline.complete(late, client.createNewInstantTime())
        land(4, NBCC)
        if how == "a compaction in whole seconds":
            compaction = in_whole_seconds(client)
            assert client.scheduleCompactionAtInstant(compaction, nothing)
        else:
            compaction = client.scheduleCompaction(nothing).get()
    (log,) = timeline.logs(late)
    named = planned_logs(lake, lake.path(RAW), compaction)
    assert log in named

    with a_client(lake) as (cleaner, _):
        cleaner.clean()
    assert [name for name in named if not list(timeline.folder.rglob(name))] == [log]
    with a_client(lake) as (client, _), pytest.raises(Py4JJavaError, match=r"FileNotFoundException|does not exist"):
        client.compact(compaction).getCommitMetadata()


def serve(lake: Lake, *wanted: Service) -> ServiceResult:
    return run_services(lake.spec("first"), TimelineState(), wanted, lake.events.append)


@pytest.mark.parametrize("inline", [False, True], ids=["of a service", "of a run"])
def test_freshet_cleans_only_after_the_compaction(lake: Lake, inline: bool) -> None:
    """Kind: whatever cleans a table whose compaction another tool planned, by an instant in whole seconds."""
    own = {} if inline else {"hoodie.compact.inline": "false"}
    lake.pipeline("first", table_type="mor", hoodie={**NBCC, **KEEPS_ONE, **BARE, **own})
    spec = lake.spec("first")
    timeline = Timeline(lake, "derived.first")

    def change(ts: int) -> None:
        lake.land(rows(("a", ts, f"{ts}.00")))
        lake.run_ok("first")

    change(1)
    change(2)
    late = timeline.hold()
    change(3)
    with service_client(lake.spark, spec) as (client, nothing):
        carry_out(client, nothing, client.scheduleCompaction(nothing).get())
        timeline.complete(late, client.createNewInstantTime())
        compaction = in_whole_seconds(client)
        assert client.scheduleCompactionAtInstant(compaction, nothing)
    assert set(timeline.logs(late)) <= set(planned_logs(lake, spec.target.ref.path, compaction))

    lake.events.clear()
    if inline:
        change(4)
    else:
        left = serve(lake, "clean")
        assert (left.done, len(left.held)) == ({"clean": "left"}, 1)
    (told,) = {e.message for e in lake.events if e.message.startswith("COMPACTION_PENDING")}
    assert compaction in told
    assert timeline.logs(late) != []
    if not inline:
        with service_client(lake.spark, spec) as (client, nothing):
            carry_out(client, nothing, compaction)
        assert serve(lake, "clean").held == ()
    assert pending_compactions(lake.spark, spec.target.ref) == []
    assert dict(lake.rows("derived.first", "id", "amount")) == {"a": Decimal("4.00" if inline else "3.00")}  # type: ignore[arg-type]


def test_freshet_takes_back_no_commit_of_a_writer_that_lives(lake: Lake) -> None:
    lake.pipeline("first", table_type="mor", hoodie={**NBCC, **KEEPS_ONE, **BARE, "hoodie.compact.inline": "false"})
    spec = lake.spec("first")
    timeline = Timeline(lake, "derived.first")
    for ts in (1, 2):
        lake.land(rows(("a", ts, f"{ts}.00")))
        lake.run_ok("first")
    late = timeline.hold()
    with service_client(lake.spark, spec) as (client, _):
        plan_rollback(lake, client, late)
        timeline.complete(late, client.createNewInstantTime())
    left = serve(lake, "clean")
    assert (left.done, len(left.held)) == ({"clean": "left"}, 1)
    assert late in left.held[0]
    assert [e.message for e in lake.events if e.message.startswith("ROLLBACK_OVERTAKEN")]
    for file in (timeline.folder / ".hoodie/timeline").glob("*.rollback.*"):
        file.unlink()
    assert serve(lake, "clean").held == ()
    assert timeline.logs(late) != []
    assert dict(lake.rows("derived.first", "id", "amount")) == {"a": Decimal("2.00")}  # type: ignore[arg-type]

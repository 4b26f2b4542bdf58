"""A compaction that a killed service planned: nothing is cleaned before it is done, and the next service does it.

Of the kind: whatever would delete what a planned compaction is to read. What the files and options hold is in
``unit/plan/test_cleaning``; here what stands on the timeline: planned by freshet, begun by freshet, planned by another tool.
"""

from __future__ import annotations

from decimal import Decimal

from freshet.hudi.timeline import TimelineState
from freshet.run.pending import pending_compactions, schedule_compaction
from freshet.run.service import Service, ServiceResult, run_services, service_client
from tests.kit.lake import Lake, rows

NBCC = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.compact.inline": "false",
    "hoodie.clean.commits.retained": 1,
    "hoodie.bucket.index.num.buckets": 1,
}


def serve(lake: Lake, *wanted: Service) -> ServiceResult:
    return run_services(lake.spec("first"), TimelineState(), wanted, lake.events.append)


def amounts(lake: Lake) -> dict[str, Decimal]:
    return dict(lake.rows("derived.first", "id", "amount"))  # type: ignore[arg-type]


def test_nothing_is_cleaned_before_a_planned_compaction_is_done(lake: Lake) -> None:
    lake.pipeline("first", table_type="mor", hoodie=NBCC)
    spec = lake.spec("first")

    def change(ts: int) -> None:
        lake.land(rows(("a", ts, f"{ts}.00"), ("b", 1, "1.00")))
        lake.run_ok("first")

    change(1)
    change(2)
    with service_client(lake.spark, spec) as (client, nothing):
        of_freshet = schedule_compaction(lake.spark, spec, client)
    assert pending_compactions(lake.spark, spec.target.ref) == [of_freshet]
    change(3)
    left = serve(lake, "clean")
    assert (left.done, len(left.held)) == ({"clean": "left"}, 1)
    assert of_freshet in left.held[0]
    assert [e.message for e in lake.events if e.message.startswith("COMPACTION_PENDING")]

    done = serve(lake, "compact", "clean")
    assert [e.message for e in lake.events if e.message.startswith(f"COMPACTION_RESUMED: the compaction of {of_freshet}")]
    assert pending_compactions(lake.spark, spec.target.ref) == []
    assert (done.held, amounts(lake)) == ((), {"a": Decimal("3.00"), "b": Decimal("1.00")})

    # Another tool's is not freshet's to carry out, and holds the cleaning until it is done.
    change(4)
    with service_client(lake.spark, spec) as (client, nothing):
        of_others = client.scheduleCompaction(nothing).get()
        held = serve(lake, "compact", "clean")
        assert (held.done["clean"], len(held.held)) == ("left", 1)
        assert pending_compactions(lake.spark, spec.target.ref) == [of_others]
        client.commitCompaction(of_others, client.compact(of_others).getCommitMetadata().get(), nothing)
    assert serve(lake, "clean").held == ()
    assert amounts(lake) == {"a": Decimal("4.00"), "b": Decimal("1.00")}

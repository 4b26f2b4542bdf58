"""Table services beside the runs: what a known reader has not read yet stays."""

from __future__ import annotations

from decimal import Decimal

from freshet.hudi.timeline import TimelineState
from freshet.run.pending import schedule_clustering
from freshet.run.service import Service, ServiceResult, run_services, service_client
from tests.kit.lake import Lake, rows

LEFT_TO_THE_SERVICE = {
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clean.commits.retained": 1,
    "hoodie.keep.min.commits": 2,
    "hoodie.keep.max.commits": 3,
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
}


def serve(lake: Lake, *wanted: Service) -> ServiceResult:
    return run_services(lake.spec("first"), TimelineState(), wanted or ("compact", "clean", "archive"), lake.events.append)


def test_a_reader_that_is_behind_holds_cleaning_and_not_compaction(lake: Lake) -> None:
    lake.pipeline("first", table_type="mor", hoodie=LEFT_TO_THE_SERVICE)
    lake.pipeline("second", source="derived.first")
    lake.land(rows(("a", 1, "1.00"), ("b", 1, "2.00")))
    assert {name: r.outcome for name, r in lake.run_all().items()} == {"first": "committed", "second": "committed"}
    for ts in (2, 3, 4):
        lake.land(rows(("a", ts, f"{ts}.00")))
        lake.run_ok("first")

    found = serve(lake)
    assert found.done["compact"] != "nothing to do"
    assert (found.done["clean"], found.done["archive"]) == ("left", "left")
    assert len(found.held) == 1
    assert lake.run_ok("second").outcome == "committed"
    newest = [("a", Decimal("4.00")), ("b", Decimal("2.00"))]
    assert lake.rows("derived.second", "id", "amount") == newest

    # It has read all: a compaction leaves old slices behind, and now they go.
    lake.land(rows(("a", 5, "5.00")))
    lake.run_ok("first")
    lake.run_ok("second")
    found = serve(lake)
    assert found.held == ()
    assert found.done["clean"] != "nothing to do"
    assert lake.state("derived.first").retained_from
    assert lake.rows("derived.first", "id", "amount") == lake.rows("derived.second", "id", "amount")
    assert lake.run_ok("first").outcome == lake.run_ok("second").outcome == "idle"


def test_a_clustering_that_was_left_unfinished_is_finished_or_given_up(lake: Lake) -> None:
    lake.pipeline(
        "first",
        hoodie={
            **LEFT_TO_THE_SERVICE,
            "hoodie.index.type": "RECORD_INDEX",
            "hoodie.metadata.record.index.min.filegroup.count": 1,
            "hoodie.metadata.record.index.max.filegroup.count": 1,
        },
    )

    def left_behind() -> bool:
        """As a service that was killed leaves it."""
        with service_client(lake.spark, lake.spec("first")) as (client, _):
            return bool(schedule_clustering(lake.spark, lake.spec("first"), client))

    def pending() -> list[str]:
        timeline = lake.root / "derived/first/.hoodie/timeline"
        done = {p.name.partition("_")[0] for p in timeline.glob("*.replacecommit")}
        return [p.name for p in timeline.glob("*.clustering.requested") if p.name.partition(".")[0] not in done]

    def notices() -> list[str]:
        return [e.message for e in lake.events if "CLUSTERING_RESUMED" in e.message]

    lake.land(rows(("a", 1, "1.00"), ("b", 1, "2.00")))
    lake.run_ok("first")
    assert left_behind()
    assert pending()
    serve(lake, "cluster")
    assert (pending(), len(notices())) == ([], 1)
    assert notices()[0].endswith("is done now")
    assert lake.state("derived.first").commits[-1].action == "replacecommit"

    # A run is faster than the clustering of another day, which must not take its row back.
    lake.land(rows(("c", 1, "1.00"), ("d", 1, "2.00"), day="2026-01-06"))
    lake.run_ok("first")
    assert left_behind()
    lake.land(rows(("c", 2, "9.00"), ("e", 2, "3.00"), day="2026-01-06"))
    lake.run_ok("first")
    serve(lake, "cluster")
    assert "given up" in notices()[1]
    assert pending() == []
    assert [int(amount) for _, amount in lake.rows("derived.first", "id", "amount")] == [1, 2, 9, 2, 3]
    lake.land(rows(("d", 3, "4.00"), day="2026-01-06"))
    lake.run_ok("first")
    assert [int(amount) for _, amount in lake.rows("derived.first", "id", "amount")] == [1, 2, 9, 4, 3]

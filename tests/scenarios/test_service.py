"""Table services beside the runs: what a known reader has not read yet stays."""

from __future__ import annotations

from decimal import Decimal

from framework.runtime.service import Service, ServiceResult, run_services
from framework.state.timeline import TimelineState
from tests.integration.lake import Lake, rows

LEFT_TO_THE_SERVICE = {
    "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false",
    "hoodie.clean.commits.retained": 1, "hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3,
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

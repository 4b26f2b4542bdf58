"""What real runs tell of themselves: OpenLineage events with Hudi's own commits, and an account that closes along two runs.

The kind: what stands in the commits, checkpoints and events of runs that no test has made by hand. Else: tests/unit/lineage and
tests/unit/account.
"""

from __future__ import annotations

import json
from pathlib import Path

from freshet.hudi.instants import is_instant
from tests.kit.commands import freshet
from tests.kit.lake import Lake, rows
from tests.kit.openlineage import check

CHECKS = """\
checks:
  - {name: small, severity: drop, where: "amount > 100"}
  - {name: fresh, severity: warn, freshness: {column: at, within: 1h}}
"""


def test_two_pipelines_are_told_and_accounted_for(lake: Lake, tmp_path: Path) -> None:
    file = tmp_path / "lineage.jsonl"
    told = ("--set", f"lineage.file={file}")
    sql = "SELECT id, ts, amount, day, to_timestamp(day) AS at FROM <SRC> WHERE amount > 0"
    lake.pipeline("copy", sql, columns=",\n  at TIMESTAMP", top=CHECKS)
    lake.pipeline("again", source="derived.copy")
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    freshet(lake, "run", "--all", *told)
    lake.land(rows(("a", 2, "2"), ("c", 2, "500"), ("d", 2, "-1")))
    freshet(lake, "run", "--all", *told)
    freshet(lake, "run", "--all", *told)

    events = [json.loads(line) for line in file.read_text().splitlines()]
    for event in events:
        check(event)
    kinds = [(event["job"]["name"], event["eventType"]) for event in events]
    assert kinds == [("copy", "START"), ("copy", "COMPLETE"), ("again", "START"), ("again", "COMPLETE")] * 2, "and none idle"
    done = events[5]
    target, apart = done["outputs"]
    assert target["outputFacets"]["outputStatistics"]["rowCount"] == 1
    assert apart["outputFacets"]["outputStatistics"]["rowCount"] == 1
    assert is_instant(target["facets"]["version"]["datasetVersion"])
    assert target["facets"]["columnLineage"]["fields"]["amount"]["inputFields"][0]["name"] == lake.path("raw.events")
    assert done["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 3
    assert [one["name"] for one in done["inputs"][0]["facets"]["schema"]["fields"] if one["name"][0] != "_"] == [
        "id",
        "ts",
        "amount",
        "day",
    ]
    checks = target["facets"]["dataQualityAssertions"]["assertions"]
    assert [(one["name"], one["success"]) for one in checks] == [("small", False), ("fresh", False)]

    copy, again = freshet(lake, "account", "copy", "again")["accounts"]
    assert (copy["is_closed"], again["is_closed"], again["unclosed"]) == (True, True, [])
    assert copy["sources"][0]["sums"] == {"taken": {"commits": 1, "rows": 3}, "whole": {"commits": 1, "rows": 2}}
    last = copy["commits"][-1]
    assert {name: last[name] for name in ("rows_in", "by_logic", "quarantined", "by_write", "published")} == {
        "rows_in": 3,
        "by_logic": 1,
        "quarantined": 1,
        "by_write": 0,
        "published": 1,
    }
    assert again["commits"][-1]["rows_in"] == last["published"]

    found = {
        (one["name"], *list(one["labels"].values())[1:]): one["value"]
        for one in freshet(lake, "status", "--metrics")["metrics"]
    }
    assert found["freshet_runs_total", "copy", "committed"] == 2
    assert found["freshet_runs_total", "copy", "idle"] == 1
    assert found["freshet_processed_rows_total", "copy", "quarantined"] == 1
    assert found["freshet_target_event_timestamp_seconds", "copy", "fresh"] == 1767571200

    skipped = lake.land(rows(("e", 3, "3")))
    freshet(lake, "checkpoint", "set", "copy", skipped)
    (dropped,) = freshet(lake, "account", "copy", code=7)["accounts"]
    assert [(one["what"], one["fate"]) for one in dropped["sources"][0]["commits"] if one["why"]] == [(skipped, "dropped")]

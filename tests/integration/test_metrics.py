"""What two real runs leave is what ``freshet status --metrics`` tells: Hudi's own commits, their files, checks and records.

The kind: names and places in commits and records that a hand-made timeline has, and Hudi's does not. Else: tests/unit/metrics.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kit.commands import freshet
from tests.kit.lake import Lake, rows

CHECK = 'checks: [{name: small, severity: drop, where: "amount > 100"}]\n'


def test_two_runs_are_told(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    lake.pipeline(table_type="mor", top=f"{CHECK}slo: {{freshness: 30m, max_runtime: 1h}}\n")
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    freshet(lake, "run", "copy")
    lake.land(rows(("a", 2, "2"), ("c", 2, "500")))
    lake.land(rows(("b", 3, "3")))
    freshet(lake, "run", "copy", "--set", f"metrics.textfile={tmp_path / 'out'}")
    lake.land(rows(("a", 4, "4")))
    told = freshet(lake, "status", "--metrics")["metrics"]
    found: dict[tuple[str, ...], Any] = {(one["name"], *list(one["labels"].values())[2:]): one["value"] for one in told}

    def labelled(name: str) -> dict[str, Any]:
        return {labels[1]: value for labels, value in found.items() if labels[0] == name and len(labels) == 2}

    changed = labelled("freshet_last_commit_rows")
    # New rows of a bucket that stands already are logged, and count as updated.
    assert (changed["read"], changed["inserted"] + changed["updated"], changed["quarantined"]) == (3, 2, 1)
    assert found["freshet_last_commit_source_commits",] == 2
    assert {"total", "transform", "write"} <= labelled("freshet_last_commit_duration_seconds").keys()
    assert labelled("freshet_last_run_result") == {
        one: int(one == "committed") for one in ("committed", "idle", "failed", "killed", "busy", "skipped")
    }
    assert found["freshet_check_rows", "small"] == 1
    assert found["freshet_check_result", "small", "dropped"] == 1
    files, sizes = labelled("freshet_last_commit_files"), labelled("freshet_last_commit_size_bytes")
    assert files["log"] + files["base"] >= 1
    assert sizes["log"] + sizes["base"] > 0
    (waiting,) = labelled("freshet_source_waiting_rows").values()
    assert waiting == 1
    assert 0 < next(iter(labelled("freshet_source_lag_seconds").values())) < 3600
    assert found["freshet_slo_result", "freshness", "kept"] == 1
    assert found["freshet_target_compaction_debt_commits",] == 2
    text = (tmp_path / "out" / "freshet_base_copy.prom").read_text()
    assert 'freshet_last_run_result{env="base",pipeline="copy",result="committed"} 1\n' in text

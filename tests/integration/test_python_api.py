"""The Python API on real tables: the page docs/python.md from top to bottom, and the JSON of the command for the same calls."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import freshet as api
from tests.kit.backfills import BY_DAY, OCC
from tests.kit.commands import freshet
from tests.kit.lake import Lake, rows
from tests.kit.whole import WHOLE

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
# Times and names that each run has anew.
ITS_OWN = ("run_id", "commits", "seconds", "pipeline")


def _alike(run: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key not in ITS_OWN}


def test_the_page_runs_and_calls_are_the_commands(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else: a call that plans or publishes otherwise than the command; a page that no longer runs."""
    lake = Lake(spark, tmp_path)
    lake.project_root = lake.project_root.rename(tmp_path / "demo")
    lake.land(rows(("a", 1, "1.00"), ("b", 1, "2.00")))
    for name in ("order_totals", "by_command"):
        lake.pipeline(name, top=BY_DAY % "upsert", hoodie=OCC)
    monkeypatch.chdir(tmp_path)
    if not WHOLE:
        # Its chunks are the subject of tests/backfill; the page does them at night.
        done = api.BackfillResult(pipeline="order_totals", backfill="", chunks=1, done=1)
        monkeypatch.setattr("freshet.api.backfills.run_backfill", lambda *_: done)
        right = api.AuditResult(pipeline="order_totals", target="", commit="", checkpoint="", checked=2)
        monkeypatch.setattr("freshet.api.audits.run_audit", lambda *_: right)
    plan = api.Project.load("demo").plan("order_totals").as_json()
    assert json.loads(json.dumps(plan, default=str)) == freshet(lake, "plan", "order_totals")["plans"][0]

    said, names = io.StringIO(), {"__name__": "page"}
    with contextlib.redirect_stdout(said):
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            exec(compile(block, str(PAGE), "exec"), names)
    result: Any = names["result"]
    assert (result.outcome, result.inserts) == ("committed", 2)
    assert _alike(json.loads(json.dumps(result.as_json()))) == _alike(freshet(lake, "run", "by_command")["runs"][0])
    assert (names["done"].done, names["done"].failed) == (1, {})  # type: ignore[attr-defined]
    assert (names["found"].outcome, names["found"].checked) == ("equal", 2)  # type: ignore[attr-defined]
    assert "order_totals up_to_date" in said.getvalue()
    assert sorted(lake.rows("derived.order_totals")) == sorted(lake.rows("derived.by_command"))

"""Runs over a folder where files land: each once, what is none in the quarantine, and events of a changelog.

Which files a run reads is tested without Spark (tests/unit/sources/test_files_*.py), and what becomes of their rows on frames
(test_files_read.py).
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest

from freshet.changelog.fields import event_type
from freshet.hudi.checkpoint import EVENTS_KEY
from freshet.quarantine.table import ROW
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS

DDL = """\
CREATE TABLE derived.copy (id STRING NOT NULL, n INT, file STRING)
USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'n', type = 'cow')
"""
SQL = "SELECT id, n, _file.path AS file FROM <SRC>\n"
YML = """\
ddl: ddl/copy.sql
transform: transformers/copy.sql
source:
  columns: {{id: string, n: int}}
  files: {{quiet: 0s, max_files: 2}}
checks: {checks}
hoodie:
  hoodie.streamer.source.dfs.root: "{root}"
"""
DROP = "[{name: readable, severity: drop, malformed: true}]"
LOG_DDL = """\
CREATE TABLE derived.copy (id STRING NOT NULL, tip INT) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor')
"""
LOG = """\
ddl: ddl/copy.sql
source: {{format: changelog, changelog: {{adapter: freshet}}, files: {{quiet: 0s, format: {kind}}}}}
checks:
  - {{name: conforms, severity: drop, malformed: true}}
hoodie:
  hoodie.streamer.source.dfs.root: "{root}"
"""


def put(lake: Lake, name: str, data: bytes | str) -> None:
    path = lake.root / "landing" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    # Quiet by now, whatever the clock of the file system is.
    os.utime(path, (time.time() - 5,) * 2)


def aside(lake: Lake) -> list[dict[str, Any]]:
    table = lake.spark.read.format("hudi").load(lake.path("derived.copy_quarantine"))
    return sorted((json.loads(row[ROW]) for row in table.select(ROW).collect()), key=str)


def test_files_are_read_run_by_run_and_what_is_none_is_named_in_the_quarantine(lake: Lake) -> None:
    lake.write_file("ddl/copy.sql", DDL)
    lake.write_file("transformers/copy.sql", SQL)

    def pipeline(checks: str) -> None:
        lake.write_file("pipelines/copy.yml", YML.format(root=lake.root / "landing", checks=checks) + ACCEPTS)

    pipeline(DROP)
    put(lake, "a", '{"id": "a", "n": 1}\n{"id": "b", "n": 1}\nno json\n')
    put(lake, "b", b"\x1f\x8b\x08")
    put(lake, "c", '{"id": "b", "n": 2}\n')
    put(lake, "d.tmp", '{"id": "x", "n": 2}\n')
    first = lake.run_ok()
    assert (first.waiting_commits, first.quarantined) == (1, 2)
    lake.run_ok(drain=True)
    assert lake.rows("derived.copy", "id", "n", "file") == [("a", 1, "a"), ("b", 2, "c")]
    assert [(row["path"], row.get("size"), row.get("line")) for row in aside(lake)] == [("a", None, "no json"), ("b", 3, None)]
    assert lake.run_ok().outcome == "idle"
    pipeline("[]")
    for data, code, place in (
        (b"no json", "RECORD_UNREADABLE", "path=e"),
        (b"\x1f\x8b\x08", "FILES_UNREADABLE", "e (3 bytes)"),
    ):
        put(lake, "e", data)
        failed = lake.run()
        assert failed.error is not None
        assert (failed.error.code, place in failed.error.message) == (code, True), failed.error
    # What was refused was not read.
    put(lake, "e", '{"id": "e", "n": 1}\n')
    lake.run_ok()
    assert lake.rows("derived.copy", "id")[-1] == ("e",)


def an_event(key: str, ref: int, tip: int | None, deleted: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {name: None for name, _ in event_type().fields}
    told |= {"row_key": key, "ref_key": str(ref), "source": "pg", "timestamp": 1000, "is_deleted": deleted}
    return {"id": key, "tip": tip, "_event": {**told, "force_update": False}}


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_events_in_files_are_merged_and_counted_and_a_file_that_is_none_goes_aside(lake: Lake, kind: str) -> None:
    lake.write_file("ddl/copy.sql", LOG_DDL)
    lake.write_file("pipelines/copy.yml", LOG.format(kind=kind, root=lake.root / "landing") + ACCEPTS)

    def land(name: str, *events: dict[str, Any]) -> None:
        if kind == "json":
            put(lake, name, "\n".join(json.dumps(event) for event in events))
            return
        text = [json.dumps(event) for event in events]
        (lake.root / "events.json").write_text("\n".join(text))
        rows = lake.spark.read.schema(f"id string, tip int, _event {event_type()}").json(str(lake.root / "events.json"))
        rows.coalesce(1).write.mode("overwrite").parquet(str(lake.root / "written"))
        put(lake, name, next((lake.root / "written").glob("*.parquet")).read_bytes())

    land("1", an_event("a", 2, 2), an_event("a", 1, 1), an_event("b", 1, 1))
    put(lake, "broken", b"\x1f\x8b")
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "tip", "_event_deleted") == [("a", 2, False), ("b", 1, False)]
    told = json.loads(lake.state().latest_extra(EVENTS_KEY) or "{}")
    assert (told["in"], told["published"], told["older"], told["aside"]) == (4, 2, 1, 1)
    assert [row["path"] for row in aside(lake)] == ["broken"]
    land("2", an_event("b", 2, None, deleted=True))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "tip", "_event_deleted") == [("a", 2, False), ("b", None, True)]

"""A changelog's table is loaded from a backup, then its log is read: both are merged by the place that the backup names.

What the plan is, and what is refused, tests/unit/plan/test_bootstrap.py has without Spark; that the log of a real database is
read from that place, tests/databases/test_backups.py.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from freshet.changelog.fields import event_type
from freshet.changelog.log_place import reference_key
from freshet.hudi.checkpoint import BOOTSTRAP_KEY, EVENTS_KEY
from freshet.quarantine.table import ROW
from freshet.run import executor
from freshet.sinks.commit import write_commit
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS

DDL = """\
CREATE TABLE derived.copy (id INT NOT NULL, amount DECIMAL(10,2), at TIMESTAMP, note STRING)
USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor')
"""
YML = """\
ddl: ddl/copy.sql
source:
  format: changelog
  changelog: {{adapter: freshet, reference_key: {{kind: given, form: text}}, values: {{times: text, zone: UTC}}}}
  files: {{quiet: 0s}}
  bootstrap: {{position: 0/10, {backup}}}
checks:
  - {{name: conforms, severity: drop, malformed: true}}
hoodie:
  hoodie.streamer.source.dfs.root: "{root}/log"
"""
AT = "2026-02-03 04:05:06.123456"
ROW_TYPE = "id int, amount decimal(10,2), at timestamp, note string"
#: Where the log is when the backup is made.
PLACE = 16


class Died(BaseException):
    """Stands for kill -9: nothing is caught, nothing is tidied up."""


def dies_before(*args: Any, **more: Any) -> None:
    raise Died


def dies_behind(*args: Any, **more: Any) -> None:
    write_commit(*args, **more)
    raise Died


def pipeline(lake: Lake, backup: str) -> None:
    lake.write_file("ddl/copy.sql", DDL)
    lake.write_file("pipelines/copy.yml", YML.format(backup=backup, root=lake.root) + ACCEPTS)


def row(key: int, note: str) -> dict[str, Any]:
    return {"id": key, "amount": "1.50", "at": AT, "note": note}


def an_event(key: int, number: int, note: str | None) -> dict[str, Any]:
    """Return a change at a place in the log; without a note the row is deleted."""
    told: dict[str, Any] = {name: None for name, _ in event_type().fields}
    told |= {"row_key": str(key), "ref_key": reference_key(number, 1), "timestamp": 1000 * number, "is_deleted": note is None}
    return {**(row(key, note) if note is not None else {"id": key}), "_event": {**told, "force_update": False}}


def log(lake: Lake, name: str, *events: dict[str, Any]) -> None:
    path = lake.root / "log" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, events)))
    os.utime(path, (time.time() - 5,) * 2)


def put(lake: Lake, kind: str, *rows: dict[str, Any], **options: Any) -> None:
    """Write a backup by Spark."""
    text = lake.root / "rows.json"
    text.write_text("\n".join(map(json.dumps, rows)))
    read = lake.spark.read.schema(ROW_TYPE).json(str(text))
    read.coalesce(1).write.mode("overwrite").format(kind).options(**options).save(str(lake.root / "backup"))


def counts(lake: Lake) -> list[tuple[str, int, int, int, int]]:
    """Return of each commit its operation, and what became of its events."""
    state, found = lake.state(), []
    for one in state.commits:
        info = state.info(one)
        told = json.loads(info.extra[EVENTS_KEY])
        assert told["in"] == told["published"] + told["older"] + told["aside"] + told["skipped"]
        found.append((info.operation, told["in"], told["published"], told["older"], told["aside"]))
    return found


def shown(lake: Lake) -> list[tuple[Any, ...]]:
    return lake.rows("derived.copy", "id", "note", "_event_deleted")


MERGED = [
    (1, "newer", False),
    (2, "backup", False),
    (3, None, True),
    (4, "backup", False),
    (5, None, True),
    (6, "came", False),
]


def overlap(lake: Lake) -> None:
    """Write a log that begins before the backup: what changed before its place loses, and what changed after it wins."""
    log(
        lake,
        "1.json",
        an_event(1, 10, "older"),
        an_event(2, 12, "older"),
        an_event(5, 12, "came and went"),
        an_event(5, 14, None),
        an_event(1, PLACE, "newer"),
        an_event(3, 20, None),
        an_event(6, 21, "came"),
    )


def test_a_backup_and_the_log_are_merged_whenever_the_load_dies(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline(lake, f"from: files, path: {lake.root}/backup, format: parquet")
    put(lake, "parquet", *(row(key, "backup") for key in (1, 2, 3, 4)))
    overlap(lake)

    def dying(how: Callable[..., None]) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(executor, "write_commit", how)
            with pytest.raises(Died):
                lake.run(drain=True)

    dying(dies_before)
    assert not lake.state().commits if (lake.root / "derived/copy/.hoodie").exists() else True
    dying(dies_behind)
    assert [row[1] for row in shown(lake)] == ["backup"] * 4
    # One command: what was loaded is not loaded again, and the log follows.
    lake.run_ok(drain=True)
    assert shown(lake) == MERGED
    assert counts(lake) == [("BULK_INSERT", 4, 4, 0, 0), ("UPSERT", 7, 4, 3, 0)]
    assert json.loads(lake.state().latest_extra(BOOTSTRAP_KEY) or "{}")["position"] == "0/10"
    assert lake.run_ok(drain=True).outcome == "idle"


@pytest.mark.parametrize(
    ("kind", "said", "options"),
    [
        ("csv", "format: csv, csv: {header: true, escape: '\"'}", {"header": "true", "escape": '"'}),
        ("json", "format: json", {}),
        ("orc", "format: orc", {}),
        ("avro", "format: avro", {}),
    ],
)
def test_what_a_backup_of_files_may_be(lake: Lake, kind: str, said: str, options: dict[str, str]) -> None:
    pipeline(lake, f"from: files, path: {lake.root}/backup, {said}, pattern: 'part-*'")
    odd = 'a "quoted", ä\ttext'
    put(lake, kind, row(1, odd), {"id": 2}, {"id": 3, "note": ""}, **options)
    overlap(lake)
    lake.run_ok()
    table = lake.spark.read.format("hudi").load(lake.path("derived.copy"))
    shown_at = "date_format(at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    found = sorted(tuple(one) for one in table.selectExpr("id", "amount", shown_at, "note").collect())
    # Spark writes a time of CSV in milliseconds, and one of JSON too.
    exact = AT if kind in ("orc", "avro") else AT[:-3]
    assert found[1:] == [(2, None, None, None), (3, None, None, "")]
    assert (found[0][:2], found[0][3], str(found[0][2]).startswith(exact)) == ((1, Decimal("1.50")), odd, True)


def test_a_row_of_a_backup_that_is_none_goes_aside_and_is_counted(lake: Lake) -> None:
    pipeline(lake, f"from: files, path: {lake.root}/backup, format: json")
    folder = lake.root / "backup"
    folder.mkdir()
    lines = [json.dumps(row(1, "good")), '{"id": 2, "amount": "1.555"}', '{"note": "no key"}']
    (folder / "a.json").write_text("\n".join(lines))
    log(lake, "1.json")
    lake.run_ok()
    assert [one[0] for one in shown(lake)] == [1]
    assert counts(lake) == [("BULK_INSERT", 3, 1, 0, 2)]
    table = lake.spark.read.format("hudi").load(lake.path("derived.copy_quarantine"))
    assert sorted("no key" in found[ROW] for found in table.select(ROW).collect()) == [False, True]


def test_a_backup_that_is_a_table_of_hudi(lake: Lake) -> None:
    """Also one that freshet merged from events itself, which keeps a mark of each deleted row."""
    schema = f"{ROW_TYPE}, ts bigint, _event_deleted boolean"
    keyed = {"hoodie.datasource.write.partitionpath.field": ""}
    moment = lake.spark.sql(f"select timestamp'{AT}'").first()
    assert moment is not None
    batch = [(key, Decimal("1.50"), moment[0], "backup", 1, key == 9) for key in (1, 2, 3, 4, 9)]
    lake.land(batch, table="raw.old", schema=schema, **keyed)
    pipeline(lake, f"from: hudi, path: {lake.path('raw.old')}")
    overlap(lake)
    lake.run_ok(drain=True)
    assert shown(lake) == MERGED


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_table_that_spark_has_no_reader_of_is_refused_in_words(lake: Lake, kind: str) -> None:
    pipeline(lake, f"from: {kind}, path: {lake.root}/backup")
    (lake.root / "log").mkdir()
    failed = lake.run()
    assert failed.error is not None
    assert (failed.error.code, "spark.jars" in failed.error.next_step) == ("BACKUP_READER_MISSING", True), failed.error
    assert lake.run().error is not None, "nothing was written"


def test_a_record_index_is_made_by_the_load_or_afterwards(lake: Lake) -> None:
    from tests.kit.commands import freshet

    pipeline(lake, f"from: files, path: {lake.root}/backup, format: parquet")
    file = lake.project_root / "pipelines/copy.yml"
    file.write_text(file.read_text().replace("hoodie:\n", "hoodie:\n  hoodie.index.type: RECORD_INDEX\n"))
    put(lake, "parquet", *(row(key, "backup") for key in (1, 2, 3, 4)))
    overlap(lake)
    done = freshet(lake, "index", "bootstrap", "copy")
    assert (done["done"], done["rows"]) == ("bootstrapped", 4)
    lake.run_ok(drain=True)
    assert shown(lake) == MERGED
    assert lake.index_agrees()

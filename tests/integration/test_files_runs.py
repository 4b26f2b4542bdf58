"""Runs over folders where files land: one of each format, what cannot be read, and events of a changelog.

Which files a run reads is tested without Spark (tests/unit/sources/test_files_*.py). Here: that their rows are those that were
written, and that nothing of a file that is none is taken for rows or lost.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

from freshet.changelog.fields import event_type
from freshet.hudi.checkpoint import EVENTS_KEY
from freshet.quarantine.table import ROW
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS

DDL = """\
CREATE TABLE derived.copy (id STRING NOT NULL, n INT, amount DECIMAL(10,2), at TIMESTAMP, file STRING)
USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'n', type = 'cow')
"""
SQL = "SELECT id, n, amount, at, _file.path AS file FROM <SRC>\n"
YML = """\
ddl: ddl/copy.sql
transform: transformers/copy.sql
source:
  format: {kind}
  columns: {{id: string, n: int, amount: 'decimal(10,2)', at: timestamp}}
  files: {{quiet: 0s}}
checks:
  {checks}
hoodie:
  hoodie.streamer.source.dfs.root: "{root}"
{hoodie}"""
DROP = "- {name: readable, severity: drop, malformed: true}"
SHOWN = ("id", "n", "amount")
SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int32()), ("amount", pa.decimal128(10, 2)), ("at", pa.timestamp("us"))])
Rows = list[tuple[str, int]]


class Landing:
    """A folder where files land, and the pipeline that reads it."""

    def __init__(self, lake: Lake, kind: str, hoodie: str = "", checks: str = DROP) -> None:
        self.lake, self.kind, self.root = lake, kind, lake.root / "land ing 50%"
        self.root.mkdir()
        lake.write_file("ddl/copy.sql", DDL)
        lake.write_file("transformers/copy.sql", SQL)
        body = YML.format(kind=kind, root=self.root, checks=checks, hoodie=hoodie)
        lake.write_file("pipelines/copy.yml", body + ACCEPTS)

    def put(self, name: str, data: bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        # Quiet by now, whatever the clock of the file system is.
        os.utime(path, (time.time() - 5,) * 2)
        return path

    def write(self, name: str, rows: Rows) -> Path:
        return self.put(name, WRITERS[self.kind](rows))

    @property
    def aside(self) -> list[dict[str, Any]]:
        table = self.lake.spark.read.format("hudi").load(self.lake.path("derived.copy_quarantine"))
        return sorted((json.loads(row[ROW]) for row in table.select(ROW).collect()), key=str)


def _table(rows: Rows) -> pa.Table:
    told = [{"id": key, "n": n, "amount": Decimal(n) / 4, "at": 1_700_000_000_000_000} for key, n in rows]
    return pa.Table.from_pylist(told, SCHEMA)


def _json(rows: Rows) -> bytes:
    lines = [json.dumps({"id": key, "n": n, "amount": n / 4, "at": "2023-11-14T22:13:20Z"}) for key, n in rows]
    return "\n".join([*lines, "", ""]).encode()


def _csv(rows: Rows) -> bytes:
    # In another order than the columns have, with one that is none of them.
    lines = [f'{n};"{key}";{n / 4};x;2023-11-14 22:13:20' for key, n in rows]
    return "\r\n".join(["n;id;amount;more;at", *lines]).encode()


def _parquet(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(_table(rows), sink)
    return bytes(sink.getvalue())


def _orc(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    orc.write_table(_table(rows), sink)
    return bytes(sink.getvalue())


def _avro(rows: Rows) -> bytes:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    fields = [
        {"name": "id", "type": "string"},
        {"name": "n", "type": ["null", "int"]},
        {"name": "amount", "type": decimal},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ]
    sink = io.BytesIO()
    told = [{"id": key, "n": n, "amount": Decimal(n) / 4, "at": 1_700_000_000_000_000} for key, n in rows]
    fastavro.writer(sink, fastavro.parse_schema({"type": "record", "name": "r", "fields": fields}), told)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
}
OF_CSV = "  hoodie.streamer.csv.header: true\n  hoodie.streamer.csv.sep: ';'\n"


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "orc", "avro"])
def test_rows_of_each_format_are_published_once_and_a_file_that_is_none_goes_aside_whole(lake: Lake, kind: str) -> None:
    land = Landing(lake, kind, OF_CSV if kind == "csv" else "")
    land.write("day=1/a%20 b", [("a", 1), ("b", 2)])
    whole = land.write("whole", [(f"w{n}", n) for n in range(2000)]).read_bytes()
    land.put("broken", b"\x1f\x8b" if kind in ("json", "csv") else whole[: len(whole) // 2])
    if kind in ("json", "csv"):
        land.put("c.gz", gzip.compress(WRITERS[kind]([("c", 3)])))
        # Packed as a whole, cut off behind its beginning.
        land.put("cut.gz", gzip.compress(WRITERS[kind]([(f"x{n}", n) for n in range(9000)]), 1)[:-40])
    lake.run_ok()
    named = {row["path"]: row for row in land.aside}
    assert set(named) == ({"broken", "cut.gz"} if kind in ("json", "csv") else {"broken"})
    assert named["broken"]["size"] == (land.root / "broken").stat().st_size
    rows = lake.rows("derived.copy", "id", "n", "amount", "at", "file")
    assert len(rows) == (2003 if kind in ("json", "csv") else 2002)
    assert rows[0][:3] == ("a", 1, Decimal("0.25"))
    assert (str(rows[0][3]), rows[0][4]) == ("2023-11-14 22:13:20", "day=1/a%20 b")
    again = lake.run_ok()
    assert again.outcome == "idle"
    land.write("d", [("d", 4)])
    lake.run_ok()
    assert ("d", 4, Decimal("1.00")) in lake.rows("derived.copy", *SHOWN)


def test_a_row_that_does_not_fit_goes_aside_with_its_line_and_fails_the_run_without_a_check(lake: Lake) -> None:
    land = Landing(lake, "json")
    lines = [
        b'{"id": "a", "n": 1}',
        b'{"id": "b", "n": 1.5}',
        b'{"id": "c"} {"id": "d"}',
        b'{"id": "\xff"}',
        b"",
        b"no json",
        b'{"id": "e", "amount": 1.005}',
    ]
    land.put("a", b"\n".join(lines))
    lake.run_ok()
    assert [row[0] for row in lake.rows("derived.copy", *SHOWN)] == ["a"]
    assert {row.get("line") or row["line_base64"] for row in land.aside} == {
        '{"id": "b", "n": 1.5}',
        '{"id": "c"} {"id": "d"}',
        "eyJpZCI6ICL/In0=",
        "no json",
        '{"id": "e", "amount": 1.005}',
    }
    shutil.rmtree(land.root)
    strict = Landing(lake, "json", checks="[]")
    strict.put("b", b"no json")
    failed = lake.run()
    assert failed.error is not None
    assert (failed.error.code, "path=b" in failed.error.message) == ("RECORD_UNREADABLE", True)
    strict.put("b", b"\x1f\x8b\x08")
    failed = lake.run()
    assert failed.error is not None
    assert (failed.error.code, "b (3 bytes)" in failed.error.message) == ("FILE_UNREADABLE", True)


def test_values_of_csv_that_do_not_fit_go_aside(lake: Lake) -> None:
    land = Landing(lake, "csv", OF_CSV)
    good = ["1;a;0.25;;2023-11-14 22:13:20", ";b;;;", '2;"c;""d";1;;']
    bad = ["1.5;x;1;;", "99999999999;x;1;;", "1;x;0.255;;", "1;x;1;;10:15", "1;x", "1;x;1;;;;", "1;x\ufffd;1;;"]
    land.put("a.csv", "\n".join(["n;id;amount;more;at", *good, *bad]).encode())
    land.put("other names.csv", b"x;y\n1;2\n")
    land.put("twice.csv", b"id;ID\n1;2\n")
    lake.run_ok()
    assert lake.rows("derived.copy", *SHOWN) == [("a", 1, Decimal("0.25")), ("b", None, None), ('c;"d', 2, Decimal("1.00"))]
    assert len(land.aside) == len(bad) + 2


def test_files_of_several_schemas_are_read_each_by_its_own(lake: Lake) -> None:
    land = Landing(lake, "parquet")

    def put(name: str, **columns: Any) -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), sink)
        land.put(name, bytes(sink.getvalue()))

    put("narrow", ID=["a"], n=pa.array([1], pa.int8()))
    put("wide", n=pa.array([2, 2**40], pa.int64()), id=["b", "x"], more=[1, 2])
    put("other", id=["y"], n=["1"])
    put("none", z=[1])
    lake.run_ok()
    assert lake.rows("derived.copy", *SHOWN) == [("a", 1, None), ("b", 2, None)]
    assert {row["path"] for row in land.aside} == {"wide", "other", "none"}


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


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_events_in_files_are_merged_and_counted_and_what_is_none_goes_aside(lake: Lake, kind: str) -> None:
    land = Landing(lake, kind)
    lake.write_file("ddl/copy.sql", LOG_DDL)
    lake.write_file("pipelines/copy.yml", LOG.format(kind=kind, root=land.root) + ACCEPTS)

    def an_event(key: str, ref: int, tip: int | None, deleted: bool = False) -> dict[str, Any]:
        told = {name: None for name, _ in event_type().fields}
        told |= {"row_key": key, "ref_key": str(ref), "source": "pg", "timestamp": 1000, "is_deleted": deleted}
        return {"id": key, "tip": tip, "_event": {**told, "force_update": False}}

    def put(name: str, *events: dict[str, Any]) -> None:
        if kind == "json":
            land.put(name, "\n".join(json.dumps(event) for event in events).encode())
            return
        rows = lake.spark.createDataFrame([], f"id string, tip int, _event {event_type()}")
        found = lake.spark.read.schema(rows.schema).json(lake.spark.sparkContext.parallelize(map(json.dumps, events), 1))
        folder = lake.root / "written"
        found.coalesce(1).write.mode("overwrite").parquet(str(folder))
        land.put(name, next(folder.glob("*.parquet")).read_bytes())

    put("1", an_event("a", 2, 2), an_event("a", 1, 1), an_event("b", 1, 1))
    land.put("broken", b"\x1f\x8b")
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "tip", "_event_deleted") == [("a", 2, False), ("b", 1, False)]
    told = json.loads(lake.state().latest_extra(EVENTS_KEY) or "{}")
    assert (told["in"], told["published"], told["older"], told["aside"]) == (4, 2, 1, 1)
    assert [row["path"] for row in land.aside] == ["broken"]
    put("2", an_event("b", 2, None, deleted=True))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "tip", "_event_deleted") == [("a", 2, False), ("b", None, True)]

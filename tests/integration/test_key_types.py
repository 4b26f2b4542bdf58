"""One text for each key, whatever its type and whichever way its row was written: no key stands twice.

Of this kind: every type that a DDL can name, alone and in a key of several columns; a first load by bulk insert, an upsert,
an insert, an overwrite, a backfill's chunk, a replay out of the quarantine, a migration to another index; each table type
and each index. The text is what Hudi's own writer makes by an upsert, and a bucket is drawn from it. So does a date that
is older than a calendar: a bulk insert lost its row, and gave the row's key to the next one.
"""

from __future__ import annotations

import os
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from freshet.backfill.plan import BackfillRequest
from freshet.backfill.run import run_backfill
from freshet.errors import FreshetError
from freshet.hudi.timeline import TimelineState
from freshet.index.hbase.building import Layout
from freshet.index.ops.make import bootstrap_index
from freshet.index.ops.migrate import migrate_index
from freshet.project.load.project import load_project
from freshet.run.runner import replay_quarantine
from tests.kit.lake import RECORD_INDEX, Lake, Row

VALUES = {
    "string": ("a", "é", "b:c", "x y"),
    "tinyint": ("1", "-1", "127", "0"),
    "smallint": ("1", "-300", "0", "7"),
    "int": ("1", "-70000", "0", "7"),
    "bigint": ("1", "-7000000000", "0", "7"),
    "float": ("1.5", "1e20", "0.1", "-3"),
    "double": ("1.5", "1e20", "0.1", "-3"),
    "boolean": ("true", "false"),
    "date": ("2026-01-05", "1969-12-31", "1500-01-05", "2026-01-06"),
    "timestamp": (
        "2026-01-05 10:11:12.345678",
        "1969-12-31 23:59:59.999999",
        "1800-01-01 00:00:00",
        "2026-01-05 10:11:12.345679",
    ),
    "decimal(12,2)": ("1.5", "-1", "0", "1.51"),
    "decimal(38,10)": ("1.5", "-1", "0", "1.51"),
    "binary": ("ab", "é", "b", "a"),
}
ALL, ALONE = tuple(VALUES), [(kind,) for kind in VALUES]
FULL = bool(os.environ.get("FRESHET_FULL"))
INDEXES: dict[str, dict[str, object]] = {"BUCKET": {"hoodie.bucket.index.num.buckets": 5}, "RECORD_INDEX": dict(RECORD_INDEX)}
# Each type with both indexes, and with both table types: what a key's text is depends on neither. All types in one key, by all.
CELLS = [
    *(
        (kinds, ("cow", "mor")[(number + place) % 2], index)
        for number, kinds in enumerate(ALONE)
        for place, index in enumerate(INDEXES)
    ),
    *((ALL, table_type, index) for table_type in ("cow", "mor") for index in INDEXES),
]
# A few seconds for each cell.
FEW = [
    (ALL, "cow", "BUCKET"),
    (ALL, "mor", "RECORD_INDEX"),
    (("date",), "cow", "BUCKET"),
]
DDL = """\
CREATE TABLE derived.copy (
  {columns},
  ts BIGINT NOT NULL,
  amount DECIMAL(10,2),
  day STRING NOT NULL
) USING hudi PARTITIONED BY (day)
TBLPROPERTIES (primaryKey = '{key}', preCombineField = 'ts', type = '{type}')
"""


def pipeline(lake: Lake, kinds: tuple[str, ...], table_type: str, index: str, top: str = "", **hoodie: object) -> None:
    """Write a pipeline whose key is of these types, each value drawn from its list by the event's ``id``, a number."""

    def value(number: int, kind: str) -> str:
        texts = ", ".join(f"'{text}'" for text in VALUES[kind])
        return f"CAST(element_at(array({texts}), (CAST(id AS INT) - 1) % {len(VALUES[kind])} + 1) AS {kind}) AS k{number}"

    keys = [f"k{number}" for number in range(len(kinds))]
    sql = f"SELECT {', '.join(value(*one) for one in enumerate(kinds))}, ts, amount, day FROM <SRC>"
    lake.pipeline(sql=sql, top=top, hoodie={**INDEXES[index], **hoodie})
    columns = ",\n  ".join(f"{key} {kind} NOT NULL" for key, kind in zip(keys, kinds, strict=True))
    lake.write_file("ddl/copy.sql", DDL.format(columns=columns, key=",".join(keys), type=table_type))


def events(ts: int, *ids: int, amount: str = "1") -> list[Row]:
    return [(str(one), ts, Decimal(amount), "2026-01-05") for one in ids]


def bootstrapped(lake: Lake) -> int:
    project = lake.project("copy")
    return bootstrap_index(project, project.pipelines[0], TimelineState(), lake.events.append, Layout()).rows


def holds(lake: Lake, kinds: tuple[str, ...], **ts_of: int) -> None:
    """Assert that each key stands once, with its newest row, and by the text that an upsert of Hudi's own gives it."""
    spark, keys = lake.spark, [f"k{number}" for number in range(len(kinds))]
    rows = spark.read.format("hudi").load(lake.path("derived.copy"))
    found = rows.select("_hoodie_record_key", *keys, "ts").collect()
    assert len(found) == len({tuple(map(str, row[1:-1])) for row in found}) == sum(ts_of.values())
    assert {row.ts: sum(other.ts == row.ts for other in found) for row in found} == {
        int(name.removeprefix("ts")): count for name, count in ts_of.items()
    }
    plain: dict[str, Any] = {
        "hoodie.table.name": "hudis",
        "hoodie.datasource.write.recordkey.field": ",".join(keys),
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "day",
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
    }
    path = f"{lake.root}/hudis{len(list(lake.root.glob('hudis*')))}"
    rows.select(*keys, "ts", "day").coalesce(1).write.format("hudi").options(**plain).mode("append").save(path)
    hudis = {row[0] for row in spark.read.format("hudi").load(path).select("_hoodie_record_key").collect()}
    assert {row[0] for row in found} == hudis


@pytest.mark.parametrize(
    ("kinds", "table_type", "index"),
    CELLS if FULL else FEW,
    ids=lambda one: "all" if one == ALL else one if isinstance(one, str) else one[0],
)
def test_a_row_that_a_first_load_wrote_is_found(lake: Lake, kinds: tuple[str, ...], table_type: str, index: str) -> None:
    pipeline(lake, kinds, table_type, index)
    count = max(len(VALUES[kind]) for kind in kinds)
    lake.land(events(1, *range(1, count)))
    assert bootstrapped(lake) == count - 1
    lake.land(events(2, *range(2, count + 1)))
    lake.run_ok()
    holds(lake, kinds, ts1=1, ts2=count - 1)


@pytest.mark.parametrize(
    ("table_type", "index", "to"),
    [
        ("cow", "BUCKET", "RECORD_INDEX"),
        ("mor", "RECORD_INDEX", "BUCKET"),
        *([("mor", "BUCKET", "RECORD_INDEX"), ("cow", "RECORD_INDEX", "BUCKET")] if FULL else []),
    ],
)
def test_a_row_is_found_after_a_migration(lake: Lake, table_type: str, index: str, to: str) -> None:
    pipeline(lake, ALL, table_type, index)
    lake.land(events(1, 1, 2, 3, 4))
    lake.run_ok()
    pipeline(lake, ALL, table_type, to)
    project = lake.project("copy")
    migrate_index(project, project.pipelines[0], TimelineState(), lake.events.append, Layout(), to)
    lake.land(events(2, 1, 2))
    lake.run_ok()
    holds(lake, ALL, ts1=2, ts2=2)


@pytest.mark.parametrize("write", ["upsert", "insert_overwrite"])
def test_a_row_that_a_backfill_wrote_is_found(lake: Lake, write: str) -> None:
    top = f"backfill: {{event_time: day, partition: day, write: {write}}}\n"
    pipeline(
        lake,
        ALL,
        "mor" if write == "upsert" else "cow",
        "BUCKET",
        top,
        **{"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"},
    )
    lake.land(events(1, 1, 2, 3))
    lake.run_ok()
    asked = BackfillRequest(start=datetime(2026, 1, 5), end=datetime(2026, 1, 6))
    done = run_backfill(
        lambda window: load_project(lake.project_root, None, (), names=("copy",), environ=os.environ, window=window),
        asked,
        TimelineState(),
        lake.events.append,
    )
    assert (done.error, done.rows) == (None, 3)
    lake.land(events(2, 1, 4))
    lake.run_ok()
    holds(lake, ALL, ts1=2, ts2=2)


def test_a_row_that_was_inserted_or_replayed_is_found(lake: Lake) -> None:
    pipeline(lake, ALL, "cow", "BUCKET", **{"hoodie.datasource.write.operation": "insert"})
    lake.land(events(1, 1, 2))
    lake.run_ok()
    pipeline(lake, ALL, "cow", "BUCKET", "checks: [{name: negative, where: amount < 0, severity: drop}]\n")
    lake.land(events(2, 1, 3, amount="-1"))
    lake.run_ok()
    project = lake.project("copy")
    done = replay_quarantine(project, project.pipelines[0], TimelineState(), lake.events.append, repairs=(("amount", "1"),))
    assert done.error is None
    holds(lake, ALL, ts1=1, ts2=2)


def of_another_calendar(lake: Lake) -> None:
    """Land three rows, of which one holds times that Spark refuses to write by its default."""
    lake.pipeline(
        sql="SELECT id, ts, amount, CAST(if(id = 'b', '1500-01-05', '2026-01-05') AS DATE) AS born, CAST(if(id = 'b', "
        "'1800-01-05', '2026-01-05') AS TIMESTAMP) AS seen, day FROM <SRC>",
        columns=",\n  born DATE,\n  seen TIMESTAMP",
    )
    lake.land([(key, 1, Decimal(1), "2026-01-05") for key in "abc"])


def test_rows_that_hudi_leaves_out_fail_the_load(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.jvm.session.ALWAYS", {"spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION"})
    of_another_calendar(lake)
    with pytest.raises(FreshetError) as failed:
        bootstrapped(lake)
    assert failed.value.code == "ROWS_NOT_WRITTEN"


def test_a_first_load_keeps_rows_of_another_calendar(lake: Lake) -> None:
    """Where Spark refuses to write such a date, Hudi's bulk insert drops the row, and its key goes to the next one."""
    of_another_calendar(lake)
    assert bootstrapped(lake) == 3
    assert [(row[0], row[1].year, row[2].year) for row in lake.rows("derived.copy", "id", "born", "seen")] == [
        ("a", 2026, 2026),
        ("b", 1500, 1800),
        ("c", 2026, 2026),
    ]

"""What `freshet preview` foretells is what the run then does, and looking leaves nothing behind.

What becomes of each row is told on frames, that it comes true on real tables. The table as it would stand: `test_preview.py`.
"""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.cli.main import main
from freshet.plan.checks import CheckTable
from freshet.project.model.pipeline import TableRef
from freshet.quality.changes import CHANGED, KIND, ROWS, TIED, WAS, changes_of
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.backfills import BY_DAY, OCC, TENFOLD
from tests.kit.commands import freshet, refused
from tests.kit.frames import frame
from tests.kit.lake import RECORD_INDEX, Lake, rows

KINDS = {
    "id": "string",
    "ts": "bigint",
    "amount": "int",
    "day": "string",
    "tags": "map<string,int>",
    "_hoodie_is_deleted": "boolean",
}
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
Row = tuple[Any, ...]


def row(key: str, ts: int | None, amount: int = 1, day: str = "mon", gone: bool | None = None, tag: int = 1) -> Row:
    return key, ts, amount, day, {"a": tag}, gone


STANDS = [row(key, 5) for key in ("same", "newer", "equal", "late", "moved", "gone", "gone-late", "map", "other")] + [
    row("null", None),
    row("other-day", 5, day="tue"),
    row("far", 5, day="sun"),
]
BATCH = [
    row("same", 5),
    row("newer", 6, 2),
    row("equal", 5, 2),
    row("late", 4, 2),
    row("moved", 6, day="tue"),
    row("null", 5),
    row("gone", 5, gone=True),
    row("gone-late", 4, gone=True),
    row("gone-never", 5, gone=True),
    row("map", 5, tag=2),
    row("new", 1),
    row("twice", 1),
    row("twice", 2),
    row("tied", 2, 1),
    row("tied", 2, 2),
    row("alike", 2),
    row("alike", 2),
]
#: By operation and index what becomes of each key; of the overwritten partitions all that stands there is replaced.
UPSERT = {
    "same": "unchanged",
    "newer": "updated",
    "equal": "updated",
    "late": "older",
    "moved": "inserted",
    "null": "unsure",
    "gone": "deleted",
    "gone-late": "older",
    "gone-never": "nothing",
    "map": "updated",
    "new": "inserted",
    "twice": "inserted",
    "tied": "inserted",
    "alike": "inserted",
}
REPLACED = {**UPSERT, "late": "updated", "null": "updated", "gone-late": "deleted", "other": "deleted", "other-day": "deleted"}
EXPECTED = {
    ("upsert", False): UPSERT,
    ("upsert", True): {**UPSERT, "moved": "moved"},
    ("insert", False): {key: "nothing" if key.startswith("gone") else "inserted" for key in UPSERT},
    ("delete", False): {key: "deleted" if key in {r[0] for r in STANDS} - {"moved"} else "nothing" for key in UPSERT},
    ("insert_overwrite", False): REPLACED,
}


@pytest.mark.parametrize(("operation", "is_global"), EXPECTED)
def test_what_becomes_of_each_row(quick: SparkSession, operation: str, is_global: bool) -> None:
    """Also: a key that stands elsewhere, by a bucket index and a global one; a map, which Spark does not compare."""
    columns = tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items())
    how = CheckTable(
        checks=(),
        table=TableRef("derived.t", "/t"),
        columns=columns,
        record_key=("id",),
        partition_by=("day",),
        ordering="ts",
        operation=operation,
        global_index=is_global,
        overwritten=(),
        exists=True,
    )
    # A delete brings what finds its rows, and no more.
    batch = frame(quick, BATCH, SCHEMA)
    batch = batch.select("id", "ts", "day") if operation == "delete" else batch
    found = changes_of(how, batch, frame(quick, STANDS, SCHEMA)).collect()
    told: dict[str, set[str]] = {}
    for one in found:
        told.setdefault(one.id, set()).add(one[KIND])
    expected = {key: {kind} for key, kind in EXPECTED[operation, is_global].items()}
    if operation == "insert_overwrite":
        # Where it stood it is not in the batch.
        expected["moved"] = {"inserted", "deleted"}
    assert told == expected
    assert sum(one[ROWS] for one in found) == len(BATCH)
    if operation == "upsert":
        assert {one.id for one in found if one[TIED]} == {"tied"}
        assert {one.id: one[CHANGED] for one in found}["newer"] == ["ts", "amount"]
        (gone,) = (one for one in found if one.id == "gone")
        assert (gone.amount, gone[WAS].ts) == (1, 5)
        (ignored,) = (one for one in found if one.id == "gone-late")
        assert (ignored.ts, ignored[WAS].ts) == (4, 5)


def test_partitions_that_are_replaced_whatever_the_batch_holds(quick: SparkSession) -> None:
    columns = tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items())
    table = TableRef("derived.t", "/t")
    how = CheckTable(
        checks=(),
        table=table,
        columns=columns,
        record_key=("id",),
        partition_by=("day",),
        ordering="ts",
        operation="insert_overwrite",
        global_index=True,
        overwritten=("sun",),
        exists=True,
    )
    # Of a key that stands in another partition, that one is not replaced.
    batch = [row("new", 1, day="sat"), row("same", 6, day="sat")]
    found = changes_of(how, frame(quick, batch, SCHEMA), frame(quick, STANDS, SCHEMA))
    told = sorted((one.id, one[KIND]) for one in found.collect())
    assert told == [("far", "deleted"), ("new", "inserted"), ("same", "inserted")]


def test_a_column_or_a_field_that_the_ddl_gained_is_null_in_what_stands(quick: SparkSession) -> None:
    columns = tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items())
    how = CheckTable(
        checks=(),
        table=TableRef("derived.t", "/t"),
        columns=columns,
        record_key=("id",),
        partition_by=(),
        ordering="ts",
        operation="upsert",
        global_index=False,
        overwritten=(),
        exists=True,
    )
    batch = frame(quick, [row("same", 5), row("new", 1), row("gone", 5, gone=True)], SCHEMA)
    batch = batch.withColumn("more", F.lit(7)).withColumn("tags", F.expr("named_struct('a', 1, 'b', cast(null as string))"))
    older = frame(quick, STANDS, SCHEMA).drop("amount").withColumn("tags", F.expr("named_struct('a', 1)"))
    found = {one.id: (one[KIND], one[CHANGED], one.more, one.tags.a) for one in changes_of(how, batch, older).collect()}
    assert found == {
        "same": ("updated", ["amount"], 7, 1),
        "new": ("inserted", found["new"][1], 7, 1),
        "gone": ("deleted", ["amount"], 7, 1),
    }


def everything(lake: Lake) -> dict[str, tuple[int, int]]:
    """Return all files below the lake's root, hidden ones too."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in Path(lake.root).rglob("*") if path.is_file()}


DELETES = {
    "columns": ",\n  _hoodie_is_deleted BOOLEAN",
    "sql": "SELECT id, if(id = 'late' AND amount > 1, 1, ts) AS ts, amount, "
    "if(id = 'moved' AND amount > 1, '2026-01-06', day) AS day, id = 'gone' AND amount > 1 AS _hoodie_is_deleted "
    "FROM <SRC>",
}
FIRST = rows(*((key, 5, "1.00") for key in ("a", "same", "late", "gone", "moved", "bad")))
THEN = rows(*((key, 6, "2.00") for key in ("a", "late", "gone", "moved", "new")), ("same", 5, "1.00"), ("bad", 6, "-2"))
NEGATIVE = "checks: [{name: negative, where: amount < 0, severity: %s}]\n"


@pytest.mark.parametrize(("table_type", "index"), [("cow", "BUCKET"), ("mor", "BUCKET"), ("mor", "RECORD_INDEX")])
def test_the_run_does_what_the_preview_told(lake: Lake, table_type: str, index: str) -> None:
    hoodie = RECORD_INDEX if index == "RECORD_INDEX" else None
    lake.pipeline(table_type=table_type, top=NEGATIVE % "drop", hoodie=hoodie, **DELETES)
    lake.land(FIRST)
    lake.run_ok()
    lake.land(THEN)
    before, stood = everything(lake), {one[0]: one[1:] for one in lake.rows("derived.copy", "id", "ts", "amount", "day")}
    found = freshet(lake, "preview", "copy")
    assert everything(lake) == before, "looking leaves nothing behind"
    moves = index == "RECORD_INDEX"
    assert {kind: count for kind, count in found["counts"].items() if count} == {
        "inserted": 2 - moves,
        "updated": 1,
        "deleted": 1,
        "older": 1,
        "unchanged": 1,
        **({"moved": 1} if moves else {}),
    }
    assert (found["quarantined"], found["older_kept"], found["batch"], found["error"]) == (1, 1, 7, None)
    assert [one["status"] for one in found["checks"]] == ["dropped"]
    (updated,) = found["rows"]["updated"]
    assert (updated["row"]["ts"], updated["was"]) == (6, {"ts": 5, "amount": "1.00"})
    assert [(one["row"]["id"], one["row"]["amount"]) for one in found["rows"]["deleted"]] == [("gone", "1.00")]
    assert ("compaction" in str(found["not_known"])) == (table_type == "mor")

    done = lake.run_ok()
    stands = {one[0]: one[1:] for one in lake.rows("derived.copy", "id", "ts", "amount", "day")}
    if not moves:
        # The bucket index leaves the moved key where it was, too.
        assert len(lake.rows()) == len(stood) + 1
    assert stands["a"] == (6, Decimal("2.00"), "2026-01-05")
    assert (stands["late"], "gone" in stands, stands["new"][0]) == (stood["late"], False, 6)
    assert (done.quarantined, done.older_kept) == (1, 1)
    assert "commit" in freshet(lake, "preview", "copy")["reason"]


def test_what_is_shown_and_how_it_ends(lake: Lake) -> None:
    """Before there is a table, too. A check that fails ends it as the run, with the rows shown; so does what does not fit."""
    lake.pipeline(top=NEGATIVE % "fail")
    lake.land(rows(("a", 1, "1.00"), ("b", 1, "1.00")))
    first = freshet(lake, "preview", "copy")
    assert (first["counts"]["inserted"], first["batch"], len(first["rows"]["inserted"])) == (2, 2, 2)
    assert not (lake.root / "derived").exists()
    lake.run_ok()
    lake.land(rows(("a", 2, "-1.00"), ("c", 2, "3.00"), ("d", 2, "4.00")))
    found = freshet(lake, "preview", "copy", "--limit", "1", "--columns", "amount", "--where", "id < 'd'", code=7)
    assert found["error"]["code"] == "CHECK_FAILED"
    assert (found["counts"]["inserted"], found["counts"]["updated"]) == (1, 1)
    assert found["rows"] == {
        "updated": [{"row": {"id": "a", "amount": "-1.00"}, "was": {"amount": "1.00"}}],
        "inserted": [{"row": {"id": "c", "amount": "3.00"}, "was": {}}],
    }
    done = CliRunner().invoke(main, ["preview", "copy", "-C", str(lake.project_root)])
    assert done.exit_code == 7
    for line in ("          2 inserted", "rows that change:", "id=a", "  amount  1.00 -> -1.00", "new rows:", "CHECK_FAILED"):
        assert line in done.stdout, done.stdout
    as_csv = (
        CliRunner().invoke(main, ["preview", "copy", "--output", "csv", "--columns", "ts", "-C", str(lake.project_root)]).stdout
    )
    assert as_csv.splitlines() == ["_change,id,ts,_was_id,_was_ts", "updated,a,2,,1", "inserted,c,2,,", "inserted,d,2,,"]
    assert refused(lake, "preview", "copy", "--where", "nothing = 1", code=6)["code"] == "BAD_CONDITION"
    lake.pipeline(sql="SELECT id, cast(null as bigint) AS ts, amount, day FROM <SRC>")
    assert refused(lake, "preview", "copy", code=6)["code"] == "NULL_VALUE"
    lake.pipeline(sql="SELECT id, ts, amonut, day FROM <SRC>")
    assert refused(lake, "preview", "copy", code=6)["code"] == refused(lake, "run", "copy", code=6)["code"]
    shutil.rmtree(lake.path("raw.events"))
    assert refused(lake, "preview", "copy", code=5)["code"] == "SOURCE_MISSING"


def test_of_a_strategy_and_of_a_backfill(lake: Lake) -> None:
    """Whole rows are made of a strategy's parts; a range of dates is previewed as one chunk, with what it overwrites."""
    lake.land([*rows(("a", 2, "1.00"), ("b", 2, "2.00")), *rows(("c", 2, "3.00"), day="2026-01-06")])
    late = "SELECT id, if(id = 'a', 1, ts) AS ts, amount, day FROM <SRC>"
    lake.pipeline("part", top="write: {strategy: merge, columns: [amount]}\n", columns=",\n  note STRING")
    lake.pipeline(top=BY_DAY % "insert_overwrite", hoodie=OCC)
    lake.run_all()
    lake.pipeline(top=BY_DAY % "insert_overwrite", sql=f"{TENFOLD} WHERE id <> 'b'", hoodie=OCC)
    before = everything(lake)
    found = freshet(lake, "preview", "copy", "--start", "2026-01-05", "--end", "2026-01-06")
    assert everything(lake) == before
    assert ({kind: count for kind, count in found["counts"].items() if count}) == {"updated": 1, "deleted": 1}
    assert [one["row"]["amount"] for one in found["rows"]["updated"]] == ["10.00"]
    assert refused(lake, "preview", "part", "--start", "2026-01-05", "--end", "2026-01-06")["code"] == "BACKFILL_NOT_DECLARED"

    lake.pipeline("part", top="write: {strategy: merge, columns: [amount]}\n", columns=",\n  note STRING", sql=late)
    lake.land(rows(("a", 3, "7.00"), ("b", 3, "7.00"), ("d", 3, "7.00")))
    found = freshet(lake, "preview", "part")
    # The older part leaves the row as it stands.
    assert {kind: count for kind, count in found["counts"].items() if count} == {"updated": 1, "inserted": 1, "unchanged": 1}
    assert found["rows"]["updated"] == [
        {"row": {"id": "b", "ts": 3, "amount": "7.00", "day": "2026-01-05", "note": None}, "was": {"ts": 2, "amount": "2.00"}}
    ]

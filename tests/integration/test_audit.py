"""``freshet audit``: damage that was put into a target is found, told and mended, and a clean target is no alarm.

The kind: an audit that calls right rows wrong (then nobody believes it), or wrong ones right; a repair that touches another
row, moves the checkpoint, or leaves an index behind. What is read of which version, and the words: tests/unit/audit.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.audit.request import AuditRequest
from freshet.audit.result import AuditResult
from freshet.audit.run import run_audit
from freshet.audit.sample import Sample
from freshet.hudi.timeline import TimelineState
from freshet.types.columns import Atomic, Column
from tests.kit.backfills import at_phase
from tests.kit.commands import freshet, refused
from tests.kit.lake import RECORD_INDEX, SCHEMA, Lake, Row, rows

DAYS = ("2026-01-05", "2026-01-06")
GLOBAL = {**RECORD_INDEX, "hoodie.record.index.update.partition.path": "true"}
DELETES = ",\n  _hoodie_is_deleted BOOLEAN"
CDC = {"hoodie.table.cdc.enabled": "true"}
ALL = AuditRequest(everything=True)
QUERY = "SELECT id, ts, amount, day FROM <SRC>"
MARKED = "SELECT id, ts, amount, day, false AS _hoodie_is_deleted FROM <SRC>"


def audited(lake: Lake, request: AuditRequest = ALL, name: str = "copy", listen: Any = None) -> AuditResult:
    project = lake.project(name)
    return run_audit(project, project.pipelines[0], TimelineState(), request, listen or lake.events.append)


def counts(found: AuditResult) -> tuple[int, int, int, int]:
    return found.checked, found.missing, found.surplus, found.unequal


def damage(
    lake: Lake, batch: list[Row], operation: str = "upsert", *, mor: bool = False, marked: bool = False, **hoodie: str
) -> None:
    """Write to the target as somebody else would."""
    kind = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"} if mor else {}
    # Of Hudi's own deletes a log of MERGE_ON_READ keeps no ordering value: see test_a_row_that_hudi_deleted_from_a_log.
    told = [(*row, operation == "delete") for row in batch] if marked else batch
    operation = "upsert" if marked else operation
    lake.land(told, operation, "derived.copy", f"{SCHEMA}, _hoodie_is_deleted boolean" if marked else SCHEMA, **kind, **hoodie)


def damaging(table_type: str, index: str) -> dict[str, Any]:
    """Return how ``damage`` writes to a table of this type and index; a writer that does not say so drops the index."""
    keeps = {**GLOBAL, "hoodie.metadata.record.index.enable": "true"} if index == "RECORD_INDEX" else {}
    return {"mor": table_type == "mor", **keeps}


def test_damage_is_found_told_and_mended(lake: Lake) -> None:
    """Of COPY_ON_WRITE with a bucket index: a row changed in one column, one that should not be there, one that is missing."""
    lake.pipeline()
    lake.land([*rows(("a", 1, "1"), ("b", 1, "2"), ("c", 1, "3")), *rows(("d", 1, "4"), day=DAYS[1])])
    lake.run_ok()
    right, position = lake.rows(), lake.position()
    damage(lake, rows(("a", 1, "1"), ("b", 1, "9"), ("x", 1, "7")), "insert_overwrite")
    found = freshet(lake, "audit", "copy", "--all", "--repair")
    assert [found[kind] for kind in ("checked", "missing", "surplus", "unequal")] == [5, 1, 1, 1]
    assert found["columns"] == {"amount": 1}
    assert {one["kind"]: one["key"]["id"] for one in found["examples"]} == {"missing": "c", "surplus": "x", "unequal": "b"}
    (cause, *_) = found["causes"]
    assert (cause["code"], cause["rows"], found["unexplained"]) == ("EDITED_ROWS", 2, 1)
    assert (found["outcome"], found["repaired"]["written"], found["repaired"]["deleted"]) == ("repaired", 2, 1)
    assert (lake.rows(), lake.position()) == (right, position)
    assert freshet(lake, "status", "copy")["pipelines"][0]["audit"]["differing"] == 3


FULL = [
    ("cow", "BUCKET", ""),
    ("mor", "BUCKET", ""),
    ("mor", "BUCKET", DELETES),
    ("cow", "RECORD_INDEX", ""),
    ("mor", "RECORD_INDEX", ""),
    ("cow", "RECORD_INDEX", DELETES),
    ("mor", "RECORD_INDEX", DELETES),
]


@pytest.mark.parametrize(("table_type", "index", "columns"), FULL, ids=["-".join(x[:2]) + "-marked" * bool(x[2]) for x in FULL])
def test_every_damage_on_every_table(lake: Lake, table_type: str, index: str, columns: str) -> None:
    """A row missing, surplus, changed in one column, and in another partition; the table is written on afterwards."""
    mark = bool(columns)
    hoodie = GLOBAL if index == "RECORD_INDEX" else {}
    lake.pipeline(sql=MARKED if mark else QUERY, columns=columns, table_type=table_type, hoodie=hoodie)
    lake.land([*rows(*((f"a{n}", 1, "1") for n in range(20))), *rows(*((f"b{n}", 1, "2") for n in range(20)), day=DAYS[1])])
    lake.run_ok()
    lake.land([*rows(("a0", 2, "5")), *rows(("b0", 2, "6"), day=DAYS[1])])
    lake.run_ok()
    assert counts(audited(lake)) == (40, 0, 0, 0)
    right, position = lake.rows("derived.copy", "id", "ts", "amount", "day"), lake.position()

    how = {"marked": mark, **damaging(table_type, index)}
    damage(lake, [*rows(("a1", 1, "9"), ("x", 1, "7")), *rows(("a2", 1, "1"), day=DAYS[1])], **how)
    # By a global index the row has moved; by the other it would stand twice.
    gone = ("a3",) if index == "RECORD_INDEX" else ("a2", "a3")
    damage(lake, rows(*((key, 1, "1") for key in gone)), "delete", **how)
    found = audited(lake)
    moved = (0, 0, 1) if index == "RECORD_INDEX" else (1, 1, 0)
    assert (found.missing, found.surplus, found.unequal) == (1 + moved[0], 1 + moved[1], 1 + moved[2])
    done = audited(lake, replace(ALL, repair=True))
    assert done.outcome == "repaired"
    assert done.repaired is not None
    assert done.repaired.how == ("upsert" if mark else "insert_overwrite")
    assert lake.rows("derived.copy", "id", "ts", "amount", "day") == right
    assert lake.position() == position
    assert lake.run_ok().outcome == "idle"
    assert counts(audited(lake)) == (40, 0, 0, 0)
    if index == "RECORD_INDEX":
        assert lake.index_agrees()
    lake.land(rows(*((f"a{n}", 3, "8") for n in range(4)), ("x", 3, "8")))
    lake.run_ok()
    assert counts(audited(lake)) == (41, 0, 0, 0)


@pytest.mark.parametrize("kind", ["newer", "twice"])
def test_what_an_upsert_would_leave(lake: Lake, kind: str) -> None:
    """A row that is newer by its ordering value, and a key that stands twice: they go with their partition, alone."""
    lake.pipeline()
    lake.land([*rows(("a", 1, "1"), ("b", 1, "2")), *rows(("c", 1, "3"), day=DAYS[1])])
    lake.run_ok()
    right = lake.rows()
    damage(lake, rows(("a", 5, "9")), "upsert" if kind == "newer" else "insert")
    assert counts(audited(lake)) == ((3, 0, 0, 1) if kind == "newer" else (4, 0, 1, 1))
    before = {path: file for path, file in lake.files().items() if DAYS[1] in path}
    done = audited(lake, replace(ALL, repair=True))
    assert done.repaired is not None
    assert (done.repaired.how, lake.rows()) == ("insert_overwrite", right)
    assert {path: file for path, file in lake.files().items() if DAYS[1] in path} == before


def test_a_sample_is_drawn_alike_of_all_its_tables_as_of_their_positions(lake: Lake) -> None:
    """The main source and an input have gone on; an input without the key is read whole; one seed draws the same rows."""
    lake.pipeline(
        sql="""SELECT s.id, s.ts, s.day,
            cast(s.amount + coalesce(t.amount, 0) + coalesce(c.amount, 0) AS decimal(10,2)) AS amount
          FROM <SRC> s LEFT JOIN tips t ON t.id = s.id LEFT JOIN cities c ON c.day = s.day""",
        top="inputs:\n  tips: {table: raw.tips, read: incremental, lookback: 24h, drives: {id: id}}\n"
        "  cities: {table: raw.cities, read: snapshot}\n",
    )
    keys = [f"k{n}" for n in range(40)]
    lake.land(rows(*((key, 1, "1") for key in keys)))
    lake.land(rows(*((key, 1, "2") for key in keys[::2])), table="raw.tips")
    lake.land(rows(("city", 1, "10")), table="raw.cities")
    lake.run_ok()
    lake.land(rows(("k1", 2, "5"), ("new", 2, "5")))
    lake.land(rows(("k1", 2, "7")), table="raw.tips")
    drawn = [audited(lake, AuditRequest(share=0.4, seed=seed)) for seed in ("one", "two")]
    assert all(found.agrees and found.by == ("id",) and 0 < found.checked < 40 for found in drawn)
    assert counts(audited(lake)) == (40, 0, 0, 0)
    damage(lake, rows(*((key, 1, "0") for key in keys)))
    again = [audited(lake, AuditRequest(share=0.4, seed=seed)) for seed in ("one", "two")]
    assert [found.unequal for found in again] == [found.checked for found in drawn], "the same rows by the same seed"
    repaired = audited(lake, AuditRequest(share=0.4, seed="one", repair=True))
    assert repaired.outcome == "repaired"
    assert audited(lake).unequal == 40 - drawn[0].checked, "the others are left as they are"


TABLES = pytest.mark.parametrize(
    ("table_type", "index"), [("cow", "BUCKET"), ("mor", "BUCKET"), ("cow", "RECORD_INDEX"), ("mor", "RECORD_INDEX")]
)


@TABLES
def test_rows_that_checks_keep_out_wait_in_the_quarantine(lake: Lake, table_type: str, index: str) -> None:
    """Of one an older row stands, of one nothing; one was repaired by hand; then the quarantine loses them."""
    how = damaging(table_type, index)
    checks = "checks:\n  - {name: negative, where: amount < 0, severity: drop}\n"
    lake.pipeline(top=checks, table_type=table_type, hoodie=GLOBAL if index == "RECORD_INDEX" else {})
    lake.land(rows(("older", 1, "1"), ("good", 1, "2")))
    lake.run_ok()
    lake.land(rows(("older", 2, "-1"), ("never", 2, "-1"), ("mended", 2, "-1")))
    lake.run_ok()
    freshet(lake, "quarantine", "replay", "copy", "--where", "id = 'mended'", "--repair", "amount=3")
    found = audited(lake)
    assert (counts(found), found.kept_out, found.lost, found.outcome) == ((1, 0, 0, 0), 3, 0, "equal")
    damage(lake, rows(("good", 1, "9")), **how)
    assert audited(lake, replace(ALL, repair=True)).outcome == "repaired"
    assert counts(audited(lake)) == (1, 0, 0, 0)
    freshet(lake, "quarantine", "drop", "copy", "--yes")
    found = audited(lake)
    assert (found.kept_out, found.lost, found.dropped_by_hand, found.outcome) == (3, 1, True, "equal")


@TABLES
def test_beside_the_live_writer(lake: Lake, table_type: str, index: str) -> None:
    """It commits while an audit looks, which sees neither; and between an audit's look and its repair, which looks again."""
    how = damaging(table_type, index)
    lake.pipeline(columns=DELETES, sql=MARKED, table_type=table_type, hoodie=GLOBAL if index == "RECORD_INDEX" else {})
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    lake.run_ok()

    def goes_on(ts: int) -> None:
        lake.land(rows(("a", ts, "5"), (f"n{ts}", ts, "5")))
        lake.run_ok()

    found = audited(lake, listen=at_phase("comparing with", lambda: goes_on(2), lake))
    assert counts(found) == (2, 0, 0, 0)
    assert counts(audited(lake)) == (3, 0, 0, 0)
    damage(lake, rows(("b", 1, "9")), marked=True, **how)
    done = audited(lake, replace(ALL, repair=True), listen=at_phase("comparing with", lambda: goes_on(3), lake))
    assert "AUDIT_REPEATED" in {event.code for event in lake.events}
    assert (done.outcome, done.unequal, counts(audited(lake))) == ("repaired", 1, (4, 0, 0, 0))
    assert lake.run_ok().outcome == "idle"


def test_deletes_and_marks_and_rows_of_a_time(lake: Lake) -> None:
    """A filter that marks, deletes that are passed on, an ordering value of the run, and only what came since."""
    lake.pipeline(
        sql="""SELECT id, <SRC_INSTANT> AS ts, amount, day,
            _hoodie_is_deleted OR NOT amount > 0 AS _hoodie_is_deleted FROM <SRC>""",
        columns=DELETES,
    )
    lake.land(rows(("a", 1, "1"), ("b", 1, "2"), ("c", 1, "3")), **CDC)
    lake.run_ok()
    lake.land(rows(("b", 2, "-1")), **CDC)
    lake.land(rows(("c", 1, "3")), "delete", **CDC)
    lake.run_ok()
    found = audited(lake)
    assert (counts(found), found.left_out) == ((1, 0, 0, 0), ("ts",))
    since = lake.state().commits[-1].requested
    lake.land(rows(("d", 3, "4")), **CDC)
    lake.run_ok()
    assert counts(audited(lake, replace(ALL, since=since + "1"))) == (1, 0, 0, 0)
    damage(lake, rows(("a", 3 * 10**16, "9")), marked=True)
    done = audited(lake, replace(ALL, repair=True))
    assert done.repaired is not None
    assert (done.repaired.how, done.repaired.written) == ("upsert", 1), "an ordering value that is not compared never wins"
    assert counts(audited(lake)) == (2, 0, 0, 0)


def test_a_row_that_hudi_deleted_from_a_log(lake: Lake) -> None:
    """Its log keeps the delete without an ordering value, and beside a row logged later Hudi 1.0.2 reads neither."""
    lake.pipeline(table_type="mor", columns=DELETES, sql=MARKED)
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    lake.run_ok()
    right = lake.rows()
    lake.land(rows(("b", 1, "2")), "delete", "derived.copy", **{"hoodie.datasource.write.table.type": "MERGE_ON_READ"})
    done = audited(lake, replace(ALL, repair=True))
    assert done.repaired is not None
    assert (done.missing, done.repaired.how, lake.rows()) == (1, "insert_overwrite", right)


def test_a_repair_goes_through_the_checks(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    lake.run_ok()
    damage(lake, rows(("a", 1, "1")), "delete")
    few = 'checks:\n  - {name: few, sql: "select count(*) < 2 from <TABLE_NAME>", expect: "true", scope: table}\n'
    lake.pipeline(top=few)
    before = lake.files()
    assert refused(lake, "audit", "copy", "--all", "--repair", code=7)["code"] == "CHECK_FAILED"
    assert lake.files() == before


def test_a_table_without_partitions(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, ts, amount FROM <SRC>")
    ddl = (lake.project_root / "ddl/copy.sql").read_text()
    lake.write_file("ddl/copy.sql", ddl.replace(",\n  day STRING NOT NULL", "").replace(" PARTITIONED BY (day)", ""))
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    lake.run_ok()
    right = lake.rows()
    schema, plain = "id string, ts bigint, amount decimal(10,2)", {"hoodie.datasource.write.partitionpath.field": ""}
    lake.land([("b", 1, Decimal("9")), ("x", 1, Decimal("9"))], "upsert", "derived.copy", schema, **plain)
    done = audited(lake, replace(ALL, repair=True))
    assert (counts(done), done.outcome, lake.rows()) == ((3, 0, 1, 1), "repaired", right)
    assert lake.run_ok().outcome == "idle"


@pytest.mark.nightly
def test_one_wrong_row_in_ten_thousand_is_found_at_the_stated_rate(lake: Lake) -> None:
    """10 of 100,000 rows: an audit of all finds each; one of a tenth exactly those that its seed draws, a tenth in the mean."""
    many = lake.spark.range(100_000).selectExpr(
        "concat('k', id) AS id", "1L AS ts", "cast(id % 100 AS decimal(10,2)) AS amount", f"'{DAYS[0]}' AS day"
    )
    options = {
        "hoodie.table.name": "events",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "day",
        "hoodie.datasource.write.operation": "bulk_insert",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "2",
        "hoodie.metadata.enable": "false",
    }
    many.coalesce(2).write.format("hudi").options(**options).mode("append").save(lake.path("raw.events"))
    lake.pipeline()
    lake.run_ok()
    bad = [f"k{n * 9_973}" for n in range(1, 11)]
    damage(lake, rows(*((key, 1, "777") for key in bad)))
    whole = audited(lake)
    assert counts(whole) == (100_000, 0, 0, 10)
    assert (whole.columns, sum(cause.rows for cause in whole.causes if cause.code == "EDITED_ROWS")) == ({"amount": 10}, 10)

    def drawn(seed: str) -> str:
        return Sample(share=0.1, columns=(Column(name="id", type=Atomic("string")),), seed=seed).of_target()

    ten = lake.spark.createDataFrame([(key,) for key in bad], "id string")
    seeds = [f"seed {n}" for n in range(300)]
    row = ten.agg(*(F.sum(F.expr(drawn(seed)).cast("int")) for seed in seeds)).collect()[0]
    # Ten rows, 300 draws: 300 in the mean, with a standard deviation of 16.
    assert 230 < sum(row) < 370
    for number in range(3):
        found = audited(lake, AuditRequest(share=0.1, seed=seeds[number]))
        assert (found.missing, found.surplus, found.unequal) == (0, 0, row[number])
        assert 9_000 < found.checked < 11_000


def test_each_row_is_as_likely_to_be_drawn_as_another(spark: SparkSession) -> None:
    """One bad row in 10,000 is drawn by a sample of 5% once in twenty times, whichever row it is."""
    names, seeds = [Column(name="id", type=Atomic("string"))], [f"seed {n}" for n in range(60)]
    drawn = [F.expr(Sample(share=0.05, columns=tuple(names), seed=seed).of_target()).cast("int") for seed in seeds]
    table = spark.range(10_000).select(F.concat(F.lit("trip-"), F.col("id")).alias("id"))
    hits = table.select(*drawn, sum(drawn, F.lit(0)).alias("hits"))
    row = hits.agg(*(F.avg(hits.columns[n]) for n in range(len(seeds))), F.max("hits"), F.avg("hits")).collect()[0]
    assert all(0.04 < share < 0.06 for share in row[: len(seeds)])
    assert row[len(seeds)] < 20
    assert 2.9 < row[len(seeds) + 1] < 3.1

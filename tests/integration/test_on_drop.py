"""The older row that stands under a dropped row's key: kept and counted, or by `on_drop: delete` deleted with the commit."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.hudi.checkpoint import CHECKS_KEY
from freshet.hudi.timeline import TimelineState
from freshet.plan.checks import CheckBatch
from freshet.project.model.checks import CheckSpec, RowRule
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import NOWHERE
from freshet.quality.gate import check_batch
from freshet.quality.older import count_older
from freshet.run.runner import replay_quarantine
from freshet.run.show import Wanted, show_rows
from tests.kit.frames import frame
from tests.kit.lake import RECORD_INDEX, Lake, rows

CHECKS = """checks:
  - {name: fits, malformed: true, severity: drop, on_drop: delete}
  - {name: negative, where: amount < 0, severity: drop, on_drop: delete}
  - {name: huge, where: amount > 100, severity: drop}
"""
# A late row of a key, one without a key, in another day, or that the table cannot hold: what the raw table would not give.
SQL = """SELECT nullif(id, 'nokey') AS id, if(id = 'late' AND amount < 0, 0, ts) AS ts,
  if(id = 'wide' AND amount < 0, 99999999999, cast(amount AS decimal(20,2))) AS amount,
  if(id = 'moved' AND amount < 0, '2026-01-06', day) AS day, if(id = 'wide' AND amount < 0, null, id) AS name,
  false AS _hoodie_is_deleted FROM <SRC>"""
COLUMN = ",\n  name STRING NOT NULL,\n  _hoodie_is_deleted BOOLEAN"


def declare(lake: Lake, table_type: str, checks: str = CHECKS, **more: Any) -> None:
    lake.pipeline(
        sql=SQL, columns=COLUMN, table_type=table_type, top=checks, properties=", 'hoodie.table.cdc.enabled' = 'true'", **more
    )


def ids(lake: Lake, table: str = "derived.copy") -> list[str]:
    return [str(row[0]) for row in lake.rows(table, "id")]


@pytest.mark.parametrize("table_type", ["cow", "mor"])
@pytest.mark.parametrize("index", ["BUCKET", "RECORD_INDEX"])
def test_a_dropped_row_deletes_what_is_older_and_a_replay_brings_it_back(lake: Lake, table_type: str, index: str) -> None:
    """A newer and an equally new bad row delete, a late one does not, one whose key never stood has nothing to delete.

    Of the same kind: a row whose values the table cannot hold deletes too; one without a key names nothing; one that a check
    without `on_drop` drops leaves the older row and is counted; one that says another partition deletes where the key is
    looked for (by a global index everywhere).
    """
    declare(lake, table_type, hoodie=RECORD_INDEX if index == "RECORD_INDEX" else None)
    stand = ("newer", "equal", "late", "moved", "huge", "good", "wide")
    lake.land(rows(*((key, 5, "1.00") for key in stand)))
    lake.run_ok()
    before = lake.state().commits[-1].completed
    bad = (("newer", 6), ("equal", 5), ("late", 6), ("moved", 6), ("never", 6), ("nokey", 6), ("wide", 6))
    lake.land([*rows(*((key, ts, "-1.00") for key, ts in bad)), *rows(("huge", 6, "500.00"), ("good", 6, "2.00"))])
    done = lake.run_ok()
    gone = ["equal", "newer", "wide", *(["moved"] if index == "RECORD_INDEX" else [])]
    assert ids(lake) == sorted(set(stand) - set(gone))
    assert (done.quarantined, done.older_kept, done.undeletable) == (8, 1, 1)
    told = json.loads(lake.state().info(lake.state().data_commits[-1]).extra[CHECKS_KEY])
    assert (told["quarantined"], told["older_kept"]) == (8, 1)

    # Downstream sees them as rows that are gone.
    changed = show_rows(lake.spark, lake.state(), Wanted(columns=("id", "_hoodie_is_deleted"), since=before)).rows
    assert {str(key) for key, deleted in changed if deleted} == set(gone)

    replayed = replay_quarantine(
        lake.project("copy"),
        lake.spec(),
        TimelineState(),
        lake.events.append,
        "id IN ('newer', 'equal', 'late')",
        (("amount", "abs(amount) + 7"),),
    )
    assert replayed.error is None, replayed.error
    found = dict(lake.rows("derived.copy", "id", "amount"))
    assert (found["newer"], found["equal"], found["late"]) == (Decimal("8.00"), Decimal("8.00"), Decimal("1.00"))
    assert ids(lake, "derived.copy_quarantine") == ["huge", "moved", "never", "wide", "None"]


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_batch_of_bad_rows_alone(lake: Lake, table_type: str) -> None:
    """The first batch makes the table; a later one has deletes and no other row, and one has nothing that can be deleted.

    On COPY_ON_WRITE Hudi's validators look at a commit that only deletes, and at one that empties the table.
    """
    small = "  - {name: small, sql: select count(*) from <TABLE_NAME> where amount > 50, expect: 0}\n"
    declare(lake, table_type, CHECKS + small)
    lake.land(rows(("a", 1, "-1.00")))
    lake.run_ok()
    assert (ids(lake), lake.position()) == ([], lake.state("raw.events").commits[-1].completed)
    lake.land(rows(("a", 2, "2.00"), ("b", 2, "2.00")))
    lake.run_ok()
    lake.land(rows(("a", 3, "-2.00")))
    done = lake.run_ok()
    assert (ids(lake), done.quarantined) == (["b"], 1)
    lake.land(rows(("nokey", 3, "2.00")))
    done = lake.run_ok()
    assert (ids(lake), done.undeletable, lake.position()) == (["b"], 1, lake.state("raw.events").commits[-1].completed)
    lake.land(rows(("b", 4, "-2.00")))
    lake.run_ok()
    assert ids(lake) == []


def test_what_stays_published_is_counted_on_every_way_that_updates(lake: Lake) -> None:
    """By `on_drop: keep`: of a plain upsert, and of a strategy, whose dropped rows are parts of rows."""
    keep = "checks: [{name: negative, where: amount < 0, severity: drop}]\n"
    lake.land(rows(("a", 1, "1.00"), ("b", 9, "1.00"), ("c", 1, "1.00")))
    lake.pipeline(top=keep, sql="SELECT id, if(amount < 0, 5, ts) AS ts, amount, day FROM <SRC>")
    lake.pipeline("part", top=keep + "write: {strategy: merge, columns: [amount]}\n", columns=",\n  note STRING")
    lake.run_all()
    # Of b a newer row stands; of d none does.
    lake.land(rows(("a", 2, "-1.00"), ("b", 10, "-1.00"), ("c", 2, "2.00"), ("d", 2, "-1.00")))
    done = lake.run_all()
    assert (done["copy"].quarantined, done["copy"].older_kept) == (3, 1)
    assert (done["part"].quarantined, done["part"].older_kept) == (3, 2)
    assert "1 older row of the same key stays published" in str([e.message for e in lake.events])


SCHEMA = "id string, ts bigint, amount int, day string, _hoodie_is_deleted boolean, nowhere boolean"


def stage(*, is_global: bool = False) -> CheckBatch:
    checks = (
        CheckSpec(name="negative", severity="drop", line=0, rule=RowRule("amount < 0"), deletes=True),
        CheckSpec(name="huge", severity="drop", line=0, rule=RowRule("amount > 9")),
    )
    return CheckBatch(
        checks=checks,
        record_key=("id",),
        history=(),
        quarantine=TableRef("derived.q", "/q"),
        located=("id",) if is_global else ("id", "day"),
        ordering="ts",
    )


def test_which_rows_delete(quick: SparkSession) -> None:
    """Of one batch: a good row that is equally new wins; two bad ones of one key delete once; a place that is none."""
    batch = frame(
        quick,
        [
            ("good", 1, 1, "mon", None, False),
            ("tie", 2, 1, "mon", False, False),
            ("tie", 2, -1, "mon", False, False),
            ("older", 1, 1, "mon", False, False),
            ("older", 2, -1, "mon", False, False),
            ("keep", 2, 10, "mon", False, False),
            ("both", 2, -1, "mon", False, False),
            ("both", 2, 10, "mon", False, False),
            (None, 2, -1, "mon", False, True),
            ("unordered", None, -1, "mon", False, False),
            ("gone", 2, -1, "mon", True, False),
        ],
        SCHEMA,
    ).withColumnRenamed("nowhere", NOWHERE)
    found = check_batch(quick, stage(), batch)
    told = sorted((row.id, row.ts, row._hoodie_is_deleted) for row in found.rows.where("_hoodie_is_deleted").collect())
    assert told == [("both", 2, True), ("gone", 2, True), ("older", 2, True)]
    assert found.rows.columns == ["id", "ts", "amount", "day", "_hoodie_is_deleted"]
    assert (found.count, found.dropped_count, found.deletes, found.undeletable) == (11, 7, 3, 2)
    assert not found.is_empty


def test_which_older_rows_stay(quick: SparkSession) -> None:
    """Nothing stays of a key that stands nowhere, newer, or that the batch itself deletes or publishes anew."""
    batch = frame(
        quick,
        [
            (key, ts, 10, day, False, False)
            for key, ts, day in (
                ("stays", 5, "mon"),
                ("equal", 5, "mon"),
                ("late", 4, "mon"),
                ("never", 5, "mon"),
                ("moved", 6, "tue"),
                ("deleted", 5, "mon"),
                ("renewed", 5, "mon"),
                ("unordered", None, "mon"),
                ("published", 5, "mon"),
            )
        ]
        + [
            ("deleted", 5, 1, "mon", True, False),
            ("renewed", 6, 1, "mon", False, False),
            ("published", 4, 1, "mon", False, False),
        ],
        SCHEMA,
    ).withColumnRenamed("nowhere", NOWHERE)
    stands = frame(
        quick,
        [
            (key, 5, day)
            for key, day in (
                ("stays", "mon"),
                ("equal", "mon"),
                ("late", "mon"),
                ("moved", "mon"),
                ("deleted", "mon"),
                ("renewed", "mon"),
                ("unordered", "mon"),
                ("other", "mon"),
            )
        ],
        "id string, ts bigint, day string",
    ).withColumn("amount", F.lit(1))
    for is_global, few, count in ((False, True, 4), (True, False, 5)):
        how = stage(is_global=is_global)
        found = check_batch(quick, how, batch)
        assert found.dropped is not None
        assert count_older(how, found.dropped, found.rows, stands, few=few) == count

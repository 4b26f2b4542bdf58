"""Nothing bad is published: operations, table types, indexes and kinds of batch, in whole runs on real tables.

The table is in ``tests/kit/ways.py``, and what holds in each cell in ``tests/kit/cells.py``. A test's id is a cell:
``test_publishing[upsert-mor-BUCKET-all_of_table]`` is the upsert to a MERGE_ON_READ table with a bucket index of a batch that
all checks of the table find bad. Every cell's pipeline declares a check of every kind. What each kind means is held by
``tests/integration/test_gate.py`` and ``test_preview.py``; which ways are refused, by ``tests/unit/project/test_ways.py``.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from freshet.hudi.timeline import TimelineState
from freshet.quarantine.table import hidden_runs
from tests.kit import cells, ways
from tests.kit.backfills import BY_DAY, DAYS, OCC, TENFOLD, amounts, backfill
from tests.kit.cells import all_passed, failed, raw, standing, tables
from tests.kit.lake import Lake, rows
from tests.kit.ways import Way
from tests.kit.whole import WHOLE

__all__ = ["raw", "tables"]

INDEXES = ("BUCKET", "RECORD_INDEX")
CELLS = ways.every_cell(*INDEXES) if WHOLE else ways.pairs_of_cells("publishing", *INDEXES)
DAY = "2026-01-05"
GOOD = rows(("a", 1, "1.00"), ("b", 1, "2.00"), day=DAY)


@pytest.mark.parametrize(("way", "step"), ways.as_parameters(CELLS))
def test_publishing(
    spark: SparkSession,
    raw: Path,
    tables: dict[Way, Lake],
    tmp_path_factory: pytest.TempPathFactory,
    way: Way,
    step: str,
) -> None:
    cells.hold(step, way, raw, tables, lambda folder: Lake(spark, folder), tmp_path_factory)


def test_what_a_delete_does_not_carry_is_said(lake: Lake, raw: Path) -> None:
    """The batch of a delete has no column but those by which a row is found."""
    ways.see(lake, raw, ways.FIRST)
    for rule in ("freshness: {column: at, within: 1h}", "where: amount < 0"):
        top = f"{ways.NO_CHECK}  - {{name: new, {rule}}}\n"
        ways.declare(lake, "delete", "cow", ways.INDEXES["BUCKET"], top=top)
        error = lake.run().error
        assert error is not None
        assert (error.code, "check new" in str(error)) == ("CHECK_NOT_EVALUATED", True)


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_columns_that_a_pipeline_owns(lake: Lake, table_type: str) -> None:
    """A rule about the table sees whole rows; a row that is dropped keeps the columns that it would have set."""
    lake.land(GOOD)
    top = (
        "write: {strategy: merge, columns: [amount]}\nchecks:\n"
        + """  - {name: odd, where: amount < 0, severity: drop}
  - {name: small, sql: "select coalesce(sum(amount), 0) <= 10 from <TABLE_NAME>", expect: true}
"""
    )
    lake.pipeline(top=top, columns=",\n  note STRING", table_type=table_type)
    lake.run_ok()
    lake.land(rows(("a", 2, "-1.00"), ("b", 2, "8.00"), day=DAY))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "amount") == [("a", Decimal("1.00")), ("b", Decimal("8.00"))]
    assert lake.rows("derived.copy_quarantine", "id", "amount") == [("a", Decimal("-1.00"))]
    before = standing(lake)
    lake.land(rows(("c", 2, "2.00"), day=DAY))
    failed(lake.run(), "small")
    assert standing(lake) == before


def test_what_is_seen_by_whom(lake: Lake) -> None:
    """A rule over the partitions sees the present batch's; one over the table sees all; a deleted row breaks none."""
    lake.land(rows(("old", 1, "900.00"), day="2026-01-01"))
    lake.pipeline()
    lake.run_ok()
    rule = 'sql: "select count(*) from <TABLE_NAME> where amount > 100", expect: 0'
    lake.pipeline(top=f"checks: [{{name: here, {rule}}}]\n")
    lake.land(GOOD)
    all_passed(lake, lake.run_ok())
    lake.pipeline(top=f"checks: [{{name: everywhere, {rule}, scope: table, severity: warn}}]\n")
    lake.land(rows(("c", 1, "1.00"), day=DAY))
    (warned,) = lake.run_ok().checks
    assert (warned["status"], warned["seen"]) == ("warned", "1")
    assert "900" in str(warned["sample"])


def test_unique_referential_fresh_and_many(lake: Lake) -> None:
    lake.land([("x", 1, Decimal(1), "2026-01-05")], table="raw.days")
    lake.pipeline(
        top="""checks:
  - {name: one_amount, unique: amount, within: table}
  - {name: no_twins, unique: [id, amount]}
  - {name: known, references: {table: raw.days, columns: {day: day}}}
  - {name: usual, volume: {last: 5, at_least: 50%, at_most: 200%}, severity: warn}
"""
    )
    lake.land(GOOD)
    (_, _, _, usual) = lake.run_ok().checks
    assert usual["status"] == "skipped"
    lake.land(rows(("c", 1, "2.00"), day="2026-01-06"))
    failed(lake.run(), "known")
    lake.land([("y", 1, Decimal(1), "2026-01-06")], table="raw.days")
    failed(lake.run(), "one_amount")
    lake.land(rows(("c", 2, "3.00"), day="2026-01-06"))
    for number in range(4, 6):
        lake.run_ok()
        lake.land(rows((f"c{number}", 2, f"{number}"), day="2026-01-06"))
    lake.run_ok()
    lake.land(rows(*((f"d{number}", 2, f"{100 + number}") for number in range(9)), day="2026-01-06"))
    result = lake.run_ok()
    assert {str(one["name"]): one["status"] for one in result.checks} == {
        "one_amount": "passed",
        "no_twins": "passed",
        "known": "passed",
        "usual": "warned",
    }
    assert [event.fields["name"] for event in lake.events if event.name == "check"] == ["usual"]
    stages = [(event.fields["stage"], event.fields["rows"]) for event in lake.events if event.name == "stage_finished"]
    assert stages[-3:] == [("session", None), ("transform", 9), ("write", 9)]


def test_a_suite_drops_rows_and_judges_the_batch(lake: Lake) -> None:
    top = """checks:
  - {name: rows, severity: drop, expectations: [{expect_column_values_to_not_be_null: {column: amount}}]}
  - {name: whole, expectations: [{expect_column_mean_to_be_between: {column: amount, max_value: 5}}]}
"""
    lake.pipeline(top=top, table_type="mor")
    lake.land([*GOOD, ("none", 1, None, DAY)])
    result = lake.run_ok()
    assert [(one["name"], one["status"]) for one in result.checks] == [("rows", "dropped"), ("whole", "passed")]
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["none"]
    lake.land(rows(("c", 1, "11.00"), day=DAY))
    failed(lake.run(), "whole")


def test_a_backfill_publishes_no_chunk_that_breaks_a_rule(lake: Lake) -> None:
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    top = BY_DAY % "upsert"
    lake.pipeline(top=top, hoodie=OCC)
    lake.run_ok()
    before = lake.position()
    rules = """checks:
  - {name: small, sql: "select count(*) from <TABLE_NAME> where amount > 15 and day = '2026-01-06'", expect: 0}
  - {name: odd, where: id = 'a7', severity: drop}
"""
    lake.pipeline(sql=TENFOLD, top=top + rules, hoodie=OCC)
    result = backfill(lake)
    assert result.failed == {"2026-01-06 to 2026-01-07": "CHECK_FAILED"}
    assert amounts(lake) == {"a5": 10, "b5": 20, "a6": 1, "b6": 2, "a7": 1, "b7": 20}
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["a7"]
    assert (lake.position(), hidden_runs(lake.spec(), TimelineState())) == (before, ())


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_what_a_batch_may_change_about_the_table(lake: Lake, table_type: str) -> None:
    lake.land(GOOD)
    lake.pipeline(table_type=table_type)
    lake.run_ok()
    more = "SELECT id, ts, amount, day, upper(id) AS name FROM <SRC>"
    lake.pipeline(sql=more, table_type=table_type)
    lake.land(rows(("c", 1, "3.00"), day=DAY))
    refused = lake.run()
    assert refused.error is not None
    assert refused.error.code == "BATCH_MISMATCH"
    assert "column name (string) is not in the DDL" in str(refused.error)

    lake.pipeline(sql=more, top="schema_contract: add_columns\n", table_type=table_type)
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "name") == [("a", None), ("b", None), ("c", "C")]
    # A batch without the column leaves it null; what stands stays.
    lake.pipeline(top="schema_contract: add_columns\n", table_type=table_type)
    lake.land(rows(("d", 1, "3.00"), day=DAY))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "name") == [("a", None), ("b", None), ("c", "C"), ("d", None)]


def test_a_batch_may_widen_a_column(lake: Lake) -> None:
    wide = {"columns": ",\n  n INT"}
    lake.land(GOOD)
    lake.pipeline(sql="SELECT id, ts, amount, day, 1 AS n FROM <SRC>", top="schema_contract: widen\n", **wide)
    lake.run_ok()
    for number, value in enumerate(("3000000000L", "2")):
        lake.pipeline(sql=f"SELECT id, ts, amount, day, {value} AS n FROM <SRC>", top="schema_contract: widen\n", **wide)
        lake.land(rows((f"c{number}", 1, "3.00"), day=DAY))
        lake.run_ok()
    assert lake.rows("derived.copy", "id", "n") == [("a", 1), ("b", 1), ("c0", 3_000_000_000), ("c1", 2)]


def test_how_new_the_rows_are_and_what_they_refer_to(lake: Lake) -> None:
    lake.land([("x", 1, Decimal(1), DAY)], table="raw.days")
    top = """checks:
  - {name: fresh, freshness: {column: at, within: 1h}}
  - {name: known, references: {table: raw.days, columns: {day: day}}, severity: drop}
"""
    at = "SELECT id, ts, amount, day, timestamp_seconds(unix_timestamp() - ts) AS at FROM <SRC>"
    lake.pipeline(sql=at, top=top, columns=",\n  at TIMESTAMP")
    lake.land([*rows(("a", 60, "1.00"), day=DAY), *rows(("b", 60, "1.00"), day="2026-01-09")])
    result = lake.run_ok()
    assert [(one["name"], one["status"]) for one in result.checks] == [("fresh", "passed"), ("known", "dropped")]
    assert [row[0] for row in lake.rows("derived.copy_quarantine", "id")] == ["b"]
    lake.land(rows(("c", 7200, "1.00"), day=DAY))
    failed(lake.run(), "fresh")

"""Nothing bad is published: every write operation, table type, index and kind of check, on real tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

import pytest

from framework.errors import Exit
from framework.plan.quarantine import hidden_runs
from framework.runtime.runner import RunResult
from framework.state.checkpoint import CHECKS_KEY
from framework.state.timeline import TimelineState
from tests.integration.lake import Lake, Row, rows
from tests.long.test_backfill import BY_DAY, DAYS, OCC, RECORD_INDEX, TENFOLD, amounts, backfill

DAY = "2026-01-05"
GOOD = rows(("a", 1, "1.00"), ("b", 1, "2.00"), day=DAY)
# One of each kind, and each about a row of its own, so that a row breaks one rule and no other.
OF_TABLE = {
    "changed": "{sql: \"select count(*) from <TABLE_NAME> where id like 'good%'\", expect: {result: changed}}",
    "single": "{sql: \"select count(*) from <TABLE_NAME> where id = 'single' and amount > 100 -- a comment\", expect: 0}",
    "literal": "{sql: \"select count(*) from <TABLE_NAME> where concat(id, ';#') = 'literal;#' and amount > 100\", expect: 0}",
    "decimal": "{sql: \"select coalesce(max(amount), 0) from <TABLE_NAME> where id = 'decimal'\", expect: 1}",
    "table": "{sql: \"select count(*) from <TABLE_NAME> where id = 'table' and amount > 100\", expect: 0, scope: table}",
    "unchanged": "{sql: \"select count(*) from <TABLE_NAME> where id = 'unchanged' and amount > 100\", "
                 "expect: {result: unchanged}}",
}
OF_BATCH = {
    "batch": "{sql: \"select count(*) from <TABLE_NAME> where id = 'batch' and amount > 100\", expect: 0, scope: batch}",
    "where": "{where: \"id = 'where' and amount > 100\"}",
    "gx": "{expectations: [{expect_column_values_to_not_be_in_set: {column: amount, value_set: [901]}}]}",
}
EVERY = {**OF_TABLE, **OF_BATCH}


def checks(kinds: Iterable[str]) -> str:
    return "checks:\n" + "".join(f"  - {{name: {kind}, {EVERY[kind][1:-1]}}}\n" for kind in kinds)


def a_row(kind: str, ts: int, amount: str) -> list[Row]:
    # The decimal's rule wants one amount, whatever its scale is, and finds another; GX's looks at the amount alone.
    return rows((kind, ts, "901" if kind == "gx" and amount != "1.00" else amount), day=DAY)


def failed(lake: Lake, result: RunResult, *names: str) -> None:
    assert result.error is not None, names
    assert (result.error.code, result.error.exit_code) == ("CHECK_FAILED", Exit.CHECK), (names, result.error)
    found = result.error.as_json()["details"]["checks"]  # type: ignore[index]
    assert sorted(one["name"] for one in found if one["status"] == "failed") == sorted(names)
    assert all(f"check {name}: expected" in str(result.error) for name in names)


def all_passed(lake: Lake, result: RunResult) -> None:
    """Of a run that is published, its commit says the same as its report."""
    assert {one["status"] for one in result.checks} == {"passed"}
    told = json.loads(lake.state().info(lake.state().data_commits[-1]).extra[CHECKS_KEY])
    assert told["checks"].keys() == {one["name"] for one in result.checks}


def standing(lake: Lake) -> object:
    """Return all that a failing check must leave: rows, checkpoint, timeline."""
    return lake.rows(), lake.position(), lake.state().commits


SOME = ("changed", "single", "table", "where")
WAYS = [
    ("upsert", "cow", {}, tuple(EVERY)), ("upsert", "mor", {}, tuple(EVERY)), ("insert", "cow", {}, SOME),
    ("insert", "mor", {}, SOME),
    ("upsert", "cow", RECORD_INDEX, SOME), ("upsert", "mor", RECORD_INDEX, SOME),
]


@pytest.mark.parametrize(("operation", "table_type", "index", "kinds"), WAYS, ids=[
    "upsert-cow", "upsert-mor", "insert-cow", "insert-mor", "upsert-cow-record-index", "upsert-mor-record-index"])
def test_good_is_published_and_bad_is_not(
    lake: Lake, operation: str, table_type: str, index: dict[str, str], kinds: tuple[str, ...],
) -> None:
    hoodie = {"hoodie.datasource.write.operation": operation, "hoodie.streamer.source.hoodieincr.num_instants": 50, **index}
    lake.land([*GOOD, *a_row("decimal", 1, "1.00")])
    lake.pipeline(table_type=table_type, hoodie=hoodie)
    lake.run_ok()
    lake.pipeline(table_type=table_type, hoodie=hoodie, top=checks(kinds))
    before = standing(lake)
    mended: list[Row] = []
    for number, kind in enumerate(kinds):
        # By `changed` alone nothing good comes, and then with each bad row.
        good = rows((f"good{number}", 2, "3.00"), day=DAY) if number else []
        lake.land([*mended, *good, *a_row(kind, 2, "900.00")])
        failed(lake, lake.run(), kind)
        assert standing(lake) == before, kind
        mended = a_row(kind, 3, "1.00")
    lake.land(mended)
    all_passed(lake, lake.run_ok())
    assert lake.rows() == lake.rows("raw.events")


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_the_first_commit_on_no_table(lake: Lake, table_type: str) -> None:
    lake.pipeline(table_type=table_type, top=checks(EVERY))
    lake.land([*GOOD, *(row for kind in EVERY for row in a_row(kind, 1, "900.00"))])
    failed(lake, lake.run(), *OF_BATCH)
    lake.land([row for kind in OF_BATCH for row in a_row(kind, 2, "1.00")])
    failed(lake, lake.run(), *OF_TABLE)
    assert not lake.root.joinpath("derived/copy").exists()
    lake.land([*rows(("good", 1, "1.00"), day=DAY), *(row for kind in OF_TABLE for row in a_row(kind, 2, "1.00"))])
    all_passed(lake, lake.run_ok())


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_an_overwritten_partition(lake: Lake, table_type: str) -> None:
    hoodie = {"hoodie.datasource.write.operation": "insert_overwrite"}
    top = "inputs: {rest: {table: raw.events, read: affected_partitions, on: {day: day}}}\n"
    sql = "SELECT r.id, r.ts, r.amount, r.day FROM rest r LEFT SEMI JOIN <SRC> s ON r.day = s.day"
    lake.land(GOOD)
    lake.pipeline(sql=sql, top=top, hoodie=hoodie, table_type=table_type)
    lake.run_ok()
    rule = 'checks: [{name: all_there, sql: "select count(*) from <TABLE_NAME>", expect: 3}]\n'
    lake.pipeline(sql=sql, hoodie=hoodie, top=top + rule, table_type=table_type)
    before = standing(lake)
    lake.land(rows(("a", 2, "5.00"), day=DAY))
    failed(lake, lake.run(), "all_there")
    assert standing(lake) == before
    lake.land(rows(("c", 2, "5.00"), day=DAY))
    all_passed(lake, lake.run_ok())


def test_a_delete(lake: Lake) -> None:
    lake.pipeline()
    lake.land([*GOOD, *rows(("c", 1, "3.00"), day=DAY)])
    lake.run_ok()
    rule = 'checks: [{name: two_stay, sql: "select count(*) from <TABLE_NAME>", expect: 2}]\n'
    lake.pipeline(top=rule, hoodie={"hoodie.datasource.write.operation": "delete"})
    lake.land(rows(("c", 2, "3.00"), day=DAY))
    all_passed(lake, lake.run_ok())
    before = standing(lake)
    lake.land(rows(("b", 2, "2.00"), day=DAY))
    failed(lake, lake.run(), "two_stay")
    assert standing(lake) == before


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_columns_that_a_pipeline_owns(lake: Lake, table_type: str) -> None:
    """A rule about the table sees whole rows; a row that is dropped keeps the columns that it would have set."""
    lake.land(GOOD)
    top = "write: {strategy: merge, columns: [amount]}\nchecks:\n" + """  - {name: odd, where: amount < 0, severity: drop}
  - {name: small, sql: "select coalesce(sum(amount), 0) <= 10 from <TABLE_NAME>", expect: true}
"""
    lake.pipeline(top=top, columns=",\n  note STRING", table_type=table_type)
    lake.run_ok()
    lake.land(rows(("a", 2, "-1.00"), ("b", 2, "8.00"), day=DAY))
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "amount") == [("a", Decimal("1.00")), ("b", Decimal("8.00"))]
    assert lake.rows("derived.copy_quarantine", "id", "amount") == [("a", Decimal("-1.00"))]
    before = standing(lake)
    lake.land(rows(("c", 2, "2.00"), day=DAY))
    failed(lake, lake.run(), "small")
    assert standing(lake) == before


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_an_empty_batch_breaks_no_rule(lake: Lake, table_type: str) -> None:
    lake.land([*GOOD, *a_row("decimal", 1, "1.00")])
    lake.pipeline(sql="SELECT id, ts, amount, day FROM <SRC> WHERE id <> 'none'", table_type=table_type,
                  top=checks(kind for kind in EVERY if kind != "changed"))
    lake.run_ok()
    lake.land(rows(("none", 1, "900.00"), day=DAY))
    result = lake.run_ok()
    assert {one["status"] for one in result.checks} <= {"passed", "skipped"}
    assert lake.position() == lake.state("raw.events").commits[-1].completed


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
    lake.pipeline(top="""checks:
  - {name: one_amount, unique: amount, within: table}
  - {name: no_twins, unique: [id, amount]}
  - {name: known, references: {table: raw.days, columns: {day: day}}}
  - {name: usual, volume: {last: 5, at_least: 50%, at_most: 200%}, severity: warn}
""")
    lake.land(GOOD)
    (_, _, _, usual) = lake.run_ok().checks
    assert usual["status"] == "skipped"
    lake.land(rows(("c", 1, "2.00"), day="2026-01-06"))
    failed(lake, lake.run(), "known")
    lake.land([("y", 1, Decimal(1), "2026-01-06")], table="raw.days")
    failed(lake, lake.run(), "one_amount")
    lake.land(rows(("c", 2, "3.00"), day="2026-01-06"))
    for number in range(4, 6):
        lake.run_ok()
        lake.land(rows((f"c{number}", 2, f"{number}"), day="2026-01-06"))
    lake.run_ok()
    lake.land(rows(*((f"d{number}", 2, f"{100 + number}") for number in range(9)), day="2026-01-06"))
    result = lake.run_ok()
    assert {str(one["name"]): one["status"] for one in result.checks} == {
        "one_amount": "passed", "no_twins": "passed", "known": "passed", "usual": "warned"}
    assert [event.fields["name"] for event in lake.events if event.name == "check"] == ["usual"]


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
    failed(lake, lake.run(), "whole")


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
    failed(lake, lake.run(), "fresh")

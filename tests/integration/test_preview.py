"""What `check_table` means, on frames in memory: the table as it would stand after each operation, and what is asked of it.

That Hudi makes of the same rows what is foretold here is what the whole runs of tests/checks hold, which publish them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError
from freshet.plan.checks import CheckTable, TableCheck
from freshet.project.model.checks import CheckSpec, Severity, SqlRule, UniqueRule
from freshet.project.model.pipeline import TableRef
from freshet.quality.outcome import Outcome
from freshet.quality.preview import after, before, touched_partitions
from freshet.quality.queries import check_table, rows_query
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame as as_frame

Row = tuple[Any, ...]
KINDS = {"id": "string", "ts": "bigint", "amount": "int", "day": "string", "_hoodie_is_deleted": "boolean"}
SCHEMA = "id string, ts bigint, amount int, day string, _hoodie_is_deleted boolean"
STANDS: tuple[Row, ...] = (
    ("a", 5, 1, "mon", None),
    ("b", 5, 2, "mon", None),
    ("c", 5, 3, "tue", None),
    ("d", 5, 4, "wed", None),
)
#: An update, an older row that loses, a row that moves, a new one, two of one key, and two deletes: one of them too old.
ROWS: tuple[Row, ...] = (
    ("a", 6, 10, "mon", False),
    ("b", 4, 20, "mon", False),
    ("c", 6, 30, "mon", False),
    ("new", 1, 40, "tue", None),
    ("twin", 2, 50, "tue", False),
    ("twin", 3, 51, "tue", False),
    ("d", 4, 0, "wed", True),
)
DELETES: tuple[Row, ...] = (("a", 9, 0, "mon", True), ("e", 9, 0, "mon", True))


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def stage(
    operation: str = "upsert",
    *,
    partitioned: bool = True,
    is_global: bool = False,
    ordering: str = "ts",
    overwritten: tuple[str, ...] = (),
    checks: Iterable[TableCheck] = (),
    exists: bool = True,
) -> CheckTable:
    columns = tuple(Column(name=name, type=parse_type(kind)) for name, kind in KINDS.items())
    return CheckTable(
        checks=tuple(checks),
        table=TableRef("derived.t", "/t"),
        columns=columns,
        record_key=("id",),
        partition_by=("day",) if partitioned else (),
        ordering=ordering,
        operation=operation,
        global_index=is_global,
        overwritten=overwritten,
        exists=exists,
    )


def frame(spark: SparkSession, rows: Iterable[Row]) -> DataFrame:
    return as_frame(spark, rows, SCHEMA)


def told(frame: DataFrame) -> list[Row]:
    return sorted((row.id, row.ts, row.amount, row.day) for row in frame.collect())


def expected(stage: CheckTable, rows: Iterable[Row], stands: Iterable[Row]) -> list[Row]:
    """Return the table after the write, said once more in plain words."""
    place = (lambda row: row[0]) if stage.global_index or not stage.partition_by else (lambda row: (row[0], row[3]))
    rows, stands = list(rows), list(stands)
    live = [row for row in rows if not row[4]]
    if stage.operation == "delete":
        gone = {row[0] for row in rows}
        found = [row for row in stands if row[0] not in gone]
    elif stage.operation == "insert":
        found = [*stands, *live]
    else:
        newest: dict[Any, Row] = {}
        for row in rows:
            held = newest.get(place(row))
            if held is None or row[1] >= held[1]:
                newest[place(row)] = row
        if stage.operation == "insert_overwrite":
            days = {row[3] for row in rows} | set(stage.overwritten)
            kept = [row for row in stands if row[3] not in days] if stage.partition_by else []
            found = [*kept, *(row for row in newest.values() if not row[4])]
        else:
            table = {place(row): row for row in stands}
            for key, row in newest.items():
                if key not in table or row[1] >= table[key][1]:
                    table[key] = row
            found = [row for row in table.values() if not row[4]]
    return sorted(row[:4] for row in found)


CELLS = list(product(("upsert", "insert", "delete", "insert_overwrite"), (True, False), (True, False)))


@pytest.mark.parametrize(("operation", "partitioned", "is_global"), CELLS)
def test_the_table_after_each_operation(spark: SparkSession, operation: str, partitioned: bool, is_global: bool) -> None:
    how = stage(operation, partitioned=partitioned, is_global=is_global)
    rows = DELETES if operation == "delete" else ROWS
    assert told(after(how, frame(spark, rows), frame(spark, STANDS), None)) == expected(how, rows, STANDS)


def test_of_some_partitions_the_same_rows_are_seen_as_of_all(spark: SparkSession) -> None:
    """A global index takes a row out of a partition that the batch's rows do not name."""
    rows, stands = frame(spark, ROWS), frame(spark, STANDS)
    for is_global, days in ((False, ["mon", "tue", "wed"]), (True, ["mon", "tue", "wed"])):
        how = stage(is_global=is_global)
        assert touched_partitions(how, rows, stands) == [(day,) for day in days]
        some = told(after(how, rows, stands, [("mon",), ("tue",)]))
        assert some == [row for row in expected(how, ROWS, STANDS) if row[3] in ("mon", "tue")]
    moved = frame(spark, [("c", 6, 30, "mon", False)])
    assert touched_partitions(stage(is_global=True), moved, stands) == [("mon",), ("tue",)]
    assert touched_partitions(stage(), moved, stands) == [("mon",)]
    assert touched_partitions(stage("insert_overwrite", overwritten=("sun",)), moved, stands) == [("mon",), ("sun",)]


def test_partitions_that_are_replaced_whatever_the_batch_holds_are_empty_without_rows(spark: SparkSession) -> None:
    how = stage("insert_overwrite", overwritten=("wed",))
    assert told(after(how, frame(spark, ROWS[:1]), frame(spark, STANDS), None)) == [("a", 6, 10, "mon"), ("c", 5, 3, "tue")]


def test_a_table_that_is_replaced_holds_the_batch_alone_and_is_asked_as_a_whole(spark: SparkSession) -> None:
    """Kind: what a check of some partitions looks at. Of those that go with all their rows the batch names none."""
    how = stage("insert_overwrite_table")
    assert told(after(how, frame(spark, ROWS[:1]), frame(spark, STANDS), None)) == [("a", 6, 10, "mon")]
    asked = sql("select count(*) from <TABLE_NAME> where day = 'wed'", compare="unchanged")
    assert judged(spark, asked, ROWS[:1], operation="insert_overwrite_table").status == "failed"
    assert judged(spark, asked, (), operation="insert_overwrite_table").status == "failed"


def test_a_column_that_the_ddl_gained_is_null_in_rows_that_stand(spark: SparkSession) -> None:
    older = frame(spark, STANDS).drop("amount")
    assert {row.amount for row in before(stage(), older, None).collect()} == {None}
    found = after(stage(), frame(spark, ROWS[:1]), older, [("mon",)]).collect()
    assert sorted((row.id, row.amount) for row in found) == [("a", 10), ("b", None)]


def sql(query: str, expect: str = "", compare: Any = "", scope: Any = "partitions", severity: Severity = "fail") -> TableCheck:
    return TableCheck(
        CheckSpec(
            name="asked", severity=severity, line=0, rule=SqlRule(query=query, expect=expect, compare=compare, scope=scope)
        ),
        "freshet",
    )


def judged(spark: SparkSession, check: TableCheck, rows: Iterable[Row] = ROWS, **how: Any) -> Outcome:
    made = stage(checks=[check], **how)
    (found,) = check_table(spark, made, made.checks, frame(spark, rows), frame(spark, STANDS))
    return found


# After the upsert: a 10, b 2, c 30 in mon; c 3, new 40, twin 51 in tue; wed keeps d, whose delete is too old.
@pytest.mark.parametrize(
    ("check", "status"),
    [
        (sql("select sum(amount) from <TABLE_NAME> where day = 'mon'", "42"), "passed"),
        (sql("select sum(amount) from <TABLE_NAME> where day = 'mon'", "41"), "failed"),
        (sql("select sum(amount) from <TABLE_NAME> where day = 'mon'", "41", severity="warn"), "warned"),
        (sql("select cast(sum(amount) as decimal(12,2)) from <TABLE_NAME> where day = 'mon' -- a comment", "42.0"), "passed"),
        (sql("select concat('; #', count(*)) from <TABLE_NAME>", "'; #7'"), "passed"),
        (sql("select max(amount) from <TABLE_NAME> where id = 'nobody'", "null"), "passed"),
        (sql("select amount from <TABLE_NAME> where id = 'nobody'", "null"), "passed"),
        (sql("select count(*) from <TABLE_NAME> where amount > 100", compare="unchanged"), "passed"),
        (sql("select count(*) from <TABLE_NAME> where amount > 9", compare="unchanged"), "failed"),
        (sql("select count(*) from <TABLE_NAME> where amount > 9", compare="changed"), "passed"),
        (sql("select count(*) from <TABLE_NAME> where amount > 100", compare="changed"), "failed"),
        (sql("select id, amount from <TABLE_NAME>", compare="unchanged"), "failed"),
        (
            TableCheck(CheckSpec(name="asked", severity="fail", line=0, rule=UniqueRule(("amount",), "table")), "freshet"),
            "passed",
        ),
        (TableCheck(CheckSpec(name="asked", severity="fail", line=0, rule=UniqueRule(("id",), "table")), "freshet"), "failed"),
    ],
)
def test_what_is_asked_of_the_table(spark: SparkSession, check: TableCheck, status: str) -> None:
    found = judged(spark, check)
    assert (found.name, found.status) == ("asked", status), found


def test_what_a_check_sees_is_the_partitions_that_are_written_or_all(spark: SparkSession) -> None:
    count = "select count(*) from <TABLE_NAME>"
    assert judged(spark, sql(count, "2"), ROWS[:1]).status == "passed"
    assert judged(spark, sql(count, "4", scope="table"), ROWS[:1]).status == "passed"
    assert judged(spark, sql(count, "4"), ROWS[:1], partitioned=False).status == "passed"
    assert judged(spark, sql(count, "0"), ()).status == "skipped"
    assert judged(spark, sql(count, "4", scope="table"), ()).status == "passed"


def test_a_counting_check_shows_the_rows_that_it_counts(spark: SparkSession) -> None:
    found = judged(spark, sql("select count(*) from <TABLE_NAME> where amount > 9 and day = 'mon'", "0"))
    assert (found.status, found.seen) == ("failed", "2")
    assert sorted(row.split('"id":"')[1][0] for row in found.sample) == ["a", "c"]
    assert found.query.startswith("SELECT * FROM <TABLE_NAME>")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("select count(*) from <TABLE_NAME> t where t.a > 1", "SELECT * FROM <TABLE_NAME> AS t WHERE t.a > 1"),
        ("select count(*) as n from <TABLE_NAME> group by a", ""),
        ("select count(a) from <TABLE_NAME>", ""),
        ("select sum(a) from <TABLE_NAME>", ""),
        ("select count(*), 1 from <TABLE_NAME>", ""),
        ("select (", ""),
    ],
)
def test_the_rows_behind_a_count(query: str, shown: str) -> None:
    assert rows_query(query) == shown


@pytest.mark.parametrize("query", [f"select {what} from <TABLE_NAME>" for what in ("amuont", "1, 2", "id")])
def test_a_query_that_gives_no_one_value_is_named(spark: SparkSession, query: str) -> None:
    with pytest.raises(DataError) as refused:
        judged(spark, sql(query, "0"))
    assert (refused.value.code, refused.value.details["check"]) == ("CHECK_NOT_EVALUATED", "asked")

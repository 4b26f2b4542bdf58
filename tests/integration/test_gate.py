"""What `check_batch` means, on frames in memory: each kind of check finds its own bad rows and no other does.

That what fails here publishes nothing is what the whole runs of tests/checks hold; what Great Expectations' rules mean,
`test_expectations.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError
from freshet.plan.checks import CheckBatch
from freshet.plan.row_stages import EnforceSchema
from freshet.project.model.checks import (
    CheckSpec,
    FreshnessRule,
    MalformedRule,
    ReferenceRule,
    RowRule,
    Rule,
    Severity,
    SqlRule,
    SuiteRule,
    UniqueRule,
    VolumeRule,
)
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import enforce_schema
from freshet.quality.gate import RULES, Gated, check_batch
from freshet.types.columns import Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame as as_frame
from tests.kit.lake import Lake

DDL = {
    "id": "string",
    "ts": "bigint",
    "amount": "decimal(10,2)",
    "day": "string",
    "at": "timestamp",
    "_hoodie_is_deleted": "boolean",
}
COLUMNS = tuple(Column(name=name, type=parse_type(kind)) for name, kind in DDL.items())
SCHEMA = "id string, ts string, amount string, day string, hours int, gone boolean"
GOOD = (("a", "1", "1.00", "mon", 0, False), ("b", "2", "2.00", "tue", 0, None), ("c", "3", "3.00", None, 0, False))
#: Rows that break one rule each; a deleted one breaks none, whatever it holds.
BAD: Mapping[str, tuple[Any, ...]] = {
    "where": (("bad", "4", "-1.00", "mon", 0, False),),
    "unique": (("bad", "4", "1.00", "mon", 0, False),),
    "references": (("bad", "4", "4.00", "sun", 0, False),),
    "gx": (("bad", "901", "4.00", "mon", 0, False),),
    "batch": (("bad", "500", "4.00", "mon", 0, False),),
    "malformed": (("bad", "ten", "4.00", "mon", 0, False),),
}


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


@pytest.fixture(scope="module")
def days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableRef:
    """Return a table of days, which rows refer to."""
    lake = Lake(spark, tmp_path_factory.mktemp("days"))
    lake.land([(day, 1, Decimal(1), day) for day in ("mon", "tue")], table="raw.days")
    return TableRef("raw.days", lake.path("raw.days"))


def rules(days: TableRef) -> dict[str, Rule]:
    return {
        "where": RowRule("amount < 0"),
        "unique": UniqueRule(("amount",), "batch"),
        "references": ReferenceRule(days.name, days.path, (("day", "day"),)),
        "gx": SuiteRule(({"type": "expect_column_values_to_not_be_in_set", "kwargs": {"column": "ts", "value_set": [901]}},)),
        "batch": SqlRule(
            query="select count(*) from <TABLE_NAME> where ts between 400 and 600", expect="0", compare="", scope="batch"
        ),
        "malformed": MalformedRule(),
        "freshness": FreshnessRule("at", 3600),
        "volume": VolumeRule(3, 0.5, 2.0),
    }


def frame(spark: SparkSession, rows: tuple[Any, ...], marks: bool) -> DataFrame:
    found = as_frame(spark, rows, SCHEMA)
    shaped = found.select(
        "id",
        "ts",
        "amount",
        "day",
        F.expr("current_timestamp() - make_interval(0, 0, 0, 0, hours) AS at"),
        F.col("gone").alias("_hoodie_is_deleted"),
    )
    # As the plan makes it: only where bad rows leave the batch are they marked.
    how = EnforceSchema(columns=COLUMNS, required=("id",), keys=("id",), rule="malformed", marks=marks, keeps_original=marks)
    return enforce_schema(shaped, how, "ddl/copy.sql")


def checked(
    spark: SparkSession,
    days: TableRef,
    rows: tuple[Any, ...],
    severity: Severity = "fail",
    only: tuple[str, ...] = (),
    history: tuple[int, ...] = (3, 3, 3),
    **limits: Any,
) -> Gated:
    # What looks at the batch as a whole cannot say which rows to drop.
    whole = ("batch", "freshness", "volume")
    made = tuple(
        CheckSpec(
            name=name,
            severity=severity if severity != "drop" or name not in whole else "fail",
            line=0,
            rule=rule,
            **(limits if name not in whole else {}),
        )
        for name, rule in rules(days).items()
        if not only or name in only
    )
    quarantine = TableRef("derived.q", "/q") if severity == "drop" else None
    return check_batch(
        spark,
        CheckBatch(checks=made, record_key=("id",), history=history, quarantine=quarantine),
        frame(spark, rows, severity == "drop"),
    )


def statuses(gated: Gated) -> dict[str, str]:
    return {one.name: one.status for one in gated.outcomes}


def ids(rows: DataFrame | None) -> list[str]:
    return [] if rows is None else sorted(row.id for row in rows.select("id").collect())


@pytest.mark.parametrize("severity", ["fail", "drop"])
def test_a_good_batch_passes_every_check(spark: SparkSession, days: TableRef, severity: Severity) -> None:
    gone = ("gone", "901", "-1.00", "sun", 99, True)
    found = checked(spark, days, (*GOOD, gone), severity)
    assert set(statuses(found).values()) == {"passed"}, found.outcomes
    assert (found.count, found.dropped_count, found.dropped) == (4, 0, None)
    assert ids(found.rows) == ["a", "b", "c", "gone"]
    assert found.rows.columns == list(DDL), "no mark is published"


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "malformed"])
def test_a_bad_row_fails_its_own_check_alone(spark: SparkSession, days: TableRef, kind: str) -> None:
    found = checked(spark, days, (*GOOD, *BAD[kind]))
    assert {name for name, status in statuses(found).items() if status != "passed"} == {kind}
    (one,) = (one for one in found.outcomes if one.name == kind)
    assert one.status == "failed"
    assert "bad" in "".join(one.sample) or kind == "unique"
    assert found.dropped is None
    assert len(ids(found.rows)) == 4, "a check that fails drops nothing: the run ends"


def test_bad_rows_of_every_kind_leave_the_batch_each_with_its_rules(spark: SparkSession, days: TableRef) -> None:
    bad = tuple((f"{kind}", *row[1:]) for kind, rows in BAD.items() if kind not in ("batch", "unique") for row in rows)
    bad = tuple((key, ts, f"{n}4.00" if key != "where" else amount, *rest) for n, (key, ts, amount, *rest) in enumerate(bad, 5))
    twins = (("twin", "7", "77.00", "mon", 0, False), ("twin2", "8", "77.00", "mon", 0, False))
    found = checked(spark, days, (*GOOD, *bad, *twins), "drop")
    assert found.dropped is not None
    told = {row.id: row[RULES] for row in found.dropped.select("id", RULES).collect()}
    assert told == {
        "where": ["where"],
        "references": ["references"],
        "gx": ["gx"],
        "malformed": ["malformed"],
        "twin": ["unique"],
        "twin2": ["unique"],
    }
    assert (ids(found.rows), ids(found.kept)) == (["a", "b", "c"], ["a", "b", "c"])
    assert (found.count, found.dropped_count) == (9, 6)
    assert {name for name, status in statuses(found).items() if status == "dropped"} == set(BAD) - {"batch"}


def test_a_row_that_breaks_two_rules_is_dropped_once_with_both(spark: SparkSession, days: TableRef) -> None:
    found = checked(spark, days, (*GOOD, ("two", "901", "-5.00", "mon", 0, False)), "drop")
    assert found.dropped is not None
    assert [sorted(row[RULES]) for row in found.dropped.collect()] == [["gx", "where"]]


def test_a_malformed_row_breaks_no_other_rule(spark: SparkSession, days: TableRef) -> None:
    """Where its values were it has nulls, of which nothing can be said."""
    found = checked(spark, days, (*GOOD, ("bad", "ten", "-1.00", "sun", 0, False)), "drop")
    assert found.dropped is not None
    assert [row[RULES] for row in found.dropped.collect()] == [["malformed"]]


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"most_rows": 1}, "dropped"),
        ({"most_rows": 0}, "failed"),
        ({"most_share": 0.25}, "dropped"),
        ({"most_share": 0.24}, "failed"),
    ],
)
def test_more_bad_rows_than_the_limit_fail_the_run(
    spark: SparkSession,
    days: TableRef,
    limits: dict[str, Any],
    status: str,
) -> None:
    found = checked(spark, days, (*GOOD, *BAD["where"]), "drop", ("where",), **limits)
    assert statuses(found) == {"where": status}


def test_a_warning_warns(spark: SparkSession, days: TableRef) -> None:
    found = checked(spark, days, (*GOOD, *BAD["where"]), "warn", ("where", "unique"))
    assert statuses(found) == {"where": "warned", "unique": "passed"}
    assert len(ids(found.rows)) == 4


@pytest.mark.parametrize(
    ("history", "rows", "status"),
    [
        ((3, 3, 3), 6, "passed"),
        ((3, 3, 3), 7, "failed"),
        ((9, 7, 5), 3, "failed"),
        ((9, 6, 2), 3, "passed"),
        ((3, 3), 99, "skipped"),
        ((), 1, "skipped"),
    ],
)
def test_the_volume_is_held_against_the_median(
    spark: SparkSession,
    days: TableRef,
    history: tuple[int, ...],
    rows: int,
    status: str,
) -> None:
    """A deleted row is no row of the batch's volume."""
    made = tuple((f"k{n}", f"{n}", f"{n}.00", "mon", 0, False) for n in range(rows))
    found = checked(spark, days, (*made, ("gone", "1", "1.00", "mon", 0, True)), only=("volume",), history=history)
    assert statuses(found) == {"volume": status}


@pytest.mark.parametrize(
    ("hours", "gone", "status"),
    [
        ((2, 0), False, "passed"),
        ((2, 3), False, "failed"),
        ((0,), True, "skipped"),
        ((None,), False, "skipped"),
    ],
)
def test_the_newest_row_tells_how_fresh_a_batch_is(
    spark: SparkSession,
    days: TableRef,
    hours: tuple[int | None, ...],
    gone: bool,
    status: str,
) -> None:
    made = tuple((f"k{n}", "1", "1.00", "mon", age, gone) for n, age in enumerate(hours))
    assert statuses(checked(spark, days, made, only=("freshness",))) == {"freshness": status}


@pytest.mark.parametrize("severity", ["fail", "drop"])
def test_an_empty_batch_fails_nothing(spark: SparkSession, days: TableRef, severity: Severity) -> None:
    found = checked(spark, days, (), severity, history=())
    assert set(statuses(found).values()) <= {"passed", "skipped"}
    assert (found.count, found.dropped_count, ids(found.rows)) == (0, 0, [])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (RowRule("amuont < 0"), "amuont"),
        (RowRule("amount <"), "syntax"),
        (FreshnessRule("born", 60), "born"),
        (SqlRule(query="select amuont from <TABLE_NAME>", expect="0", compare="", scope="batch"), "amuont"),
        (SqlRule(query="select 1, 2", expect="0", compare="", scope="batch"), "2 columns"),
        (SqlRule(query="select explode(array(1, 2))", expect="0", compare="", scope="batch"), "several"),
    ],
)
def test_a_check_that_cannot_be_evaluated_is_named(spark: SparkSession, rule: Rule, said: str) -> None:
    made = CheckBatch(
        checks=(CheckSpec(name="odd", severity="fail", line=0, rule=rule),), record_key=("id",), history=(), quarantine=None
    )
    with pytest.raises(DataError) as refused:
        check_batch(spark, made, frame(spark, GOOD, False))
    assert (refused.value.code, refused.value.details["check"]) == ("CHECK_NOT_EVALUATED", "odd")
    assert said in str(refused.value).lower()


def test_what_goes_along_is_kept_beside_the_rows(spark: SparkSession, days: TableRef) -> None:
    made = CheckBatch(
        checks=(CheckSpec(name="where", severity="drop", line=0, rule=rules(days)["where"]),),
        record_key=("id",),
        history=(),
        quarantine=TableRef("derived.q", "/q"),
    )
    rows = frame(spark, (*GOOD, *BAD["where"]), True).withColumn("place", F.lit(7))
    found = check_batch(spark, replace(made, history=(1,)), rows, ("place",))
    assert "place" not in found.rows.columns
    assert {row.place for row in found.kept.collect()} == {7}
    assert found.dropped is not None
    assert [row.place for row in found.dropped.collect()] == [7]

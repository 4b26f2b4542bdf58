"""`enforce_schema` on frames in memory: each way in which a batch may differ from the DDL, in each of its three modes.

That a run refuses, and leaves its table as it was, is `test_schema.py`'s and the whole runs' of tests/checks.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import CheckError, DataError
from freshet.plan.row_stages import EnforceSchema
from freshet.project.model.pipeline import TableRef
from freshet.quality.contract import ORIGINAL, REASONS, enforce_schema
from freshet.quality.refusals import SHOWN, Refused, refused_in, row_in_words, text_of
from freshet.sinks.failures import in_words
from freshet.types.columns import Atomic, Column
from freshet.types.from_sql import parse_type
from tests.kit.frames import frame

GOOD = {"id": "'a'", "ts": "1L", "amount": "1.00BD", "day": "'2026-01-05'"}
KINDS = {"id": "string", "ts": "bigint", "amount": "decimal(10,2)", "day": "string"}


@pytest.fixture(scope="module")
def spark(quick: SparkSession) -> SparkSession:
    return quick


def columns(**more: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type=parse_type(kind)) for name, kind in {**KINDS, **more}.items())


def stage(more: dict[str, str] | None = None, **how: Any) -> EnforceSchema:
    return EnforceSchema(columns=columns(**(more or {})), required=("id", "ts", "day"), keys=("id",), **how)


def batch(spark: SparkSession, **changed: str) -> DataFrame:
    """Return one row; a column that is changed to nothing is left out."""
    values = {name: value for name, value in {**GOOD, **changed}.items() if value}
    return spark.sql("SELECT " + ", ".join(f"{value} AS `{name}`" for name, value in values.items()))


def mismatch(frame: DataFrame, how: EnforceSchema, keep: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(DataError) as refused:
        enforce_schema(frame, how, "ddl/copy.sql", keep)
    assert refused.value.code == "BATCH_MISMATCH"
    found: Any = refused.value.as_json()["details"]
    return [str(one) for one in found["differences"]]


def refusal(frame: DataFrame, how: EnforceSchema) -> DataError:
    """Return what the write says of a value that Spark refuses while it computes the rows."""
    with pytest.raises(Py4JJavaError) as failed:
        enforce_schema(frame, how, "ddl/copy.sql").collect()
    error = in_words(TableRef("derived.copy", "/copy"), str(failed.value))
    assert isinstance(error, DataError)
    return error


def test_columns_are_found_by_name_put_in_order_and_cast(spark: SparkSession) -> None:
    frame = spark.sql("SELECT '2026-01-05' AS day, 1.5BD AS AMOUNT, 7 AS ts, 'a' AS id, 'else' AS other, 9 AS mark")
    found = enforce_schema(frame, stage(ignored=("other",)), "ddl/copy.sql", ("mark",))
    assert [(f.name, f.dataType.simpleString(), f.nullable) for f in found.schema.fields] == [
        ("id", "string", True),
        ("ts", "bigint", True),
        ("amount", "decimal(10,2)", True),
        ("day", "string", True),
        ("mark", "int", False),
    ]
    assert [tuple(row) for row in found.collect()] == [("a", 7, Decimal("1.50"), "2026-01-05", 9)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"amount": ""}, ["amount (decimal(10,2)) is missing"]),
        ({"extra": "1"}, ["extra (int) is not in the DDL"]),
        ({"amount": "'1.00'"}, ["amount is string in the batch"]),
        ({"amount": "1.0D"}, ["amount is double in the batch"]),
        ({"ts": "1.5BD"}, ["ts is decimal(2,1) in the batch"]),
        ({"day": "interval 1 day"}, ["day is interval day, which no table of Hudi can hold"]),
        ({"ID": "'b'"}, ["id stands twice"]),
        # All at once, so that one attempt tells all of them.
        ({"ts": "'1'", "amount": "", "extra": "1"}, ["extra", "ts is string", "amount (decimal(10,2)) is missing"]),
    ],
)
def test_what_the_schema_alone_refuses_is_all_named(spark: SparkSession, changed: dict[str, str], said: list[str]) -> None:
    found = mismatch(batch(spark, **changed), stage())
    assert len(found) == len(said)
    assert all(any(words in one for one in found) for words in said), found


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("smallint", "32767", True),
        ("smallint", "32768", False),
        ("decimal(4,2)", "99.99BD", True),
        ("decimal(4,2)", "100.00BD", False),
        ("int", "cast(3000000000 AS bigint)", False),
        ("float", "1e40D", None),
        ("decimal(10,0)", "2147483647", True),
        ("decimal(2,0)", "100", False),
        ("timestamp", "date'2026-01-05'", True),
        ("array<bigint>", "array(1, 2)", True),
        ("struct<a:bigint>", "named_struct('A', 1)", True),
        ("array<smallint>", "array(100000)", None),
        ("map<string,double>", "map('k', 1.0F)", True),
        ("string", "null", True),
    ],
)
def test_a_value_fits_or_is_refused_and_none_is_cut(spark: SparkSession, kind: str, value: str, fits: bool | None) -> None:
    """``None`` where the type alone is refused, because no look at a value would tell what is lost."""
    frame = batch(spark, v=value)
    if fits is None:
        assert len(mismatch(frame, stage({"v": kind}))) == 1
    elif fits:
        enforce_schema(frame, stage({"v": kind}), "ddl/copy.sql").collect()
    else:
        error = refusal(frame, stage({"v": kind}))
        assert (error.code, error.details["column"], error.details["row"]) == ("OVERFLOW", "v", "id=a")


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("id", "cast(null AS string)", "NULL_VALUE"),
        ("id", "''", "NULL_VALUE"),
        ("ts", "cast(null AS bigint)", "NULL_VALUE"),
        ("day", "cast(null AS string)", "NULL_VALUE"),
        ("amount", "100000000BD", "OVERFLOW"),
    ],
)
def test_the_write_names_column_and_row(spark: SparkSession, column: str, value: str, code: str) -> None:
    error = refusal(batch(spark, **{column: value}), stage())
    assert (error.code, error.details["column"]) == (code, column)
    assert not isinstance(error, CheckError)


def test_a_refusal_reads_back_as_it_was_written(spark: SparkSession) -> None:
    """Kind: values that could be taken for a part of the text that a failed job gives: bars, ends of lines, quotes, the text's
    own mark, a check's words; and one that is too long to be shown whole."""
    values = ("a|b", "a\nb\tc", 'it\'s "so"', "FRESHET_REFUSED|OVERFLOW|v|int|1|id=a|", " (check other)", "", "x" * 400)
    rows = frame(spark, [(value, value) for value in values], "id string, v string")
    told = rows.select(text_of("OVERFLOW", "v", Atomic("int"), row_in_words({"id": "id"}, F.lit(" of f")), "fits").alias("t"))
    for value, (text,) in zip(values, told.collect(), strict=True):
        shown = value[:SHOWN]
        found = refused_in(f"Job aborted.\nCaused by: SparkRuntimeException: {text}\n\tat a.B.c(B.java:1)\n")
        row = f"id={shown} of f (check fits)"
        assert found == Refused(code="OVERFLOW", column="v", kind="int", check="fits", value=shown, row=row)
    error = refusal(batch(spark, id="'a\n|b'", v="'x|y\n'"), stage({"v": "int"}, rule="fits"))
    assert (error.code, error.details["value"], error.details["row"]) == ("NOT_OF_TYPE", "x|y\n", "id=a\n|b (check fits)")


def test_two_keys_that_hudi_would_take_for_one_are_refused(spark: SparkSession) -> None:
    """Kind: keys of several parts whose one text can be cut in two places. With b last, what is in it can mislead nobody."""
    two = EnforceSchema(columns=columns(b="string"), required=("id", "b", "ts", "day"), keys=("id", "b"))
    error = refusal(batch(spark, id="'1,b:2'", b="'3'"), two)
    assert (error.code, error.details["column"], error.details["row"]) == ("KEY_AMBIGUOUS", "id", "id=1,b:2, b=3")
    for fine in (("1", "2,b:3"), ("1,b", ",b:"), ("b:,", "3")):
        assert enforce_schema(batch(spark, id=f"'{fine[0]}'", b=f"'{fine[1]}'"), two, "ddl/copy.sql").first()["b"] == fine[1]
    marked = enforce_schema(
        batch(spark, id="'1,b:2'", b="'3'"), replace(two, rule="fits", marks=True), "ddl/copy.sql"
    ).collect()
    assert [row[REASONS] for row in marked] == [["id holds what begins the next part of the record key"]]
    assert enforce_schema(batch(spark, id="'1,ts:2'"), stage(), "ddl/copy.sql").first()["id"] == "1,ts:2"


def test_a_value_of_another_row_does_not_fail_the_write(spark: SparkSession) -> None:
    frame = batch(spark, day="''").union(batch(spark, amount="cast(null AS decimal(10,2))"))
    assert len(enforce_schema(frame, stage(), "ddl/copy.sql").collect()) == 2


NO_TEXT = "cast(x'fffe' AS string)"


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("bigint", "'ten'", "NOT_OF_TYPE"),
        ("decimal(10,2)", "'1e400'", "OVERFLOW"),
        ("date", "'2026-02-30'", "NOT_OF_TYPE"),
        ("boolean", "'maybe'", "NOT_OF_TYPE"),
        ("string", NO_TEXT, "BAD_BYTES"),
        ("array<string>", f"array('a', {NO_TEXT})", "BAD_BYTES"),
        ("map<string,int>", f"map({NO_TEXT}, 1)", "BAD_BYTES"),
        ("map<int,string>", f"map(1, {NO_TEXT})", "BAD_BYTES"),
        ("struct<a:array<string>>", f"named_struct('a', array({NO_TEXT}))", "BAD_BYTES"),
    ],
)
def test_a_check_of_malformed_values_reads_text_and_is_named(spark: SparkSession, kind: str, value: str, code: str) -> None:
    """Without the check text is no number; with it each text is tried, and bytes that are no text are found."""
    error = refusal(batch(spark, v=value), stage({"v": kind}, rule="fits"))
    assert (type(error), error.code) == (CheckError, code)
    assert "(check fits)" in str(error)


def test_what_a_check_of_malformed_values_lets_pass(spark: SparkSession) -> None:
    more = {"n": "bigint", "d": "date", "t": "string", "nothing": "array<string>"}
    found = (
        enforce_schema(
            batch(spark, n="' 12 '", d="'2026-01-05'", t="'żółć 🚖'", nothing="array(null, 'x')"),
            stage(more, rule="fits"),
            "ddl/copy.sql",
        )
        .selectExpr("n", "string(d)", "t", "nothing")
        .collect()
    )
    assert [tuple(row) for row in found] == [(12, "2026-01-05", "żółć 🚖", [None, "x"])]


def test_rows_that_do_not_fit_are_marked_with_each_reason_and_kept_as_they_were(spark: SparkSession) -> None:
    frame = batch(spark, n="'ten'", ts="cast(null AS bigint)", id="''").union(batch(spark, n="'10'", ts="2L", id="'b'"))
    how = stage({"n": "bigint"}, rule="fits", marks=True, keeps_original=True)
    # The batch's columns are told by their places here: the second row's are in the same order.
    rows = enforce_schema(frame.select("id", "ts", "amount", "day", "n"), how, "ddl/copy.sql").orderBy("day", "id").collect()
    bad, good = ([row for row in rows if bool(row[REASONS]) is bad] for bad in (True, False))
    (marked,) = bad
    assert sorted(reason.split(":")[0].split(" is")[0] for reason in marked[REASONS]) == ["id", "n", "ts"]
    assert marked["n"] is None, "what does not fit is not published as something else"
    assert '"n":"ten"' in marked[ORIGINAL]
    assert [(row["id"], row["n"], row[REASONS]) for row in good] == [("b", 10, [])]


@pytest.mark.parametrize(
    ("evolution", "changed", "expected"),
    [
        ("add_columns", {"name": "'x'"}, ("name", "string")),
        ("widen", {"ts": "1.5D"}, None),
        ("widen", {"n": "3000000000"}, ("n", "bigint")),
        ("add_columns", {"n": "3000000000"}, ("n", "int")),
    ],
)
def test_what_a_batch_may_change_about_the_table(
    spark: SparkSession,
    evolution: Any,
    changed: dict[str, str],
    expected: tuple[str, str] | None,
) -> None:
    frame = batch(spark, **{"n": "1", **changed})
    how = stage({"n": "int"}, evolution=evolution)
    if expected is None:
        assert len(mismatch(frame, how)) == 1
        return
    found = enforce_schema(frame, how, "ddl/copy.sql")
    assert found.schema[expected[0]].dataType.simpleString() == expected[1]


@pytest.mark.parametrize("name", ["a b", "żółć", "1a", "a-b", "__freshet_rules"])
def test_no_name_is_added_that_a_table_cannot_hold(spark: SparkSession, name: str) -> None:
    for value in ("1", f"named_struct('{name}', 1)"):
        frame = batch(spark, **{name if value == "1" else "plain": value})
        assert len(mismatch(frame, stage(evolution="add_columns"))) == 1


def test_a_column_that_an_earlier_batch_added_may_be_missing(spark: SparkSession) -> None:
    found = enforce_schema(batch(spark), stage({"name": "string"}, optional=("name",), evolution="add_columns"), "ddl/copy.sql")
    assert found.schema["name"].dataType.simpleString() == "string"
    assert found.collect()[0]["name"] is None

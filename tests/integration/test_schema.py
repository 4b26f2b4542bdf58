"""What a DDL, a key, an index or a batch may change about a table that stands, and what is refused with the table untouched."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from freshet.errors import FreshetError
from tests.kit.lake import Lake, rows

STANDS = rows(("a", 1, "1"))


def load(lake: Lake) -> Lake:
    """Give a lake a target with one row, and one more row that waits in the source."""
    lake.pipeline()
    lake.land(STANDS)
    lake.run_ok()
    lake.land(rows(("b", 2, "2")))
    return lake


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    return load(lake)


@pytest.fixture(scope="module")
def one_for_all(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return load(Lake(spark, tmp_path_factory.mktemp("schema")))


@pytest.fixture
def standing(one_for_all: Lake) -> Lake:
    """Return the lake of those tests that leave its table as it is, which `refused` asserts."""
    one_for_all.pipeline()
    return one_for_all


def refused(lake: Lake, code: str) -> FreshetError:
    def stands() -> object:
        # A write that was refused half-way is rolled back by the next one.
        state = lake.state()
        commits = {i for i in state.instants if i.action != "rollback"}
        return commits, state.latest_extra("schema"), lake.position(), lake.files()

    before = stands()
    error = lake.run().error
    assert error is not None
    assert error.code == code, error
    assert stands() == before
    assert len(lake.state().commits) == 1
    return error


def test_a_nullable_column_may_be_added_and_may_not_be_dropped_again(loaded: Lake) -> None:
    with_note = "SELECT id, ts, amount, day, 'new' AS note FROM <SRC>"
    loaded.pipeline(sql=with_note, columns=", note STRING")
    assert [(c.change, c.column) for c in loaded.plan().schema_changes] == [("add", "note")]
    loaded.run_ok()
    kept = [("a", 1, Decimal("1.00"), "2026-01-05", None), ("b", 2, Decimal("2.00"), "2026-01-05", "new")]
    columns = ("id", "ts", "amount", "day", "note")
    assert loaded.rows("derived.copy", *columns) == kept

    loaded.pipeline()
    loaded.land(rows(("c", 3, "3")))
    error = loaded.run().error
    assert error is not None
    assert error.code == "SCHEMA_CHANGED"
    assert loaded.rows("derived.copy", *columns) == kept

    loaded.pipeline(sql=with_note, columns=", note STRING")
    loaded.run_ok()
    assert [r[0] for r in loaded.rows()] == ["a", "b", "c"]


def test_a_column_may_be_widened(lake: Lake) -> None:
    lake.pipeline(sql="SELECT id, ts, amount, day, 7 AS n FROM <SRC>", columns=", n INT")
    lake.land(STANDS)
    lake.run_ok()
    lake.pipeline(sql="SELECT id, ts, amount, day, 3000000000 AS n FROM <SRC>", columns=", n BIGINT")
    lake.land(rows(("b", 2, "2")))
    assert [(c.change, c.before, c.after) for c in lake.plan().schema_changes] == [("widen", "int", "bigint")]
    lake.run_ok()
    assert lake.rows("derived.copy", "id", "n") == [("a", 7), ("b", 3000000000)]


@pytest.mark.parametrize("columns", [", note STRING NOT NULL", ", ghost STRING, amount2 INT NOT NULL"])
def test_a_required_column_cannot_be_added(standing: Lake, columns: str) -> None:
    standing.pipeline(columns=columns)
    refused(standing, "SCHEMA_CHANGED")


def test_a_batch_that_does_not_fit_is_refused(standing: Lake) -> None:
    """What else does not fit is in test_contract.py."""
    standing.pipeline(sql="SELECT id, ts, cast(amount AS string) AS amount, day FROM <SRC>")
    assert "cast it in the SQL" in str(refused(standing, "BATCH_MISMATCH"))


@pytest.mark.parametrize(
    ("sql", "code", "column"),
    [
        ("SELECT id, ts, cast(amount * 100000000 AS decimal(20,2)) AS amount, day FROM <SRC>", "OVERFLOW", "amount"),
        ("SELECT '' AS id, ts, amount, day FROM <SRC>", "NULL_VALUE", "id"),
    ],
)
def test_a_value_that_may_not_stand_is_refused_by_name(standing: Lake, sql: str, code: str, column: str) -> None:
    standing.pipeline(sql=sql)
    assert refused(standing, code).details["column"] == column


def test_columns_are_told_by_name_and_integers_widen(loaded: Lake) -> None:
    loaded.pipeline(sql="SELECT day, amount AS AMOUNT, cast(ts AS int) AS ts, id FROM <SRC>")
    loaded.run_ok()
    assert loaded.rows() == rows(("a", 1, "1"), ("b", 2, "2"))


def test_a_sql_error_names_file_line_and_column(standing: Lake) -> None:
    standing.pipeline(sql="-- why\nSELECT id, ts,\n       amuont, day\nFROM <SRC>")
    error = refused(standing, "SQL_ERROR")
    assert (error.details["file"], error.details["line"], error.details["column"]) == ("transformers/copy.sql", 3, 8)
    assert error.details["name"] == "amuont"


def test_a_syntax_error_names_file_and_line(standing: Lake) -> None:
    standing.pipeline(sql="SELECT id, ts, amount, day\nFROM <SRC>\nWHERE (ts > 0")
    assert refused(standing, "SQL_ERROR").details["line"] == 3


def test_a_python_error_names_file_and_line(standing: Lake) -> None:
    standing.write_file("transformers/step.py", "def transform(inputs, context):\n    return inputs['SRC'].selekt('id')\n")
    standing.pipeline(transform="[transformers/copy.sql, transformers/step.py]")
    error = refused(standing, "PYTHON_ERROR")
    assert (error.details["file"], error.details["line"]) == ("transformers/step.py", 2)


def test_a_changed_record_key_is_refused(standing: Lake) -> None:
    ddl = standing.project_root / "ddl/copy.sql"
    ddl.write_text(ddl.read_text().replace("primaryKey = 'id'", "primaryKey = 'id,ts'"))
    refused(standing, "KEY_CHANGED")


def test_another_bucket_count_is_refused(standing: Lake) -> None:
    standing.pipeline(hoodie={"hoodie.bucket.index.num.buckets": 3})
    refused(standing, "INDEX_CHANGED")


def test_another_index_is_refused(standing: Lake) -> None:
    standing.pipeline(hoodie={"hoodie.index.type": "RECORD_INDEX"})
    refused(standing, "INDEX_CHANGED")


def test_another_table_type_is_refused(standing: Lake) -> None:
    standing.pipeline(table_type="mor")
    refused(standing, "TABLE_TYPE_CHANGED")


def test_record_index_moves_a_key_to_its_new_partition(lake: Lake) -> None:
    lake.pipeline(
        hoodie={"hoodie.index.type": "RECORD_INDEX"},
        sql="SELECT id, ts, amount, concat('2026-01-0', cast(ts AS string)) AS day FROM <SRC>",
    )
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "2")))
    lake.run_ok()
    assert lake.rows() == [("a", 2, Decimal("2.00"), "2026-01-02"), ("b", 1, Decimal("1.00"), "2026-01-01")]


def test_every_type_of_a_ddl_survives_a_round_trip(lake: Lake) -> None:
    columns = (
        ", flag BOOLEAN, small SMALLINT, tiny TINYINT, f FLOAT, d DOUBLE, big DECIMAL(38,10), born DATE, at TIMESTAMP,"
        " raw BINARY, tags ARRAY<STRING>, counts MAP<STRING, INT>,"
        " place STRUCT<city: STRING, at: STRUCT<x: INT, y: INT>>"
    )
    lake.pipeline(
        columns=columns,
        sql="""
        SELECT id, ts, amount, day, true AS flag, cast(1 AS smallint) AS small, cast(2 AS tinyint) AS tiny,
               cast(0.5 AS float) AS f, cast(0.1 AS double) AS d, date'2026-01-05' AS born,
               cast('12345678901234567890.0123456789' AS decimal(38,10)) AS big,
               timestamp'2026-01-05 10:11:12.123456' AS at, cast('x;y' AS binary) AS raw, array('a', 'b') AS tags,
               map('k', 1) AS counts, named_struct('city', 'Lisbon', 'at', named_struct('x', 1, 'y', 2)) AS place
        FROM <SRC>""",
    )
    for key in "ab":
        lake.land(rows((key, 1, "1")))
        lake.run_ok()
    found = (
        lake.spark.read.format("hudi")
        .load(lake.path("derived.copy"))
        .selectExpr(
            "id",
            "flag",
            "small",
            "tiny",
            "f",
            "d",
            "cast(big AS string)",
            "born",
            "cast(at AS string)",
            "cast(raw AS string)",
            "tags",
            "counts",
            "place.at.y",
        )
        .collect()
    )
    assert (
        sorted(str(tuple(r)[1:]) for r in found)
        == [
            "(True, 1, 2, 0.5, 0.1, '12345678901234567890.0123456789', datetime.date(2026, 1, 5), "
            "'2026-01-05 10:11:12.123456', 'x;y', ['a', 'b'], {'k': 1}, 2)"
        ]
        * 2
    )
    assert lake.plan().schema_changes == ()

"""A plan finds what a standing table cannot take, and a run says of rows what happened to them.

Of this kind: a DDL that gains change data or another form of the partition's path, a whole number that becomes narrower; rows
that move, and new rows in a bucket that stands. The rest of the kind needs no table (tests/unit/plan, tests/unit/run).
"""

from __future__ import annotations

import pytest

from freshet.errors import StateError
from freshet.run.result import in_words
from tests.kit.lake import RECORD_INDEX, Lake, rows

SQL = "SELECT id, ts, amount, CAST(1 AS {kind}) AS n, day FROM <SRC>"


def planned(lake: Lake) -> str:
    try:
        lake.plan()
    except StateError as error:
        return error.code
    return ""


def test_what_a_table_was_made_with(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "2")))
    for name in ("table.cdc.enabled", "datasource.write.hive_style_partitioning", "datasource.write.partitionpath.urlencode"):
        lake.pipeline(properties=f", 'hoodie.{name}' = 'true'")
        assert planned(lake) == "SETTING_CHANGED", name
    lake.pipeline()
    lake.run_ok()
    assert lake.rows() == rows(("a", 2, "2"))


def test_a_column_that_becomes_narrower(lake: Lake) -> None:
    lake.pipeline(sql=SQL.format(kind="INT"), columns=",\n  n INT")
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.pipeline(sql=SQL.format(kind="SMALLINT"), columns=",\n  n SMALLINT")
    assert planned(lake) == "SCHEMA_CHANGED"


def test_columns_that_become_wider(lake: Lake) -> None:
    def declared(small: str, tiny: str) -> None:
        sql = f"SELECT id, ts, amount, CAST(1 AS {small}) AS s, CAST(1 AS {tiny}) AS t, day FROM <SRC>"
        lake.pipeline(sql=sql, columns=f",\n  s {small},\n  t {tiny}")

    declared("SMALLINT", "TINYINT")
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    assert planned(lake) == "", "as it was made"
    declared("INT", "INT")
    lake.land(rows(("a", 2, "2")))
    lake.run_ok()
    for small, tiny in (("SMALLINT", "INT"), ("INT", "TINYINT")):
        declared(small, tiny)
        assert planned(lake) == "SCHEMA_CHANGED", "an INT may stand there by now"


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_rows_that_move(lake: Lake, table_type: str) -> None:
    lake.pipeline(table_type=table_type, hoodie=RECORD_INDEX)
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "2"), ("c", 2, "2"), day="2026-01-06") + rows(("b", 2, "2")))
    done = lake.run_ok()
    assert (done.inserts, done.updates, done.moves, done.deletes, done.mixed) == (1, 1, 1, 0, ())
    assert "1 inserted, 1 updated, 1 moved, 0 deleted" in in_words(done)


def test_a_new_row_of_a_bucket_that_stands(lake: Lake) -> None:
    lake.pipeline(table_type="mor", hoodie={"hoodie.bucket.index.num.buckets": 1})
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("a", 2, "2"), ("b", 2, "2")))
    done = lake.run_ok()
    assert (done.inserts, done.updates, done.mixed) == (0, 2, ("updates",))
    assert "2 inserted or updated, 0 deleted" in in_words(done)

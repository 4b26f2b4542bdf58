"""``freshet index bootstrap`` of a table with buckets: rows go in by bulk insert, and what comes after finds them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from freshet.sinks.commit import use_large_tasks
from tests.kit.commands import freshet, many, refused
from tests.kit.lake import Lake, rows

# What a transformer makes of one event: an older version of each row, and of one a newer one.
SEVERAL = (
    "SELECT id, ts, amount, false AS _hoodie_is_deleted, day FROM <SRC> UNION ALL "
    "SELECT id, ts - 1, amount + 100, false, day FROM <SRC> UNION ALL "
    "SELECT id, ts + 1, amount + 10, id = 'gone', day FROM <SRC> WHERE id IN ('b', 'gone')"
)
DELETES = ",\n  _hoodie_is_deleted BOOLEAN"
ODD = ("a", "b", "ü", "c" * 900, "day:2026", "x,y", "x,id:y", " ")
# What of the DDL is another one: Hudi draws a bucket from the text that it makes of the key.
SHAPES = {
    "as it is": ("", ""),
    "a key of two columns": ("primaryKey = 'id'", "primaryKey = 'id,day'"),
    "no partitions": ("PARTITIONED BY (day)\n", ""),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_a_first_load_and_what_comes_after_it(lake: Lake, table_type: str, shape: str) -> None:
    lake.pipeline(table_type=table_type, sql=SEVERAL, columns=DELETES, hoodie={"hoodie.bucket.index.num.buckets": 7})
    file = lake.project_root / "ddl/copy.sql"
    file.write_text(file.read_text().replace(*SHAPES[shape]))
    lake.land([*rows(*((key, 5, "1") for key in ODD)), *many(300, ts=5), *rows(("gone", 5, "1"))])
    done = freshet(lake, "index", "bootstrap", "copy")
    assert (done["done"], done["index"], done["rows"]) == ("bootstrapped", "BUCKET", 308)
    (loaded,) = (lake.state().info(commit) for commit in lake.state().commits)
    assert (loaded.operation, len(loaded.file_ids)) == ("BULK_INSERT", 7)
    # Of rows with one key the one with the highest ordering value was written, unless it says that the row is deleted.
    assert [(row[0], row[1]) for row in lake.rows() if row[0] in ("a", "b", "gone")] == [("a", 5), ("b", 6)]
    again = freshet(lake, "index", "bootstrap", "copy")
    assert (again["done"], again["rows"]) == ("nothing to do: the table is loaded", 0)

    # Each row is found in its bucket: none stands twice, an older one loses, and no new file group is made.
    lake.write_file("transformers/copy.sql", "SELECT id, ts, amount, id = 'a' AS _hoodie_is_deleted, day FROM <SRC>")
    lake.land([*rows(*((key, 7, "2") for key in ODD)), *many(150, ts=7), *rows(("new", 7, "2"))])
    lake.land(rows(("k000299", 1, "99")), "insert")
    lake.run_ok()
    found = {row[0]: row[1] for row in lake.rows()}
    assert len(lake.rows()) == len(found) == 308, "one is new, and one is deleted"
    assert all(ts == (5 if "k000150" <= key <= "k000299" else 7) for key, ts in found.items())
    assert set(lake.state().info(lake.state().commits[-1]).file_ids) <= set(loaded.file_ids)
    assert freshet(lake, "run", "copy")["runs"][0]["outcome"] == "idle"


def test_numbers_that_avro_has_not_are_read_by_columns(lake: Lake, compiled: SparkSession) -> None:
    """Kind: types that Hudi stores as wider ones; Spark's own rows, which a bulk insert writes, would lie there as they are.

    The table's schema says int, and Spark, which reads files column by column, ends with a NullPointerException.
    """
    lake.pipeline(
        sql="SELECT id, ts, amount, day, 7S AS s, 8Y AS t, array(9S) AS l, named_struct('f', 10S) AS n FROM <SRC>",
        columns=", s SMALLINT, t TINYINT, l ARRAY<SMALLINT>, n STRUCT<f: SMALLINT>",
    )
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    freshet(lake, "index", "bootstrap", "copy")
    for ts in (1, 2):
        found = compiled.read.format("hudi").load(lake.path("derived.copy")).selectExpr("id", "ts", "s", "t", "l[0]", "n.f")
        assert sorted(map(tuple, found.collect())) == [("a", ts, 7, 8, 9, 10), ("b", 1, 7, 8, 9, 10)]
        lake.land(rows(("a", 2, "1")))
        lake.run_ok()


def test_a_table_that_an_ordinary_run_loaded_is_left_alone(lake: Lake) -> None:
    lake.pipeline()
    lake.land(rows(("a", 1, "1")))
    lake.run_ok()
    lake.land(rows(("b", 1, "1")))
    assert freshet(lake, "index", "bootstrap", "copy")["done"] == "nothing to do: the table is loaded"
    assert len(lake.rows()) == 1


def test_what_is_no_upsert_is_not_loaded(lake: Lake) -> None:
    lake.pipeline(hoodie={"hoodie.datasource.write.operation": "delete"})
    lake.land(rows(("a", 1, "1")))
    error = refused(lake, "index", "bootstrap", "copy")
    assert (error["code"], "freshet run copy" in error["next"]) == ("NOT_AN_UPSERT", True)


def test_its_tasks_are_large_unless_a_setting_says_how_large(spark: SparkSession) -> None:
    key = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
    session = spark.newSession()
    before = spark.range(1000).repartition("id").rdd.getNumPartitions()
    use_large_tasks(session)
    assert (session.conf.get(key), spark.conf.get(key)) == ("512m", "67108864b"), "of the load's session alone"
    assert session.range(1000).repartition("id").rdd.getNumPartitions() == before, "a small load keeps all cores busy"
    session.conf.set(key, "100m")
    use_large_tasks(session)
    assert session.conf.get(key) == "100m"

"""Tables that freshet did not write: as Hudi's own defaults, Spark SQL and HoodieStreamer write them.

Their metadata tables have column statistics, which freshet's have not. A reader that skips files by them persists and
unpersists a table of its own, for which it takes the locks of everything that Spark's cache holds. Read within a query that
is being kept, and in another thread than the query's (that of a broadcast, of a subquery, of dynamic pruning), it waits for the
query, and the query for it. Of the kind: whatever keeps rows whose plan reads such a table. The members here: the batch that
is checked, the batch that is merged, what a transformer keeps by itself; small tables that are broadcast, a scalar subquery;
sources and inputs of each writer.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.kit.frames import frame
from tests.kit.lake import SCHEMA, Lake, rows
from tests.kit.limits import within

SECONDS = 90.0
CITY = "id string, ts bigint, name string"
CITIES = [(str(number), 1, f"city {number}") for number in range(3)]
# Nothing but what Hudi cannot do without.
NEEDED = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.precombine.field": "ts"}
# As HoodieStreamer hands them to its writer (hudi-utilities, StreamSync).
STREAMER = {
    **NEEDED,
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.datasource.write.commitmeta.key.prefix": "deltastreamer.",
    "deltastreamer.checkpoint.key": "topic,0:5",
}
INPUTS = """\
inputs:
  plain: {table: dim.plain, read: snapshot}
  by_sql: {table: dim.by_sql, read: snapshot}
  streamed: {table: dim.streamed, read: snapshot}
"""
CHECKS = """\
checks:
  - {name: has_id, where: "id = ''"}
  - {name: some_rows, sql: "select count(*) = 0 from <TABLE_NAME>", expect: "false"}
"""
SQL = """\
SELECT s.id, s.ts, s.amount + coalesce((SELECT max(length(name)) FROM plain), 0) AS amount, s.day,
       concat_ws(',', p.name, q.name, r.name) AS city
FROM <SRC> s
LEFT JOIN plain p ON p.id = s.id LEFT JOIN by_sql q ON q.id = s.id LEFT JOIN streamed r ON r.id = s.id
"""
OWN_CACHE = """\
def transform(inputs, context):
    kept = inputs["SRC"].cache()
    assert kept.count() > 0
    return kept
"""


def write(lake: Lake, table: str, batch: list[tuple[object, ...]], schema: str, options: dict[str, str]) -> None:
    landing = frame(lake.spark, batch, schema)
    named = {"hoodie.table.name": table.split(".")[1], **options}
    landing.write.format("hudi").options(**named).mode("append").save(lake.path(table))


def write_by_sql(lake: Lake, table: str, values: str) -> None:
    name = table.replace(".", "_")
    lake.spark.sql(
        f"CREATE TABLE {name} ({CITY}) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts') "
        f"LOCATION '{lake.path(table)}'"
    )
    lake.spark.sql(f"INSERT INTO {name} VALUES {values}")
    lake.spark.sql(f"DROP TABLE {name}")


@pytest.fixture
def plain(lake: Lake) -> Lake:
    """A lake whose raw table and inputs are of others, every one with column statistics."""
    write(
        lake,
        "raw.events",
        rows(*((str(n), 1, "1.00") for n in range(10))),
        SCHEMA,
        {**NEEDED, "hoodie.datasource.write.partitionpath.field": "day"},
    )
    write(lake, "dim.plain", CITIES, CITY, NEEDED)
    write_by_sql(lake, "dim.by_sql", ", ".join(f"('{key}', {ts}, '{name}')" for key, ts, name in CITIES))
    write(lake, "dim.streamed", CITIES, CITY, STREAMER)
    base = lake.project_root / "configs/base.yml"
    base.write_text(base.read_text().replace('derived: "', 'dim: "{{ var.root }}/dim", derived: "'))
    for table in ("raw/events", "dim/plain", "dim/by_sql", "dim/streamed"):
        assert (lake.root / table / ".hoodie/metadata/column_stats").is_dir(), table
    return lake


def test_a_batch_that_reads_tables_of_other_writers_is_kept_without_a_deadlock(plain: Lake) -> None:
    lake = plain
    lake.write_file("transformers/keep.py", OWN_CACHE)
    lake.pipeline(
        "checked",
        SQL,
        top=INPUTS + CHECKS,
        transform="[transformers/checked.sql, transformers/keep.py]",
        columns=",\n  city STRING",
    )
    merged = "write: {strategy: merge, columns: [amount]}\n"
    lake.pipeline("merged", SQL.replace(",\n       concat_ws(',', p.name, q.name, r.name) AS city", ""), top=INPUTS + merged)

    def run(name: str) -> None:
        done = within(SECONDS, lake.spark, lambda: lake.run(name))
        assert done.error is None, done.error

    run("checked")
    expected = [(str(n), ",".join([f"city {n}"] * 3) if n < 3 else "", Decimal("7.00")) for n in range(10)]
    assert lake.rows("derived.checked", "id", "city", "amount") == expected
    # An increment, over a source and with inputs of the same writers.
    write(
        lake,
        "raw.events",
        rows(("1", 2, "5.00"), ("12", 2, "6.00")),
        SCHEMA,
        {**NEEDED, "hoodie.datasource.write.partitionpath.field": "day"},
    )
    run("checked")
    run("merged")
    for name in ("checked", "merged"):
        found = dict(lake.rows(f"derived.{name}", "id", "amount"))
        assert (len(found), found["1"], found["12"], found["2"]) == (11, 11, 12, 7)

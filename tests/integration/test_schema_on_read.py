"""An increment shows the columns of a source that is evolved by Hudi's schema on read as its snapshot does."""

from __future__ import annotations

import pytest

from freshet.sources.hudi.read.reader import load_table
from tests.kit.lake import Lake

ONE = "2026-01-05"


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_columns_that_were_renamed(lake: Lake, kind: str) -> None:
    """Kind: schema on read: rename, drop, drop and add again, reorder, a wider type, in structs too.

    In the rows of older logs Hudi 1.0.2 looks a renamed field of a struct, and a column that took another's name, up by the
    new name, in a snapshot too: what it shows there is what an increment hands out.
    """
    path, call = lake.path("raw.events"), lake.spark.sql
    call("SET hoodie.schema.on.read.enable = true")
    call(
        f"CREATE TABLE renamed (id string, ts bigint, amount decimal(10,2), col2 string, col3 string, n int, "
        f"s struct<x: string, y: string>, day string) USING hudi PARTITIONED BY (day) "
        f"TBLPROPERTIES (type = '{kind}', primaryKey = 'id', preCombineField = 'ts') LOCATION '{path}'"
    )
    try:
        lake.pipeline(
            sql="SELECT id, ts, amount, day, col3, to_json(s) AS s, n FROM <SRC>",
            columns=", col3 STRING, s STRING, n BIGINT",
            hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1},
        )
        call(f"INSERT INTO renamed VALUES ('a', 1, 1.5, 'a2', 'a3', 1, named_struct('x', 'x', 'y', 'y'), '{ONE}')")
        lake.run_ok()
        call(f"INSERT INTO renamed VALUES ('b', 1, 1.5, 'b2', 'b3', 1, named_struct('x', 'x', 'y', 'y'), '{ONE}')")
        call("ALTER TABLE renamed DROP COLUMN col3")
        call("ALTER TABLE renamed RENAME COLUMN col2 TO col3")
        call("ALTER TABLE renamed ALTER COLUMN n TYPE bigint")
        call("ALTER TABLE renamed ALTER COLUMN n AFTER id")
        call("ALTER TABLE renamed RENAME COLUMN s.x TO z")
        call("ALTER TABLE renamed ALTER COLUMN s.z AFTER y")
        call("SET hoodie.schema.on.read.enable = false")
        lake.run_ok(drain=True)
        # The row that was read before keeps what its column was then: no commit has touched it.
        assert lake.rows("derived.copy", "id", "col3", "s", "n") == [
            ("a", "a3", '{"x":"x","y":"y"}', 1),
            ("b", "b2", '{"y":"y","z":"x"}', 1),
        ]
        call("SET hoodie.schema.on.read.enable = true")
        call("ALTER TABLE renamed DROP COLUMN s.y")
        call(f"INSERT INTO renamed VALUES ('c', 1, 1, 1.5, 'c2', named_struct('z', 'z'), '{ONE}')")
        call("SET hoodie.schema.on.read.enable = false")
        lake.run_ok(drain=True)
        assert ("c", "c2", '{"z":"z"}', 1) in lake.rows("derived.copy", "id", "col3", "s", "n")
        assert not load_table(lake.spark, path).where("id = 'b' AND col3 = 'b2'").isEmpty()
    finally:
        call("SET hoodie.schema.on.read.enable = false")
        call("DROP TABLE renamed")
        # The last look was by the tests' own session.
        lake.spark.conf.unset("spark.sql.parquet.enableVectorizedReader")

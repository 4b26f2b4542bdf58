"""Sources that freshet did not make: run after run, a target takes the difference of two plain snapshot reads of its source.

By Hudi's plain defaults (column statistics, gzip, Bloom filters), by Spark SQL and by HoodieStreamer's options; each table's
history has an insert, an update, a late update that loses, a delete and a row that comes back.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests import foreign
from tests.kit.lake import Lake
from tests.kit.ways import QUICK

DDL = """CREATE TABLE derived.copy (id STRING NOT NULL, ts BIGINT NOT NULL, v STRING, day STRING NOT NULL%s)
USING hudi PARTITIONED BY (day) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'cow')
"""
#: Read by other means than a timeline of version 8.
OLDER = "version_6"


@pytest.mark.parametrize("name", [name for name in foreign.NAMES if name != OLDER])
def test_a_target_follows_its_source(lake: Lake, name: str) -> None:
    versions = foreign.unpack(name, lake.root / "raw/foreign")
    records_changes = "_cdc" in name
    columns = "id, ts, v, day" + (", _hoodie_is_deleted" if records_changes else "")
    lake.pipeline(
        sql=f"SELECT {columns} FROM <SRC>",
        source="raw.foreign",
        top=QUICK,
        hoodie={"hoodie.streamer.source.hoodieincr.num_instants": 1},
    )
    lake.write_file("ddl/copy.sql", DDL % (", _hoodie_is_deleted BOOLEAN" if records_changes else ""))
    lake.set_checkpoint(versions[0].completed)
    # Of the first version nothing is read: a row that comes all the same was no difference of two versions.
    expected: dict[Any, tuple[Any, ...]] = {}
    for before, after in pairwise(versions):
        lake.run_ok()
        then, now = ({row[0]: row for row in version.rows} for version in (before, after))
        expected |= {key: row for key, row in now.items() if then.get(key) != row}
        if records_changes:
            # Elsewhere nobody tells a target that a row is gone.
            expected = {key: row for key, row in expected.items() if key in now}
        assert lake.rows("derived.copy", "id", "ts", "v", "day") == sorted(expected.values(), key=str), after.what
    assert lake.run_ok().outcome == "idle"


def test_a_table_of_an_older_version_is_refused(lake: Lake) -> None:
    foreign.unpack(OLDER, lake.root / "raw/foreign")
    lake.pipeline(sql="SELECT id, ts, v, day FROM <SRC>", source="raw.foreign")
    lake.write_file("ddl/copy.sql", DDL % "")
    error = lake.run().error
    assert error is not None
    assert error.code == "TABLE_VERSION"

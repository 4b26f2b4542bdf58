"""The record index that Hudi keeps in its metadata table: in small blocks, and every key is found in its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.commands import freshet, many
from tests.kit.lake import RECORD_INDEX, Lake

KEYS = 12_000


def blocks(lake: Lake) -> int:
    """Return how many blocks the index's only HFile has."""
    (file,) = lake.root.glob("derived/copy/.hoodie/metadata/record_index/*.hfile")
    jvm: Any = lake.spark._jvm
    conf = lake.spark.sparkContext._jsc.hadoopConfiguration()
    path, hfile = jvm.org.apache.hadoop.fs.Path(str(file)), jvm.org.apache.hudi.org.apache.hadoop.hbase.io.hfile
    reader = hfile.HFile.createReader(path.getFileSystem(conf), path, hfile.CacheConfig.DISABLED, True, conf)
    try:
        return int(reader.getTrailer().getDataIndexCount())
    finally:
        reader.close()


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_each_key_is_found_in_whichever_block_it_stands(lake: Lake, table_type: str) -> None:
    lake.pipeline(table_type=table_type, hoodie=RECORD_INDEX)
    lake.land(many(KEYS, ts=5))
    assert freshet(lake, "index", "bootstrap", "copy")["rows"] == KEYS
    # The index was made with a commit of no rows, which looks nothing up: Hudi would read all keys of the table anew.
    loaded, indexed = (lake.state().info(commit).operation for commit in lake.state().commits)
    assert (loaded, indexed) == ("BULK_INSERT", "INSERT")
    # A key and its place are some 90 bytes.
    assert 12 <= blocks(lake) <= 30

    lake.land(many(KEYS + 1, ts=6))
    lake.run_ok()
    found = {row[0]: row[1] for row in lake.rows()}
    assert len(lake.rows()) == len(found) == KEYS + 1
    assert set(found.values()) == {6}
    assert lake.index_agrees()

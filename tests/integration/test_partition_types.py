"""Every type of a partition column: what Hudi shows of it is what was written, or the table is refused.

Of the kind: a path is a text, and a reader makes a value of it again: in snapshots, in increments out of whole files and out of
logs. Texts of any content are in test_partition_values.py, computed paths in the matrix of increments.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.kit.frames import frame
from tests.kit.lake import SCHEMA, Lake

VALUES: dict[str, tuple[Any, Any]] = {
    "flag boolean": (True, False),
    "t tinyint": (-1, 7),
    "s smallint": (-300, 7),
    "i int": (5, 0),
    "l bigint": (2**40, -2),
    "f float": (0.5, -2.0),
    "x double": (0.1, 1e20),
    "n decimal(10,2)": (Decimal("-1.50"), Decimal(100)),
    "m decimal(20,0)": (Decimal(10), Decimal(-3)),
    "d date": (date(1500, 1, 1), date(2026, 1, 5)),
    "w string": ("01", "true"),
}
NAMES = [column.partition(" ")[0] for column in VALUES]
SEEN = "concat_ws('|', " + ", ".join(f"coalesce(cast({name} AS string), '-')" for name in NAMES) + ") AS seen"
HIVE = "hoodie.datasource.write.hive_style_partitioning"
KIND, FIELD = "hoodie.datasource.write.table.type", "hoodie.datasource.write.partitionpath.field"


@pytest.mark.parametrize(
    ("kind", "hive", "index"),
    [
        pytest.param("MERGE_ON_READ", "false", "BUCKET", id="logs"),
        pytest.param("COPY_ON_WRITE", "true", "SIMPLE", id="files of hive style", marks=pytest.mark.nightly),
        pytest.param("COPY_ON_WRITE", "false", "BUCKET", id="files", marks=pytest.mark.nightly),
        pytest.param("MERGE_ON_READ", "true", "SIMPLE", id="logs of hive style", marks=pytest.mark.nightly),
    ],
)
def test_what_was_written_is_what_is_read(lake: Lake, kind: str, hive: str, index: str) -> None:
    """All types as partition columns of one table, with nulls: read whole, then its increment."""
    # Of a null in a log Hudi 1.0.2 makes no statistics: the write fails.
    options = {KIND: kind, HIVE: hive, FIELD: ",".join(NAMES), "hoodie.index.type": index, "hoodie.metadata.enable": "false"}
    schema = ", ".join((SCHEMA, *VALUES))
    lake.pipeline(sql=f"SELECT id, ts, amount, day, {SEEN} FROM <SRC>", columns=",\n  seen STRING")
    first, second = (tuple(pair[number] for pair in VALUES.values()) for number in (0, 1))
    landed = [(key, 1, Decimal(1), "d", *values) for key, values in (("a", first), ("b", second), ("c", [None] * len(first)))]
    lake.land(landed, schema=schema, **options)
    for moment in (1, 2):
        lake.run_ok()
        expected = sorted(
            (row.id, row.ts, row.seen) for row in frame(lake.spark, landed, schema).selectExpr("id", "ts", SEEN).collect()
        )
        assert lake.rows("derived.copy", "id", "ts", "seen") == expected, moment
        if moment == 1:
            landed = [(key, 2, amount, *rest) for key, _, amount, *rest in landed]
            lake.land(landed, schema=schema, **options)


@pytest.mark.parametrize(
    "kind", [pytest.param("COPY_ON_WRITE", id="files"), pytest.param("MERGE_ON_READ", id="logs", marks=pytest.mark.nightly)]
)
def test_what_hudi_shows_otherwise_is_refused(lake: Lake, kind: str) -> None:
    """Times and bytes, of the source and of an input. Where Hudi's own snapshot is right, a newer Hudi can do more."""
    value = (datetime(2026, 1, 5, 10, 11, 12, tzinfo=timezone.utc), b"ab")
    for table, column in (("raw.events", "at timestamp"), ("raw.cities", "bin binary")):
        name = column.partition(" ")[0]
        options = {KIND: kind, FIELD: name}
        lake.land([("a", 1, value[name == "bin"])], table=table, schema=f"id string, ts bigint, {column}", **options)
        (shown,) = lake.rows(table, name)[0]
        assert shown is None or bytes(shown) == b"6162", "Hudi shows it as it was written"
        lake.pipeline(table.partition(".")[2], "SELECT id, ts, 1.5 AS amount, 'd' AS day FROM <SRC>", source=table)
    lake.land([("a", 1, Decimal(1), "d")], table="raw.plain")
    lake.pipeline(
        "joined",
        "SELECT s.* FROM <SRC> s LEFT JOIN cities c ON s.id = c.id",
        source="raw.plain",
        top="inputs: {cities: {table: raw.cities, read: snapshot}}\n",
    )
    for name in ("events", "cities", "joined"):
        error = lake.run(name).error
        assert error is not None
        assert error.code == "PARTITION_UNREADABLE", name

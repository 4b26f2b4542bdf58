"""Whatever comes in, nothing is lost: rows in are rows published and rows quarantined."""

from __future__ import annotations

import os
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from tests.integration.lake import Lake

DDL = """CREATE TABLE derived.copy (
  id STRING NOT NULL, ts BIGINT NOT NULL, amount DECIMAL(10,2), small SMALLINT, ratio DOUBLE, at TIMESTAMP, day DATE,
  name STRING NOT NULL, flag BOOLEAN, nested STRUCT<a: INT, b: ARRAY<STRING>>
) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{type}')
"""
SCHEMA = T.StructType([
    T.StructField("id", T.BinaryType()), T.StructField("ts", T.StringType()), T.StructField("amount", T.StringType()),
    T.StructField("small", T.LongType()), T.StructField("ratio", T.DoubleType()), T.StructField("at", T.StringType()),
    T.StructField("day", T.StringType()), T.StructField("name", T.BinaryType()), T.StructField("flag", T.StringType()),
    T.StructField("nested", T.StructType([
        T.StructField("a", T.IntegerType()), T.StructField("b", T.ArrayType(T.StringType()))])),
    T.StructField("n", T.LongType()),
])
texts = st.one_of(
    st.text(max_size=12).map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=6),
    st.sampled_from([b"", b"\xff\xfe", "żółć 🚖".encode(), b"a\x00b", b"'; drop table", b"|FRESHET_REFUSED|"]),
)
numbers = st.one_of(
    st.decimals(allow_nan=True, allow_infinity=True).map(str), st.integers(-10**12, 10**12).map(str),
    st.sampled_from(["", " 1 ", "1e9", "NaN", "-0", "99999999.99", "99999999.995", "0x1", "١٢"]), st.none(),
)
times = st.one_of(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(str), st.dates(date(1, 1, 1)).map(str),
    st.sampled_from(["99999-01-01", "-0044-03-15", "2026-02-30", "0000-00-00", "now", "294248-01-01"]), st.none(),
)
row = st.tuples(
    st.one_of(texts, st.none()), st.one_of(st.integers(0, 2**63 - 1).map(str), numbers), numbers,
    st.one_of(st.integers(-2**63, 2**63 - 1), st.none()), st.one_of(st.floats(), st.none()), times, times,
    st.one_of(texts, st.none()), st.one_of(st.sampled_from(["true", "no", "maybe", ""]), st.none()),
    st.one_of(st.none(), st.tuples(st.one_of(st.none(), st.integers(-2**31, 2**31 - 1)),
                                   st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text(max_size=4).filter(
                                       lambda text: text.isascii())), max_size=3)))),
)
LONG = (b"long", "1", "1", 1, 1.0, None, None, b"x" * 10_000_000, "true", None)


def drawn() -> list[tuple[Any, ...]]:
    """Return some hundred rows of hypothesis's, in one batch: a run costs seconds, and a row nothing."""
    found = [LONG]

    @settings(max_examples=300 * int(os.environ.get("FRESHET_EXAMPLES", "1")), phases=[Phase.generate], database=None,
              derandomize="FRESHET_EXAMPLES" not in os.environ)
    @given(row)
    def collect(values: tuple[Any, ...]) -> None:
        found.append(values)

    collect()
    return found


@pytest.mark.parametrize("table_type", ["cow", "mor"])
def test_nothing_is_lost(lake: Lake, table_type: str) -> None:
    # A key stands once, so that what is published can be counted.
    keyed = [((f"{number}:".encode() + values[0]) if values[0] else values[0], *values[1:], number)
             for number, values in enumerate(drawn())]
    frame = lake.spark.createDataFrame(keyed, SCHEMA)
    frame.write.format("hudi").options(**{
        "hoodie.table.name": "odd", "hoodie.datasource.write.recordkey.field": "n",
        "hoodie.datasource.write.precombine.field": "n", "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.embed.timeline.server": "false", "hoodie.datasource.write.operation": "bulk_insert",
    }).save(lake.path("raw.odd"))
    # Spark makes texts of any bytes, as sources do that were never checked.
    as_text = "cast(id AS string) AS id, cast(name AS string) AS name"
    lake.pipeline("copy", f"SELECT {as_text}, ts, amount, small, ratio, at, day, flag, nested FROM <SRC>", source="raw.odd",
                  top="checks: [{name: fits, malformed: true, severity: drop}, "
                      "{name: odd, where: ratio = 0, severity: drop}]\n")
    lake.write_file("ddl/copy.sql", DDL.format(type=table_type))
    result = lake.run_ok()
    # Not through Python, which has no time before the year 1.
    published, waits = (lake.spark.read.format("hudi").load(lake.path(f"derived.{name}")).count()
                        for name in ("copy", "copy_quarantine"))
    assert (published + waits, result.quarantined) == (len(keyed), waits)
    assert min(published, waits) > len(keyed) // 50


def test_what_fits_is_published_unchanged(lake: Lake) -> None:
    lake.pipeline("copy", "SELECT id, ts, amount, day FROM <SRC>", source="raw.texts",
                  top="checks: [{name: fits, malformed: true, severity: drop}]\n")
    values = ["99999999.99", "-99999999.99", "0.00", "1e3", "0.01"]
    lake.land([(f"k{n}", "9223372036854775807", value, "żółć/🚖", 1) for n, value in enumerate(values)], table="raw.texts",
              schema="id string, ts string, amount string, day string, n bigint",
              **{"hoodie.datasource.write.precombine.field": "n"})
    assert lake.run_ok().quarantined == 0
    assert lake.rows() == [(f"k{n}", 2**63 - 1, Decimal(value).quantize(Decimal("0.01")), "żółć/🚖")
                           for n, value in enumerate(values)]

"""Records of a topic as Spark's source gives them, without a broker."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from freshet.sources.kafka.read.decode import RAW


def raw(spark: SparkSession, *values: bytes | str | None) -> DataFrame:
    """Return records of one partition with these values, the offsets 10, 11, ... and keys k0, k1, ..."""
    data = [value.encode() if isinstance(value, str) else value for value in values]
    shown = ["CAST(NULL AS BINARY)" if one is None else f"X'{one.hex()}'" for one in data]
    rows = [f"({number}L, {one})" for number, one in enumerate(shown)]
    headers = "array(named_struct('key', 'trace', 'value', X'01'), named_struct('key', 'nil', 'value', CAST(NULL AS BINARY)))"
    found = spark.sql(
        "SELECT CAST(concat('k', n) AS BINARY) AS key, value, 'orders' AS topic, 0 AS partition, 10 + n AS offset, "
        f"timestamp'2026-08-01 10:00:00' AS timestamp, 0 AS timestampType, {headers} AS headers "
        f"FROM VALUES {', '.join(rows)} AS records(n, value)"
    )
    assert found.columns == [name for name, _ in RAW]
    return found

"""Records of a topic as Spark's source gives them, without a broker."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from freshet.sources.kafka.read.decode import RAW


def raw(
    spark: SparkSession,
    *values: bytes | str | None,
    keys: Sequence[bytes | None] = (),
    headers: Sequence[Sequence[tuple[str, bytes | None]] | None] = (),
) -> DataFrame:
    """Return records of one partition with these values, the offsets 10, 11, ... and keys k0, k1, ...

    Args:
        spark: The session.
        values: The values.
        keys: The keys, where others are wanted.
        headers: The headers of each record, where others are wanted; None for none.
    """
    data = [value.encode() if isinstance(value, str) else value for value in values]
    named = [_bytes(f"k{number}".encode()) for number in range(len(data))] if not keys else [_bytes(one) for one in keys]
    usual = (("trace", b"\x01"), ("nil", None))
    with_them = [_headers(one) for one in headers] if headers else [_headers(usual)] * len(data)
    rows = [f"({n}L, {_bytes(one)}, {named[n]}, {with_them[n]})" for n, one in enumerate(data)]
    found = spark.sql(
        "SELECT key, value, 'orders' AS topic, 0 AS partition, 10 + n AS offset, "
        "timestamp'2026-08-01 10:00:00' AS timestamp, 0 AS timestampType, headers "
        f"FROM VALUES {', '.join(rows)} AS records(n, value, key, headers)"
    )
    assert found.columns == [name for name, _ in RAW]
    return found


def _bytes(value: bytes | None) -> str:
    return "CAST(NULL AS BINARY)" if value is None else f"X'{value.hex()}'"


def _headers(found: Sequence[tuple[str, bytes | None]] | None) -> str:
    if found is None:
        return "CAST(NULL AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"
    each = [f"named_struct('key', '{key}', 'value', {_bytes(value)})" for key, value in found]
    return f"array({', '.join(each)})"

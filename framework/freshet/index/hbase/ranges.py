"""Put the entries of an index into the order of their keys, in one pass over the keys and one over the entries.

Spark's own ``repartitionByRange`` would read all entries to draw a sample, after another pass that counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

# Of more ranges than that the sample would no longer tell the sizes.
MOST_RANGES = 1_000
_SAMPLE = 20 * MOST_RANGES
# Of large tables a part of the keys is enough to choose from; the choice among all costs more than to read them.
_ONE_IN = 64


@dataclass(frozen=True)
class Keys:
    """What is known of the keys before they are sorted.

    Args:
        count: How many.
        bytes: Of all of them, in UTF-8.
        quantiles: Keys in order, between which there are about as many others each; at most ``MOST_RANGES``.
    """

    count: int
    bytes: int
    quantiles: tuple[str, ...]


def look_at_keys(entries: DataFrame) -> Keys:
    """Count and measure the keys, and draw some: those whose hashes are the smallest, which are any.

    Args:
        entries: With the column ``key``.
    """
    found = _look(entries, _ONE_IN)
    return found if found.count >= _ONE_IN * MOST_RANGES else _look(entries, 1)


def _look(entries: DataFrame, one_in: int) -> Keys:
    seen = Observation()
    watched = entries.select("key").observe(seen, F.count("*").alias("n"), F.sum(F.octet_length("key")).alias("size"))
    some = watched.withColumn("hash", F.xxhash64("key")).where(F.pmod("hash", F.lit(one_in)) == 0)
    drawn = some.orderBy("hash").limit(_SAMPLE).agg(F.sort_array(F.collect_list("key")).alias("keys"))
    step = F.size("keys") / F.lit(MOST_RANGES)
    places = F.array_distinct(
        F.transform(
            F.sequence(F.lit(0), F.lit(MOST_RANGES - 1)),
            lambda place: (place * step).cast("int"),
        )
    )
    chosen = F.when(F.size("keys") > 0, F.transform(places, lambda place: F.get("keys", place)))
    row = drawn.select(chosen.alias("quantiles")).first()
    found = seen.get
    return Keys(int(found["n"]), int(found["size"] or 0), tuple(row[0] or ()) if row else ())


def bounds_of(keys: Keys, ranges: int) -> list[str]:
    """Return the first keys of so many ranges, in order, the first range's excepted."""
    return sorted({keys.quantiles[len(keys.quantiles) * n // ranges] for n in range(1, ranges) if keys.quantiles})


def in_key_order(spark: SparkSession, entries: DataFrame, bounds: list[str]) -> DataFrame:
    """Return the entries with each range of keys in a Spark partition of its own, sorted within.

    Args:
        spark: The session.
        entries: With the column ``key``. Spark orders texts as HBase orders bytes.
        bounds: First keys of the ranges, in order, the first range's excepted.
    """
    parts = len(bounds) + 1
    number = F.lit(0)
    if bounds:
        number = _range_of(F.col("key"), bounds, _one_for_each_partition(spark, parts))
    return entries.repartition(parts, number).sortWithinPartitions("key")


def _one_for_each_partition(spark: SparkSession, parts: int) -> list[int]:
    """Return numbers that Spark's hash puts each into another one of so many partitions."""
    jvm = spark._jvm
    assert jvm is not None
    murmur = jvm.org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
    integer = jvm.org.apache.spark.sql.types.DataTypes.IntegerType
    found: dict[int, int] = {}
    numbers = count()
    while len(found) < parts:
        number = next(numbers)
        # As HashPartitioning does, whose seed is 42 (Spark 3.5); a job of Spark's that says so takes a fifth of a second.
        found.setdefault(murmur.hash(number, integer, 42) % parts, number)
    return list(found.values())


def _range_of(key: Column, bounds: list[str], numbers: list[int]) -> Column:
    """Return the number of the range that a key lies in, found by halves; a range begins at its bound."""
    if not bounds:
        return F.lit(numbers[0])
    middle = len(bounds) // 2
    below = _range_of(key, bounds[:middle], numbers[: middle + 1])
    return F.when(key < F.lit(bounds[middle]), below).otherwise(_range_of(key, bounds[middle + 1 :], numbers[middle + 1 :]))

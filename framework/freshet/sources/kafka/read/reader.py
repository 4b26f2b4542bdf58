"""Read topics with Spark: the offsets that the plan says, of each partition, and no others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import StateError
from freshet.project.model.kafka import ORIGIN
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.quality.kept import keep_rows
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange
from freshet.sources.kafka.read.decode import RAW, WHY, decode, original
from freshet.sources.kafka.read.schemas import key_schemas_of, schemas_of
from freshet.sources.kafka.reads import Range, ReadTopics
from freshet.sources.unreadable import guarded
from freshet.sources.within import rows_within

# Of what Spark's own client asks; by default it waits for a broker that is gone for minutes.
_BOUNDS = {"kafka.default.api.timeout.ms": "60000", "kafka.request.timeout.ms": "30000"}
_PLACE = {name: f"{ORIGIN}.{name}" for name in ("topic", "partition", "offset")}


def read_records(spark: SparkSession, stage: ReadTopics) -> DataFrame:
    """Read a window's records, as Spark's source has them.

    Args:
        spark: A session that has the jars of that source.
        stage: What is read.

    Raises:
        StateError: KAFKA_JARS_MISSING.
    """
    if not stage.ranges:
        return spark.range(0).select(*(F.lit(None).cast(kind).alias(name) for name, kind in RAW))
    options = {
        **_BOUNDS,
        **{f"kafka.{key}": value for key, value in stage.client.items()},
        # Named, so that a partition that was made after the plan is none of this window.
        "assign": json.dumps(_by_topic(stage.ranges)),
        "startingOffsets": json.dumps({topic: {str(r.partition): r.begin for r in of} for topic, of in _grouped(stage.ranges)}),
        "endingOffsets": json.dumps({topic: {str(r.partition): r.end for r in of} for topic, of in _grouped(stage.ranges)}),
        "failOnDataLoss": "true",
        "includeHeaders": "true",
        "kafka.isolation.level": "read_committed",
        **({"groupIdPrefix": stage.group} if stage.group else {}),
        **({"minPartitions": str(stage.min_partitions)} if stage.min_partitions else {}),
    }
    try:
        return spark.read.format("kafka").options(**options).load()
    except AnalysisException as error:
        if "data source" not in str(error):
            raise
        raise StateError(
            "KAFKA_JARS_MISSING",
            "Spark runs without the jars that it reads Kafka with: it was started for pipelines that read none, or by somebody "
            "else.",
            "Nothing was written, and the checkpoint stays.",
            "Run the pipeline by itself; for a cluster of your own 'freshet jars path --kafka-source' prints the jars.",
        ) from error


class KafkaReader:
    """Reads topics as the main source; see ``freshet.sources.protocol.Reader``."""

    identity: tuple[str, ...] = ()

    def read(self, spark: SparkSession, stage: ReadIncrement) -> tuple[DataFrame, DataFrame | None]:
        """Return the records that can be decoded, and the others where they go to the quarantine.

        Where they do not, such a record fails the job that reads any column of it.
        """
        if not isinstance(stage, ReadTopics):
            raise TypeError("a plan of topics reads topics")
        schemas, of_keys = schemas_of(stage), key_schemas_of(stage)
        raw = read_records(spark, stage)
        if not stage.rule:
            return _in_time(guarded(decode(raw, stage, schemas=schemas, key_schemas=of_keys), WHY, _PLACE), stage.times), None
        # Both parts of one reading, which is kept.
        decoded = keep_rows(decode(raw.withColumn(ORIGINAL, original()), stage, (ORIGINAL,), schemas, of_keys))
        good = decoded.where(F.col(WHY).isNull()).drop(WHY, ORIGINAL)
        # Of what cannot be decoded Kafka's own time is all that is known.
        of_kafka = replace(stage.times, column=f"{ORIGIN}.timestamp") if stage.times else None
        bad = _in_time(decoded.where(F.col(WHY).isNotNull()), of_kafka)
        reasons = F.array(F.concat(F.lit("the record: "), WHY)).alias(REASONS)
        return _in_time(good, stage.times), bad.select(reasons, ORIGINAL)

    def drive(self, spark: SparkSession, stage: DriveRows, rows: DataFrame) -> DataFrame:
        """Never called: the plan refuses it."""
        raise TypeError("records of a topic cannot be found by a key")


def _in_time(rows: DataFrame, times: ReadRange | None) -> DataFrame:
    return rows_within(rows, times) if times is not None else rows


def _grouped(ranges: Sequence[Range]) -> list[tuple[str, list[Range]]]:
    topics = dict.fromkeys(one.topic for one in ranges)
    return [(topic, [one for one in ranges if one.topic == topic]) for topic in topics]


def _by_topic(ranges: Sequence[Range]) -> dict[str, list[int]]:
    return {topic: [one.partition for one in of] for topic, of in _grouped(ranges)}

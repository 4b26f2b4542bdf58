"""The job that freshet is measured against on a topic: Structured Streaming with foreachBatch, and freshet's Hudi options."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    builder = SparkSession.builder
    for key, value in job["spark"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    run(spark, job)
    spark.stop()


def run(spark: SparkSession, job: Mapping[str, Any]) -> None:
    """Read what the topic holds, in one batch, and upsert it."""

    def upsert(batch: DataFrame, number: int) -> None:
        is_ours = F.expr(f"substring(value, 1, 5) = X'{job['schema_id']:010x}'")
        decoded = batch.where(is_ours).select(from_avro(F.expr("substring(value, 6)"), job["schema"]).alias("v"))
        after = [F.col(f"v.after.{name}") for name in ("id", "city", "status", "amount", "changed_at")]
        rows = decoded.select(*after, F.col("v.source.lsn").alias("lsn"))
        rows.write.format("hudi").options(**job["options"]).mode("append").save(job["target"])

    topic = spark.readStream.format("kafka").options(
        **{
            "kafka.bootstrap.servers": job["servers"],
            "subscribe": job["topic"],
            "startingOffsets": "earliest",
            "failOnDataLoss": "true",
            "kafka.isolation.level": "read_committed",
        }
    )
    query = topic.load().writeStream.foreachBatch(upsert).option("checkpointLocation", f"{job['target']}.checkpoint")
    query.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main()

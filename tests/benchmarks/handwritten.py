"""The job that freshet is measured against: trip_earnings as a PySpark script by hand, with the same Hudi options and SQL.

It is told its window and its options by a JSON file, as a careful author would keep them beside it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit


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
    """Bring the target up to the window's end."""
    source = (
        spark.read.format("hudi")
        .options(
            **{
                "hoodie.datasource.query.type": "incremental",
                "hoodie.datasource.read.begin.instanttime": job["begin"],
                "hoodie.datasource.read.end.instanttime": job["end"],
            }
        )
        .load(job["source"])
    )
    # Nothing is deleted in this job; the SQL names the column all the same.
    source.withColumn("_hoodie_is_deleted", lit(False)).createOrReplaceTempView("SRC")
    for name, path in job["inputs"].items():
        spark.read.format("hudi").load(path).createOrReplaceTempView(name)
    rows = spark.sql(job["sql"])
    spec = importlib.util.spec_from_file_location("step", job["python"])
    assert spec is not None
    assert spec.loader is not None
    step = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(step)
    rows = step.transform({"SRC": rows}, None)
    rows.select(*job["columns"]).write.format("hudi").options(**job["options"]).mode("append").save(job["target"])


if __name__ == "__main__":
    main()

"""How Spark runs for a handful of rows: one machine, and nothing that only many rows earn back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from freshet.jvm.session import start_session
from freshet.project.model.pipeline import PipelineSpec

# Whatever the environment says of clusters and memory, a handful of rows wants one machine, no shuffle to speak of, and no
# time spent on making the query fast: generated code costs more than it ever saves here.
_SMALL = {
    "spark.master": "local[2]",
    "spark.default.parallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.enabled": "false",
}


def small(spec: PipelineSpec) -> PipelineSpec:
    """Return a pipeline with the Spark settings that test cases run under."""
    return replace(spec, spark_conf={**spec.spark_conf, **_SMALL})


def small_session(conf: Mapping[str, str]) -> SparkSession:
    """Return the process's session; where none runs it is started for small jobs alone.

    Args:
        conf: Settings of a pipeline that ``small`` has passed.
    """
    ours = SparkContext._active_spark_context is None
    spark = start_session(conf, short=True)
    if ours:
        lighten(spark)
    return spark


def lighten(spark: SparkSession) -> None:
    """Take out of Hadoop's configuration what only clusters need: Hudi sends a copy of all of it with every task.

    A quarter of the CPU of a small commit goes into that copy of a thousand settings. In the code they have defaults, too.

    Args:
        spark: The session, of whose process it holds from then on.
    """
    jvm: Any = spark._jvm
    context: Any = spark._jsc
    conf = context.hadoopConfiguration()
    for adds_defaults in ("hdfs.HdfsConfiguration", "yarn.conf.YarnConfiguration", "mapred.JobConf"):
        # Whatever adds a file of defaults later has each configuration read all of them again.
        jvm.java.lang.Class.forName(f"org.apache.hadoop.{adds_defaults}")
    for setting in list(conf.iterator()):
        name = setting.getKey()
        sources = conf.getPropertySources(name) or ("",)
        if sources[0].endswith("-default.xml") and not re.match(r"io\.|file\.|fs\.(Abstract|default|file)|hadoop\.tmp", name):
            conf.unset(name)

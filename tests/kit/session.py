"""How the tests start Spark: small, and without what only a long job earns back."""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

from framework.spec.options import HBASE_IN_SESSION
from tests.kit.whole import WHOLE

#: Thousands of small queries: the optimising compiler never earns back the third of the CPU that it takes.
SPARK_CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1200m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # And one thread to collect garbage, as a run on two cores has: two of these processes share the machine.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Xmn128m",
    # For the tests of tests/hbase, which may come in any process; the others notice nothing.
    HBASE_IN_SESSION: "true",
}
if not WHOLE:
    # A query of a dozen rows is through before it is compiled. What reads column by column needs it: `compiled`.
    SPARK_CONF |= {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def lighten(spark: SparkSession) -> None:
    """Take out of Hadoop's configuration what only clusters need: Hudi sends a copy of all of it with every task.

    A quarter of the CPU of a small commit goes into that copy of a thousand settings. In the code they have defaults, too.

    Args:
        spark: The session, of whose process it holds from then on.
    """
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    for adds_defaults in ("hdfs.HdfsConfiguration", "yarn.conf.YarnConfiguration", "mapred.JobConf"):
        # Whatever adds a file of defaults later has each configuration read all of them again.
        jvm.java.lang.Class.forName(f"org.apache.hadoop.{adds_defaults}")
    for setting in list(conf.iterator()):
        name = setting.getKey()
        sources = conf.getPropertySources(name) or ("",)
        if sources[0].endswith("-default.xml") and not re.match(r"io\.|file\.|fs\.(Abstract|default|file)|hadoop\.tmp", name):
            conf.unset(name)

"""How the tests start Spark: small, and without what only a long job earns back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from freshet.cases.session import lighten
from freshet.hudi.keys.options import AVRO_IN_SESSION, HBASE_IN_SESSION, KAFKA_IN_SESSION
from freshet.jvm.jars import JarSet, resolve_jars
from freshet.jvm.session import start_session

#: Thousands of small queries: the optimising compiler never earns back the third of the CPU that it takes.
SPARK_CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1200m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # And one thread to collect garbage, as a run on two cores has: two of these processes share the machine. To collect took 6%
    # of the CPU with half as much room for what is young, and with what Spark keeps of a thousand queries for its pages.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Xmn288m",
    # Tests that count the rows read ask for the stages of one run.
    "spark.ui.retainedJobs": "300",
    "spark.ui.retainedStages": "300",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
    # For the tests of tests/hbase, which may come in any process; the others notice nothing.
    HBASE_IN_SESSION: "true",
    # And of tests/kafka.
    KAFKA_IN_SESSION: "true",
    AVRO_IN_SESSION: "true",
}

_HERE = Path(__file__).with_name("jars")
_JARS = JarSet(_HERE / "ivy.xml", _HERE / "jars.sha256")
# Hadoop's own starts a process, chmod, for each file and folder that it makes, and one more for the file's checksum: 8 ms. By
# Java's own calls it is 1 ms, and a small commit takes an eighth to a fifth less CPU. Runs in processes of their own have
# Hadoop's.
_FILES = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"


def tests_session() -> SparkSession:
    """Start the session of a process that runs tests."""
    session = start_session({**SPARK_CONF, "spark.jars": ",".join(map(str, resolve_jars(_JARS)))})
    lighten(session)
    jvm: Any = session._jvm
    context: Any = session._jsc
    context.hadoopConfiguration().set("fs.file.impl", _FILES)
    # The one that Spark has started with is kept otherwise.
    jvm.org.apache.hadoop.fs.FileSystem.closeAll()
    return session

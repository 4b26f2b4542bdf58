"""How the tests start Spark: small, and without what only a long job earns back."""

from __future__ import annotations

from freshet.cases.session import lighten
from freshet.hudi.keys.options import AVRO_IN_SESSION, HBASE_IN_SESSION, KAFKA_IN_SESSION

__all__ = ["SPARK_CONF", "lighten"]

#: Thousands of small queries: the optimising compiler never earns back the third of the CPU that it takes.
SPARK_CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1200m",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # And one thread to collect garbage, as a run on two cores has: two of these processes share the machine.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Xmn144m",
    # For the tests of tests/hbase, which may come in any process; the others notice nothing.
    HBASE_IN_SESSION: "true",
    # And of tests/kafka.
    KAFKA_IN_SESSION: "true",
    AVRO_IN_SESSION: "true",
}

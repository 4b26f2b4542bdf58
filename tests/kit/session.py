"""How the tests start Spark: small, and without what only a long job earns back."""

from __future__ import annotations

from freshet.cases.session import lighten
from freshet.hudi.keys.options import HBASE_IN_SESSION, KAFKA_IN_SESSION
from tests.kit.whole import WHOLE

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
}
if not WHOLE:
    # A query of a dozen rows is through before it is compiled. What reads column by column needs it: `compiled`.
    SPARK_CONF |= {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

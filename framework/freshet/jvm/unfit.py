"""What a Spark session that somebody else started lacks for Hudi's tables to be written as freshet writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from freshet.errors import FreshetError

if TYPE_CHECKING:
    from pyspark import SparkContext

#: What Hudi's Spark integration asks for (https://hudi.apache.org/docs/quick-start-guide).
NEEDED = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    # Parquet's older layout of a list, Avro's default, holds no null: one would fail the whole write. Both are read.
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
}
#: What a session of freshet's own does besides. Parquet writes a checksum beside each page, and by default looks at none: 7 of
#: 10 garbled bytes in pages of zstd would be read as other values (2,000 rows). To look takes 2% of a bare read (147 MB).
CHECKED = {"spark.hadoop.parquet.page.verify-checksum.enabled": "true"}
_HUDI = "1.0.2"
_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "Etc/Zulu", "Etc/UCT", "UCT", "Universal", "Etc/Universal")
_ZONE = re.compile(r"-Duser\.timezone=(\S+)")


def what_is_unfit(hudi: str, zone: str, settings: Mapping[str, str], conf: Mapping[str, str]) -> list[str]:
    """Return what a session lacks, each in words; nothing where it will do.

    Args:
        hudi: Version of the Hudi bundle on its class path; empty where there is none.
        zone: Time zone of its JVM.
        settings: Its application's settings.
        conf: The project's ``spark:`` settings.
    """
    found = []
    if not hudi:
        found.append("Hudi's jar on its class path")
    elif hudi != _HUDI:
        found.append(f"Hudi {_HUDI} on its class path (there is {hudi})")
    # Hudi names instants by the JVM's clock: with daylight saving an hour of them would come twice.
    wanted = _ZONE.search(conf.get("spark.driver.extraJavaOptions", ""))
    if zone != wanted[1] if wanted else zone not in _UTC:
        found.append(f"the time zone of its JVM (-Duser.timezone={wanted[1] if wanted else 'UTC'}; it is {zone})")
    for key, value in NEEDED.items():
        # Of extensions there may be several.
        if value not in (part.strip() for part in settings.get(key, "").split(",")):
            found.append(f"{key}={value}")
    return found


def refuse_unfit(context: SparkContext, conf: Mapping[str, str]) -> None:
    """Refuse the application of a session that lacks something.

    Args:
        context: The application, which freshet did not start.
        conf: The project's ``spark:`` settings.

    Raises:
        FreshetError: SESSION_UNFIT.
    """
    from py4j.protocol import Py4JJavaError

    jvm: Any = context._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        hudi = str(loader.loadClass("org.apache.hudi.DefaultSource").getPackage().getImplementationVersion())
    except Py4JJavaError:
        hudi = ""
    lacks = what_is_unfit(hudi, str(jvm.java.util.TimeZone.getDefault().getID()), dict(context.getConf().getAll()), conf)
    if lacks:
        raise FreshetError(
            "SESSION_UNFIT",
            f"a Spark session runs in this process, and it lacks: {'; '.join(lacks)}.",
            "Nothing was read or written.",
            "Stop it (spark.stop()) and call freshet first, whose session SparkSession.builder.getOrCreate() returns then; or "
            "start it with what it lacks.",
            lacks=lacks,
        )

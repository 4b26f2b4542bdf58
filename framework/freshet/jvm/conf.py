"""What of a project's Spark settings decides how Spark is started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from freshet.hudi.keys.options import AVRO_IN_SESSION, KAFKA_IN_SESSION
from freshet.jvm.jars import AVRO_JARS, KAFKA_SOURCE_JARS, resolve_jars
from freshet.secrets import REDACTOR

# Avro believes a length in a record, and takes the memory for it before it looks at what follows: for a garbled record up to
# 2 GB, of which Java dies. Such a one cannot be decoded instead (Avro 1.11.4, SystemLimitException). Hudi has its own Avro.
_MOST_BYTES, _MOST_ITEMS = 128 << 20, 16 << 20
_AVRO_LIMITS = " ".join(
    f"-Dorg.apache.avro.limits.{name}.maxLength={most}"
    for name, most in (("bytes", _MOST_BYTES), ("string", _MOST_BYTES), ("collectionItems", _MOST_ITEMS))
)


def source_jars(conf: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the pinned jars of the sources that a session's pipelines read.

    Raises:
        FreshetError: JAVA_NOT_FOUND, JAR_MISSING or JAR_ALTERED.
    """
    kafka = resolve_jars(KAFKA_SOURCE_JARS) if conf.get(KAFKA_IN_SESSION) else ()
    return (*kafka, *(resolve_jars(AVRO_JARS) if conf.get(AVRO_IN_SESSION) else ()))


def decoder_options(conf: Mapping[str, str]) -> str:
    """Return Java's options for a JVM that decodes Avro's records; empty for one that does not."""
    return _AVRO_LIMITS if conf.get(AVRO_IN_SESSION) else ""


def names_a_collector(conf: Mapping[str, str]) -> bool:
    """Say whether a session is told which collector of garbage to use."""
    # Java refuses to start with two, wherever it is told of them.
    told = [conf.get(f"spark.driver.{key}JavaOptions", "") for key in ("extra", "default")]
    read_by_java = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")
    told += [os.environ.get(name, "") for name in read_by_java]
    return re.search(r"-XX:\+Use\w+GC\b", " ".join(told)) is not None


def without_secrets(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the project's settings that hold no value read through ``env``."""
    return {key: value for key, value in conf.items() if REDACTOR.redact_whole(value) == value}

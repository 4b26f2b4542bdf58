"""What of a project's Spark settings decides how Spark is started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from freshet.hudi.keys.options import KAFKA_IN_SESSION
from freshet.jvm.jars import KAFKA_SOURCE_JARS, resolve_jars
from freshet.secrets import REDACTOR


def source_jars(conf: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the pinned jars of the sources that a session's pipelines read.

    Raises:
        FreshetError: JAVA_NOT_FOUND, JAR_MISSING or JAR_ALTERED.
    """
    return resolve_jars(KAFKA_SOURCE_JARS) if conf.get(KAFKA_IN_SESSION) else ()


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

"""Settings of Spark that are probably misspelt, told before Spark starts, which takes whatever it is given."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from freshet.plan.stages import Notice
from freshet.problems import nearest
from freshet.project.model.pipeline import PipelineSpec

CATALOGUE_FILE = Path(__file__).with_name("spark_keys.json")
# Below that are settings of others that Spark's are only like: each extension has its own.
_LIKE = 0.9
# Behind these stands what a user names: variables, labels, catalogues, resources, and what goes to Hadoop as it is.
_FREE = (
    *("spark.hadoop.", "spark.hive.", "spark.executorEnv.", "spark.yarn.appMasterEnv.", "spark.sql.catalog."),
    *(f"spark.{of}.resource." for of in ("driver", "executor", "task", "worker", "yarn.am", "yarn.driver", "yarn.executor")),
    *("spark.kubernetes.", "spark.mesos.", "spark.ssl.", "spark.metrics.conf.", "spark.plugins.internal.conf."),
    *("spark.network.crypto.config.", "spark.io.encryption.commons.config."),
)


@cache
def catalogue() -> tuple[str, ...]:
    """Return the names of the settings of Spark's release."""
    names: list[str] = json.loads(CATALOGUE_FILE.read_text(encoding="utf-8"))["keys"]
    return tuple(names)


def spark_notices(spec: PipelineSpec) -> tuple[Notice, ...]:
    """Return a notice for each setting that Spark does not know, and that one of Spark's is nearly spelt as.

    Args:
        spec: The pipeline.
    """
    meant = ((key, _meant(key)) for key in spec.spark_conf)
    return tuple(
        Notice(
            "SPARK_KEY_UNKNOWN",
            f"Spark has no setting '{key}', and takes it without a word. Did you mean '{known}'?",
        )
        for key, known in meant
        if known
    )


def _meant(key: str) -> str:
    names = catalogue()
    return "" if key in names or key.startswith(_FREE) else nearest(key, names, _LIKE) or ""

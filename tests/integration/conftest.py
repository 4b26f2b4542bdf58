"""One Spark session for the whole test run, and a small lake for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from framework.runtime.session import start_session
from tests.integration.lake import Lake

SPARK_CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # Thousands of small queries: the optimising compiler never earns back the third of the CPU that it takes.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = start_session(SPARK_CONF)
    yield session
    session.stop()


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, tmp_path)

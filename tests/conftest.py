"""What the tests share: one Spark session for each of the processes that run them, a small lake, a cluster where one is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from framework.runtime.session import start_session
from tests.kit.cluster import spark_cluster
from tests.kit.lake import Lake
from tests.kit.session import SPARK_CONF

pytest_plugins = ["tests.kit.queue"]
pytest.register_assert_rewrite("tests.kit.cells")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = start_session(SPARK_CONF)
    yield session
    session.stop()


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, tmp_path)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Spark standalone cluster of two workers; gives its address."""
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as address:
        yield address

"""What the tests share: one Spark session in each process that runs them, a small lake, a cluster for those that ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.kit.cluster import spark_cluster
from tests.kit.lake import Lake
from tests.kit.session import tests_session
from tests.kit.spared import CODEGEN, NO_CODEGEN, follow, pytest_collection_modifyitems, pytest_runtest_setup
from tests.kit.whole import WHOLE

pytest_plugins = ["tests.kit.queue", "tests.kit.waits"]
# Hooks, which pytest finds by their names.
__all__ = ["pytest_collection_modifyitems", "pytest_runtest_setup"]


@pytest.fixture(scope="session")
def application() -> Iterator[SparkSession]:
    session = tests_session()
    follow(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark(application: SparkSession) -> SparkSession:
    """Return the process's session; a module whose frames have a dozen rows puts ``quick`` in its place."""
    return application


@pytest.fixture(scope="session")
def quick(application: SparkSession) -> SparkSession:
    """Return a session for frames of a dozen rows: planning anew and compiling each query would take most of the time."""
    found = application.newSession()
    for key, value in {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        **NO_CODEGEN,
    }.items():
        found.conf.set(key, value)
    return found


@pytest.fixture(scope="session")
def compiled(application: SparkSession) -> SparkSession:
    """Return a session that compiles its queries, as a run's does, and so reads files column by column."""
    found = application.newSession()
    for key, value in CODEGEN.items():
        found.conf.set(key, value)
    return found


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    return Lake(spark, tmp_path)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Spark standalone cluster; gives its address. One worker is one to which all has to be shipped; at night two."""
    with spark_cluster(tmp_path_factory.mktemp("cluster"), workers=2 if WHOLE else 1) as address:
        yield address

"""The session that all these tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from framework.runtime.class_data import find_class_data
from framework.runtime.jars import resolve_jars
from tests.integration.conftest import SPARK_CONF


def test_java_maps_the_archive_of_classes(spark: SparkSession) -> None:
    data = find_class_data(SPARK_CONF, resolve_jars())
    if data is None:
        pytest.skip("'make setup' could make no archive of classes here")
    assert spark._jvm is not None
    maps = Path(f"/proc/{spark._jvm.java.lang.ProcessHandle.current().pid()}/maps")
    if not maps.is_file():
        pytest.skip("only Linux says what a process has mapped")
    # Java maps a file only after it found that it fits.
    assert str(data.archive) in maps.read_text()

"""The session that all these tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.java_gateway import JVMView
from pyspark.sql import SparkSession, functions

from freshet.jvm.at_work import at_work
from freshet.jvm.class_data import find_class_data
from freshet.jvm.jars import resolve_jars
from tests.kit.session import SPARK_CONF


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


def test_what_runs_keep_in_memory_is_dropped_with_the_last_of_them(spark: SparkSession) -> None:
    context = spark.sparkContext
    with at_work():
        with at_work():
            frame = spark.range(10).cache()
            frame.count()
            numbers = context.parallelize([1]).persist()
            numbers.count()
        assert frame.is_cached
        assert spark.range(10).storageLevel.useMemory, "another run may still read it"
        assert context._jsc.getPersistentRDDs()
    assert not spark.range(10).storageLevel.useMemory
    assert not context._jsc.getPersistentRDDs()


def test_java_looks_for_what_every_column_needs_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each use of a function, through every jar."""

    def looked_for(view: JVMView, name: str) -> None:
        raise AssertionError(f"Java is asked for {name}")

    monkeypatch.setattr(JVMView, "__getattr__", looked_for)
    assert spark.range(1).select(functions.greatest(functions.col("id"), functions.lit(3))).first() == (3,)

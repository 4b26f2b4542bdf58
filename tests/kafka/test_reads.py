"""What Spark says of topics that it cannot read, and what a run makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrameReader, SparkSession

from freshet.errors import FreshetError, StateError
from freshet.project.model.pipeline import TableRef
from freshet.sinks.failures import in_words
from freshet.sources.hudi.reads import Window
from freshet.sources.kafka.read import reader
from freshet.sources.kafka.read.reader import read_records
from freshet.sources.kafka.reads import Range, ReadTopics
from tests.kit.kafka import Topics


def stage(servers: str, *ranges: Range, **more: Any) -> ReadTopics:
    table = TableRef("kafka:orders", "kafka:orders")
    return ReadTopics(
        table=table,
        window=Window(kind="increment"),
        with_deletes=False,
        ranges=ranges,
        client={"bootstrap.servers": servers},
        **more,
    )


def failed(spark: SparkSession, one: ReadTopics) -> FreshetError:
    with pytest.raises((Py4JJavaError, PySparkException)) as error:
        read_records(spark, one).select("offset").collect()
    return in_words(TableRef("derived.orders", "/lake/orders"), str(error.value), (one.table,), reading=True)


def test_exactly_the_offsets_of_the_plan_are_read(spark: SparkSession, topics: Topics) -> None:
    name = topics.create("orders", 3)
    for number in range(3):
        topics.send(name, [str(n).encode() for n in range(10)], partition=number)
    asked = stage(topics.servers, Range(name, 0, 2, 5), Range(name, 2, 9, 10), group="lake", min_partitions=6)
    rows = read_records(spark, asked)
    assert sorted((row["partition"], row["offset"]) for row in rows.collect()) == [(0, 2), (0, 3), (0, 4), (2, 9)]
    # A partition that came after the plan is none of it.
    topics.grow(name, 4)
    topics.send(name, [b"new"], partition=3)
    assert read_records(spark, asked).count() == 4


def test_records_that_go_while_they_are_read_are_an_error(spark: SparkSession, topics: Topics) -> None:
    name = topics.create("orders")
    topics.send(name, [b"x"] * 10)
    topics.trim(name, 0, 4)
    assert failed(spark, stage(topics.servers, Range(name, 0, 2, 10))).code == "OFFSETS_LOST"


def test_a_cluster_that_goes_is_an_error_that_may_be_tried_again(
    spark: SparkSession, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_BOUNDS", {"kafka.default.api.timeout.ms": "3000", "kafka.request.timeout.ms": "2000"})
    error = failed(spark, stage("127.0.0.1:1", Range("orders", 0, 0, 5)))
    assert (error.code, error.retryable) == ("KAFKA_UNREACHABLE", True)


def test_a_session_without_the_jars_is_said(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(self: DataFrameReader, *args: object) -> object:
        raise AnalysisException("Failed to find data source: kafka. Please deploy the application as per the guide.")

    monkeypatch.setattr(DataFrameReader, "load", load)
    with pytest.raises(StateError) as refused:
        read_records(spark, stage("127.0.0.1:1", Range("orders", 0, 0, 5)))
    assert refused.value.code == "KAFKA_JARS_MISSING"

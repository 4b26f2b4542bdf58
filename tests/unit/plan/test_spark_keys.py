"""The catalogue of Spark's settings: that it is the installed release's, and which names it takes for misspelt."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from freshet.plan.generate_spark_keys import names_in
from freshet.plan.spark_keys import CATALOGUE_FILE, _meant, catalogue


def test_it_is_of_the_installed_release() -> None:
    assert json.loads(CATALOGUE_FILE.read_text())["release"] == version("pyspark")


def test_names_are_texts_of_a_class() -> None:
    told = b"\x01\x00\x0cspark.a.name\x01\x00\x06spark.\x01\x00\x05spark\x07\x01\x00\x10spark.a.name and\x01\x00\x09spark.3.x"
    assert list(names_in(told)) == ["spark.a.name"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("spark.sql.shuffle.partition", "spark.sql.shuffle.partitions"),
        ("spark.driver.memoryoverhead", "spark.driver.memoryOverhead"),
        ("spark.executor.memry", "spark.executor.memory"),
        ("spark.serialiser", "spark.serializer"),
        # Of others, and what a user names.
        ("spark.mycompany.team", ""),
        ("spark.hadoop.validateOutputSpec", ""),
        ("spark.executor.resource.gpu.amount", ""),
        ("spark.kubernetes.driver.label.team", ""),
    ],
)
def test_what_is_probably_misspelt(key: str, meant: str) -> None:
    assert key not in catalogue()
    assert _meant(key) == meant

"""One real broker for the whole test run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.dev.kafka.look import Kafka
from freshet.dev.kafka.server import start, stop
from tests.kit.kafka import Topics

#: What `make test` tries on a real broker: that it is asked and answers. All of it is for `make nightly`.
SMOKE = ("test_what_there_is_of_a_topic",)


# Before the queue leaves out what is marked.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to ``make nightly`` what is not of the smoke."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.name not in SMOKE:
            item.add_marker("nightly")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Start a broker with a directory of the test run's own, and stop it whatever happens."""
    folder = tmp_path_factory.mktemp("kafka") / "server"
    try:
        yield start(folder, wait_seconds=120)
    finally:
        stop(folder, purge=True)


@pytest.fixture
def topics(kafka: Kafka) -> Topics:
    """Return the topics of one test."""
    return Topics(kafka.servers)

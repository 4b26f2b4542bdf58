"""Ending the session: of a JVM that does not answer, that is gone, or that there is not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from freshet.jvm.ending import end_session, is_gone, is_up, jvm_process


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Put a process in the JVM's place that ends when its stdin does, and a gateway that cannot reach it."""
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)

    def fails() -> None:
        raise ConnectionError("nobody is there")

    found = SimpleNamespace(proc=process, shutdown=fails)
    for name, value in (("_gateway", found), ("_jvm", object()), ("_active_spark_context", SimpleNamespace(stop=fails))):
        monkeypatch.setattr(SparkContext, name, value)
    # The process may have a session of the tests' own, which is to be there afterwards.
    for name in ("_instantiatedSession", "_activeSession"):
        monkeypatch.setattr(SparkSession, name, None)
    yield found
    process.kill()
    process.wait()


@pytest.mark.waits
def test_a_jvm_is_ended_though_it_does_not_answer(gateway: SimpleNamespace) -> None:
    assert is_up()
    assert not is_gone()
    end_session()
    assert gateway.proc.poll() is not None
    assert (SparkContext._gateway, SparkContext._jvm, SparkContext._active_spark_context) == (None, None, None)
    assert jvm_process() is None
    assert not is_gone()
    end_session()


@pytest.mark.waits
def test_a_jvm_that_has_ended_is_forgotten(gateway: SimpleNamespace) -> None:
    gateway.proc.kill()
    gateway.proc.wait()
    assert is_gone()
    assert not is_up()
    end_session()
    assert SparkContext._active_spark_context is None
    assert not is_gone()

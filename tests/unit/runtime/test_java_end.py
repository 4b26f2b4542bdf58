"""A JVM that is gone is one error, whatever the step that needed it has raised."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from framework.runtime.java_end import java_ended


def _as_jvm(monkeypatch: pytest.MonkeyPatch, *program: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", *program])
    gateway = SimpleNamespace(_gateway=SimpleNamespace(proc=process))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(SparkContext=gateway))
    return process


@pytest.mark.parametrize(("program", "how"), [
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"), ("raise SystemExit(3)", "exit code 3"),
])
def test_an_ended_jvm_is_named_with_its_end(monkeypatch: pytest.MonkeyPatch, program: str, how: str) -> None:
    _as_jvm(monkeypatch, program).wait()
    for raised in (ConnectionRefusedError(), ValueError("what a step made of it"), KeyError("x")):
        found = java_ended(raised, "payments")
        assert found is not None
        assert (found.code, found.retryable, found.exit_code) == ("JAVA_ENDED", True, 4)
        assert how in found.message


def test_a_jvm_that_lives_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    process = _as_jvm(monkeypatch, "import time; time.sleep(60)")
    try:
        monkeypatch.setattr("framework.runtime.java_end._SECONDS", 0.01)
        assert java_ended(ValueError("x"), "payments") is None
        assert java_ended(ConnectionResetError(), "payments") is None
    finally:
        process.kill()
        process.wait()


def test_without_spark_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    assert java_ended(ConnectionResetError(), "payments") is None

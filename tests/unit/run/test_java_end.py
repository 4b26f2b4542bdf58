"""A JVM that is gone is one error, whatever the step that needed it has raised."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from freshet.jvm.java_end import java_ended
from freshet.jvm.log import stderr_kept


def _as_jvm(monkeypatch: pytest.MonkeyPatch, *program: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", *program])
    gateway = SimpleNamespace(_gateway=SimpleNamespace(proc=process))
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(SparkContext=gateway))
    return process


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
def test_an_ended_jvm_is_named_with_its_end(monkeypatch: pytest.MonkeyPatch, program: str, how: str) -> None:
    _as_jvm(monkeypatch, program).wait()
    for raised in (ConnectionRefusedError(), ValueError("what a step made of it"), KeyError("x")):
        found = java_ended(raised, "payments")
        assert found is not None
        assert (found.code, found.retryable, found.exit_code) == ("JAVA_ENDED", True, 4)
        assert how in found.message


@pytest.mark.parametrize(
    "program",
    [
        "import os, signal, sys; print('x' * 70000 + '\\nlast but one\\nGC overhead', end='', file=sys.stderr, flush=True); "
        "os.kill(os.getpid(), signal.SIGKILL)",
        "import os; open(f'hs_err_pid{os.getpid()}.log', 'w').write('#\\n# GC overhead\\n# last but one\\n\\n--- SUMMARY\\n'); "
        "os.abort()",
    ],
    ids=["stderr", "crash file"],
)
def test_its_last_lines_are_said_and_reach_stderr(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    program: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with stderr_kept():
        process = _as_jvm(monkeypatch, program)
    process.wait()
    found = java_ended(ConnectionRefusedError(), "payments")
    assert found is not None
    assert found.details["log"][-2:] == ["last but one", "GC overhead"] or "GC overhead" in found.details["log"]
    assert ("GC overhead" in found.message, "last but one" in found.message, len(found.message) <= 600) == (True, True, True)
    assert ("GC overhead" in capfd.readouterr().err) == ("hs_err" not in program)
    os.write(2, b"stderr is ours again\n")
    assert capfd.readouterr().err == "stderr is ours again\n"


def test_a_jvm_that_lives_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    process = _as_jvm(monkeypatch, "import time; time.sleep(60)")
    try:
        monkeypatch.setattr("freshet.jvm.java_end._SECONDS", 0.01)
        assert java_ended(ValueError("x"), "payments") is None
        assert java_ended(ConnectionResetError(), "payments") is None
    finally:
        process.kill()
        process.wait()


def test_without_spark_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    assert java_ended(ConnectionResetError(), "payments") is None

"""How a command ends whose stdout cannot be written, or that is stopped: in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.lease.local import hold_lease
from freshet.project.model.pipeline import TableRef
from tests.kit.project import a_project

FRESHET = (sys.executable, "-m", "freshet")
WORDS = [("compile",), ("validate", "--output", "json"), ("schema",), ("plan", "--output", "json")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_project(tmp_path / "project")


@pytest.mark.parametrize("words", WORDS)
def test_a_closed_stdout_is_an_error(root: Path, words: tuple[str, ...]) -> None:
    """Not exit 0 with the result gone."""
    said = " ".join([*FRESHET, *words, "-C", str(root), ">&-"])
    done = subprocess.run(["/bin/sh", "-c", said], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "STDOUT_FAILED: " in done.stderr) == (1, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize("words", WORDS)
def test_a_full_disk_under_stdout_is_an_error(root: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*FRESHET, *words, "-C", str(root)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "STDOUT_FAILED: " in done.stderr) == (1, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_stopped_command_ends_with_its_code_one_line_and_one_document(
    root: Path,
    number: signal.Signals,
    code: int,
    output: str,
) -> None:
    target = TableRef("derived.payments", str(root / "data/derived/payments"))
    with hold_lease(target, "the-other-run", 0, lambda words: None):
        words = [*FRESHET, "run", "--all", "--wait", "60", "--output", output, "-C", str(root)]
        run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert run.stderr is not None
        assert "is being written" in run.stderr.readline()
        os.kill(run.pid, number)
        out, rest = run.communicate(timeout=20)
    assert (run.returncode, rest.count("\n"), rest.startswith("INTERRUPTED: ")) == (code, 1, True), rest
    assert (json.loads(out)["error"]["code"] if output == "json" else out) == ("INTERRUPTED" if output == "json" else "")
    with hold_lease(target, "the-next-run", 0, lambda words: None):
        pass

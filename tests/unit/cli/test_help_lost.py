"""Help that cannot be printed, and a wrong command line that nobody can be told of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FRESHET = f"{sys.executable} -m freshet"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize("words", ["--help >/dev/full", "run --help >/dev/full", "--version >&-"])
def test_help_onto_a_stdout_that_cannot_be_written(words: str) -> None:
    """Of the group, of a command, and onto a stdout that is closed."""
    done = subprocess.run(f"{FRESHET} {words}", shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.split(":")[0], done.stderr.count("\n")) == (1, "STDOUT_FAILED", 1), done.stderr


def test_usage_is_not_printed_on_stdout() -> None:
    done = subprocess.run(f"{FRESHET} --nosuch 2>&-", shell=True, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_of_help_that_left() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(f"{FRESHET} --help", shell=True, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")

"""The file that spark-submit runs, as it runs it: by its path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import freshet

SUBMITTED = Path(freshet.__file__).parent / "jvm" / "submitted" / "main.py"


def test_no_room_stands_in_the_place_of_a_module_of_pythons_own() -> None:
    """Python looks into the file's folder first: beside `types` it could not even import `re`."""
    done = subprocess.run(
        [sys.executable, str(SUBMITTED), "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "freshet" in done.stdout

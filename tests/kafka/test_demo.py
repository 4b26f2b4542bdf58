"""What ``python -m tests.demo --kafka`` tells, as a person would start it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from freshet.dev.kafka import look
from tests.demo.place import ROOT


def test_the_rides_come_through_a_real_broker_and_equal_their_recompute(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    words = [sys.executable, "-m", "tests.demo", "--kafka", "--trips", "120", "--folder", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "raw.trips: " in done.stdout
    assert "the same as the database's" in done.stdout
    assert done.stdout.count("the same as recomputed") == 2
    # Its servers end with it.
    assert look.look(folder / "kafka").state == "down"

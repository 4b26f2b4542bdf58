"""A step that holds rows back inside a write until the test lets them pass, in this process or another."""

from __future__ import annotations

from pathlib import Path

from tests.kit.lake import Lake

FILE = "transformers/gate.py"
STEP = """\
import os
from pyspark.sql import functions as F

def transform(inputs, context):
    folder = os.environ.get("GATE")
    if folder is None:
        return inputs["SRC"]

    @F.udf("boolean")
    def passed(key, day):
        import os, pathlib, time
        pathlib.Path(folder, "at-" + day).touch()
        parent = os.getppid()
        for _ in range(6000):
            # Whose writer was killed need not wait, and would hold its pipes open.
            if pathlib.Path(folder, "go-" + day).exists() or os.getppid() != parent:
                return True
            time.sleep(0.02)
        raise TimeoutError(day)

    # By the day alone, Hudi would choose partitions by it, which it cannot.
    return inputs["SRC"].where(passed("id", "day"))
"""


class Gate:
    """Says which day a writer that runs with GATE in its environment has come to, and lets it pass."""

    def __init__(self, lake: Lake) -> None:
        lake.write_file(FILE, STEP)
        self.folder = lake.root / "gate"
        self.folder.mkdir()

    def reached(self, day: str) -> bool:
        return Path(self.folder, f"at-{day}").exists()

    def open(self, *days: str) -> None:
        for day in days:
            Path(self.folder, f"go-{day}").touch()

    def forget(self) -> None:
        for file in self.folder.glob("at-*"):
            file.unlink()

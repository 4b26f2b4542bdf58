"""A quarantine with rows, by hand: timelines and Parquet files, without a JVM."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from tests.kit.memory import at
from tests.kit.timeline import OF_A_QUARANTINE, HandMade, a_table, a_target, commit

COLUMNS = ("id", "rule", "reason", "run_id", "position", "row")


class Kept:
    """The quarantine of ``payments``, by hand.

    Args:
        root: The project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.folder = root / "data/derived/payments_quarantine"
        self.table = HandMade(self.folder, OF_A_QUARANTINE)
        a_table(root, "raw/events", 10)
        self.target = a_target(root, (15, 10))

    def wrote(self, moment: int, group: str, *rows: tuple[str, str, str], run: str = "r", is_there: bool = True) -> None:
        """Write a file of a file group with rows: run, reason, row; and the target's commit, where the run has one."""
        name = f"2026-08-01/{group}_0-1-2_{at(moment)}.parquet"
        columns = {
            f"_quarantine_{column}": [
                dict(zip(("run_id", "reason", "row"), row, strict=True)).get(column, column) for row in rows
            ]
            for column in COLUMNS
        }
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        parquet.write_table(pa.table({"more": [1] * len(rows), **columns}), file)
        size = file.stat().st_size
        if not is_there:
            file.unlink()
        own = {PIPELINE_KEY: "payments", ORIGIN_KEY: "run", RUN_ID_KEY: run}
        self.table.done(moment, commit(own, fileId=group, path=name, fileSizeInBytes=size, numInserts=len(rows)))

    def published(self, moment: int, run: str = "r") -> None:
        """Have the target a commit of a run."""
        own = {PIPELINE_KEY: "payments", ORIGIN_KEY: "increment", RUN_ID_KEY: run}
        self.target.done(moment, commit(own, numInserts=1))

"""``freshet ingest`` as a process, with all that it starts, killed at any moment while the database is written to.

Of the kind: a row that is in the database and not in the lake, or the other way round, after a kill nobody thought of.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.databases.shops import Shop
from tests.databases.together import TABLES, halves, in_database, in_lake, made, project_of, transact, writing

ROOT = Path(__file__).resolve().parents[2]
#: What a kill waits for, and how long it waits behind that at most, in seconds.
MOMENTS = (("begun", 3.0), ("captured", 2.0), ("writing", 1.0), ("writing", 3.0), ("committed", 2.0), ("captured", 12.0))


def _started(folder: Path, name: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "freshet", "ingest", name, "--output", "json", "-C", str(folder)]
    with open(folder / "ingest.out", "w", encoding="utf-8") as out, open(folder / "ingest.err", "w", encoding="utf-8") as err:
        return subprocess.Popen(words, cwd=ROOT, stdout=out, stderr=err, text=True, start_new_session=True)


def _count(folder: Path, what: str) -> int:
    patterns = {
        "begun": "nothing",
        "captured": "changes/*/*/[!.]*.json.gz",
        "writing": "warehouse/raw/*/.hoodie/timeline/*.inflight",
        "committed": "warehouse/raw/*/.hoodie/timeline/*commit",
    }
    return sum(1 for _ in folder.glob(patterns[what]))


@pytest.mark.waits
def test_a_process_that_is_killed_at_any_moment(shop: Shop, spark: SparkSession, tmp_path: Path) -> None:
    """Now all that it started dies with it, now its Spark outlives it for a while."""
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}")
    drawn, folder, name = random.Random(seed), tmp_path / "project", shop.name
    made(shop)
    connection = shop.connect()
    transact(shop, connection, 1)
    project_of(shop, folder)
    killed = 0
    with writing(shop, 2, 0.2):
        for moment, seconds in MOMENTS:
            before, process = _count(folder, moment), _started(folder, name)
            while process.poll() is None and moment != "begun" and _count(folder, moment) <= before:
                time.sleep(0.01)
            end = time.monotonic() + drawn.uniform(0, seconds)
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            if process.poll() is None:
                killed += 1
                if drawn.random() < 0.5:
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.send_signal(signal.SIGKILL)
            process.wait(60)
            for table in TABLES:
                if list((folder / f"warehouse/raw/{name}_{table}/.hoodie/timeline").glob("*commit")):
                    assert halves(in_lake(spark, folder, f"{name}_{table}")) == {}, (seed, moment, table)
    assert killed >= len(MOMENTS) // 2, "moments that come after the end are none"
    process = _started(folder, name)
    assert process.wait(240) == 0, (folder / "ingest.err").read_text()[-3000:]
    told = json.loads((folder / "ingest.out").read_text())
    assert told["together"]["whole"] is True
    for table in TABLES:
        assert in_lake(spark, folder, f"{name}_{table}") == in_database(shop, table), seed
    connection.close()

"""``freshet run`` against the same job by hand: a million trips, 1% of them changed, whole processes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from framework.runtime.jars import resolve_jars
from framework.runtime.session import session_conf, start_session
from framework.spec.model import PipelineSpec, TableRef
from framework.spec.project import load_project
from framework.state.table import TableState
from framework.state.timeline import TimelineState
from tests.benchmarks.timing import ROOT, freshet, overrides_of, show, spread, timed
from tests.feeds.rides import RideFeed

PIPELINE = "trip_earnings"
AT_MOST = 1.05


def compare(trips: int, repetitions: int) -> dict[str, object]:
    """Run both jobs on the same increments and print their ratio.

    Args:
        trips: Rows of the source before the first increment.
        repetitions: Measured rounds, after one that warms the machine up.

    Returns:
        The figures.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        return _compare(folder, trips, repetitions)
    finally:
        shutil.rmtree(folder)


def _compare(folder: Path, trips: int, repetitions: int) -> dict[str, object]:
    overrides = overrides_of(folder)
    words = [word for override in overrides for word in ("--set", override)]
    _land(folder, "first", trips)
    timed(freshet("run", PIPELINE, *words))
    target, copy = folder / "derived" / PIPELINE, folder / "by_hand" / PIPELINE
    shutil.copytree(target, copy)
    spec = load_project(ROOT, None, overrides, names=(PIPELINE,), tags=(), environ=os.environ).pipelines[0]

    walls: dict[str, list[float]] = {"freshet": [], "by_hand": []}
    for round_number in range(repetitions + 1):
        before = _newest(spec.source.table)
        _land(folder, "increment", trips // 100)
        job = folder / "job.json"
        job.write_text(json.dumps(_job(spec, copy, before)))
        by_hand = [sys.executable, "-m", "tests.benchmarks.handwritten", str(job)]
        commands = {"freshet": freshet("run", PIPELINE, *words), "by_hand": by_hand}
        # In turn, and each first every other time: whoever comes second finds the source's files cached.
        for name in sorted(commands, reverse=bool(round_number % 2)):
            seconds = timed(commands[name]).wall_seconds
            if round_number:
                walls[name].append(seconds)
    ratios = [a / b for a, b in zip(walls["freshet"], walls["by_hand"], strict=True)]
    same = _equal(str(target), str(copy))
    print(f"{trips:,} rows, 1% changed, {repetitions} rounds; both tables equal at the end: {same}")
    show("freshet run, whole process", spread(walls["freshet"]))
    show("the same job by hand, whole process", spread(walls["by_hand"]))
    kept = show("ratio, pair by pair", spread(ratios), AT_MOST, "x")
    return {"rows": trips, "seconds": walls, "ratios": ratios, "equal": same, "kept": kept and same}


def _job(spec: PipelineSpec, target: Path, after: str) -> dict[str, object]:
    window = _source(spec.source.table).commits_between(begin_exclusive=after)
    compiled = json.loads(timed(freshet("compile", PIPELINE, "--output", "json")).output)["plans"][0]
    options = next(stage["options"] for stage in compiled["stages"] if stage["stage"] == "commit")
    conf = session_conf(spec.spark_conf, resolve_jars())
    return {
        "spark": conf, "begin": window[0].completed, "end": window[-1].completed, "source": spec.source.table.path,
        "inputs": {i.name: i.table.path for i in spec.inputs}, "sql": spec.transform[0].statements[0].text,
        "python": str(ROOT / spec.transform[1].file), "columns": [c.name for c in spec.target.columns],
        "options": options, "target": str(target),
    }


def _land(folder: Path, what: str, trips: int) -> None:
    # A process of its own, so that its JVM is gone before anything is measured.
    timed([sys.executable, "-m", "tests.benchmarks.main_job", str(folder), what, str(trips)])


def _land_here(folder: Path, what: str, trips: int) -> None:
    feed = RideFeed(_spark(), folder / "raw", folder / "dim", buckets=2)
    if what == "first":
        feed.land_dimensions()
        feed.land(trips, days=10)
    else:
        feed.land_increment(trips=trips // 5, updates=trips - trips // 5)


def _spark() -> SparkSession:
    return start_session({"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"})


def _source(table: TableRef) -> TableState:
    state = TimelineState().table(table)
    assert state is not None
    return state


def _newest(table: TableRef) -> str:
    return _source(table).data_commits[-1].completed


def _equal(one: str, other: str) -> bool:
    spark = _spark()
    frames = [spark.read.format("hudi").load(path) for path in (one, other)]
    first, second = (f.select(*(c for c in f.columns if not c.startswith("_hoodie_"))) for f in frames)
    same = first.exceptAll(second).isEmpty() and second.exceptAll(first).isEmpty()
    spark.stop()
    return same


if __name__ == "__main__":
    _land_here(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

"""``freshet run`` against the same job by hand: a million trips, 1% of them changed, whole processes and in a warm session.

By hand twice: with the options that freshet chose, and with none but those that Hudi asks for, as people write it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from freshet.jvm.jars import resolve_jars
from freshet.jvm.session import session_conf, start_session
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from tests.benchmarks import configuration
from tests.benchmarks.timing import ROOT, freshet, overrides_of, show, spread, timed
from tests.benchmarks.warm_job import land_increment, source_of
from tests.feeds.rides import RideFeed

PIPELINE = "trip_earnings"
AT_MOST = 1.05
AT_MOST_OF_DEFAULTS = 1.0
# All else is Hudi's default: COPY_ON_WRITE, the index SIMPLE, gzip.
_ASKED_FOR = (
    "hoodie.table.name",
    "hoodie.datasource.write.recordkey.field",
    "hoodie.datasource.write.partitionpath.field",
    "hoodie.datasource.write.precombine.field",
    "hoodie.datasource.write.operation",
)


def compare(trips: int, repetitions: int) -> dict[str, object]:
    """Run the three jobs on the same increments and print their ratios.

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
    plain = folder / "defaults" / PIPELINE
    timed(_script(folder / "defaults.json", _as_people_write_it(_job(spec, plain, ""))))

    walls: dict[str, list[float]] = {"freshet": [], "by_hand": [], "defaults": []}
    for round_number in range(repetitions + 1):
        before = source_of(spec).data_commits[-1].completed
        _land(folder, "increment", trips // 100)
        commands = {
            "freshet": freshet("run", PIPELINE, *words),
            "by_hand": _script(folder / "job.json", _job(spec, copy, before)),
            "defaults": _script(folder / "defaults.json", _as_people_write_it(_job(spec, plain, before))),
        }
        # In turn, and each first every other time: whoever comes second finds the source's files cached.
        for name in sorted(commands, reverse=bool(round_number % 2)):
            seconds = timed(commands[name]).wall_seconds
            if round_number:
                walls[name].append(seconds)
    before = source_of(spec).data_commits[-1].completed
    warm = [
        sys.executable,
        "-m",
        "tests.benchmarks.warm_job",
        str(folder),
        PIPELINE,
        str(folder / "job.json"),
        str(trips // 100),
        str(repetitions),
    ]
    walls |= json.loads(timed(warm).output.splitlines()[-1])
    timed(_script(folder / "defaults.json", _as_people_write_it(_job(spec, plain, before))))
    same = _equal(str(target), str(copy), str(plain))
    print(f"{trips:,} rows, 1% changed, {repetitions} rounds; the three tables equal at the end: {same}")
    settings = {**configuration.of_pipelines(ROOT, [PIPELINE], overrides), **configuration.of_scripts(folder.glob("*.json"))}
    return {"rows": trips, "seconds": walls, "equal": same, **_show(walls, same), "configuration": settings}


def _show(walls: dict[str, list[float]], same: bool) -> dict[str, object]:
    show("freshet run, whole process", spread(walls["freshet"]))
    show("the same job by hand, whole process", spread(walls["by_hand"]))
    show("the same with Hudi's defaults", spread(walls["defaults"]))
    show("freshet in a warm session", spread(walls["freshet, warm"]))
    show("by hand in a warm session", spread(walls["by_hand, warm"]))
    kept, ratios = same, {}
    for name, one, other, bound in (
        ("ratios", "freshet", "by_hand", AT_MOST),
        ("ratios_of_defaults", "freshet", "defaults", AT_MOST_OF_DEFAULTS),
        ("ratios_warm", "freshet, warm", "by_hand, warm", AT_MOST),
    ):
        ratios[name] = [a / b for a, b in zip(walls[one], walls[other], strict=True)]
        kept = show(f"ratio, {one} to {other}", spread(ratios[name]), bound, "x") and kept
    return {**ratios, "kept": kept}


def _script(file: Path, job: dict[str, object]) -> list[str]:
    file.write_text(json.dumps(job))
    return [sys.executable, "-m", "tests.benchmarks.handwritten", str(file)]


def _as_people_write_it(job: dict[str, object]) -> dict[str, object]:
    options = job["options"]
    assert isinstance(options, dict)
    return {**job, "options": {key: options[key] for key in _ASKED_FOR}}


def _job(spec: PipelineSpec, target: Path, after: str) -> dict[str, object]:
    window = source_of(spec).commits_between(begin_exclusive=after)
    compiled = json.loads(timed(freshet("compile", PIPELINE, "--output", "json")).output)["plans"][0]
    commit = next(stage for stage in compiled["stages"] if stage["stage"] == "commit")
    conf = session_conf(spec.spark_conf, resolve_jars())
    return {
        "spark": conf,
        "begin": window[0].completed,
        "end": window[-1].completed,
        "source": spec.source.table.path,
        "inputs": {i.name: i.table.path for i in spec.inputs},
        "sql": spec.transform[0].statements[0].text,
        "python": str(ROOT / spec.transform[1].file),
        "columns": [c.name for c in spec.target.columns],
        "options": {**commit["options"], "hoodie.datasource.write.operation": commit["operation"]},
        "target": str(target),
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
        land_increment(feed, trips)


def _spark() -> SparkSession:
    return start_session({"spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"})


def _equal(*paths: str) -> bool:
    spark = _spark()
    frames = [spark.read.format("hudi").load(path) for path in paths]
    first, *others = (f.select(*(c for c in f.columns if not c.startswith("_hoodie_"))) for f in frames)
    same = all(first.exceptAll(other).isEmpty() and other.exceptAll(first).isEmpty() for other in others)
    spark.stop()
    return same


if __name__ == "__main__":
    _land_here(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

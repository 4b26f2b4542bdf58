"""What a run costs that has one changed row: in a process of its own, and as one of several pipelines in one session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median

from pyspark import SparkConf

from freshet.jvm import session
from freshet.jvm.java import find_java_home
from freshet.jvm.session import start_session
from freshet.project.load.project import load_project
from tests.benchmarks import configuration
from tests.benchmarks.phases import event_log_options, spark_seconds
from tests.benchmarks.timing import Timed, freshet, set_words, show, spread, timed
from tests.feeds.landing import RawTable
from tests.kit.project import a_project

PIPELINES = 5
_AT_A_TIME = (1, 2, 4)
# What freshet does to start soon, taken away: an archive of classes fits no class path but its own.
_WITHOUT = {
    "without the archive of classes": {"spark.spark.driver.extraClassPath": "/nowhere"},
    "with the optimising compiler": {"spark.spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4"},
}


def measure(repetitions: int) -> dict[str, object]:
    """Run one pipeline alone and the others together, each over the same one row, and print what each takes.

    Args:
        repetitions: Measured rounds, after one that makes the tables and warms the machine up.

    Returns:
        The figures, in seconds.
    """
    folder = Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    try:
        names = [f"p{number}" for number in range(PIPELINES)]
        for name in names:
            a_project(folder, name, source="events")
        alone: list[float] = []
        inside: list[dict[str, float]] = []
        starts: list[dict[str, float]] = []
        together: dict[int, list[float]] = {at_a_time: [] for at_a_time in _AT_A_TIME}
        without: dict[str, list[float]] = {name: [] for name in _WITHOUT}

        landings = count(1)

        def one_row(pipelines: list[str], *words: str) -> Timed:
            # A process of its own, so that its JVM is gone before anything is measured.
            timed([sys.executable, "-m", "tests.benchmarks.fixed_cost", str(folder), str(next(landings))])
            return timed(freshet("run", *pipelines, "-C", str(folder), "--output", "json", *words))

        for number in range(repetitions + 1):
            one = one_row(names[:1])
            several = {n: one_row(names[1:], "--parallel", str(n)).wall_seconds for n in _AT_A_TIME}
            others = {name: one_row(names[:1], *set_words(own)).wall_seconds for name, own in _WITHOUT.items()}
            if number:
                alone.append(one.wall_seconds)
                inside.append(json.loads(one.output)["runs"][0]["seconds"])
                starts.append(json.loads(timed([sys.executable, "-m", "tests.benchmarks.fixed_cost", str(folder)]).output))
                for n, seconds in several.items():
                    together[n].append(seconds)
                for name, seconds in others.items():
                    without[name].append(seconds)
        saved = folder / "perfdata"
        counting = {"spark.spark.driver.extraJavaOptions": f"-XX:+PerfDataSaveToFile -XX:PerfDataSaveFile={saved}"}
        one_row(names[:1], *event_log_options(folder / "events"), *set_words(counting))
        classes = _classes_of(saved)
        print(f"one changed row, {repetitions} rounds")
        show("freshet run of one pipeline, whole process", spread(alone))
        for name, walls in without.items():
            show(f"  {name}", spread(walls))
        phases = {phase: round(median(seconds[phase] for seconds in inside), 3) for phase in inside[0]}
        phases["before and after"] = round(median(alone) - phases["total"], 3)
        print(f"  where they go, medians: {phases}")
        start = {part: round(median(seconds[part] for seconds in starts), 3) for part in starts[0]}
        print(f"  of the session, a start by itself: {start}")
        jobs = spark_seconds(folder / "events")
        print(f"  of it in Spark's jobs: {jobs}")
        print(f"  Java's classes: {classes}")
        walls_of = {f"{PIPELINES - 1} pipelines, {n} at a time": spread(walls) for n, walls in together.items()}
        for name, figures in walls_of.items():
            show(name, figures)
        return {
            "alone": spread(alone),
            "phases": phases,
            "start": start,
            "spark": jobs,
            "classes": classes,
            **walls_of,
            **{name: spread(walls) for name, walls in without.items()},
            "configuration": configuration.of_pipelines(folder, names),
        }
    finally:
        shutil.rmtree(folder)


def _classes_of(saved: Path) -> dict[str, float]:
    """Return how many classes a Java loaded, how many of them out of the archive, and the seconds that this took its threads.

    Args:
        saved: What Java saved of its performance counters at its end.
    """
    jstat = find_java_home() / "bin" / "jstat"
    text = subprocess.run(
        [str(jstat), "-J-Djstat.showUnsupported=true", "-snap", saved.as_uri()], capture_output=True, text=True, check=True
    ).stdout
    counters = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    loaded, shared = (int(counters[f"java.cls.{name}"]) for name in ("loadedClasses", "sharedLoadedClasses"))
    seconds = int(counters["sun.cls.time"]) / int(counters["sun.os.hrt.frequency"])
    return {"loaded": loaded + shared, "out of the archive": shared, "seconds": round(seconds, 2)}


def _land_here(folder: Path, number: int) -> None:
    spark = start_session({"spark.master": "local[1]"})
    rows = spark.sql(f"SELECT 'a' AS id, cast({number} AS decimal(10,2)) AS amount, current_timestamp() AS updated_at")
    RawTable(str(folder / "data/raw/events"), ("id",), "updated_at").land(rows)


def _start_here(folder: Path) -> None:
    launch, java = session.launch_gateway, 0.0

    def launched(conf: SparkConf) -> object:
        nonlocal java
        begin = time.perf_counter()
        gateway = launch(conf)
        java = time.perf_counter() - begin
        return gateway

    session.launch_gateway = launched
    spec = load_project(folder, None, (), names=("p0",), environ=os.environ).pipelines[0]
    begin = time.perf_counter()
    start_session(spec.spark_conf, short=True)
    print(json.dumps({"java": java, "spark": time.perf_counter() - begin - java}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _land_here(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        _start_here(Path(sys.argv[1]))
